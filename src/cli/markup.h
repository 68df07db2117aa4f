// SPDX-License-Identifier: Apache-2.0
//
// Text as it may stand in SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace routecap::cli {

/// Any bytes as UTF-8 that XML allows: what is neither becomes U+FFFD.
[[nodiscard]] std::string printable(std::string_view bytes);

/// Text with the characters escaped that mean something in markup, in attributes too. @param text  printable
[[nodiscard]] std::string escaped(std::string_view text);

/// At most `most` characters (>= 8); what is too long loses its middle. @param text  printable
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

/// How wide text will be in a sans-serif font, roughly, in units of the font's size; rather too much than too little.
[[nodiscard]] double width_of(std::string_view text);

/// A number for a reader: up to `decimals` places, without zeros at its end.
[[nodiscard]] std::string number_text(double value, int decimals);

/// The same with exactly `decimals` places, for columns.
[[nodiscard]] std::string fixed_text(double value, int decimals);

}  // namespace routecap::cli
