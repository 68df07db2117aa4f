// SPDX-License-Identifier: Apache-2.0
//
// How commands declare options: plain data. It is what a command line is read by (command_line.h) and what help, manual and shell completion show.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace routecap::cli {

/// Why a text cannot be a value; empty where it can.
using Check = std::function<std::string(const std::string& text)>;

/// A check for whole numbers.
Check whole_number(std::int64_t least, std::int64_t most);

/// A check for numbers with or without a fraction, above `over` and up to `most`.
Check decimal_number(double over, double most);

/// What is asked for instead of a command's work.
enum class Answer : std::uint8_t { kHelp, kVersion };

/// Where a value goes that stands on the command line; the variable outlives the reading of it. A flag makes a bool true or asks for an answer.
using Target = std::variant<std::int32_t*, std::int64_t*, double*, std::string*, std::vector<std::string>*, bool*, Answer>;

/// Heading of the options of a command that belong to no group.
inline constexpr const char* kOwnGroup = "Options";

/// An option, or an argument that has a place instead of a name.
struct Option {
  std::vector<std::string> names;  ///< with their dashes, the short one first; of an argument the one name, as it is shown
  std::string help;
  Target target;
  std::string placeholder;         ///< for the value, in capitals; empty for flags and arguments
  Check check;                     ///< may be empty
  std::vector<std::string> words;  ///< those that the value is one of; empty: any that the check lets through
  std::string group = kOwnGroup;   ///< heading that it stands under; empty: shown nowhere
  bool required = false;
  int least_values = 1;   ///< of a list that stands behind each other
  bool repeated = false;  ///< a list whose values each stand behind the option's name, given again
  std::vector<std::string> needs;
  std::vector<std::string> excludes;  ///< this side alone suffices

  [[nodiscard]] bool has_name(std::string_view name) const;
  [[nodiscard]] bool is_argument() const { return !names.front().starts_with('-'); }
  [[nodiscard]] bool is_flag() const { return std::holds_alternative<bool*>(target) || std::holds_alternative<Answer>(target); }
  [[nodiscard]] bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
};

/// What stands behind the program's name, or behind a command's.
class Parser {
 public:
  /// An option with a value; an argument, where the name has no dash. What is returned may be added to.
  ///
  /// @param names  `-o,--output`, or one of the two, or `FILE`
  /// @param type   placeholder for the value, in capitals
  /// @param check  what the value must be; nothing if left out
  Option& add_value(std::string_view names, Target target, std::string help, std::string type, Check check = {});

  /// One whose value is one of a few words.
  Option& add_choice(std::string_view names, std::string* value, std::string help, std::string type, std::vector<std::string> words);

  /// One without a value. @param target  a bool or an answer
  Option& add_flag(std::string_view names, Target target, std::string help);

  /// The option or argument of a name; nothing where there is none.
  [[nodiscard]] const Option* find(std::string_view name) const;

  /// One that was declared before, to be added to.
  Option& option(std::string_view name);

  /// All of them, in the order of their declarations. References stay valid.
  [[nodiscard]] const std::deque<Option>& options() const { return options_; }

  /// Their groups, in the order of the first option of each.
  [[nodiscard]] std::vector<std::string> groups() const;

  /// Text behind the options.
  void footer(std::string text) { footer_ = std::move(text); }
  [[nodiscard]] const std::string& footer() const { return footer_; }

  /// Of an option given twice the later one counts; it is refused otherwise.
  void let_later_count() { later_counts_ = true; }
  [[nodiscard]] bool later_counts() const { return later_counts_; }

 private:
  std::deque<Option> options_;
  std::string footer_;
  bool later_counts_ = false;
};

/// Names of the forms of a record, in the library's order.
std::vector<std::string> form_names();
/// Names of the types that ids may have.
std::vector<std::string> id_dtype_names();

}  // namespace routecap::cli
