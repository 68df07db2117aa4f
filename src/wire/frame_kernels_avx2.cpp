// SPDX-License-Identifier: Apache-2.0
//
// Compiled for AVX2 (packaging/cmake/RoutecapCompile.cmake).
#if defined(__x86_64__)
#define XXH_VECTOR 2
#include "wire/frame_kernels_body.h"

namespace routecap::wire {
const FrameKernels kFrameKernelsAvx2 = RCAP_FRAME_KERNELS;
}
#endif
