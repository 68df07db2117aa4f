// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <CLI/CLI.hpp>
#include <string>

#include "help_format.h"
#include "library.h"
#include "progress.h"

namespace routecap::cli {
namespace {

constexpr const char* kDescription =
    "routecap looks into, checks and converts records of which experts a Mixture-of-Experts model routed every token to.";

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 done, and validate found something, diff a difference or demo a wrong row;\n"
    "2 the command line or what an input holds is refused; 3 an input could not be read or an output not\n"
    "be written; 4 a bug.\n"
    "`routecap help COMMAND` shows a command's options; the manual is routecap(1).";

std::string version_text() {
  return text_of("routecap ", RCAP_VERSION_STRING, " (library ", rcap_version_string(), ", ABI ", rcap_abi_version(), ")");
}

}  // namespace

Program make_program() {
  Program program{std::make_unique<CLI::App>(kDescription, "routecap"), {}};
  CLI::App& parser = *program.parser;
  // Commands inherit it.
  parser.formatter(std::make_shared<HelpFormat>());
  parser.set_help_flag("-h,--help", "show this help");
  parser.set_version_flag("--version", version_text, "show the versions of the command and of the library");
  parser.add_flag_callback(
      "--no-progress", [] { Progress::turn_off(); }, "no bar for long work, also on a terminal; it stands before the command");
  parser.require_subcommand(1);
  for (const Command& command : commands()) {
    CLI::App& sub = *parser.add_subcommand(command.name, command.summary)->group(command.group);
    sub.set_help_flag("-h,--help", "show this help");
    program.actions.push_back(command.setup(sub));
  }
  parser.footer(kExitCodes);
  return program;
}

}  // namespace routecap::cli
