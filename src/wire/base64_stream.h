// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace routecap {

/// Bytes to one base64 text, in parts of any length.
class Base64Stream {
 public:
  /// @param out  of base64_encoded_size(bytes of all parts) characters
  explicit Base64Stream(char* out) : out_(out) {}
  void put(const std::byte* bytes, std::int64_t count);
  /// Closes the text. @return behind its last character
  char* finish();

 private:
  char* out_;
  std::byte carried_[3] = {};  ///< 0 .. 2 bytes that wait for the rest of their group
  std::int64_t carried_count_ = 0;
};

}  // namespace routecap
