// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_kernels_body.h"

namespace routecap::wire {

const FrameKernels kFrameKernelsBaseline = RCAP_FRAME_KERNELS;

const FrameKernels& frame_kernels() {
#if defined(__x86_64__)
  static const FrameKernels& best = __builtin_cpu_supports("avx2") ? kFrameKernelsAvx2 : kFrameKernelsBaseline;
  return best;
#else
  return kFrameKernelsBaseline;
#endif
}

}  // namespace routecap::wire
