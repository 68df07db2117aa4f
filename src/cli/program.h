// SPDX-License-Identifier: Apache-2.0
//
// The program as it describes itself: what it reads, and what help, manual and shell completion tell of it.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "options.h"

namespace routecap::cli {

/// A command with its options declared.
struct ProgramCommand {
  std::string name;
  std::string summary;  ///< one line
  std::string group;    ///< heading that it stands under; empty: shown nowhere
  Parser parser;
  Action action;
};

struct Program {
  Program();
  // Options point to members.
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() = default;

  /// The command of a name; nothing where there is none.
  [[nodiscard]] const ProgramCommand* find(std::string_view command) const;
  /// Those that are shown.
  [[nodiscard]] std::vector<const ProgramCommand*> shown() const;

  std::string name = "routecap";
  std::string description;
  Parser parser;                         ///< what stands before the command
  std::vector<ProgramCommand> commands;  ///< in the order of `routecap help`
  bool no_progress = false;              ///< an option
};

/// Versions of the command and of the library, in one line.
std::string version_text();

}  // namespace routecap::cli
