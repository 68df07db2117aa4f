// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>

#include "capture.h"
#include "context.h"
#include "support.h"

namespace llama_demo {
namespace {

using engine::at;
using engine::count;

constexpr std::int32_t kPrompt = 32;  // tokens that every sequence has behind it

/// Processor seconds of this thread, which is the only one that computes: on an idle machine the time that passes, on a busy one without the time
/// that others took.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// One way of running the engine, with a context of its own.
class Runner {
 public:
  Runner(const Library& library, const ModelShape& shape, llama_model* model, const BenchConfig& config, Arm arm)
      : library_(library),
        shape_(shape),
        config_(config),
        slots_(config.batch, kPrompt + config.steps),
        batch_(library, std::max(config.batch, kPrompt)) {
    if (arm == Arm::kCapture) {
      capture_ = std::make_unique<Capture>(
          library, shape, nullptr, Capture::Config{.batch_tokens = batch_.capacity(), .sequences = config.batch, .num_slots = slots_.count()});
    }
    if (arm != Arm::kOff) {
      RouterTap::Config tap;
      tap.layers = shape.moe_layers();
      tap.wants = [](std::size_t /*column*/) { return true; };
      tap.take = [this](const RoutedRows& routed) {
        if (capture_ != nullptr) capture_->take(routed);
      };
      tap_ = std::make_unique<RouterTap>(library, std::move(tap));
    }
    is_stopping_ = arm == Arm::kSplit || arm == Arm::kCapture;
    context_ = library.make_context(model, context_params(library, {.sequences = config.batch,
                                                                    .cells = static_cast<std::int32_t>(slots_.count()),
                                                                    .batch_tokens = batch_.capacity(),
                                                                    .micro_batch_tokens = batch_.capacity(),
                                                                    .tap = tap_.get()}));
    for (std::int32_t sequence = 0; sequence < config.batch; ++sequence) {
      batch_.clear();
      for (std::int32_t position = 0; position < kPrompt; ++position) batch_.add(token(sequence, position), position, sequence, true);
      decode();
    }
  }

  /// The decodes of one turn, always the same ones. @return seconds of the fastest: what else the machine does makes others slower, none faster
  [[gnu::noinline]] double turn() {  // a name that a profiler finds
    double fastest = INFINITY;
    for (std::int32_t step = 0; step < config_.steps; ++step) {
      const double began = now();
      batch_.clear();
      for (std::int32_t sequence = 0; sequence < config_.batch; ++sequence) {
        batch_.add(token(sequence, kPrompt + step), kPrompt + step, sequence, true);
      }
      decode();
      fastest = std::min(fastest, now() - began);
    }
    for (std::int32_t sequence = 0; sequence < config_.batch; ++sequence) {
      library_.llama_memory_seq_rm(library_.llama_get_memory(context_.get()), sequence, kPrompt, -1);
    }
    return fastest;
  }

 private:
  [[nodiscard]] llama_token token(std::int32_t sequence, std::int32_t position) const { return (sequence * 31 + position * 7) % shape_.vocabulary; }

  void decode() {
    if (is_stopping_) tap_->begin(batch_);
    batch_.decode(context_.get());
    if (is_stopping_) tap_->end();
    if (capture_ == nullptr) return;
    rows_.clear();
    targets_.clear();
    for (std::int32_t row = 0; row < batch_.tokens(); ++row) {
      rows_.push_back(row);
      targets_.push_back(slots_.slot(batch_.sequence(row), batch_.position(row)));
    }
    capture_->end_forward(batch_.tokens(), rows_, targets_);
  }

  const Library& library_;
  const ModelShape& shape_;
  BenchConfig config_;
  SlotMap slots_;
  Batch batch_;
  bool is_stopping_ = false;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<RouterTap> tap_;
  ContextHandle context_{nullptr, nullptr};
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> targets_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Speed of `slow` in parts of the speed of `fast`, from round to round.
Ratio ratio(const std::vector<double>& fast, const std::vector<double>& slow) {
  std::vector<double> values;
  for (std::size_t i = 0; i < fast.size(); ++i) values.push_back(fast[i] / slow[i]);
  std::ranges::sort(values);
  // The median lies between these two order statistics with a probability of 95 %, however the values are distributed.
  const auto rounds = static_cast<double>(values.size());
  const auto reach = static_cast<std::int64_t>(std::ceil(0.98 * std::sqrt(rounds)));
  const std::int64_t middle = count(values) / 2;
  return {median(values), at(values, std::max<std::int64_t>(middle - reach, 0)), at(values, std::min(middle + reach, count(values) - 1))};
}

}  // namespace

BenchResult run_bench(const Library& library, const ModelShape& shape, llama_model* model, const BenchConfig& config) {
  std::vector<std::unique_ptr<Runner>> runners;
  runners.reserve(kArms.size());
  for (const Arm arm : kArms) runners.push_back(std::make_unique<Runner>(library, shape, model, config, arm));
  for (const auto& runner : runners) runner->turn();

  std::array<std::vector<double>, kArms.size()> seconds;
  for (std::int32_t round = 0; round < config.rounds; ++round) {
    for (std::size_t i = 0; i < kArms.size(); ++i) {
      // Everyone is first, second, third and last equally often.
      const std::size_t arm = (i + static_cast<std::size_t>(round)) % kArms.size();
      seconds[arm].push_back(runners[arm]->turn());
    }
  }
  const auto of = [&](Arm arm) -> const std::vector<double>& { return seconds[static_cast<std::size_t>(arm)]; };
  const auto apart = [&](Arm fast, Arm slow) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < of(fast).size(); ++i) differences.push_back(1e6 * (of(slow)[i] - of(fast)[i]));
    return median(differences);
  };

  BenchResult result;
  result.config = config;
  result.step_microseconds = 1e6 * median(of(Arm::kOff));
  result.tokens_per_second = 1e6 * config.batch / result.step_microseconds;
  result.asked = ratio(of(Arm::kOff), of(Arm::kAsked));
  result.split = ratio(of(Arm::kOff), of(Arm::kSplit));
  result.ours = ratio(of(Arm::kSplit), of(Arm::kCapture));
  result.capture = ratio(of(Arm::kOff), of(Arm::kCapture));
  result.asked_microseconds = apart(Arm::kOff, Arm::kAsked);
  result.split_microseconds = apart(Arm::kAsked, Arm::kSplit);
  result.ours_microseconds = apart(Arm::kSplit, Arm::kCapture);
  return result;
}

void run_arm(const Library& library, const ModelShape& shape, llama_model* model, const BenchConfig& config, Arm arm) {
  Runner runner(library, shape, model, config, arm);
  for (std::int32_t round = 0; round < config.rounds; ++round) runner.turn();
}

}  // namespace llama_demo
