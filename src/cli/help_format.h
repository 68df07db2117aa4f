// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace routecap::cli {

/// Help in the layout of this program.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// `-o, --output FILE` of an option, `FILE...` of a positional argument.
std::string option_heading(const CLI::Option& option);

/// `routecap merge [OPTIONS] PREFILL DECODE`.
std::string usage_line(const CLI::App& command, const std::string& name);

}  // namespace routecap::cli
