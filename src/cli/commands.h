// SPDX-License-Identifier: Apache-2.0
//
// The list of commands. Each has a source file of its own, `command_<name>.cpp`, which defines its setup function.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

#include "exit_codes.h"

namespace routecap::cli {

/// Does a command's work, once its options are read.
using Action = std::function<ExitCode()>;

struct Command {
  const char* name;
  const char* summary;         ///< one line, for the list of commands
  const char* group;           ///< heading that it stands under in that list; empty = not shown
  Action (*setup)(CLI::App&);  ///< declares options on the command's own parser
};

/// All of them, in the order of `--help`.
std::span<const Command> commands();

Action setup_inspect(CLI::App& parser);
Action setup_validate(CLI::App& parser);
Action setup_convert(CLI::App& parser);
Action setup_slice(CLI::App& parser);
Action setup_concat(CLI::App& parser);
Action setup_merge(CLI::App& parser);
Action setup_stack(CLI::App& parser);
Action setup_interleave(CLI::App& parser);
Action setup_diff(CLI::App& parser);
Action setup_stats(CLI::App& parser);
Action setup_heatmap(CLI::App& parser);
Action setup_bench(CLI::App& parser);
Action setup_doctor(CLI::App& parser);
Action setup_demo(CLI::App& parser);
Action setup_help(CLI::App& parser);
Action setup_completion(CLI::App& parser);
Action setup_manual(CLI::App& parser);

}  // namespace routecap::cli
