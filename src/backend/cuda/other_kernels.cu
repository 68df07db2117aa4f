// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/grid_kernel.cuh"

namespace routecap::cuda {

const void* other_kernel(int kernel) { return with_other_body<DeviceWords>(kernel, AddressOfKernel{}); }

}  // namespace routecap::cuda
