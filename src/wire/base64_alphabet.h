// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace routecap::base64 {

inline constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Above every value of a character: marks one outside the alphabet, in a bit that an OR keeps.
inline constexpr std::uint8_t kBad = 0x80;

/// Value of every character, or kBad.
inline constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kBad);
  for (std::uint8_t value = 0; value < 64; ++value) values[static_cast<std::uint8_t>(kAlphabet[value])] = value;
  return values;
}();

}  // namespace routecap::base64
