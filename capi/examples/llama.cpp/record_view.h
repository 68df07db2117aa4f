// SPDX-License-Identifier: Apache-2.0
//
// A record's arrays, borrowed: ids of one byte or two, weights of float32, validity of rows and cells.
#pragma once

#include <cstdint>

#include "rcap.h"

namespace llama_demo {

class RecordView {
 public:
  /// @param record  outlives the view
  explicit RecordView(const rcap_record* record) : info_(engine::make(rcap_record_info_init)) {
    rcap_error error = engine::make(rcap_error_init);
    std::int64_t bytes = 0;
    const void* data = nullptr;
    engine::require(rcap_record_info_get(record, &info_, &error), error);
    engine::require(rcap_record_ids(record, &ids_, &bytes, &error), error);
    engine::require(rcap_record_weights(record, &data, &bytes, &error), error);
    weights_ = info_.weights_dtype == RCAP_DTYPE_FLOAT32 ? static_cast<const float*>(data) : nullptr;
    engine::require(rcap_record_row_validity(record, &data, &bytes, &error), error);
    rows_ = static_cast<const std::uint8_t*>(data);
    engine::require(rcap_record_cell_validity(record, &data, &bytes, &error), error);
    cells_ = bytes == 0 ? nullptr : static_cast<const std::uint8_t*>(data);
  }

  [[nodiscard]] const rcap_record_info& info() const { return info_; }
  [[nodiscard]] bool has_cell(std::int64_t row, std::int64_t column) const {
    return cells_ != nullptr ? bit(cells_, row * info_.num_layers + column) : bit(rows_, row);
  }
  [[nodiscard]] std::int32_t id(std::int64_t row, std::int64_t column, std::int64_t k) const {
    const std::int64_t place = index(row, column, k);
    return info_.ids_dtype == RCAP_DTYPE_UINT8 ? static_cast<const std::uint8_t*>(ids_)[place] : static_cast<const std::uint16_t*>(ids_)[place];
  }
  [[nodiscard]] bool has_weights() const { return weights_ != nullptr; }
  [[nodiscard]] float weight(std::int64_t row, std::int64_t column, std::int64_t k) const { return weights_[index(row, column, k)]; }

 private:
  [[nodiscard]] std::int64_t index(std::int64_t row, std::int64_t column, std::int64_t k) const {
    return (row * info_.num_layers + column) * info_.top_k + k;
  }
  [[nodiscard]] static bool bit(const std::uint8_t* bits, std::int64_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

  rcap_record_info info_;
  const void* ids_ = nullptr;
  const float* weights_ = nullptr;
  const std::uint8_t* rows_ = nullptr;
  const std::uint8_t* cells_ = nullptr;
};

}  // namespace llama_demo
