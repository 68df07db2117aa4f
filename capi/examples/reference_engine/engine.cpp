// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>

namespace engine {
namespace {

/// Told apart from the target by its hash: another model routes the same tokens otherwise.
constexpr PrefixHash kTarget = 0;
constexpr PrefixHash kDraft = 0xdeadfa11c0ffee11ULL;

/// Far more steps than any run needs; a schedule that stands still ends here instead of never.
constexpr std::int64_t kMostIdleSteps = 20000;

EngineConfig engine_config(const Options& options) {
  EngineConfig config;
  config.dp_size = options.dp;
  config.pipeline_depth = options.depth;
  config.finalize = options.finalize;
  config.weights = options.weights;
  config.accelerator = options.accelerator;
  return config;
}

ModelShape model_shape(const Trace* trace) {
  return trace != nullptr ? traced_model(trace->model(), trace->layers(), trace->experts(), trace->top_k()) : deepseek_v3();
}

}  // namespace

Engine::Engine(const Options& options, const Trace* trace) : Engine(options, trace, model_shape(trace), engine_config(options), {}) {}

Engine::Engine(const Options& options, const ModelShape& shape, const EngineConfig& config, const WorkloadLimits& limits)
    : Engine(options, nullptr, shape, config, limits) {}

Engine::Engine(const Options& options, const Trace* trace, const ModelShape& shape, const EngineConfig& config, const WorkloadLimits& limits)
    : config_(config),
      shape_(shape),
      router_(shape_, trace),
      checker_(shape_, router_, config.weights),
      keeper_(!options.record.empty()),
      workload_(options, trace, limits),
      random_(static_cast<std::uint64_t>(options.seed) + 1) {
  for (std::int64_t rank = 0; rank < config_.dp_size; ++rank) {
    ranks_.push_back(std::make_unique<Rank>(shape_, config_, random_.next(), checker_, clocks_, keeper_));
  }
  if (options.inject_wrong_row) ranks_.front()->spoil_next_record();
  all_rows_.resize(static_cast<std::size_t>(ranks_.front()->taps().plan().device_rows));
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  warm_up();
}

/// Kernels are tuned and graphs recorded on rows that nobody's tokens stand in. Taps write those as well; afterwards they are forgotten.
void Engine::warm_up() {
  for (const std::int64_t batch_size : config_.graph_batch_sizes) {
    Batch batch;
    batch.geometry = padded(config_, std::vector<std::int64_t>(ranks_.size(), batch_size), config_.num_verify_tokens);
    batch.sources.resize(static_cast<std::size_t>(batch.geometry.rows));
    batch.is_padding.assign(batch.sources.size(), true);
    run_draft(batch, batch.geometry.rows);
    run_target(batch, shape_.num_layers());
    discard_forward();
  }
}

Outcome Engine::run(const std::function<void(std::int64_t)>& progress) {
  clocks_.restart();  // the warm-up is not the loop's
  const auto began = std::chrono::steady_clock::now();
  std::int64_t done = 0;
  std::int64_t idle_steps = 0;
  while (done < workload_.size()) {
    const std::int64_t forwards_before = forwards_;
    const std::int64_t newly_done = step();
    done += newly_done;
    idle_steps = forwards_ == forwards_before && newly_done == 0 ? idle_steps + 1 : 0;
    if (idle_steps > kMostIdleSteps) throw std::runtime_error("the schedule stands still at step " + std::to_string(step_));
    progress(done);
  }
  for (const auto& rank : ranks_) static_cast<void>(rank->drain());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const auto& rank : ranks_) rank->audit(draft_captures_);
  return outcome(seconds);
}

