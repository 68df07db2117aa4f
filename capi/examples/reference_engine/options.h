// SPDX-License-Identifier: Apache-2.0
//
// Command line of the reference engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace engine {

class Accelerator;

enum class FinalizeMode { kCaller, kThread };

struct Options {
  std::int64_t requests = 160;
  std::int64_t seed = 1;
  std::int64_t dp = 4;
  std::int64_t depth = 3;
  FinalizeMode finalize = FinalizeMode::kCaller;
  std::string trace;   // empty: synthetic router
  std::string record;  // file for the record of the request with the most captured rows; empty: none
  bool weights = false;
  bool json = false;
  bool quiet = false;
  bool help = false;
  /// Spoils the first record behind the library's back, which the checker must notice: how the tests test the checker.
  bool inject_wrong_row = false;
  /// No option of the command line: a program that brings an accelerator sets it.
  Accelerator* accelerator = nullptr;
};

/// One line about an option that cannot be.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws UsageError
[[nodiscard]] Options parse_options(std::span<const char* const> arguments);

[[nodiscard]] const char* help_text();

}  // namespace engine
