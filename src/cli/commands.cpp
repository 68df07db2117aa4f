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
    Command{"validate", "check what a record holds, and name the likely cause of what is wrong", kLook, setup_validate},
    Command{"diff", "compare two records", kLook, setup_diff},
    Command{"stats", "show how tokens are spread over the experts of each layer", kLook, setup_stats},
    Command{"heatmap", "draw the load of layers and experts as a picture", kLook, setup_heatmap},
    Command{"convert", "write a record in another form", kMake, setup_convert},
    Command{"slice", "cut a record to some token positions, tokens or layers", kMake, setup_slice},
    Command{"concat", "join records whose rows follow each other", kMake, setup_concat},
    Command{"merge", "join the records of a prefill and a decode engine", kMake, setup_merge},
    Command{"stack", "join the layers of pipeline stages", kMake, setup_stack},
    Command{"interleave", "join the token positions of context-parallel ranks", kMake, setup_interleave},
    Command{"demo", "serve made-up requests with the reference engine and check every row", kProgram, setup_demo},
    Command{"bench", "measure the stages of a row on this machine, beside memcpy", kProgram, setup_bench},
    Command{"doctor", "show the library, its backends and the limits of this machine, with what to do", kProgram, setup_doctor},
    Command{"completion", "print the completion of a shell", kProgram, setup_completion},
    Command{"manual", "print the manual in the form of man(7)", "", setup_manual},
    Command{"help", "show the help of a command", kProgram, setup_help},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace routecap::cli
