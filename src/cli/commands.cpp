// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <array>

namespace routecap::cli {
namespace {

constexpr const char* kLook = "Look into a record";
constexpr const char* kMake = "Make a record of others";
constexpr const char* kProgram = "This program";

// A new command: declare its setup function in commands.h, write it in command_<name>.cpp, and add a line here. Help, manual and completion follow.
constexpr std::array kCommands{
    Command{"inspect", "show what a record holds", kLook, setup_inspect},
    Command{"help", "show the help of a command", kProgram, setup_help},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace routecap::cli
