// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>

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

/// A range in words: `allowed are 3 .. 7`, `only 3 is allowed`, or `none is allowed` for an empty one.
class Allowed {
 public:
  Allowed(std::int64_t lowest, std::int64_t highest) {
    if (lowest < highest) {
      std::snprintf(text_, sizeof text_, "allowed are %" PRId64 " .. %" PRId64, lowest, highest);
    } else if (lowest == highest) {
      std::snprintf(text_, sizeof text_, "only %" PRId64 " is allowed", lowest);
    } else {
      std::snprintf(text_, sizeof text_, "none is allowed");
    }
  }
  [[nodiscard]] const char* text() const { return text_; }

 private:
  char text_[64] = {};
};

/// Refuses a number outside [lowest, highest], naming all three.
inline void require_range(const char* field, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return;
  fail(RCAP_STATUS_OUT_OF_RANGE, "%s is %" PRId64 ", %s", field, value, Allowed(lowest, highest).text());
}

inline constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t unit) { return value / unit + (value % unit != 0 ? 1 : 0); }

}  // namespace routecap
