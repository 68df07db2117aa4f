// SPDX-License-Identifier: Apache-2.0
#include "words.h"

namespace routecap::cli {

std::vector<std::string> split(std::string_view text, char delimiter) {
  std::vector<std::string> parts;
  for (std::size_t at = text.find(delimiter); at != std::string_view::npos; at = text.find(delimiter)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::string_view delimiter) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) out += delimiter;
    out += part;
  }
  return out;
}

}  // namespace routecap::cli
