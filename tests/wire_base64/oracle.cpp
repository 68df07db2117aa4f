// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <bitset>

namespace routecap_test {
namespace {

/// RFC 4648, table 1, by ranges.
char character_of(unsigned long value) {
  if (value < 26) return static_cast<char>('A' + value);
  if (value < 52) return static_cast<char>('a' + (value - 26));
  if (value < 62) return static_cast<char>('0' + (value - 52));
  return value == 62 ? '+' : '/';
}

int value_of(char character) {
  for (unsigned long value = 0; value < 64; ++value) {
    if (character_of(value) == character) return static_cast<int>(value);
  }
  return -1;
}

}  // namespace

std::string oracle_encode(const std::vector<std::byte>& bytes) {
  std::string bits;
  for (const std::byte byte : bytes) bits += std::bitset<8>(static_cast<unsigned>(byte)).to_string();
  while (bits.size() % 6 != 0) bits += '0';
  std::string text;
  for (std::size_t at = 0; at < bits.size(); at += 6) text += character_of(std::bitset<6>(bits, at, 6).to_ulong());
  while (text.size() % 4 != 0) text += '=';
  return text;
}

OracleDecoded oracle_decode(const std::string& text) {
  std::string body = text;
  if (text.size() % 4 == 0) {
    for (int padding = 0; padding < 2 && body.ends_with('='); ++padding) body.pop_back();
  }
  std::string bits;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const int value = value_of(body[at]);
    if (value < 0) return {{}, static_cast<std::int64_t>(at)};
    bits += std::bitset<6>(static_cast<unsigned long>(value)).to_string();
  }
  if (text.size() % 4 != 0) return {{}, static_cast<std::int64_t>(text.size())};
  OracleDecoded decoded;
  for (std::size_t at = 0; at + 8 <= bits.size(); at += 8) decoded.bytes.push_back(static_cast<std::byte>(std::bitset<8>(bits, at, 8).to_ulong()));
  if (bits.find('1', bits.size() / 8 * 8) != std::string::npos) return {{}, static_cast<std::int64_t>(body.size()) - 1};
  return decoded;
}

}  // namespace routecap_test
