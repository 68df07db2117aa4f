// SPDX-License-Identifier: Apache-2.0
#include "markup.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace routecap::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

/// Bytes of the character that text begins with; 0 where it begins with none that XML allows.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  if (lead >= 0xC2 && lead < 0xE0 && continues(1)) {
    return lead == 0xC2 && byte(1) < 0xA0 ? 0 : 2;  // C1 controls
  }
  if (lead >= 0xE0 && lead < 0xF0 && continues(1) && continues(2)) {
    const unsigned code = ((lead & 0x0FU) << 12) | ((byte(1) & 0x3FU) << 6) | (byte(2) & 0x3FU);
    return code < 0x800 || (code >= 0xD800 && code < 0xE000) || code >= 0xFFFE ? 0 : 3;
  }
  if (lead >= 0xF0 && lead < 0xF5 && continues(1) && continues(2) && continues(3)) {
    const unsigned code = ((lead & 0x07U) << 18) | ((byte(1) & 0x3FU) << 12);
    return code < 0x10000 || code > 0x10FFFF ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = character(bytes);
    text += length > 0 ? bytes.substr(0, length) : kReplacement;
    bytes.remove_prefix(length > 0 ? length : 1);
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += letter; break;
    }
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t most) {
  std::string head;
  std::string tail;
  std::size_t count = 0;
  for (const char letter : text) count += (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U ? 1 : 0;
  if (count <= most) return text;
  const std::size_t before = (most - 1) / 2;
  const std::size_t after = count - (most - 1 - before);
  std::size_t at = 0;
  for (const char letter : text) {
    at += (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U ? 1 : 0;
    if (at <= before) head += letter;
    if (at > after) tail += letter;
  }
  return head.append(kEllipsis).append(tail);
}

double width_of(std::string_view text) {
  double width = 0;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if ((byte & 0xC0U) == 0x80U) continue;
    // From three bytes on characters may be as wide as the font is high.
    width += byte >= 0xE0U ? 1.0 : 0.56;
  }
  return width;
}

std::string fixed_text(double value, int decimals) {
  std::array<char, 352> text{};  // the largest double has 309 digits
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string number_text(double value, int decimals) {
  std::string shown = fixed_text(value, decimals);
  if (shown.find('.') != std::string::npos) {
    shown.erase(shown.find_last_not_of('0') + 1);
    if (shown.back() == '.') shown.pop_back();
  }
  return shown == "-0" ? "0" : shown;
}

}  // namespace routecap::cli
