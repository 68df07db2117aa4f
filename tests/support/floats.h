// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Small floats decoded and rounded the slow and obvious way: by looking for the nearest value there is. Shares no code or idea with the library.
namespace routecap_test {

/// The number that an IEEE binary16 stands for.
[[nodiscard]] double float16_value(std::uint16_t bits);
/// The number that a bfloat16 stands for.
[[nodiscard]] double bfloat16_value(std::uint16_t bits);
[[nodiscard]] bool float16_is_nan(std::uint16_t bits);
[[nodiscard]] bool bfloat16_is_nan(std::uint16_t bits);

/// Nearest binary16 of a number that is not NaN, ties to the even one, overflow to infinity.
[[nodiscard]] std::uint16_t nearest_float16(float value);
/// Nearest bfloat16 of a number that is not NaN, ties to the even one, overflow to infinity.
[[nodiscard]] std::uint16_t nearest_bfloat16(float value);

/// The binary32 of these bits.
[[nodiscard]] float float32_of(std::uint32_t bits);

}  // namespace routecap_test
