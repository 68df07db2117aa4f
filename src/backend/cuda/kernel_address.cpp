// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel_list.h"
#include "backend/cuda/kernels.h"

namespace routecap::cuda {

const void* kernel_address(int kernel) {
  if (kernel >= kSnapshotKernels) return other_kernel(kernel);
  const int given = kernel % kGivenTypes;
  switch (kernel / kGivenTypes) {
    case 0: return capture_kernel_to_uint8(given);
    case 1: return capture_kernel_to_uint16(given);
    default: return capture_kernel_to_int32(given);
  }
}

}  // namespace routecap::cuda
