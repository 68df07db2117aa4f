// SPDX-License-Identifier: Apache-2.0
#include "help_format.h"

#include <algorithm>

#include "error.h"
#include "options.h"

namespace routecap::cli {
namespace {

constexpr std::size_t kColumn = 26;
constexpr std::size_t kWidth = 100;

/// Words of a text in lines of at most kWidth, each but the first behind `indent` blanks; the first begins at column `at`.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent) {
  std::string out;
  std::size_t column = at;
  bool first = true;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (!first && column + 1 + word.size() > kWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  return out;
}

std::string entry(const std::string& heading, const std::string& help) {
  std::string line = "  " + heading;
  if (line.size() + 2 > kColumn) {
    line += '\n' + std::string(kColumn, ' ');
  } else {
    line.append(kColumn - line.size(), ' ');
  }
  return line + wrapped(help, kColumn, kColumn) + '\n';
}

std::string help_of(const CLI::Option& option) {
  std::string help = option.get_description();
  const std::vector<std::string> words = words_of(option);
  if (!words.empty()) help += ": " + CLI::detail::join(words, ", ");
  return help;
}

}  // namespace

std::string option_heading(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true) + (option.get_expected_max() > 1 ? "..." : "");
  std::string heading;
  for (const std::string& name : option.get_snames()) heading += text_of(heading.empty() ? "" : ", ", '-', name);
  for (const std::string& name : option.get_lnames()) heading += text_of(heading.empty() ? "" : ", ", "--", name);
  const std::string placeholder = placeholder_of(option);
  return placeholder.empty() ? heading : heading + ' ' + placeholder;
}

std::string usage_line(const CLI::App& command, const std::string& name) {
  std::string line = name + " [OPTIONS]";
  for (const CLI::Option* option : command.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
    const std::string heading = option_heading(*option);
    line += option->get_required() ? ' ' + heading : " [" + heading + ']';
  }
  for (const CLI::Option* option : command.get_options([](const CLI::Option* one) { return one->nonpositional() && one->get_required(); })) {
    line += ' ' + option_heading(*option);
  }
  if (command.get_parent() == nullptr) line += " COMMAND";
  return line;
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const {
  std::string out = "usage: " + usage_line(*app, name.empty() ? app->get_name() : name) + "\n\n" + wrapped(app->get_description(), 0, 0) + '\n';
  const auto positionals = app->get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (!positionals.empty()) out += '\n';
  for (const CLI::Option* option : positionals) out += entry(option_heading(*option), help_of(*option));
  for (const std::string& group : app->get_groups()) {
    const auto options = app->get_options([&group](const CLI::Option* option) { return option->nonpositional() && option->get_group() == group; });
    if (group.empty() || options.empty()) continue;
    out += '\n' + group + ":\n";
    for (const CLI::Option* option : options) out += entry(option_heading(*option), help_of(*option));
  }
  std::string heading;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    if (command->get_group() != heading) out += '\n' + command->get_group() + ":\n";
    heading = command->get_group();
    out += entry(command->get_name(), command->get_description());
  }
  if (!app->get_footer().empty()) out += '\n' + app->get_footer() + '\n';
  return out;
}

}  // namespace routecap::cli
