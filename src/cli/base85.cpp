// SPDX-License-Identifier: Apache-2.0
#include "base85.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace routecap::cli {
namespace {

constexpr std::string_view kAlphabet85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
constexpr std::string_view kAlphabet64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static_assert(kAlphabet85.size() == 85 && kAlphabet64.size() == 64);

}  // namespace

std::optional<std::string> base85_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 5 * 4 + 4);
  for (std::size_t at = 0; at < text.size(); at += 5) {
    const std::string_view group = text.substr(at, 5);
    if (group.size() == 1) return std::nullopt;  // no number of bytes ends so
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      // The last group is filled up with the highest digit.
      const std::size_t digit = i < group.size() ? kAlphabet85.find(group[i]) : 84;
      if (digit == std::string_view::npos) return std::nullopt;
      value = value * 85 + digit;
    }
    if (value > UINT32_MAX) return std::nullopt;
    for (std::size_t i = 0; i + 1 < group.size(); ++i) bytes += static_cast<char>((value >> (24 - 8 * i)) & 255);
  }
  return bytes;
}

std::string base64_text(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 3; ++i) value = value << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kAlphabet64[(value >> (18 - 6 * i)) & 63] : '=';
  }
  return text;
}

bool may_be_base64(std::string_view text) {
  return text.size() % 4 == 0 && std::all_of(text.begin(), text.end(), [](char character) {
           return character == '=' || kAlphabet64.find(character) != std::string_view::npos;
         });
}

}  // namespace routecap::cli
