// SPDX-License-Identifier: Apache-2.0
//
// Help in the layout of this program.
#pragma once

#include <string>

#include "program.h"

namespace routecap::cli {

/// The program's options and the list of its commands.
std::string program_help(const Program& program);

/// A command's arguments and options.
std::string command_help(const ProgramCommand& command);

/// `-o, --output FILE` of an option, `FILE...` of an argument.
std::string option_heading(const Option& option);

/// What an option's help says, with the words that it takes.
std::string option_help(const Option& option);

/// `routecap [OPTIONS] COMMAND`.
std::string program_usage(const Program& program);

/// `merge [OPTIONS] PREFILL DECODE`.
std::string command_usage(const ProgramCommand& command);

}  // namespace routecap::cli
