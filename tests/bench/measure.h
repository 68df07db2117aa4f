// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

/// Every stage is measured next to a memcpy of the int32 ids that the forward's routers gave, in the same run: on a shared or throttled machine the
/// ratio stays meaningful where times do not.
namespace routecap_bench {

constexpr std::int64_t kLayers = 58;  ///< DeepSeek-V3: MoE layers
constexpr std::int64_t kTopK = 8;
constexpr std::int32_t kExperts = 256;
constexpr std::int64_t kSlots = 200000;
constexpr std::int64_t kDeviceRows = 8192;

/// Calls in a row, so that each finds the caches as the one before it left them.
constexpr int kCallsPerRound = 9;

/// Nanoseconds by the wall's clock.
inline double wall_nanoseconds() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

inline double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs `prepare(); timed: stage();` in rounds, beside memcpys of `bytes`, timed by `now()` in nanoseconds.
///
/// Counters: `memcpy_us`, `stage_us` (medians), `ratio` (of these), `best` (ratio of the fastest of both: what a machine with nothing else to do
/// shows), `aim` (largest ratio that the project wants, 0 = none stated).
///
/// @return median of the stage in nanoseconds
template <class Now, class Prepare, class Stage>
double beside_memcpy(benchmark::State& state, std::int64_t bytes, double aim, const Now& now, const Prepare& prepare, const Stage& stage) {
  std::vector<char> from(static_cast<std::size_t>(bytes), 1);
  std::vector<char> to(static_cast<std::size_t>(bytes), 2);
  std::vector<double> copies;
  std::vector<double> stages;
  for (int warm = 0; warm < 3; ++warm) {
    prepare();
    stage();
  }
  for ([[maybe_unused]] auto _ : state) {
    double round = 0;
    for (int call = 0; call < kCallsPerRound; ++call) {
      const double start = now();
      std::memcpy(to.data(), from.data(), from.size());
      benchmark::ClobberMemory();
      copies.push_back(now() - start);
    }
    for (int call = 0; call < kCallsPerRound; ++call) {
      prepare();
      const double start = now();
      stage();
      benchmark::ClobberMemory();
      stages.push_back(now() - start);
      round += stages.back();
    }
    state.SetIterationTime(round / kCallsPerRound * 1e-9);
  }
  if (copies.empty()) return 0;
  const double copy = median(copies);
  const double own = median(stages);
  state.counters["memcpy_us"] = copy / 1000;
  state.counters["stage_us"] = own / 1000;
  state.counters["ratio"] = own / copy;
  state.counters["best"] = *std::min_element(stages.begin(), stages.end()) / *std::min_element(copies.begin(), copies.end());
  state.counters["aim"] = aim;
  return own;
}

/// A stage of `tokens` tokens beside memcpys of their int32 ids.
template <class Prepare, class Stage>
void measure(benchmark::State& state, std::int64_t tokens, double aim, const Prepare& prepare, const Stage& stage) {
  beside_memcpy(state, kLayers * tokens * kTopK * 4, aim, wall_nanoseconds, prepare, stage);
}

}  // namespace routecap_bench
