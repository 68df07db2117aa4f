// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/backend.h"
#include "backend/rows/views.h"

namespace routecap {

/// The layer-major memory that taps write and `end_forward` takes from, sized by R13.
class DeviceCache {
 public:
  DeviceCache(const rows::RowShape& shape, std::int64_t device_rows, Backend& backend);
  [[nodiscard]] const rows::CacheView& view() const { return view_; }

 private:
  Memory memory_;
  rows::CacheView view_;
};

}  // namespace routecap
