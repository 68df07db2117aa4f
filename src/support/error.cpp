// SPDX-License-Identifier: Apache-2.0
#include "support/error.h"

#include <cstdarg>
#include <cstdio>

namespace routecap {

Error::Error(Status status, const char* text) noexcept : status_(status) { std::snprintf(text_.data(), text_.size(), "%s", text); }

void fail(Status status, const char* format, ...) {
  std::array<char, Error::kTextBytes> text{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  throw Error(status, text.data());
}

}  // namespace routecap
