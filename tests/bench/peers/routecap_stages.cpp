// SPDX-License-Identifier: Apache-2.0
//
// The stages of a row through the public C API, on the data and in the order that the peers get, and rows of JSON with the peers' keys.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <routecap/routecap.h>

#include "bench/engine.h"
#include "bench/peers/stage_options.h"

namespace routecap_bench {
namespace {

using routecap_test::Output;
using routecap_test::Record;

constexpr int kWarm = 3;
constexpr std::int64_t kMostSets = 4096;  ///< as many as the peers walk through

enum class Order { kRandom, kSequential };
enum class Reach { kWalked, kReused };

const char* name(Order order) { return order == Order::kRandom ? "random" : "sequential"; }
const char* name(Reach reach) { return reach == Reach::kWalked ? "walked" : "reused"; }

/// One line of the table. `call` counts up over all rounds, so that a walk goes on where it was.
struct Stage {
  std::string name;
  const char* slots = nullptr;  ///< null: the stage has none
  const char* reach = nullptr;
  std::function<void(std::int64_t call)> prepare;
  std::function<void(std::int64_t call)> run;
  std::vector<double> microseconds;
  double best_round = std::numeric_limits<double>::infinity();
  std::int64_t calls = 0;
};

template <class T>
std::vector<T> read_file(const std::string& path, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file) throw std::runtime_error(path + " does not hold " + std::to_string(count) + " elements of " + std::to_string(sizeof(T)) + " bytes");
  return values;
}

void write_file(const std::string& path, const void* data, std::size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!file) throw std::runtime_error(path + " cannot be written");
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

/// One batch size on one capturer.
class Bench {
 public:
  Bench(const StageOptions& options, std::int64_t tokens, const std::vector<std::int32_t>& ids, const std::vector<std::int64_t>& random,
        rcap_backend* backend)
      : options_(options), tokens_(tokens), stride_(options.rows * options.shape.top_k), ids_(ids), random_(random), engine_(options.shape, backend) {
    for (std::int64_t slot = 0; slot < options.shape.slots; ++slot) sequential_.push_back(slot);
    const std::int64_t row = static_cast<std::int64_t>(options.shape.layers) * options.shape.top_k;
    read_ids_.resize(static_cast<std::size_t>(tokens * row));
    read_validity_.resize(static_cast<std::size_t>((tokens + 7) / 8));
    text_.resize(static_cast<std::size_t>(tokens * row * 6 + 4096));
    fill(Order::kSequential);
    fill(Order::kRandom);
  }

  /// Every slot gets the row that a walk through the order puts there, and what comes back from the slots is what the data say.
  void fill(Order order) {
    for (std::int64_t call = 0; call < sets(); ++call) engine_.store(ids_.data(), stride_, at(order, Reach::kWalked, call), tokens_);
    for (const std::int64_t call : {std::int64_t{0}, sets() / 2, sets() - 1}) {
      engine_.read_into(at(order, Reach::kWalked, call), tokens_, read_ids_, read_validity_);
      if (widened() != wanted()) throw std::runtime_error("rows read from " + std::string(name(order)) + " slots are not those captured");
    }
  }

  /// For the peers to compare with: the rows as int32 [n, layers, K], and the wire texts.
  void write_check() {
    const std::int64_t* slots = at(Order::kRandom, Reach::kReused, 0);
    engine_.read_into(slots, tokens_, read_ids_, read_validity_);
    const std::string stem = options_.check + "/n" + std::to_string(tokens_);
    const std::vector<std::int32_t> rows = widened();
    write_file(stem + ".ids", rows.data(), rows.size() * sizeof(std::int32_t));
    const auto write_text = [&](const char* ending, std::int32_t format, std::int32_t dtype) {
      const std::int64_t bytes = engine_.encode(slots, tokens_, format, dtype, text_);
      write_file(stem + ending, text_.data(), static_cast<std::size_t>(bytes));
    };
    write_text(".int32.text", RCAP_WIRE_SGLANG, RCAP_DTYPE_INT32);
    write_text(".uint8.text", RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8);
    write_text(".npy.text", RCAP_WIRE_VLLM, RCAP_DTYPE_NONE);
  }

  void measure() {
    add_stages();
    for (int round = 0; round < options_.rounds; ++round) {
      for (Stage& stage : stages_) run_round(stage);
    }
    for (Stage& stage : stages_) report(stage);
  }

