// SPDX-License-Identifier: Apache-2.0
//
// Shell completion, made from what the parser knows.
#include <algorithm>
#include <memory>

#include "commands.h"
#include "error.h"
#include "options.h"
#include "print.h"

namespace routecap::cli {
namespace {

bool takes_path(const std::string& placeholder) { return placeholder == "FILE" || placeholder == "FOLDER"; }

std::vector<const CLI::App*> shown_commands(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

/// Those of no group are shown nowhere.
std::vector<const CLI::Option*> named_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

/// All names of an option, with their dashes.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string joined_names(const CLI::App& command) {
  std::string all;
  for (const CLI::Option* option : named_options(command)) {
    for (const std::string& name : names_of(*option)) all += text_of(all.empty() ? "" : " ", name);
  }
  return all;
}

/// Words that stand where a command's first argument does, and are no files.
std::vector<std::string> argument_words(const CLI::App& program, const CLI::App& command) {
  if (command.get_name() == "help") {
    std::vector<std::string> names;
    for (const CLI::App* shown : shown_commands(program)) names.push_back(shown->get_name());
    return names;
  }
  const auto positionals = command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  return positionals.empty() ? std::vector<std::string>() : words_of(*positionals.front());
}

std::string bash(const CLI::App& program) {
  std::string out = R"(# bash completion of routecap
_routecap() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* ]] && { command=$word; break; }
  done
  local options='' values='' arguments=''
  case $command in
)";
  std::string commands;
  for (const CLI::App* command : shown_commands(program)) {
    commands += text_of(commands.empty() ? "" : " ", command->get_name());
    out += "    " + command->get_name() + ")\n      options='" + joined_names(*command) + "'\n";
    const std::vector<std::string> arguments = argument_words(program, *command);
    if (!arguments.empty()) out += "      arguments='" + CLI::detail::join(arguments, " ") + "'\n";
    out += "      case $previous in\n";
    for (const CLI::Option* option : named_options(*command)) {
      const std::string placeholder = placeholder_of(*option);
      if (placeholder.empty()) continue;
      const std::vector<std::string> words = words_of(*option);
      // A value that is neither a file nor one of some words cannot be completed.
      const std::string values = takes_path(placeholder) ? "@file" : words.empty() ? "@none" : CLI::detail::join(words, " ");
      out += "        " + CLI::detail::join(names_of(*option), " | ") + ") values='" + values + "' ;;\n";
    }
    out += "      esac\n      ;;\n";
  }
  out += "    '')\n      options='" + joined_names(program) + "'\n      arguments='" + commands + "'\n      ;;\n  esac\n";
  out += R"(  case $values in
    @none) COMPREPLY=() ;;
    @file) mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null ;;
    ?*) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current") ;;
    *)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      elif [[ -n $arguments ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$arguments" -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        compopt -o filenames 2>/dev/null
      fi
      ;;
  esac
}
complete -F _routecap routecap
)";
  return out;
}

/// A text between single quotes of a shell, without what _arguments and _describe give a meaning to.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char character : text) {
    if (character == '\'') {
      out += "'\\''";
    } else if (character == '[' || character == ']' || character == ':' || character == '\\') {
      out += '\\';
      out += character;
    } else {
      out += character;
    }
  }
  return out;
}

std::string zsh_option(const CLI::Option& option) {
  const std::vector<std::string> names = names_of(option);
  const std::string all = CLI::detail::join(names, " ");
  const std::string placeholder = placeholder_of(option);
  std::string action;
  if (!placeholder.empty()) {
    const std::vector<std::string> words = words_of(option);
    const std::string values = takes_path(placeholder) ? "_files" : words.empty() ? " " : "(" + CLI::detail::join(words, " ") + ")";
    action = ":" + zsh_text(placeholder) + ":" + values;
  }
  const std::string once = "(" + all + ")";
  const std::string help = zsh_text(option.get_description());
  const bool repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  std::string out;
  for (const std::string& name : names) {
    out += text_of("        '", repeats ? std::string("*") : once, name, '[', help, ']', action, "' \\\n");
  }
  return out;
}

std::string zsh(const CLI::App& program) {
  std::string out = "#compdef routecap\n\n_routecap() {\n  local -a commands\n  commands=(\n";
  for (const CLI::App* command : shown_commands(program)) {
    out += "    '" + command->get_name() + ":" + zsh_text(command->get_description()) + "'\n";
  }
  out += "  )\n  local state\n  _arguments -C \\\n";
  for (const CLI::Option* option : named_options(program)) out += zsh_option(*option);
  out += "        '1:command:->command' \\\n        '*::argument:->argument'\n";
  out += "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (const CLI::App* command : shown_commands(program)) {
    out += "        " + command->get_name() + ")\n          _arguments -s \\\n";
    for (const CLI::Option* option : named_options(*command)) out += zsh_option(*option);
    const std::vector<std::string> words = argument_words(program, *command);
    out += words.empty() ? "        '*:file:_files'\n" : "        '*:argument:(" + CLI::detail::join(words, " ") + ")'\n";
    out += "          ;;\n";
  }
  out += "      esac\n      ;;\n  esac\n}\n\n_routecap \"$@\"\n";
  return out;
}

std::string fish_text(const std::string& text) {
  std::string out;
  for (const char character : text) {
    if (character == '\'' || character == '\\') out += '\\';
    out += character;
  }
  return out;
}

void add_fish_option(std::string& out, const CLI::Option& option, const std::string& condition) {
  out += "complete -c routecap -n '" + condition + "'";
  for (const std::string& name : option.get_snames()) out += " -s " + name;
  for (const std::string& name : option.get_lnames()) out += " -l " + name;
  const std::string placeholder = placeholder_of(option);
  if (!placeholder.empty()) {
    const std::vector<std::string> words = words_of(option);
    if (takes_path(placeholder)) {
      out += " -r -F";
    } else if (words.empty()) {
      out += " -x";
    } else {
      out += " -x -a '" + CLI::detail::join(words, " ") + "'";
    }
  }
  out += " -d '" + fish_text(option.get_description()) + "'\n";
}

std::string fish(const CLI::App& program) {
  std::string out = "# fish completion of routecap\n";
  for (const CLI::App* command : shown_commands(program)) {
    out += "complete -c routecap -n __fish_use_subcommand -f -a " + command->get_name() + " -d '" + fish_text(command->get_description()) + "'\n";
  }
  for (const CLI::Option* option : named_options(program)) add_fish_option(out, *option, "__fish_use_subcommand");
  for (const CLI::App* command : shown_commands(program)) {
    const std::string condition = "__fish_seen_subcommand_from " + command->get_name();
    for (const CLI::Option* option : named_options(*command)) add_fish_option(out, *option, condition);
    const std::vector<std::string> words = argument_words(program, *command);
    if (!words.empty()) out += "complete -c routecap -n '" + condition + "' -f -a '" + CLI::detail::join(words, " ") + "'\n";
  }
  return out;
}

}  // namespace

Action setup_completion(CLI::App& parser) {
  auto shell = std::make_shared<std::string>();
  add_choice(parser, "SHELL", *shell, "a shell", "", {"bash", "zsh", "fish"})->required();
  return [shell, &parser] {
    const CLI::App& program = *parser.get_parent();
    print_text({}, *shell == "bash" ? bash(program) : *shell == "zsh" ? zsh(program) : fish(program));
    return kDone;
  };
}

}  // namespace routecap::cli
