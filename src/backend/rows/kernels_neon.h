// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include "backend/rows/kernel_bodies.h"

/// As kernels_x86.h. Every aarch64 has these instructions.
namespace routecap::rows {

struct Neon {
  static uint32x4_t load(const std::byte* at) { return vreinterpretq_u32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at))); }

  static void store_8(std::byte* out, uint32x4_t low, uint32x4_t high) {
    vst1_u8(reinterpret_cast<std::uint8_t*>(out), vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high))));
  }

  static bool narrow_int32_to_uint8(std::byte* out, const std::byte* in, std::int64_t count, std::uint64_t largest) {
    uint32x4_t worst = vdupq_n_u32(0);
    std::int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
      const uint32x4_t a = load(in + i * 4);
      const uint32x4_t b = load(in + i * 4 + 16);
      const uint32x4_t c = load(in + i * 4 + 32);
      const uint32x4_t d = load(in + i * 4 + 48);
      worst = vmaxq_u32(worst, vmaxq_u32(vmaxq_u32(a, b), vmaxq_u32(c, d)));
      const uint8x8_t low = vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b)));
      const uint8x8_t high = vmovn_u16(vcombine_u16(vmovn_u32(c), vmovn_u32(d)));
      vst1q_u8(reinterpret_cast<std::uint8_t*>(out + i), vcombine_u8(low, high));
    }
    const bool good = vmaxvq_u32(worst) <= largest;
    return bodies::narrow<std::uint8_t, std::int32_t>(out + i, in + i * 4, count - i, largest) && good;
  }

  static bool narrow_rows_of_8(std::byte* out, const std::byte* in, std::int64_t rows, std::int64_t stride, std::uint64_t largest) {
    uint32x4_t worst = vdupq_n_u32(0);
    for (std::int64_t row = 0; row < rows; ++row) {
      const uint32x4_t low = load(in + row * stride);
      const uint32x4_t high = load(in + row * stride + 16);
      worst = vmaxq_u32(worst, vmaxq_u32(low, high));
      store_8(out + row * 8, low, high);
    }
    return vmaxvq_u32(worst) <= largest;
  }
};

}  // namespace routecap::rows
