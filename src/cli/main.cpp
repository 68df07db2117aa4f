// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <string>

#include "command_line.h"
#include "error.h"
#include "help_format.h"
#include "interrupt.h"
#include "print.h"
#include "program.h"
#include "progress.h"

namespace routecap::cli {
namespace {

ExitCode run(int argc, const char* const* argv) {
  Program program;  // its options are written
  const CommandLine line = read_command_line(program, argc, argv);
  if (line.answer == Answer::kVersion) {
    print_text({}, version_text() + "\n");
    return kDone;
  }
  if (line.answer == Answer::kHelp) {
    print_text({}, line.command == nullptr ? program_help(program) : command_help(*line.command));
    return kDone;
  }
  if (program.no_progress) Progress::turn_off();
  return line.command->action();
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
