// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>

#include "library.h"

namespace routecap::cli {
namespace {

constexpr const char* kDescription =
    "routecap looks into, checks and converts records of which experts a Mixture-of-Experts model routed every token to.";

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 done, and validate found something, diff a difference or demo a wrong row;\n"
    "2 the command line or what an input holds is refused; 3 an input could not be read or an output not\n"
    "be written; 4 a bug.\n"
    "`routecap help COMMAND` shows a command's options; the manual is routecap(1).";

void add_help(Parser& parser) { parser.add_flag("-h,--help", Answer::kHelp, "show this help"); }

}  // namespace

Program::Program() : description(kDescription) {
  add_help(parser);
  parser.add_flag("--version", Answer::kVersion, "show the versions of the command and of the library");
  parser.add_flag("--no-progress", &no_progress, "no bar for long work, also on a terminal; it stands before the command");
  parser.footer(kExitCodes);
  for (const Command& command : cli::commands()) {
    ProgramCommand& declared = commands.emplace_back(ProgramCommand{command.name, command.summary, command.group, {}, {}});
    add_help(declared.parser);
    declared.action = command.setup(declared.parser);
  }
}

const ProgramCommand* Program::find(std::string_view command) const {
  const auto found = std::find_if(commands.begin(), commands.end(), [command](const ProgramCommand& one) { return one.name == command; });
  return found == commands.end() ? nullptr : &*found;
}

std::vector<const ProgramCommand*> Program::shown() const {
  std::vector<const ProgramCommand*> shown;
  for (const ProgramCommand& command : commands) {
    if (!command.group.empty()) shown.push_back(&command);
  }
  return shown;
}

std::string version_text() {
  return text_of("routecap ", RCAP_VERSION_STRING, " (library ", rcap_version_string(), ", ABI ", rcap_abi_version(), ")");
}

}  // namespace routecap::cli
