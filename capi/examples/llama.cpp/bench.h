// SPDX-License-Identifier: Apache-2.0
//
// What capturing costs the engine: the same decode steps without a callback, with one that wants nothing, with one that makes the engine stop behind
// every router and does nothing there, and with routecap. The four take turns within every round, so that whatever else the machine does meets all of
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "library.h"
#include "model_file.h"

namespace llama_demo {

enum class Arm { kOff, kAsked, kSplit, kCapture };
inline constexpr std::array kArms = {Arm::kOff, Arm::kAsked, Arm::kSplit, Arm::kCapture};

struct BenchConfig {
  std::int32_t batch = 1;    // sequences that decode at once, one token each
  std::int32_t rounds = 40;  // every arm once in each
  std::int32_t steps = 8;    // decodes of one turn, of which the fastest counts
};

/// A ratio of speeds: its median over all rounds, and the interval that holds the true one with 95 %.
struct Ratio {
  double median = 0;
  double low = 0;
  double high = 0;
};

struct BenchResult {
  BenchConfig config;
  double tokens_per_second = 0;   // without a callback
  double step_microseconds = 0;   // without a callback, median
  Ratio asked;                    // speed with a callback that wants nothing, of the speed without one
  Ratio split;                    // with one that stops the engine, of the speed without one: the engine's own part
  Ratio ours;                     // with routecap, of the speed with one that stops the engine: our part
  Ratio capture;                  // with routecap, of the speed without a callback: all of it
  double asked_microseconds = 0;  // a step, median of the differences within a round
  double split_microseconds = 0;
  double ours_microseconds = 0;
};

/// @throws EngineError, engine::LibraryError
[[nodiscard]] BenchResult run_bench(const Library& library, const ModelShape& shape, llama_model* model, const BenchConfig& config);

/// Decodes `rounds * steps` times in one way alone, for a profiler. @throws EngineError, engine::LibraryError
void run_arm(const Library& library, const ModelShape& shape, llama_model* model, const BenchConfig& config, Arm arm);

}  // namespace llama_demo
