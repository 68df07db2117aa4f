// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "library.h"
#include "ranges.h"

namespace routecap::cli {

/// Rows [begin, end) of one weight version, as token positions.
struct VersionSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t version = 0;
};

/// A record's content by row (counted from 0), column and rank. Borrows from the record, which must outlive it.
class RecordView {
 public:
  explicit RecordView(const rcap_record* record);

  [[nodiscard]] const rcap_record_info& info() const { return info_; }
  [[nodiscard]] std::int64_t start() const { return info_.start; }
  [[nodiscard]] std::int64_t rows() const { return info_.rows; }
  [[nodiscard]] std::int64_t columns() const { return info_.num_layers; }
  [[nodiscard]] std::int64_t top_k() const { return info_.top_k; }
  [[nodiscard]] std::int32_t num_experts() const { return info_.num_experts; }
  [[nodiscard]] Range positions() const { return {info_.start, info_.start + info_.rows}; }
  /// Layer number in the model of every column, and its `rcap_tap_flag`s.
  [[nodiscard]] std::span<const std::int32_t> layer_ids() const { return layer_ids_; }
  [[nodiscard]] std::span<const std::int32_t> layer_flags() const { return layer_flags_; }
  [[nodiscard]] std::int32_t layer(std::int64_t column) const { return layer_ids_[static_cast<std::size_t>(column)]; }
  [[nodiscard]] std::int64_t ids_bytes() const { return ids_bytes_; }
  [[nodiscard]] std::int64_t weights_bytes() const { return weights_bytes_; }
  [[nodiscard]] bool has_weights() const { return info_.weights_dtype != RCAP_DTYPE_NONE; }

  [[nodiscard]] bool row_valid(std::int64_t row) const { return bit(row_validity_, row); }
  [[nodiscard]] bool cell_valid(std::int64_t row, std::int64_t column) const {
    return cell_validity_ == nullptr ? row_valid(row) : bit(cell_validity_, row * columns() + column);
  }
  /// Meaningful where the cell is valid.
  [[nodiscard]] std::int64_t id(std::int64_t row, std::int64_t column, std::int64_t rank) const {
    const std::int64_t at = (row * columns() + column) * top_k() + rank;
    switch (info_.ids_dtype) {
      case RCAP_DTYPE_UINT8: return static_cast<const std::uint8_t*>(ids_)[at];
      case RCAP_DTYPE_UINT16: return static_cast<const std::uint16_t*>(ids_)[at];
      default: return static_cast<const std::int32_t*>(ids_)[at];
    }
  }
  [[nodiscard]] double weight(std::int64_t row, std::int64_t column, std::int64_t rank) const;
  /// The ids of a cell as they lie in memory, for comparisons.
  [[nodiscard]] std::string_view cell_bytes(std::int64_t row, std::int64_t column, std::int64_t columns_taken = 1) const;

  [[nodiscard]] std::vector<VersionSpan> version_spans() const;
  /// Runs of missing rows, as token positions.
  [[nodiscard]] std::vector<Range> missing_rows() const;
  /// Runs of valid rows that lack a column's cell, as token positions.
  [[nodiscard]] std::vector<Range> missing_cells(std::int64_t column) const;

 private:
  static bool bit(const std::uint8_t* bitmap, std::int64_t index) { return ((bitmap[index / 8] >> (index % 8)) & 1) != 0; }

  const rcap_record* record_;
  rcap_record_info info_;
  std::span<const std::int32_t> layer_ids_;
  std::span<const std::int32_t> layer_flags_;
  const void* ids_ = nullptr;
  const void* weights_ = nullptr;
  const std::uint8_t* row_validity_ = nullptr;
  const std::uint8_t* cell_validity_ = nullptr;  ///< null where cells are as valid as their rows
  std::int64_t ids_bytes_ = 0;
  std::int64_t weights_bytes_ = 0;
};

}  // namespace routecap::cli
