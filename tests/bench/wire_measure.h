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

/// `stage()` beside memcpys of `bytes`, and `MB/s` of `moved` bytes where it is not 0.
template <class Stage>
void beside_memcpy(benchmark::State& state, std::int64_t bytes, double aim, std::int64_t moved, const Stage& stage) {
  const double own = beside_memcpy(
      state, bytes, aim, thread_nanoseconds, [] {}, stage);
  if (moved != 0 && own > 0) state.counters["MB/s"] = static_cast<double>(moved) / own * 1000;
}

}  // namespace routecap_bench
