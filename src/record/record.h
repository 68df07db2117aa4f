// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "record/bits.h"
#include "record/geometry.h"
#include "support/handle.h"

namespace routecap {

/// Runs of rows with one weight version: token position where each begins, and its version.
struct VersionSpans {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> versions;

  friend bool operator==(const VersionSpans&, const VersionSpans&) = default;
};

/// An id outside [0, E) and where it stands.
struct BadId {
  std::int64_t row = 0;
  std::int32_t layer = 0;  ///< its number in the model
  std::int64_t id = 0;
};

/// Bytes in whole 8-byte words, so that every element type in them is aligned.
class Bytes {
 public:
  Bytes() = default;
  /// Undefined bytes.
  explicit Bytes(std::int64_t bytes);
  static Bytes cleared(std::int64_t bytes);
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words_.get()); }
  [[nodiscard]] const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_.get()); }
  [[nodiscard]] std::int64_t size() const { return bytes_; }

  friend bool operator==(const Bytes& a, const Bytes& b);

 private:
  std::unique_ptr<std::uint64_t[]> words_;  ///< one at least after construction with a size: data() is not null then
  std::int64_t bytes_ = 0;
};

/// Rows that left the capturer. Owns its bytes, knows its geometry, never changes once made.
///
/// A record is canonical: what it holds decides every byte. A row with a column that is not PARTIAL is valid where one of its cells is; cells of a
/// missing row are missing; the cell bitmap is there where a column is PARTIAL or a valid row lacks a cell; bytes under clear bits are 0xFF (R7);
/// bits behind the last are clear; version spans are the fewest.
class Record : public Handle<0x64726F63657263> {
 public:
  /// Empty rows of a geometry, for whoever makes the record to fill: ids and weights undefined, every bit clear.
  explicit Record(RecordGeometry geometry);
  /// From the caller's arrays; throws for an id outside [0, E) in a valid cell, naming row and layer.
  static std::unique_ptr<Record> from_arrays(RecordGeometry geometry, std::int64_t weight_version, const void* ids, const void* weights,
                                             const std::uint8_t* validity);

  [[nodiscard]] const RecordGeometry& geometry() const { return geometry_; }
  [[nodiscard]] const Bytes& ids() const { return ids_; }
  [[nodiscard]] const Bytes& weights() const { return weights_; }
  [[nodiscard]] const Bytes& row_validity() const { return row_validity_; }
  [[nodiscard]] const Bytes& cell_validity() const { return cell_validity_; }
  [[nodiscard]] const VersionSpans& spans() const { return spans_; }
  [[nodiscard]] std::int64_t rows_valid() const { return bits::count_set(row_validity_.data(), 0, geometry_.rows); }
  [[nodiscard]] bool row_valid(std::int64_t row) const { return bits::test(row_validity_.data(), row); }
  [[nodiscard]] bool cell_valid(std::int64_t row, std::int64_t column) const {
    return geometry_.has_cells ? bits::test(cell_validity_.data(), row * geometry_.layers() + column) : row_valid(row);
  }
  /// Weight version of every row; a missing row's is the one of its run, 0 without a run.
  [[nodiscard]] std::vector<std::int64_t> row_versions() const;

  /// The token positions [start, end) as a record of their own (R3, R4).
  [[nodiscard]] std::unique_ptr<Record> slice(std::int64_t start, std::int64_t end) const;

  // For whoever makes the record: fill, then check_ids where the ids are not trusted, canonicalize, and set_versions last.
  [[nodiscard]] Bytes& ids() { return ids_; }
  [[nodiscard]] Bytes& weights() { return weights_; }
  [[nodiscard]] Bytes& row_validity() { return row_validity_; }
  [[nodiscard]] Bytes& cell_validity() { return cell_validity_; }
  [[nodiscard]] VersionSpans& spans() { return spans_; }
  /// Copies rows of another record with the same columns over rows whose bits are all clear.
  void copy_rows(const Record& source, std::int64_t source_row, std::int64_t count, std::int64_t row);
  /// The same for cells of one row, which has cell validity; both records have the same K and dtypes. The row's own bit is left alone.
  void copy_cells(const Record& source, std::int64_t source_row, std::int64_t source_column, std::int64_t count, std::int64_t row,
                  std::int64_t column);
  /// The first id of a valid cell that is outside [0, E).
  [[nodiscard]] std::optional<BadId> find_bad_id() const;
  /// Throws for one, naming row and layer.
  void check_ids() const;
  /// Makes one of all records with the same content.
  void canonicalize();
  /// Spans from the version of each valid row; missing rows belong to the run before them, leading ones to the first.
  void set_versions(std::span<const std::int64_t> versions);

 private:
  void settle_validity();
  void fill_missing();

  RecordGeometry geometry_;
  Bytes ids_;
  Bytes weights_;
  Bytes row_validity_;
  Bytes cell_validity_;
  VersionSpans spans_;
};

}  // namespace routecap
