// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "backend/rows/views.h"
#include "config/geometry.h"

namespace routecap {

/// The layer-major memory that taps write and `end_forward` takes from, sized by R13.
class DeviceCache {
 public:
  /// @param partial  per layer 1 = PARTIAL; kept on the device where there is one
  DeviceCache(const Geometry& geometry, const rows::RowShape& shape, const std::vector<std::uint8_t>& partial, Backend& backend);
  [[nodiscard]] const rows::CacheView& view() const { return view_; }

 private:
  Memory memory_;
  rows::CacheView view_;
};

}  // namespace routecap
