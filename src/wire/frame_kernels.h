// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace routecap::wire {

/// The loops over a frame's bytes, once per instruction set.
struct FrameKernels {
  /// XXH3-64 of `bytes` bytes.
  std::uint64_t (*checksum)(const std::byte* in, std::int64_t bytes);
  /// Copies and gives the XXH3-64 of what was copied.
  std::uint64_t (*copy_with_checksum)(std::byte* out, const std::byte* in, std::int64_t bytes);
};

/// The best that this processor has.
const FrameKernels& frame_kernels();

extern const FrameKernels kFrameKernelsBaseline;
#if defined(__x86_64__)
extern const FrameKernels kFrameKernelsAvx2;
#endif

}  // namespace routecap::wire
