// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace routecap::cuda {

/// What a runtime launches a kernel of `kernel_list.h` by.
const void* kernel_address(int kernel);

// One file of the device's compiler each.
const void* capture_kernel_to_uint8(int given);
const void* capture_kernel_to_uint16(int given);
const void* capture_kernel_to_int32(int given);
const void* other_kernel(int kernel);

}  // namespace routecap::cuda
