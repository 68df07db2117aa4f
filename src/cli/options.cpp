// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <routecap/routecap.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "error.h"
#include "words.h"

namespace routecap::cli {
namespace {

template <class Number>
bool is_whole_text(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [behind, status] = std::from_chars(text.data(), end, value);
  return status == std::errc{} && behind == end;
}

}  // namespace

Check whole_number(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& text) -> std::string {
    std::int64_t value = 0;
    if (is_whole_text(text, value) && value >= least && value <= most) return {};
    return text_of("'", text, "' is no whole number from ", least, " to ", most);
  };
}

Check decimal_number(double over, double most) {
  return [over, most](const std::string& text) -> std::string {
    double value = 0;
    // No number that is not one passes: it compares with nothing.
    if (is_whole_text(text, value) && value > over && value <= most) return {};
    return text_of("'", text, "' is no number above ", over, " and up to ", most);
  };
}

bool Option::has_name(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

Option& Parser::add_value(std::string_view names, Target target, std::string help, std::string type, Check check) {
  Option& option = options_.emplace_back();
  option.names = split(names, ',');
  option.help = std::move(help);
  option.target = target;
  option.placeholder = std::move(type);
  option.check = std::move(check);
  return option;
}

Option& Parser::add_choice(std::string_view names, std::string* value, std::string help, std::string type, std::vector<std::string> words) {
  Option& option = add_value(names, value, std::move(help), std::move(type));
  option.words = std::move(words);
  return option;
}

Option& Parser::add_flag(std::string_view names, Target target, std::string help) { return add_value(names, target, std::move(help), ""); }

const Option* Parser::find(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(), [name](const Option& option) { return option.has_name(name); });
  return found == options_.end() ? nullptr : &*found;
}

Option& Parser::option(std::string_view name) {
  for (Option& option : options_) {
    if (option.has_name(name)) return option;
  }
  throw std::logic_error(text_of("no option ", name, " is declared"));
}

std::vector<std::string> Parser::groups() const {
  std::vector<std::string> groups;
  for (const Option& option : options_) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) names.emplace_back(rcap_wire_format_name(format));
  return names;
}

std::vector<std::string> id_dtype_names() { return {"uint8", "uint16", "int16", "int32", "int64"}; }

}  // namespace routecap::cli
