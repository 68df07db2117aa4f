// SPDX-License-Identifier: Apache-2.0
//
// What the stages cost as the work grows: rows of a forward, layers, slots, blocks in flight, readers beside finalize, rows of a record. Lines of
// JSON; `packaging/run bench cost` makes tables and charts of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/cost_measure.h"
#include "bench/engine.h"

namespace routecap_bench {
namespace {

using Clock = std::chrono::steady_clock;
using routecap_test::Error;
using routecap_test::make;
using routecap_test::Output;
using routecap_test::Record;

/// `--quick`: the smaller half of every curve, to see that it runs.
bool quick = false;

std::vector<std::int64_t> points(std::vector<std::int64_t> all) {
  if (quick) all.resize((all.size() + 1) / 2);
  return all;
}

constexpr std::int64_t kSlotsOfAWalk = 200'000;

/// Every stage of a forward of so many tokens, slots walked in random order.
void stages(const char* curve, std::int64_t x, Engine& engine, Work& work, std::int64_t tokens, double units) {
  const Shape& shape = engine.shape();
  Output output;
  const std::int64_t* slots = nullptr;
  // An output that is dropped would leave its slots without a row (R33).
  const auto settle = [&] {
    if (!output) return;
    engine.copy_to_host(output);
    engine.finalize(output);
    output.reset();
  };
  const auto captured = [&] {
    settle();
    engine.discard();
    engine.capture(work.ids(), work.stride(), tokens);
  };
  const auto ended = [&] {
    captured();
    output = engine.end_forward(work.walk(tokens), tokens);
    engine.copy_to_host(output);
  };
  const auto next = [&] { slots = work.walk(tokens); };
  point(curve, "capture", x, microseconds([&] { engine.discard(); }, [&] { engine.capture(work.ids(), work.stride(), tokens); }), units, "us");
  point(curve, "end_forward", x, microseconds(captured, [&] { output = engine.end_forward(work.walk(tokens), tokens); }), units, "us");
  point(curve, "finalize", x, microseconds(ended, [&] { engine.finalize(output); }), units, "us");
  settle();
  engine.discard();
  std::vector<std::byte> ids(static_cast<std::size_t>(tokens * shape.layers * shape.top_k));
  std::vector<std::byte> validity(static_cast<std::size_t>((tokens + 7) / 8));
  point(curve, "read_into", x, microseconds(next, [&] { engine.read_into(slots, tokens, ids, validity); }), units, "us");
  std::string text(ids.size() * 2 + 64, '\0');
  point(curve, "encode from slots", x, microseconds(next, [&] { engine.encode(slots, tokens, RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, text); }), units,
        "us");
}

void rows_of_a_forward() {
  constexpr std::int64_t kMostTokens = 65536;
  Shape shape;
  shape.device_rows = quick ? 512 : kMostTokens;
  shape.slots = kSlotsOfAWalk;
  Engine engine(shape);
  Work work(shape, shape.device_rows);
  work.fill(engine, 4096 < shape.device_rows ? 4096 : shape.device_rows);
  for (std::int64_t tokens = 1; tokens <= shape.device_rows; tokens *= 2) stages("rows", tokens, engine, work, tokens, static_cast<double>(tokens));
}

void layers() {
  constexpr std::int64_t kTokens = 256;
  for (const std::int64_t count : points({1, 2, 4, 8, 16, 32, 64, 128})) {
    Shape shape;
    shape.layers = static_cast<std::int32_t>(count);
    shape.device_rows = kTokens;
    shape.slots = kSlotsOfAWalk;
    Engine engine(shape);
    Work work(shape, kTokens);
    work.fill(engine, kTokens);
    stages("layers", count, engine, work, kTokens, static_cast<double>(count));
  }
}

void slots() {
  constexpr std::int64_t kTokens = 256;
  for (const std::int64_t count : points({10'000, 100'000, 1'000'000, 10'000'000})) {
    Shape shape;
    shape.device_rows = kTokens;
    shape.slots = count;
    const std::int64_t wanted = count * (shape.layers * shape.top_k + 16);
    if (wanted + wanted / 2 > available_bytes()) {
      std::fprintf(stderr, "bench_cost: %lld slots need %lld MiB, which are not free: left out\n", static_cast<long long>(count),
                   static_cast<long long>(wanted >> 20));
      continue;
    }
    Work work(shape, kTokens);
    const std::int64_t before = resident_bytes();
    const Clock::time_point start = Clock::now();
    Engine engine(shape);
    const double created = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    const std::int64_t made = resident_bytes();
    work.fill(engine, kTokens);
    const auto slots = static_cast<double>(count);
    point("slots", "create and seal", count, created, 1, "microseconds");
    point("slots", "resident before any row", count, static_cast<double>(made - before), 1, "bytes");
    point("slots", "resident, every slot written", count, static_cast<double>(resident_bytes() - before), slots, "bytes");
    stages("slots", count, engine, work, kTokens, 1);
    Error error;
    point("slots", "release_all", count,
          microseconds([] {}, [&] { must(rcap_capturer_release_all(engine.capturer(), nullptr, error), "release_all", error); }), 1, "microseconds");
  }
}

/// A scheduler that keeps as many forwards in flight as there are blocks and settles the oldest when it needs one.
void depth() {
  constexpr std::int64_t kTokens = 256;
  for (const std::int64_t blocks : points({1, 2, 4, 8, 16})) {
    Shape shape;
    shape.device_rows = kTokens;
    shape.slots = kSlotsOfAWalk;
    shape.depth = static_cast<std::int32_t>(blocks);
    Engine engine(shape);
    Work work(shape, kTokens);
    work.fill(engine, kTokens);
    std::deque<Output> flying;
    const auto step = [&] {
      if (std::ssize(flying) == blocks) {
        engine.finalize(flying.front());
        flying.pop_front();
      }
      engine.capture(work.ids(), work.stride(), kTokens);
      flying.push_back(engine.end_forward(work.walk(kTokens), kTokens));
      engine.copy_to_host(flying.back());
    };
    point("depth", "decode step, the oldest finalized", blocks, microseconds([] {}, step), 1, "us");
    std::vector<std::byte> ids(static_cast<std::size_t>(kTokens * shape.layers * shape.top_k));
    std::vector<std::byte> validity(static_cast<std::size_t>(kTokens / 8));
    const std::int64_t* slots = nullptr;
    point("depth", "read_into beside forwards in flight", blocks,
          microseconds([&] { slots = work.walk(kTokens); }, [&] { engine.read_into(slots, kTokens, ids, validity); }), 1, "us");
    point("depth", "device and pinned memory", blocks, static_cast<double>(engine.plan().device_bytes + engine.plan().pinned_bytes),
          static_cast<double>(blocks), "bytes");
  }
}

/// Finalize on one thread while others read the same slots as fast as they can. With more threads than processors only the processor's time of the
/// finalizing thread says something.
void readers() {
  constexpr std::int64_t kTokens = 1024;
  constexpr std::int64_t kSlots = 16'384;
  for (const std::int64_t count : points({0, 1, 2, 4, 8})) {
    Shape shape;
    shape.device_rows = kTokens;
    shape.slots = kSlots;
    Engine engine(shape);
    Work work(shape, kTokens);
    work.fill(engine, kTokens);
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> read_rows{0};
    std::vector<std::thread> threads;
    for (std::int64_t reader = 0; reader < count; ++reader) {
      threads.emplace_back([&, reader] {
        auto layout = make<rcap_read_layout>();
        auto info = make<rcap_read_info>();
        layout.tokens = kTokens + 1;
        std::vector<std::byte> ids(static_cast<std::size_t>(kTokens * shape.layers * shape.top_k));
        std::vector<std::byte> validity(static_cast<std::size_t>(kTokens / 8));
        std::int64_t at = reader * kTokens % kSlots;
        Error error;
        while (!stop.load(std::memory_order_relaxed)) {
          must(rcap_capturer_read_into(engine.capturer(), &layout, work.order().data() + at, kTokens * 8, nullptr, 0, ids.data(), std::ssize(ids),
                                       nullptr, 0, validity.data(), std::ssize(validity), &info, error),
               "read_into", error);
          at = (at + kTokens) % kSlots;
          read_rows += kTokens;
        }
      });
    }
    const Clock::time_point start = Clock::now();
    std::vector<double> spent;
    while (spent.size() < 60 || std::chrono::duration<double>(Clock::now() - start).count() < (quick ? 0.1 : 1.0)) {
      engine.capture(work.ids(), work.stride(), kTokens);
      const Output output = engine.end_forward(work.walk(kTokens), kTokens);
      engine.copy_to_host(output);
      const double before = thread_microseconds();
      engine.finalize(output);
      spent.push_back(thread_microseconds() - before);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    std::sort(spent.begin(), spent.end());
    point("readers", "finalize, processor time, median", count, spent[spent.size() / 2], static_cast<double>(kTokens), "us");
    // With more threads than processors most calls begin with what others left in the caches; the fastest one does not.
    point("readers", "finalize, processor time, fastest", count, spent.front(), static_cast<double>(kTokens), "us");
    if (count > 0) point("readers", "rows read in a second", count, static_cast<double>(read_rows.load()) / seconds, 1, "rows");
  }
}

/// Records of a small shape, so that a million rows fit: 24 layers, 4 of 32 experts.
void records() {
  for (const std::int64_t rows : points({1'000, 10'000, 100'000, 1'000'000})) {
    Shape shape;
    shape.experts = 32;
    shape.top_k = 4;
    shape.layers = 24;
    shape.device_rows = 1024;
    shape.slots = rows;
    Engine engine(shape);
    Work work(shape, shape.device_rows);
    work.fill(engine, shape.device_rows);
    const auto units = static_cast<double>(rows);
    const auto nothing = [] {};
    Error error;
    const std::int64_t* slots = work.order().data();
    Record whole;
    point("records", "read", rows, microseconds(nothing, [&] { whole = engine.read(slots, rows); }), units, "us");
    std::string frame(static_cast<std::size_t>(rows * 110 + 65536), '\0');
    point("records", "encode, frame", rows, microseconds(nothing, [&] { engine.encode(whole.get(), RCAP_WIRE_FRAME, RCAP_DTYPE_NONE, frame); }),
          units, "us");
    const std::int64_t bytes = engine.encode(whole.get(), RCAP_WIRE_FRAME, RCAP_DTYPE_NONE, frame);
    std::string text(static_cast<std::size_t>(rows * 140 + 65536), '\0');
    point("records", "encode, base64", rows, microseconds(nothing, [&] { engine.encode(whole.get(), RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, text); }),
          units, "us");
    Record result;
    rcap_record* made = nullptr;
    point("records", "decode, frame", rows,
          microseconds([&] { result.reset(); },
                       [&] {
                         must(rcap_record_decode(RCAP_WIRE_FRAME, frame.data(), bytes, nullptr, nullptr, 0, &made, nullptr, error), "decode", error);
                         result.reset(made);
                       }),
          units, "us");
    const auto slice = [&](std::int64_t from, std::int64_t to) {
      must(rcap_record_slice(whole.get(), from, to, &made, error), "slice", error);
      return Record(made);
    };
    const Record first = slice(0, rows / 2);
    const Record second = slice(rows / 2, rows);
    point("records", "slice, half of it", rows, microseconds([&] { result.reset(); }, [&] { result = slice(rows / 4, rows / 4 + rows / 2); }), units,
          "us");
    point("records", "append", rows,
          microseconds([&] { result.reset(); },
                       [&] {
                         must(rcap_record_append(first.get(), second.get(), RCAP_OVERLAP_REFUSE, &made, error), "append", error);
                         result.reset(made);
                       }),
          units, "us");
    auto report = make<rcap_compare_report>();
    point("records", "compare", rows,
          microseconds(nothing, [&] { must(rcap_record_compare(whole.get(), result.get(), &report, nullptr, 0, error), "compare", error); }), units,
          "us");
    if (report.equal != 1) throw std::runtime_error("a record and its appended halves differ");
  }
}

int run(int argc, char** argv) {
  const std::vector<std::pair<std::string, void (*)()>> curves = {
      {"rows", rows_of_a_forward}, {"layers", layers}, {"slots", slots}, {"depth", depth}, {"readers", readers}, {"records", records}};
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool known = std::any_of(curves.begin(), curves.end(), [&](const auto& curve) { return curve.first == argument; });
    if (argument == "--quick") {
      quick = true;
    } else if (known) {
      wanted.push_back(argument);
    } else {
      std::fprintf(stderr, "bench_cost: '%s' is no curve; there are rows, layers, slots, depth, readers and records, and the option --quick\n",
                   argv[i]);
      return 2;
    }
  }
  for (const auto& [name, measure] : curves) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) measure();
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace routecap_bench

int main(int argc, char** argv) {
  try {
    return routecap_bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cost: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
