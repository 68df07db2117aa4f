// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/base64_alphabet.h"

/// As base64_x86.h. Every aarch64 has these instructions.
namespace routecap::base64 {

/// 48 bytes to 64 characters and back: the structured loads and stores take the groups apart.
struct Neon {
  static std::int64_t encode(const std::byte* in, std::int64_t bytes, char* out) {
    const uint8x16x4_t alphabet = vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(kAlphabet));
    const uint8x16_t six_bits = vdupq_n_u8(63);
    std::int64_t taken = 0;
    for (; taken + 48 <= bytes; taken += 48, out += 64) {
      const uint8x16x3_t group = vld3q_u8(reinterpret_cast<const std::uint8_t*>(in + taken));
      uint8x16x4_t text;
      text.val[0] = vqtbl4q_u8(alphabet, vshrq_n_u8(group.val[0], 2));
      text.val[1] = vqtbl4q_u8(alphabet, vandq_u8(vorrq_u8(vshlq_n_u8(group.val[0], 4), vshrq_n_u8(group.val[1], 4)), six_bits));
      text.val[2] = vqtbl4q_u8(alphabet, vandq_u8(vorrq_u8(vshlq_n_u8(group.val[1], 2), vshrq_n_u8(group.val[2], 6)), six_bits));
      text.val[3] = vqtbl4q_u8(alphabet, vandq_u8(group.val[2], six_bits));
      vst4q_u8(reinterpret_cast<std::uint8_t*>(out), text);
    }
    return taken;
  }

  static std::int64_t decode(const char* in, std::int64_t chars, std::byte* out) {
    // A look-up outside its table gives 0, so a good value has a bit besides its six, and the two halves of the characters are joined by an OR.
    static constexpr std::array<std::uint8_t, 128> kMarked = [] {
      std::array<std::uint8_t, 128> marked{};
      for (std::size_t i = 0; i < 128; ++i) marked[i] = kValues[i] == kBad ? std::uint8_t{0} : static_cast<std::uint8_t>(kValues[i] | kGood);
      return marked;
    }();
    const uint8x16x4_t low = vld1q_u8_x4(kMarked.data());
    const uint8x16x4_t high = vld1q_u8_x4(kMarked.data() + 64);
    std::int64_t taken = 0;
    for (; taken + 64 <= chars; taken += 64, out += 48) {
      const uint8x16x4_t text = vld4q_u8(reinterpret_cast<const std::uint8_t*>(in + taken));
      const uint8x16_t a = value(low, high, text.val[0]);
      const uint8x16_t b = value(low, high, text.val[1]);
      const uint8x16_t c = value(low, high, text.val[2]);
      const uint8x16_t d = value(low, high, text.val[3]);
      const uint8x16_t good = vandq_u8(vandq_u8(a, b), vandq_u8(c, d));
      if (vminvq_u8(vandq_u8(good, vdupq_n_u8(kGood))) == 0) break;
      uint8x16x3_t group;
      // Shifting out of the byte drops the mark; where it would stay it is masked off.
      group.val[0] = vorrq_u8(vshlq_n_u8(a, 2), vshrq_n_u8(vandq_u8(b, vdupq_n_u8(0x30)), 4));
      group.val[1] = vorrq_u8(vshlq_n_u8(b, 4), vshrq_n_u8(vandq_u8(c, vdupq_n_u8(0x3C)), 2));
      group.val[2] = vorrq_u8(vshlq_n_u8(c, 6), vandq_u8(d, vdupq_n_u8(0x3F)));
      vst3q_u8(reinterpret_cast<std::uint8_t*>(out), group);
    }
    return taken;
  }

 private:
  static constexpr std::uint8_t kGood = 0x40;

  static uint8x16_t value(const uint8x16x4_t& low, const uint8x16x4_t& high, uint8x16_t text) {
    return vorrq_u8(vqtbl4q_u8(low, text), vqtbl4q_u8(high, veorq_u8(text, vdupq_n_u8(64))));
  }
};

}  // namespace routecap::base64
