// SPDX-License-Identifier: Apache-2.0
//
// How commands declare options. What is declared here is what help, manual and shell completion show.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace routecap::cli {

/// A check for whole numbers.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// A check for numbers with or without a fraction, above `over` and up to `most`.
CLI::Validator decimal_number(double over, double most);

/// An option with a value.
///
/// @param type   placeholder for the value, in capitals
/// @param check  what the value must be; nothing if left out
template <class Value>
CLI::Option* add_value(CLI::App& parser, const std::string& names, Value& value, const std::string& help, const char* type,
                       const CLI::Validator& check = {}) {
  return parser.add_option(names, value, help)->type_name(type)->check(check);
}

/// An option whose value is one of a few words.
CLI::Option* add_choice(CLI::App& parser, const std::string& names, std::string& value, const std::string& help, const char* type,
                        const std::vector<std::string>& words);

/// The placeholder for an option's value; empty for a flag.
std::string placeholder_of(const CLI::Option& option);

/// The words of an option that was declared by `add_choice`; none for any other.
std::vector<std::string> words_of(const CLI::Option& option);

/// Names of the forms of a record, in the library's order.
std::vector<std::string> form_names();
/// Names of the types that ids may have.
std::vector<std::string> id_dtype_names();

}  // namespace routecap::cli
