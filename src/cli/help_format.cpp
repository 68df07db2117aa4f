// SPDX-License-Identifier: Apache-2.0
#include "help_format.h"

#include <vector>

#include "words.h"

namespace routecap::cli {
namespace {

constexpr std::size_t kColumn = 26;
constexpr std::size_t kWidth = 100;

/// Words of a text in lines of at most kWidth, each but the first behind `indent` blanks; the first begins at column `at`.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent) {
  std::string out;
  std::size_t column = at;
  bool first = true;
  for (const std::string& word : split(text, ' ')) {
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

/// What stands behind the name of the program or of a command.
std::string usage_of(const Parser& parser) {
  std::string line = " [OPTIONS]";
  for (const Option& option : parser.options()) {
    if (option.is_argument()) line += option.required ? ' ' + option_heading(option) : " [" + option_heading(option) + ']';
  }
  for (const Option& option : parser.options()) {
    if (!option.is_argument() && option.required) line += ' ' + option_heading(option);
  }
  return line;
}

std::string option_entry(const Option& option) { return entry(option_heading(option), option_help(option)); }

/// Arguments, then the options of each group.
std::string options_text(const Parser& parser) {
  std::string out;
  for (const Option& option : parser.options()) {
    if (option.is_argument()) out += (out.empty() ? "\n" : "") + option_entry(option);
  }
  for (const std::string& group : parser.groups()) {
    if (group.empty()) continue;
    std::string entries;
    for (const Option& option : parser.options()) {
      if (!option.is_argument() && option.group == group) entries += option_entry(option);
    }
    if (!entries.empty()) out.append("\n").append(group).append(":\n").append(entries);
  }
  return out;
}

std::string footer_text(const Parser& parser) { return parser.footer().empty() ? "" : '\n' + parser.footer() + '\n'; }

}  // namespace

std::string program_help(const Program& program) {
  std::string out = "usage: " + program_usage(program) + "\n\n" + wrapped(program.description, 0, 0) + '\n' + options_text(program.parser);
  std::string heading;
  for (const ProgramCommand* command : program.shown()) {
    if (command->group != heading) out += '\n' + command->group + ":\n";
    heading = command->group;
    out += entry(command->name, command->summary);
  }
  return out + footer_text(program.parser);
}

std::string command_help(const ProgramCommand& command) {
  return "usage: routecap " + command_usage(command) + "\n\n" + wrapped(command.summary, 0, 0) + '\n' + options_text(command.parser) +
         footer_text(command.parser);
}

std::string option_heading(const Option& option) {
  if (option.is_argument()) return option.names.front() + (option.is_list() ? "..." : "");
  return joined(option.names, ", ") + (option.placeholder.empty() ? "" : ' ' + option.placeholder);
}

std::string option_help(const Option& option) { return option.words.empty() ? option.help : option.help + ": " + joined(option.words, ", "); }

std::string program_usage(const Program& program) { return program.name + usage_of(program.parser) + " COMMAND"; }

std::string command_usage(const ProgramCommand& command) { return command.name + usage_of(command.parser); }

}  // namespace routecap::cli
