// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "commands.h"

namespace routecap::cli {

/// The parser with all commands, and what each of them does, in the order of `commands()`.
struct Program {
  std::unique_ptr<CLI::App> parser;
  std::vector<Action> actions;
};

Program make_program();

}  // namespace routecap::cli
