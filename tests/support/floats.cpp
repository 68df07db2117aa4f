// SPDX-License-Identifier: Apache-2.0
#include "support/floats.h"

#include <cmath>
#include <cstring>

namespace routecap_test {
namespace {

/// A format with `mantissa` bits of fraction and `exponent` bits of exponent.
double value_of(std::uint16_t bits, int mantissa, int exponent) {
  const int fraction = bits & ((1 << mantissa) - 1);
  const int biased = (bits >> mantissa) & ((1 << exponent) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int bias = (1 << (exponent - 1)) - 1;
  if (biased == (1 << exponent) - 1) return sign * (fraction == 0 ? HUGE_VAL : std::nan(""));
  if (biased == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp(fraction + (1 << mantissa), biased - bias - mantissa);
}

/// Positive values grow with their bits, so the nearest is found by bisection between two neighbours.
std::uint16_t nearest(float value, int mantissa, int exponent) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  const int infinity = ((1 << exponent) - 1) << mantissa;
  // The first value that is not there any more: rounding treats infinity as if the exponents went on.
  const double beyond = std::ldexp(1.0, 1 << (exponent - 1));
  int low = 0;
  int high = infinity;
  const auto at = [&](int bits) { return bits == infinity ? beyond : value_of(static_cast<std::uint16_t>(bits), mantissa, exponent); };
  if (magnitude >= beyond) return static_cast<std::uint16_t>(sign | infinity);
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (at(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - at(low);
  const double above = at(high) - magnitude;
  const bool up = above < below || (above == below && (high & 1) == 0);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

}  // namespace

double float16_value(std::uint16_t bits) { return value_of(bits, 10, 5); }
double bfloat16_value(std::uint16_t bits) { return value_of(bits, 7, 8); }
bool float16_is_nan(std::uint16_t bits) { return (bits & 0x7C00) == 0x7C00 && (bits & 0x03FF) != 0; }
bool bfloat16_is_nan(std::uint16_t bits) { return (bits & 0x7F80) == 0x7F80 && (bits & 0x007F) != 0; }
std::uint16_t nearest_float16(float value) { return nearest(value, 10, 5); }
std::uint16_t nearest_bfloat16(float value) { return nearest(value, 7, 8); }

float float32_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace routecap_test
