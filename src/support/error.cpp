// SPDX-License-Identifier: Apache-2.0
#include "support/error.h"

#include <cstdarg>
#include <cstdio>

namespace routecap {
namespace {

/// Bytes of the UTF-8 sequence that begins here; 0 where none does, or its end is cut off.
std::size_t sequence_bytes(const unsigned char* at) {
  const std::size_t bytes = *at < 0x80 ? 1 : *at >= 0xC2 && *at < 0xE0 ? 2 : *at >= 0xE0 && *at < 0xF0 ? 3 : *at >= 0xF0 && *at < 0xF5 ? 4 : 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  return bytes;
}

/// Names and bytes of the caller come back in texts: whatever they hold, a text stays one line of UTF-8.
void make_one_line(char* text) {
  for (auto* at = reinterpret_cast<unsigned char*>(text); *at != 0;) {
    const std::size_t bytes = sequence_bytes(at);
    if (bytes == 0 || (bytes == 1 && (*at < 0x20 || *at == 0x7F))) *at = '?';
    at += bytes == 0 ? 1 : bytes;
  }
}

}  // namespace

Error::Error(Status status, const char* text) noexcept : status_(status) {
  std::snprintf(text_.data(), text_.size(), "%s", text);
  make_one_line(text_.data());
}

void fail(Status status, const char* format, ...) {
  std::array<char, Error::kTextBytes> text{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  throw Error(status, text.data());
}

}  // namespace routecap
