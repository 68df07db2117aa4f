// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace routecap::cli {

/// The parts of a text between the delimiters in it: one more than there are of these.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char delimiter);

/// Parts one behind the other, with the delimiter between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view delimiter);

}  // namespace routecap::cli
