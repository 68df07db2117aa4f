// SPDX-License-Identifier: Apache-2.0
//
// The list of commands. Each has a source file of its own, `command_<name>.cpp`, which defines its setup function.
#pragma once

#include <functional>
#include <span>

#include "exit_codes.h"

namespace routecap::cli {

class Parser;

/// Does a command's work, once its options are read.
using Action = std::function<ExitCode()>;

struct Command {
  const char* name;
  const char* summary;       ///< one line, for the list of commands
  const char* group;         ///< heading that it stands under in that list; empty = not shown
  Action (*setup)(Parser&);  ///< declares options on the command's own parser
};

/// All of them, in the order of `--help`.
std::span<const Command> commands();

Action setup_inspect(Parser& parser);
Action setup_validate(Parser& parser);
Action setup_convert(Parser& parser);
Action setup_slice(Parser& parser);
Action setup_concat(Parser& parser);
Action setup_merge(Parser& parser);
Action setup_stack(Parser& parser);
Action setup_interleave(Parser& parser);
Action setup_diff(Parser& parser);
Action setup_stats(Parser& parser);
Action setup_heatmap(Parser& parser);
Action setup_bench(Parser& parser);
Action setup_doctor(Parser& parser);
Action setup_demo(Parser& parser);
Action setup_help(Parser& parser);
Action setup_completion(Parser& parser);
Action setup_manual(Parser& parser);

}  // namespace routecap::cli
