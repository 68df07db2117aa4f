// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cinttypes>
#include <cstdint>

#include "support/error.h"

namespace routecap {

/// a * b; an overflow is refused with `what` and both numbers (R13).
inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "%s: %" PRId64 " * %" PRId64 " exceeds %" PRId64, what, a, b, INT64_MAX);
  }
  return product;
}

/// a + b; an overflow is refused with `what` and both numbers.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "%s: %" PRId64 " + %" PRId64 " exceeds %" PRId64, what, a, b, INT64_MAX);
  }
  return sum;
}

/// The smallest multiple of `unit` (> 0) that is not below `value` (>= 0).
inline std::int64_t checked_align_up(std::int64_t value, std::int64_t unit, const char* what) {
  const std::int64_t rest = value % unit;
  return rest == 0 ? value : checked_add(value, unit - rest, what);
}

/// Refuses a number outside [lowest, highest], naming all three.
inline void require_range(const char* field, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return;
  fail(RCAP_STATUS_OUT_OF_RANGE, "%s is %" PRId64 ", allowed are %" PRId64 " .. %" PRId64, field, value, lowest, highest);
}

inline constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t unit) { return value / unit + (value % unit != 0 ? 1 : 0); }

}  // namespace routecap