std::int64_t Engine::step() {
  for (Request* request : workload_.arrivals(step_)) at(ranks_, request->rank)->scheduler().enqueue(*request);
  ++step_;

  DecodePlan plan;
  plan.verify = random_.chance(85);
  plan.shape = random_.chance(50) ? DraftShape::kTree : DraftShape::kChain;
  std::vector<Forward> forwards;
  for (const auto& rank : ranks_) forwards.push_back(rank->scheduler().next(plan));
  const bool any_rows = std::ranges::any_of(forwards, [](const Forward& forward) { return forward.kind != ForwardKind::kIdle; });
  const bool any_verify = std::ranges::any_of(forwards, [](const Forward& forward) { return forward.kind == ForwardKind::kVerify; });

  Batch batch;
  if (any_rows) {
    ++forwards_;
    batch = gather(forwards);
    // The draft proposes one token a round for every request. Its tap is called like the target's, by code that knows nothing of gates.
    if (any_verify) {
      const std::int64_t draft_rows = std::min(batch.geometry.rows, config_.dp_size * config_.max_running_requests);
      for (std::int64_t round = 1; round < config_.num_verify_tokens; ++round) run_draft(batch, draft_rows);
    }
    if (random_.chance(3)) {
      // A forward that breaks off, out of memory say, and is tried again: what it captured so far would count for the next one (R27).
      run_target(batch, shape_.num_layers() / 2);
      discard_forward();
    }
    run_target(batch, shape_.num_layers());
    // The draft extends its own KV by the verified tokens, between the target's last layer and the moment its rows are staged.
    if (any_verify) run_draft(batch, batch.geometry.rows);
  }
  for (std::int64_t r = 0; r < config_.dp_size; ++r) {
    Rank& rank = *at(ranks_, r);
    rank.handle_late_acceptance();
    if (any_rows) rank.end_forward(std::move(at(forwards, r)), at(batch.geometry.ranks, r), batch.geometry.graph);
  }
  // From here on the next forward may overwrite the device cache (R30); nothing below has to be done before it begins.
  std::int64_t done = 0;
  for (const auto& rank : ranks_) done += rank->finish_step();
  return done;
}

Engine::Batch Engine::gather(std::span<const Forward> forwards) {
  const bool any_prefill = std::ranges::any_of(forwards, [](const Forward& forward) { return forward.kind == ForwardKind::kPrefill; });
  Batch batch;
  if (any_prefill || random_.chance(20)) {
    std::vector<std::int64_t> tokens;
    for (const Forward& forward : forwards) tokens.push_back(forward.tokens());
    batch.geometry = concatenated(config_, tokens);
  } else {
    std::vector<std::int64_t> batch_sizes;
    std::int64_t rows_per_request = 1;
    for (const Forward& forward : forwards) {
      batch_sizes.push_back(forward.batch_size());
      rows_per_request = std::max(rows_per_request, forward.group_rows);
    }
    batch.geometry = padded(config_, batch_sizes, rows_per_request);
  }
  batch.is_pruned = any_prefill;
  batch.is_halved = !batch.geometry.graph && random_.chance(20);
  batch.sources.resize(static_cast<std::size_t>(batch.geometry.rows));
  batch.is_padding.assign(batch.sources.size(), true);
  for (std::int64_t r = 0; r < config_.dp_size; ++r) {
    const Forward& forward = at(forwards, r);
    const std::int64_t first = at(batch.geometry.ranks, r).first_row;
    for (std::int64_t row = 0; row < forward.tokens(); ++row) {
      at(batch.sources, first + row) = at(forward.rows, row);
      at(batch.is_padding, first + row) = false;
      if (forward.kind != ForwardKind::kPrefill) batch.last_layer_rows.push_back(static_cast<std::int32_t>(first + row));
    }
    for (const std::int32_t row : forward.sampled_rows) batch.last_layer_rows.push_back(static_cast<std::int32_t>(first + row));
  }
  return batch;
}

