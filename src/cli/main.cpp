// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string>

#include "error.h"
#include "interrupt.h"
#include "print.h"
#include "program.h"

namespace routecap::cli {
namespace {

/// What a parse ended with: help and version are answers, the rest are refusals in one line.
ExitCode end_of_parse(const CLI::App& parser, const CLI::ParseError& end) {
  if (end.get_exit_code() == 0) {
    const auto chosen = parser.get_subcommands();
    if (end.get_name() == "CallForVersion") {
      print_text({}, std::string(end.what()) + "\n");
    } else if (chosen.empty()) {
      print_text({}, parser.help());
    } else {
      print_text({}, chosen.front()->help("routecap"));
    }
    return kDone;
  }
  const auto chosen = parser.get_subcommands();
  const std::vector<std::string> unknown = parser.remaining(true);
  if (!unknown.empty()) {
    // What is required was looked for first; what is not known is the likelier reason.
    if (!chosen.empty() && !unknown.front().starts_with('-')) {
      std::string takes;
      for (const CLI::Option* one : chosen.front()->get_options([](const CLI::Option* option) { return option->get_positional(); })) {
        takes += text_of(takes.empty() ? "" : " ", one->get_name(true));
      }
      const std::string name = chosen.front()->get_name();
      tell(text_of(name, takes.empty() ? " takes no file" : " takes " + takes + " alone", ", '", unknown.front(),
                   "' is one too many; see `routecap help ", name, "`"));
      return kRefused;
    }
    const bool command = chosen.empty() && !unknown.front().starts_with('-');
    tell(text_of(command ? "there is no command '" : "there is no option '", unknown.front(), "'; see `routecap help", chosen.empty() ? "" : " ",
                 chosen.empty() ? "" : chosen.front()->get_name(), "`"));
    return kRefused;
  }
  if (chosen.empty() && end.get_name() == "RequiredError") {
    tell("a command is needed; `routecap help` lists them");
    return kRefused;
  }
  tell(text_of(end.what(), "; see `routecap help", chosen.empty() ? "" : " ", chosen.empty() ? "" : chosen.front()->get_name(), "`"));
  return kRefused;
}

ExitCode run(int argc, const char* const* argv) {
  Program program = make_program();
  try {
    program.parser->parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return end_of_parse(*program.parser, end);
  }
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    if (program.parser->got_subcommand(commands()[i].name)) return program.actions[i]();
  }
  return kInternalError;
}

}  // namespace
}  // namespace routecap::cli

int main(int argc, char** argv) {
  using namespace routecap::cli;
  try {
    watch_signals();
    return run(argc, argv);
  } catch (const Failure& failure) {
    tell(failure.what());
    return failure.code();
  } catch (const std::bad_alloc&) {
    tell("out of memory");
    return kInputOutput;
  } catch (const std::exception& error) {
    tell(std::string("a bug in this program: ") + error.what());
    return kInternalError;
  }
}
