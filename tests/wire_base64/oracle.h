// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Base64 the slow and obvious way: as strings of ones and noughts. Shares no code or idea with the library.
namespace routecap_test {

[[nodiscard]] std::string oracle_encode(const std::vector<std::byte>& bytes);

struct OracleDecoded {
  std::vector<std::byte> bytes;
  std::int64_t bad_at = -1;  ///< first bad character, the length where the text is too short, -1 = good
};
[[nodiscard]] OracleDecoded oracle_decode(const std::string& text);

}  // namespace routecap_test
