// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/rows/views.h"
#include "support/error.h"

namespace routecap {

/// Number of rows the device buffer must have, and why (R13).
struct DeviceRows {
  std::int64_t rows = 0;
  std::int32_t term = RCAP_TERM_PREFILL;
};

/// A capturer's configuration after every check: whoever holds one need not check again.
class Geometry {
 public:
  /// Throws for every contradiction, naming field, value and limit.
  static Geometry checked(const rcap_capturer_config& config, std::span<const std::int32_t> layer_ids);

  [[nodiscard]] const rcap_capturer_config& config() const { return config_; }
  [[nodiscard]] const std::vector<std::int32_t>& layer_ids() const { return layer_ids_; }
  [[nodiscard]] std::int32_t layers() const { return static_cast<std::int32_t>(layer_ids_.size()); }
  [[nodiscard]] DeviceRows device_rows() const { return device_rows_; }
  [[nodiscard]] std::int32_t ids_dtype() const { return ids_dtype_; }
  [[nodiscard]] bool tags() const { return config_.tags != 0; }
  /// Column of a captured layer, -1 where the layer is not captured.
  [[nodiscard]] std::int32_t column_of(std::int32_t layer_number) const;
  /// Shape of a row; `partial` adds the cell bits that PARTIAL taps need.
  [[nodiscard]] rows::RowShape row_shape(bool partial) const;
  /// Bytes of one slot in the store.
  [[nodiscard]] std::int64_t slot_stride(const rows::RowShape& shape) const { return (tags() ? 16 : 8) + shape.payload_bytes; }
  [[nodiscard]] rcap_capturer_plan plan() const;

 private:
  rcap_capturer_config config_{};
  std::vector<std::int32_t> layer_ids_;
  DeviceRows device_rows_;
  std::int32_t ids_dtype_ = RCAP_DTYPE_NONE;
};

}  // namespace routecap