void Engine::run_target(const Batch& batch, std::int64_t layers) {
  for (std::int64_t column = 0; column < layers; ++column) {
    const bool is_pruned = batch.is_pruned && column + 1 == shape_.num_layers();
    const auto rows = is_pruned ? std::span<const std::int32_t>(batch.last_layer_rows)
                                : std::span<const std::int32_t>(all_rows_).first(static_cast<std::size_t>(batch.geometry.rows));
    const TopK topk = route(batch, column, rows, kTarget);
    for (const auto& rank : ranks_) {
      // Each rank's process has its own capturer and its own copy of the gathered ids.
      const auto lap = clocks_.library.lap();
      if (is_pruned) {
        rank->taps().capture_rows(column, topk, rows);
      } else if (batch.is_halved) {
        rank->taps().capture_halves(column, topk);
      } else {
        rank->taps().capture(column, topk);
      }
    }
    const auto lap = clocks_.harness.lap();
    for (const auto& rank : ranks_) rank->naive().capture(at(shape_.moe_layers, column), topk, rows);
  }
}

void Engine::run_draft(const Batch& batch, std::int64_t rows) {
  const TopK topk = route(batch, 0, std::span<const std::int32_t>(all_rows_).first(static_cast<std::size_t>(rows)), kDraft);
  for (const auto& rank : ranks_) {
    const auto lap = clocks_.library.lap();
    rank->taps().capture_draft(topk);
  }
  ++draft_captures_;
  const auto lap = clocks_.harness.lap();
  for (const auto& rank : ranks_) rank->naive().capture(shape_.draft_layer, topk);
}

TopK Engine::route(const Batch& batch, std::int64_t column, std::span<const std::int32_t> rows, PrefixHash model) {
  const auto columns = static_cast<std::size_t>(shape_.columns());
  const auto top_k = static_cast<std::size_t>(shape_.top_k);
  ids_.resize(rows.size() * columns);
  if (config_.weights) weights_.resize(ids_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<std::int32_t> ids = std::span(ids_).subspan(i * columns, columns);
    if (at(batch.is_padding, rows[i])) {
      // What stands in rows that nobody's token is in: anything, and not even expert numbers.
      for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random_.next());
      continue;
    }
    RowSource source = at(batch.sources, rows[i]);
    if (model != kTarget) source = {source.prefix ^ model, -1};
    router_.route(source, static_cast<std::int32_t>(column), ids.first(top_k));
    // The fused shared expert: a column like any other to the kernel, and none of the K routed ones (R23).
    for (std::int32_t& id : ids.subspan(top_k)) id = shape_.num_experts;
    if (config_.weights) router_.weigh(source, static_cast<std::int32_t>(column), std::span(weights_).subspan(i * columns, top_k));
  }
  TopK topk;
  topk.ids = ids_;
  if (config_.weights) topk.weights = weights_;
  topk.columns = shape_.columns();
  return topk;
}

void Engine::discard_forward() {
  for (const auto& rank : ranks_) {
    const auto lap = clocks_.library.lap();
    rank->taps().discard_forward();
  }
}

Outcome Engine::outcome(double seconds) const {
  Outcome outcome;
  outcome.requests = workload_.size();
  outcome.rows = checker_.totals();
  outcome.record = keeper_.kept();
  outcome.forwards = forwards_;
  outcome.bytes_per_slot = ranks_.front()->taps().plan().slot_bytes;
  outcome.naive_bytes_per_slot = ranks_.front()->naive().bytes_per_slot();
  outcome.draft_captures_suppressed = draft_captures_ * config_.dp_size;
  for (const auto& rank : ranks_) {
    outcome.rejected_rows_dropped += rank->outputs().rejected_rows();
    outcome.outputs_out_of_order += rank->outputs().out_of_order();
    outcome.outputs_lost += rank->outputs().lost();
    outcome.prefix_rows_reused += rank->scheduler().prefix_rows_reused();
    outcome.retractions += rank->scheduler().retractions();
    outcome.swaps += rank->scheduler().swaps();
    outcome.rows_copied += rank->slots().rows_copied();
  }
  outcome.capture_share = clocks_.library.seconds() / std::max(seconds - clocks_.harness.seconds(), 1e-9);
  outcome.capture_milliseconds = 1e3 * clocks_.library.seconds() / static_cast<double>(std::max<std::int64_t>(1, forwards_ * config_.dp_size));
  return outcome;
}

}  // namespace engine
