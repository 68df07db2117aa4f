// SPDX-License-Identifier: Apache-2.0
//
// The one source that knows the library that reads command lines: its header alone takes longer to compile than most commands.
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "error.h"
#include "words.h"

namespace routecap::cli {
namespace {

void declare_flag(CLI::App& app, const std::string& names, Target target) {
  if (bool** const flag = std::get_if<bool*>(&target)) {
    app.add_flag(names, **flag);
  } else if (std::get<Answer>(target) == Answer::kHelp) {
    app.set_help_flag(names);
  } else {
    // What it says is the caller's.
    app.set_version_flag(names, std::string());
  }
}

CLI::Option& declare_value(CLI::App& app, const std::string& names, Target target) {
  const auto declare = [&app, &names](auto value) -> CLI::Option& {
    if constexpr (std::is_pointer_v<decltype(value)>) {
      return *app.add_option(names, *value);
    } else {
      throw std::logic_error("an answer is no value: " + names);
    }
  };
  return std::visit(declare, target);
}

void declare(CLI::App& app, const Parser& parser) {
  for (const Option& option : parser.options()) {
    const std::string names = joined(option.names, ",");
    if (option.is_flag()) {
      declare_flag(app, names, option.target);
      continue;
    }
    CLI::Option& declared = declare_value(app, names, option.target);
    declared.type_name(option.placeholder)->required(option.required);
    if (option.check) declared.check(CLI::Validator(option.check, ""));
    if (!option.words.empty()) declared.check(CLI::IsMember(option.words));
    if (option.repeated) {
      declared.expected(1)->take_all();
    } else if (option.least_values > 1) {
      declared.expected(option.least_values, -1);
    }
    if (parser.later_counts()) declared.multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  // Of options that may be declared later.
  for (const Option& option : parser.options()) {
    for (const std::string& other : option.needs) app.get_option(option.names.back())->needs(app.get_option(other));
    for (const std::string& other : option.excludes) app.get_option(option.names.back())->excludes(app.get_option(other));
  }
}

/// The command that stands on the line, if any.
const ProgramCommand* chosen_command(const Program& program, const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : program.find(chosen.front()->get_name());
}

/// One line about what cannot be taken.
[[noreturn]] void refuse_line(const CLI::ParseError& fault, const CLI::App& app, const ProgramCommand* command) {
  const std::string way_out = "; see `routecap help" + (command == nullptr ? "" : " " + command->name) + "`";
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    // What is required was looked for first; what is not known is the likelier reason.
    const std::string& first = unknown.front();
    if (first.starts_with('-')) refuse("there is no option '", first, "'", way_out);
    if (command == nullptr) refuse("there is no command '", first, "'", way_out);
    std::string takes;
    for (const Option& option : command->parser.options()) {
      if (option.is_argument()) takes += " " + option.names.front();
    }
    refuse(command->name, takes.empty() ? " takes no file" : " takes" + takes + " alone", ", '", first, "' is one too many", way_out);
  }
  if (command == nullptr && fault.get_name() == "RequiredError") refuse("a command is needed; `routecap help` lists them");
  refuse(fault.what(), way_out);
}

}  // namespace

CommandLine read_command_line(const Program& program, int argc, const char* const* argv) {
  CLI::App app(program.description, program.name);
  declare(app, program.parser);
  app.require_subcommand(1);
  for (const ProgramCommand& command : program.commands) declare(*app.add_subcommand(command.name), command.parser);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    const ProgramCommand* const command = chosen_command(program, app);
    if (end.get_exit_code() != 0) refuse_line(end, app, command);
    return {command, end.get_name() == "CallForVersion" ? Answer::kVersion : Answer::kHelp};
  }
  return {chosen_command(program, app), std::nullopt};
}

}  // namespace routecap::cli
