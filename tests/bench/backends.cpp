// SPDX-License-Identifier: Apache-2.0
//
// The stages of a row on the TBB backend beside the same stages on the host backend, in turns in one run, in DeepSeek-V3's shape, slots walked
// through in random order. The arguments are tokens and threads.
#include "bench/stage_engine.h"

namespace routecap_bench {
namespace {

/// The backend, kept open for the run; null where this machine has not that many processors.
rcap_backend* tbb_backend(std::int32_t threads) {
  auto options = made(&rcap_backend_options_init);
  options.threads = threads;
  auto error = made(&rcap_error_init);
  rcap_backend* backend = nullptr;
  const rcap_status status = rcap_backend_open("tbb", &options, &backend, &error);
  if (status == RCAP_STATUS_OUT_OF_RANGE) return nullptr;
  must(status, error);
  return backend;
}

/// Times `stage(engine)` of both engines in turns, after `prepare(engine)`. Counters: microseconds of both (medians), how many times the TBB backend
/// is as fast (of the medians, and of the fastest calls: what a machine with nothing else to do shows), and the aim.
template <class Prepare, class Stage>
void beside_host(benchmark::State& state, double aim, const Prepare& prepare, const Stage& stage) {
  rcap_backend* backend = tbb_backend(static_cast<std::int32_t>(state.range(1)));
  if (backend == nullptr) {
    state.SkipWithError("this machine has fewer processors");
    return;
  }
  {
    StageEngine host(state.range(0));
    StageEngine tbb(state.range(0), backend);
    const auto time = [&](StageEngine& engine, std::vector<double>& times) {
      for (int call = 0; call < kCallsPerRound; ++call) {
        prepare(engine);
        const double start = wall_nanoseconds();
        stage(engine);
        benchmark::ClobberMemory();
        times.push_back(wall_nanoseconds() - start);
      }
    };
    std::vector<double> warm;
    std::vector<double> on_host;
    std::vector<double> on_tbb;
    time(host, warm);
    time(tbb, warm);
    for ([[maybe_unused]] auto _ : state) {
      time(host, on_host);
      time(tbb, on_tbb);
      state.SetIterationTime(on_tbb.back() * 1e-9);
    }
    if (!on_host.empty()) {
      const double host_best = *std::min_element(on_host.begin(), on_host.end());
      const double tbb_best = *std::min_element(on_tbb.begin(), on_tbb.end());
      const double host_median = median(on_host);
      const double tbb_median = median(on_tbb);
      state.counters["host_us"] = host_median / 1000;
      state.counters["tbb_us"] = tbb_median / 1000;
      state.counters["times"] = host_median / tbb_median;
      state.counters["best"] = host_best / tbb_best;
      state.counters["aim"] = state.range(0) == 8192 && state.range(1) == 2 ? aim : 0;
    }
  }
  rcap_backend_destroy(backend);
}

void tbb_capture(benchmark::State& state) {
  beside_host(
      state, 1.7, [](StageEngine& engine) { engine.discard(); }, [](StageEngine& engine) { engine.capture_layers(); });
}

/// As from an engine that computes a layer in between: nobody is awake when a capture comes.
void tbb_capture_apart(benchmark::State& state) {
  beside_host(
      state, 0,
      [](StageEngine& engine) {
        engine.discard();
        const double until = wall_nanoseconds() + 200'000;
        while (wall_nanoseconds() < until) benchmark::DoNotOptimize(until);
      },
      [](StageEngine& engine) { engine.capture_layer(0); });
}

void tbb_end_forward(benchmark::State& state) {
  beside_host(
      state, 0,
      [](StageEngine& engine) {
        engine.destroy();
        engine.capture_layers();
      },
      [](StageEngine& engine) { engine.end_forward(); });
}

/// The part of end_forward that is divided. In front of it slots are checked, each number once (R14), by the caller's thread alone.
void tbb_snapshot(benchmark::State& state) {
  beside_host(
      state, 1.7,
      [](StageEngine& engine) {
        engine.destroy();
        engine.capture_layers();
      },
      [](StageEngine& engine) { engine.end_forward_without_slots(); });
}

void tbb_finalize(benchmark::State& state) {
  beside_host(
      state, 1.7,
      [](StageEngine& engine) {
        engine.destroy();
        engine.capture_layers();
        engine.end_forward();
        engine.copy_to_host();
      },
      [](StageEngine& engine) { engine.finalize(); });
}

void tbb_read_into(benchmark::State& state) {
  beside_host(
      state, 1.7, [](StageEngine& engine) { engine.store_once(); }, [](StageEngine& engine) { engine.read(); });
}

void tbb_whole_way(benchmark::State& state) {
  beside_host(
      state, 0, [](StageEngine&) {}, [](StageEngine& engine) { engine.store(); });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgsProduct({{1, 64, 256, 2048, 8192}, {1, 2}})->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(25);
}

BENCHMARK(tbb_capture)->Apply(sizes);
BENCHMARK(tbb_capture_apart)->Apply(sizes);
BENCHMARK(tbb_end_forward)->Apply(sizes);
BENCHMARK(tbb_snapshot)->Apply(sizes);
BENCHMARK(tbb_finalize)->Apply(sizes);
BENCHMARK(tbb_read_into)->Apply(sizes);
BENCHMARK(tbb_whole_way)->Apply(sizes);

}  // namespace
}  // namespace routecap_bench

BENCHMARK_MAIN();
