// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace routecap {

/// Characters of `bytes` bytes: padded to whole groups of four. Exact up to INT64_MAX / 2 bytes, more than any buffer has.
constexpr std::int64_t base64_encoded_size(std::int64_t bytes) { return (bytes / 3 + (bytes % 3 != 0 ? 1 : 0)) * 4; }

/// Bytes that a buffer for the decoded text needs; the text may be one or two bytes shorter (padding).
constexpr std::int64_t base64_decoded_size_at_most(std::int64_t chars) { return chars / 4 * 3; }

/// RFC 4648, standard alphabet, padded, no line breaks.
///
/// @param out  receives exactly base64_encoded_size(bytes) characters; may not overlap `in`
void base64_encode(const std::byte* in, std::int64_t bytes, char* out);

/// What a decoding came to.
struct Base64Result {
  std::int64_t bytes = 0;        ///< decoded, 0 if the text is bad
  std::int64_t offset = -1;      ///< of the first bad character; the length itself if characters lack at the end
  const char* reason = nullptr;  ///< static text; null = the text is good
  [[nodiscard]] bool ok() const { return reason == nullptr; }
};

/// Strict: whole groups of four, only the alphabet, padding only as the last one or two characters, the bits behind the last byte zero.
///
/// What bad text leaves in `out` is undefined. A wrong trailing bit is told at the character that carries it.
///
/// @param out  of base64_decoded_size_at_most(chars) bytes; nothing behind the decoded ones is touched if the text is good
Base64Result base64_decode(const char* in, std::int64_t chars, std::byte* out);

}  // namespace routecap
