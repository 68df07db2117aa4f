// SPDX-License-Identifier: Apache-2.0
//
// Command line of the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "bench.h"
#include "model_file.h"
#include "server.h"

namespace llama_demo {

enum class Inject { kNothing, kNeighbourRows, kSameToken };

struct Options {
  std::string library;  // folder of llama.cpp's libraries
  std::string models = ".";
  Family family = Family::kQwen3Moe;
  std::int64_t requests = 24;
  std::int64_t seed = 1;
  ServerConfig server;
  Inject inject = Inject::kNothing;
  bool bench = false;
  bool wide = false;
  std::int32_t batch = 0;  // of the bench; 0 = 1, then 16
  std::int32_t rounds = 40;
  std::int32_t steps = 8;
  std::optional<Arm> arm;  // of the bench alone, for a profiler
  bool json = false;
  bool help = false;
};

/// One line about an option that cannot be.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws UsageError
[[nodiscard]] Options parse_options(std::span<const char* const> arguments);

[[nodiscard]] const char* help_text();

/// The models of a run: a family's target, and its draft.
[[nodiscard]] ModelShape target_shape(const Options& options);
[[nodiscard]] ModelShape draft_shape();

}  // namespace llama_demo
