// SPDX-License-Identifier: Apache-2.0
#include "support/choice.h"

#include <algorithm>
#include <cstdio>

#include "support/error.h"

namespace routecap {
namespace {

bool is_one_of(std::int32_t value, std::span<const Choice> choices) {
  return std::any_of(choices.begin(), choices.end(), [value](const Choice& choice) { return choice.value == value; });
}

/// `HOST (0) and DEVICE (1)`.
class Listing {
 public:
  explicit Listing(std::span<const Choice> choices) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < choices.size() && used < sizeof text_; ++i) {
      const char* before = i == 0 ? "" : i + 1 == choices.size() ? " and " : ", ";
      const int written = std::snprintf(text_ + used, sizeof text_ - used, "%s%s (%d)", before, choices[i].name, choices[i].value);
      used += static_cast<std::size_t>(written);
    }
  }
  [[nodiscard]] const char* text() const { return text_; }

 private:
  char text_[160] = {};
};

}  // namespace

void require_choice(const char* field, std::int32_t value, std::span<const Choice> choices) {
  if (is_one_of(value, choices)) return;
  fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is %d, allowed are %s", field, value, Listing(choices).text());
}

void require_dtype(const char* field, std::int32_t dtype, std::span<const Choice> choices) {
  if (is_one_of(dtype, choices)) return;
  if (!is_one_of(dtype, kDtypes)) require_choice(field, dtype, choices);
  fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is %s (%d), allowed are %s", field, dtype_name(dtype), dtype, Listing(choices).text());
}

void require_flags(const char* field, std::int32_t flags, std::span<const Choice> known) {
  std::int32_t bits = 0;
  for (const Choice& flag : known) bits |= flag.value;
  if ((flags & ~bits) != 0) fail(RCAP_STATUS_UNSUPPORTED, "%s is %d, known bits are %s", field, flags, Listing(known).text());
}

const char* name_of(std::int32_t value, std::span<const Choice> choices) {
  for (const Choice& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "unknown";
}

const char* dtype_name(std::int32_t dtype) { return name_of(dtype, kDtypes); }

}  // namespace routecap
