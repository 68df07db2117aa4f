// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/rows/views.h"
#include "support/error.h"
#include "support/handle.h"

namespace routecap {

/// What describes a record's rows, without them (R37).
struct RecordGeometry {
  std::int64_t start = 0;  ///< token position of the first row
  std::int64_t rows = 0;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::int32_t ids_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_kind = RCAP_WEIGHTS_AS_ROUTED;
  bool has_cells = false;  ///< some column is PARTIAL: cells have a validity of their own
  std::vector<std::int32_t> layer_ids;
  std::vector<std::int32_t> layer_flags;

  [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(layer_ids.size()); }
  /// Bytes of one row's ids and weights.
  [[nodiscard]] std::int64_t row_ids_bytes() const;
  [[nodiscard]] std::int64_t row_weights_bytes() const;
};

/// Runs of rows with one weight version: token position where each begins, and its version.
struct VersionSpans {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> versions;
};

/// Bytes in whole 8-byte words, so that every element type in them is aligned.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::int64_t bytes);
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  [[nodiscard]] const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_.data()); }
  [[nodiscard]] std::int64_t size() const { return bytes_; }

 private:
  std::vector<std::uint64_t> words_;  ///< never empty after construction with bytes: its data is never null
  std::int64_t bytes_ = 0;
};

/// Rows that left the capturer. Owns its bytes, knows its geometry, never changes once made.
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
  [[nodiscard]] std::int64_t rows_valid() const;
  [[nodiscard]] bool row_valid(std::int64_t row) const { return bit(row_validity_, row); }
  [[nodiscard]] bool cell_valid(std::int64_t row, std::int64_t column) const {
    return geometry_.has_cells ? bit(cell_validity_, row * geometry_.layers() + column) : row_valid(row);
  }

  /// The token positions [start, end) as a record of their own (R3, R4).
  [[nodiscard]] std::unique_ptr<Record> slice(std::int64_t start, std::int64_t end) const;

  // For whoever makes the record.
  [[nodiscard]] Bytes& ids() { return ids_; }
  [[nodiscard]] Bytes& weights() { return weights_; }
  [[nodiscard]] Bytes& row_validity() { return row_validity_; }
  [[nodiscard]] Bytes& cell_validity() { return cell_validity_; }
  /// Spans from the version of each valid row; missing rows belong to the run before them, leading ones to the first.
  void set_versions(std::span<const std::int64_t> versions);

 private:
  static bool bit(const Bytes& bits, std::int64_t index) { return (static_cast<unsigned>(bits.data()[index / 8]) >> (index % 8) & 1U) != 0; }
  /// 0xFF under every clear bit, so that careless consumers fail loudly (R7).
  void fill_missing();

  RecordGeometry geometry_;
  Bytes ids_;
  Bytes weights_;
  Bytes row_validity_;
  Bytes cell_validity_;
  VersionSpans spans_;
};

}  // namespace routecap
