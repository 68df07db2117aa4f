// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "config/geometry.h"

namespace routecap {

/// Rows of the device buffer by R13: the largest of three terms, rounded up to attention-TP, times the data-parallel ranks that share it.
DeviceRows size_device_rows(const rcap_capturer_config& config);

/// Bytes of the layer-major device cache: ids, weights, marks and extents of every layer.
std::int64_t cache_bytes(const rows::RowShape& shape, std::int64_t device_rows);

}  // namespace routecap
