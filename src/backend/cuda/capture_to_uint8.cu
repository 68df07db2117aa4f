// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/grid_kernel.cuh"

namespace routecap::cuda {

const void* capture_kernel_to_uint8(int given) { return with_capture_body<DeviceWords, std::uint8_t>(given, AddressOfKernel{}); }

}  // namespace routecap::cuda