  /// `"form": bytes`, of the whole batch.
  void report_wire() {
    const std::int64_t* slots = at(Order::kRandom, Reach::kWalked, 0);
    const auto size = [&](std::int32_t format, std::int32_t dtype) {
      return static_cast<long long>(engine_.encode(slots, tokens_, format, dtype, text_));
    };
    const long long frame = size(RCAP_WIRE_FRAME, RCAP_DTYPE_NONE);
    const long long frame_text = size(RCAP_WIRE_FRAME_BASE64, RCAP_DTYPE_NONE);
    const long long narrow = size(RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8);
    const long long wide = size(RCAP_WIRE_SGLANG, RCAP_DTYPE_INT32);
    const long long npy = size(RCAP_WIRE_VLLM, RCAP_DTYPE_NONE);
    std::printf(
        "{\"fact\": \"wire\", \"n\": %lld, \"bytes\": {\"frame\": %lld, \"frame-base64\": %lld, \"sglang uint8\": %lld, \"sglang int32\": %lld, "
        "\"vllm\": %lld}}\n",
        static_cast<long long>(tokens_), frame, frame_text, narrow, wide, npy);
  }

  [[nodiscard]] const Engine& engine() const { return engine_; }

 private:
  /// Calls until a walk is through the store.
  [[nodiscard]] std::int64_t sets() const { return std::max<std::int64_t>(1, std::min<std::int64_t>(options_.shape.slots / tokens_, kMostSets)); }

  /// The slots of one call: the next n of the order, or always the first n.
  [[nodiscard]] const std::int64_t* at(Order order, Reach reach, std::int64_t call) const {
    const std::vector<std::int64_t>& slots = order == Order::kRandom ? random_ : sequential_;
    return slots.data() + (reach == Reach::kReused ? 0 : call % sets() * tokens_);
  }

  [[nodiscard]] std::vector<std::int32_t> widened() const {
    std::vector<std::int32_t> rows;
    rows.reserve(read_ids_.size());
    for (const std::byte id : read_ids_) rows.push_back(static_cast<std::int32_t>(id));
    return rows;
  }

  [[nodiscard]] std::vector<std::int32_t> wanted() const {
    std::vector<std::int32_t> rows;
    rows.reserve(read_ids_.size());
    for (std::int64_t row = 0; row < tokens_; ++row) {
      for (std::int64_t layer = 0; layer < options_.shape.layers; ++layer) {
        const std::int32_t* cell = ids_.data() + layer * stride_ + row * options_.shape.top_k;
        rows.insert(rows.end(), cell, cell + options_.shape.top_k);
      }
    }
    return rows;
  }

  void add(std::string stage, const char* slots, const char* reach, std::function<void(std::int64_t)> prepare,
           std::function<void(std::int64_t)> run) {
    Stage made;
    made.name = std::move(stage);
    made.slots = slots;
    made.reach = reach;
    made.prepare = std::move(prepare);
    made.run = std::move(run);
    stages_.push_back(std::move(made));
  }

  void add_stages() {
    const auto nothing = [](std::int64_t) {};
    const auto captured = [this](std::int64_t) {
      settle();
      engine_.discard();
      engine_.capture(ids_.data(), stride_, tokens_);
    };
    add(
        "capture", nullptr, nullptr, [this](std::int64_t) { engine_.discard(); },
        [this](std::int64_t) { engine_.capture(ids_.data(), stride_, tokens_); });
    add("end_forward", nullptr, nullptr, captured,
        [this](std::int64_t call) { output_ = engine_.end_forward(at(Order::kRandom, Reach::kWalked, call), tokens_); });
    for (const Order order : {Order::kRandom, Order::kSequential}) {
      for (const Reach reach : {Reach::kWalked, Reach::kReused}) {
        const auto slots = [this, order, reach](std::int64_t call) { return at(order, reach, call); };
        add(
            "finalize", name(order), name(reach),
            [this, captured, slots](std::int64_t call) {
              captured(call);
              output_ = engine_.end_forward(slots(call), tokens_);
              engine_.copy_to_host(output_);
            },
            [this](std::int64_t) { engine_.finalize(output_); });
        add("commit", name(order), name(reach), captured, [this, slots](std::int64_t call) {
          output_ = engine_.end_forward(slots(call), tokens_);
          engine_.copy_to_host(output_);
          engine_.finalize(output_);
          output_.reset();
        });
        add(
            "step", name(order), name(reach), [this](std::int64_t) { engine_.discard(); },
            [this, slots](std::int64_t call) { engine_.store(ids_.data(), stride_, slots(call), tokens_); });
        add("read", name(order), name(reach), nothing,
            [this, slots](std::int64_t call) { engine_.read_into(slots(call), tokens_, read_ids_, read_validity_); });
        add("readback", name(order), name(reach), nothing,
            [this, slots](std::int64_t call) { engine_.encode(slots(call), tokens_, RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, text_); });
        add("readback_int32", name(order), name(reach), nothing,
            [this, slots](std::int64_t call) { engine_.encode(slots(call), tokens_, RCAP_WIRE_SGLANG, RCAP_DTYPE_INT32, text_); });
        add("readback_npy", name(order), name(reach), nothing,
            [this, slots](std::int64_t call) { engine_.encode(slots(call), tokens_, RCAP_WIRE_VLLM, RCAP_DTYPE_NONE, text_); });
      }
    }
    record_ = engine_.read(at(Order::kRandom, Reach::kReused, 0), tokens_);
    add("encode", nullptr, nullptr, nothing, [this](std::int64_t) { engine_.encode(record_.get(), RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, text_); });
    add("encode_npy", nullptr, nullptr, nothing, [this](std::int64_t) { engine_.encode(record_.get(), RCAP_WIRE_VLLM, RCAP_DTYPE_NONE, text_); });
  }

