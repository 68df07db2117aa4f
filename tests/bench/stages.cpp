// SPDX-License-Identifier: Apache-2.0
//
// The stages of a row through the public C API, in DeepSeek-V3's shape: 58 captured layers, K=8, E=256, 200,000 slots in random order, one thread.
#include "bench/allocations.h"
#include "bench/stage_engine.h"

namespace routecap_bench {
namespace {

double aim_of(std::int64_t tokens, double at_8192, double at_256) { return tokens == 8192 ? at_8192 : tokens == 256 ? at_256 : 0; }

void capture(benchmark::State& state) {
  StageEngine engine(state.range(0));
  measure(
      state, state.range(0), aim_of(state.range(0), 0.75, 1.0), [&] { engine.discard(); }, [&] { engine.capture_layers(); });
}

void end_forward(benchmark::State& state) {
  StageEngine engine(state.range(0));
  measure(
      state, state.range(0), aim_of(state.range(0), 0.5, 0.8),
      [&] {
        engine.destroy();
        engine.capture_same();
      },
      [&] { engine.end_forward(); });
}

void finalize_slots(benchmark::State& state, bool walk) {
  StageEngine engine(state.range(0));
  measure(
      state, state.range(0), walk ? 0 : aim_of(state.range(0), 0.45, 0.5),
      [&] {
        if (walk) engine.walk();
        engine.destroy();
        engine.capture_same();
        engine.end_forward();
        engine.copy_to_host();
      },
      [&] { engine.finalize(); });
}

void finalize(benchmark::State& state) { finalize_slots(state, false); }
void finalize_walk(benchmark::State& state) { finalize_slots(state, true); }

void read_into(benchmark::State& state) {
  StageEngine engine(state.range(0));
  engine.store();
  measure(
      state, state.range(0), aim_of(state.range(0), 0.5, 0.5), [] {}, [&] { engine.read(); });
}

void read_into_walk(benchmark::State& state) {
  StageEngine engine(state.range(0));
  for (std::int64_t stored = 0; stored < kSlots; stored += state.range(0)) {
    engine.walk();
    engine.store();
  }
  measure(
      state, state.range(0), 0, [&] { engine.walk(); }, [&] { engine.read(); });
}

/// 58 captures, end_forward, the copy, finalize and destroy; `stage_us` against `aim_us`, and what it allocated.
void whole_way(benchmark::State& state) {
  StageEngine engine(state.range(0));
  std::int64_t ways = 0;
  std::int64_t allocated = 0;
  measure(
      state, state.range(0), 0, [] {},
      [&] {
        const std::int64_t before = allocations();
        engine.store();
        allocated += allocations() - before;
        ++ways;
      });
  if (state.range(0) == 1) state.counters["aim_us"] = 4.0;
  if (allocations() >= 0) state.counters["allocations"] = static_cast<double>(allocated) / static_cast<double>(ways);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1)->Arg(64)->Arg(256)->Arg(8192)->UseManualTime()->Unit(benchmark::kMicrosecond)->MinTime(0.02);
}

BENCHMARK(capture)->Apply(sizes);
BENCHMARK(end_forward)->Apply(sizes);
BENCHMARK(finalize)->Apply(sizes);
BENCHMARK(finalize_walk)->Apply(sizes);
BENCHMARK(read_into)->Apply(sizes);
BENCHMARK(read_into_walk)->Apply(sizes);
BENCHMARK(whole_way)->Apply(sizes);

}  // namespace
}  // namespace routecap_bench

BENCHMARK_MAIN();
