// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "bench/measure.h"

namespace routecap_bench {

/// Nanoseconds that this thread has run: what others take meanwhile does not count. Some stages here are longer than a scheduler's turn, a memcpy is
/// not, so that their ratio by the wall's clock would say how busy the machine is.
inline double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Runs `stage()` in rounds beside memcpys of `bytes`, both warm. Counters as `measure()` has them, and `MB/s` of `moved` bytes where it is not 0.
template <class Stage>
void beside_memcpy(benchmark::State& state, std::int64_t bytes, double aim, std::int64_t moved, const Stage& stage) {
  std::vector<char> from(static_cast<std::size_t>(bytes), 1);
  std::vector<char> to(static_cast<std::size_t>(bytes), 2);
  std::vector<double> copies;
  std::vector<double> stages;
  for (int warm = 0; warm < 3; ++warm) stage();
  for ([[maybe_unused]] auto _ : state) {
    double round = 0;
    for (int call = 0; call < kCallsPerRound; ++call) {
      const double start = thread_nanoseconds();
      std::memcpy(to.data(), from.data(), from.size());
      benchmark::ClobberMemory();
      copies.push_back(thread_nanoseconds() - start);
    }
    for (int call = 0; call < kCallsPerRound; ++call) {
      const double start = thread_nanoseconds();
      stage();
      benchmark::ClobberMemory();
      stages.push_back(thread_nanoseconds() - start);
      round += stages.back();
    }
    state.SetIterationTime(round / kCallsPerRound * 1e-9);
  }
  if (copies.empty()) return;
  const double copy = median(copies);
  const double own = median(stages);
  state.counters["memcpy_us"] = copy / 1000;
  state.counters["stage_us"] = own / 1000;
  state.counters["ratio"] = own / copy;
  state.counters["best"] = *std::min_element(stages.begin(), stages.end()) / *std::min_element(copies.begin(), copies.end());
  state.counters["aim"] = aim;
  if (moved != 0) state.counters["MB/s"] = static_cast<double>(moved) / own * 1000;
}

}  // namespace routecap_bench