  /// An output that is dropped would leave its slots without a row (R33).
  void settle() {
    if (!output_) return;
    engine_.copy_to_host(output_);
    engine_.finalize(output_);
    output_.reset();
  }

  void run_round(Stage& stage) {
    using Clock = std::chrono::steady_clock;
    for (int warm = 0; warm < kWarm; ++warm) {
      stage.prepare(stage.calls);
      stage.run(stage.calls++);
    }
    std::vector<double> round;
    for (std::int64_t i = 0; i < options_.repetitions(tokens_); ++i) {
      stage.prepare(stage.calls);
      const Clock::time_point start = Clock::now();
      stage.run(stage.calls);
      const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
      ++stage.calls;
      round.push_back(spent.count());
    }
    settle();
    stage.microseconds.insert(stage.microseconds.end(), round.begin(), round.end());
    std::sort(round.begin(), round.end());
    stage.best_round = std::min(stage.best_round, quantile(round, 0.5));
  }

  void report(Stage& stage) const {
    std::vector<double>& times = stage.microseconds;
    std::sort(times.begin(), times.end());
    const auto quoted = [](const char* text) { return text == nullptr ? std::string("null") : '"' + std::string(text) + '"'; };
    std::printf(
        "{\"peer\": \"routecap-c\", \"stage\": \"%s\", \"n\": %lld, \"threads\": %d, \"slots\": %s, \"reach\": %s, \"median_us\": %.4f, "
        "\"best_round_us\": %.4f, \"min_us\": %.4f, \"p10_us\": %.4f, \"p90_us\": %.4f, \"max_us\": %.4f, \"reps\": %zu}\n",
        stage.name.c_str(), static_cast<long long>(tokens_), options_.threads, quoted(stage.slots).c_str(), quoted(stage.reach).c_str(),
        quantile(times, 0.5), stage.best_round, times.front(), quantile(times, 0.1), quantile(times, 0.9), times.back(), times.size());
  }

  const StageOptions& options_;
  std::int64_t tokens_;
  std::int64_t stride_;  ///< ids of one layer in the file
  const std::vector<std::int32_t>& ids_;
  const std::vector<std::int64_t>& random_;
  std::vector<std::int64_t> sequential_;
  Engine engine_;
  std::vector<std::byte> read_ids_;
  std::vector<std::byte> read_validity_;
  std::string text_;
  Output output_;
  Record record_;
  std::vector<Stage> stages_;
};

int run(const StageOptions& options) {
  const Shape& shape = options.shape;
  const auto ids = read_file<std::int32_t>(options.ids, static_cast<std::int64_t>(shape.layers) * options.rows * shape.top_k);
  const auto random = read_file<std::int64_t>(options.order, shape.slots);
  routecap_test::Backend backend;
  if (!options.backend.empty()) {
    routecap_test::Error error;
    auto choice = routecap_test::make<rcap_backend_options>();
    choice.threads = options.threads;
    rcap_backend* opened = nullptr;
    const rcap_status status = rcap_backend_open(options.backend.c_str(), &choice, &opened, error);
    if (status == RCAP_STATUS_NOT_FOUND) {
      std::fprintf(stderr, "bench_peers: %s\n", error.text().c_str());
      return StageOptions::kNoBackend;
    }
    must(status, "backend_open", error);
    backend.reset(opened);
  }
  auto build = routecap_test::make<rcap_build_info>();
  routecap_test::Error error;
  must(rcap_build_info_get(&build, error), "build_info", error);
  for (const std::int64_t tokens : options.tokens) {
    Bench bench(options, tokens, ids, random, backend.get());
    if (!options.check.empty()) bench.write_check();
    if (tokens == options.tokens.front()) {
      std::printf("{\"fact\": \"memory\", \"bytes_per_slot\": %lld, \"of_it_ids\": %lld}\n", static_cast<long long>(bench.engine().plan().slot_bytes),
                  static_cast<long long>(bench.engine().plan().slot_ids_bytes));
    }
    bench.report_wire();
    if (options.rounds > 0) bench.measure();
    std::fflush(stdout);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace routecap_bench

int main(int argc, char** argv) {
  try {
    return routecap_bench::run(routecap_bench::StageOptions::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_peers: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
