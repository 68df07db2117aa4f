// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <routecap/routecap.h>

#include <charconv>

#include "error.h"

namespace routecap::cli {

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const auto [behind, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc{} && behind == text.data() + text.size() && value >= least && value <= most) return {};
    return text_of("'", text, "' is no whole number from ", least, " to ", most);
  };
  return {check, ""};
}

CLI::Validator decimal_number(double over, double most) {
  const auto check = [over, most](const std::string& text) -> std::string {
    double value = 0;
    const auto [behind, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    // No number that is not one passes: it compares with nothing.
    if (status == std::errc{} && behind == text.data() + text.size() && value > over && value <= most) return {};
    return text_of("'", text, "' is no number above ", over, " and up to ", most);
  };
  return {check, ""};
}

CLI::Option* add_choice(CLI::App& parser, const std::string& names, std::string& value, const std::string& help, const char* type,
                        const std::vector<std::string>& words) {
  return add_value(parser, names, value, help, type, CLI::IsMember(words));
}

std::string placeholder_of(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(":{"));
}

std::vector<std::string> words_of(const CLI::Option& option) {
  // A choice's check describes itself as {one,other}.
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{");
  if (begin == std::string::npos || !type.ends_with('}')) return {};
  return CLI::detail::split(type.substr(begin + 2, type.size() - begin - 3), ',');
}

std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) names.emplace_back(rcap_wire_format_name(format));
  return names;
}

std::vector<std::string> id_dtype_names() { return {"uint8", "uint16", "int16", "int32", "int64"}; }

}  // namespace routecap::cli
