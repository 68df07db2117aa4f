// SPDX-License-Identifier: Apache-2.0
//
// Shell completion, made from what the parser knows.
#include <memory>

#include "commands.h"
#include "error.h"
#include "print.h"
#include "program.h"
#include "words.h"

namespace routecap::cli {
namespace {

bool takes_path(const Option& option) { return option.placeholder == "FILE" || option.placeholder == "FOLDER"; }

/// Those of no group are shown nowhere.
std::vector<const Option*> named_options(const Parser& parser) {
  std::vector<const Option*> named;
  for (const Option& option : parser.options()) {
    if (!option.is_argument() && !option.group.empty()) named.push_back(&option);
  }
  return named;
}

std::string joined_names(const Parser& parser) {
  std::vector<std::string> all;
  for (const Option* option : named_options(parser)) all.insert(all.end(), option->names.begin(), option->names.end());
  return joined(all, " ");
}

std::vector<std::string> command_names(const Program& program) {
  std::vector<std::string> names;
  for (const ProgramCommand* command : program.shown()) names.push_back(command->name);
  return names;
}

/// Words that stand where a command's first argument does, and are no files.
std::vector<std::string> argument_words(const Program& program, const ProgramCommand& command) {
  if (command.name == "help") return command_names(program);
  for (const Option& option : command.parser.options()) {
    if (option.is_argument()) return option.words;
  }
  return {};
}

std::string bash(const Program& program) {
  std::string out = R"(# bash completion of routecap
_routecap() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* ]] && { command=$word; break; }
  done
  local options='' values='' arguments=''
  case $command in
)";
  for (const ProgramCommand* command : program.shown()) {
    out += "    " + command->name + ")\n      options='" + joined_names(command->parser) + "'\n";
    const std::vector<std::string> arguments = argument_words(program, *command);
    if (!arguments.empty()) out += "      arguments='" + joined(arguments, " ") + "'\n";
    out += "      case $previous in\n";
    for (const Option* option : named_options(command->parser)) {
      if (option->is_flag()) continue;
      // A value that is neither a file nor one of some words cannot be completed.
      const std::string values = takes_path(*option) ? "@file" : option->words.empty() ? "@none" : joined(option->words, " ");
      out += "        " + joined(option->names, " | ") + ") values='" + values + "' ;;\n";
    }
    out += "      esac\n      ;;\n";
  }
  out += "    '')\n      options='" + joined_names(program.parser) + "'\n      arguments='" + joined(command_names(program), " ") +
         "'\n      ;;\n  esac\n";
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

std::string zsh_option(const Option& option) {
  std::string action;
  if (!option.is_flag()) {
    const std::string values = takes_path(option) ? "_files" : option.words.empty() ? " " : "(" + joined(option.words, " ") + ")";
    action = ":" + zsh_text(option.placeholder) + ":" + values;
  }
  const std::string once = "(" + joined(option.names, " ") + ")";
  const std::string help = zsh_text(option.help);
  std::string out;
  for (const std::string& name : option.names) {
    out += text_of("        '", option.repeated ? std::string("*") : once, name, '[', help, ']', action, "' \\\n");
  }
  return out;
}

std::string zsh(const Program& program) {
  std::string out = "#compdef routecap\n\n_routecap() {\n  local -a commands\n  commands=(\n";
  for (const ProgramCommand* command : program.shown()) {
    out += "    '" + command->name + ":" + zsh_text(command->summary) + "'\n";
  }
  out += "  )\n  local state\n  _arguments -C \\\n";
  for (const Option* option : named_options(program.parser)) out += zsh_option(*option);
  out += "        '1:command:->command' \\\n        '*::argument:->argument'\n";
  out += "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (const ProgramCommand* command : program.shown()) {
    out += "        " + command->name + ")\n          _arguments -s \\\n";
    for (const Option* option : named_options(command->parser)) out += zsh_option(*option);
    const std::vector<std::string> words = argument_words(program, *command);
    out += words.empty() ? "        '*:file:_files'\n" : "        '*:argument:(" + joined(words, " ") + ")'\n";
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

void add_fish_option(std::string& out, const Option& option, const std::string& condition) {
  out += "complete -c routecap -n '" + condition + "'";
  for (const std::string& name : option.names) out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (takes_path(option)) {
    out += " -r -F";
  } else if (!option.words.empty()) {
    out += " -x -a '" + joined(option.words, " ") + "'";
  } else if (!option.is_flag()) {
    out += " -x";
  }
  out += " -d '" + fish_text(option.help) + "'\n";
}

std::string fish(const Program& program) {
  std::string out = "# fish completion of routecap\n";
  for (const ProgramCommand* command : program.shown()) {
    out += "complete -c routecap -n __fish_use_subcommand -f -a " + command->name + " -d '" + fish_text(command->summary) + "'\n";
  }
  for (const Option* option : named_options(program.parser)) add_fish_option(out, *option, "__fish_use_subcommand");
  for (const ProgramCommand* command : program.shown()) {
    const std::string condition = "__fish_seen_subcommand_from " + command->name;
    for (const Option* option : named_options(command->parser)) add_fish_option(out, *option, condition);
    const std::vector<std::string> words = argument_words(program, *command);
    if (!words.empty()) out += "complete -c routecap -n '" + condition + "' -f -a '" + joined(words, " ") + "'\n";
  }
  return out;
}

}  // namespace

Action setup_completion(Parser& parser) {
  auto shell = std::make_shared<std::string>();
  parser.add_choice("SHELL", shell.get(), "a shell", "", {"bash", "zsh", "fish"}).required = true;
  return [shell] {
    const Program program;
    print_text({}, *shell == "bash" ? bash(program) : *shell == "zsh" ? zsh(program) : fish(program));
    return kDone;
  };
}

}  // namespace routecap::cli
