// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "program.h"

namespace routecap::cli {

/// What a command line asks for.
struct CommandLine {
  const ProgramCommand* command = nullptr;  ///< nothing where help or version of the program itself is asked for
  std::optional<Answer> answer;             ///< instead of the command's work
};

/// Reads it into the variables of the options. Refuses one that is wrong.
CommandLine read_command_line(const Program& program, int argc, const char* const* argv);

}  // namespace routecap::cli
