// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <algorithm>
#include <string>

#include "context.h"
#include "support.h"

namespace llama_demo {

using engine::at;
using engine::count;

Server::Server(const Library& library, const Models& models, const ServerConfig& config, const std::vector<Request>& requests)
    : library_(library),
      models_(models),
      config_(config),
      requests_(requests),
      positions_(longest(requests) + config.max_drafts + 1),
      slots_(config.sequences, positions_),
      capture_(library, *models.target_shape, models.draft_shape,
               {.batch_tokens = config.batch_tokens,
                .verify_tokens = config.max_drafts == 0 ? 0 : config.max_drafts + 1,
                .sequences = config.running,
                .num_slots = slots_.count(),
                .weights = config.weights,
                .prunes_last_layer = !config.all_outputs}),
      naive_gated_(models.target_shape->layers, models.target_shape->top_k, config.batch_tokens, slots_.count()),
      naive_open_(models.target_shape->layers, models.target_shape->top_k, config.batch_tokens, slots_.count()),
      tap_(library, target_tap()),
      context_(library.make_context(models.target, context_params(library, {.sequences = config.sequences,
                                                                            .cells = config.sequences * positions_,
                                                                            .batch_tokens = config.batch_tokens,
                                                                            .micro_batch_tokens = config.micro_batch_tokens,
                                                                            .tap = &tap_}))),
      batch_(library, config.batch_tokens),
      sequences_(static_cast<std::size_t>(config.sequences)),
      finished_(requests.size()) {
  if (config.batch_tokens < config.running * (config.max_drafts + 1)) {
    throw EngineError("a batch of " + std::to_string(config.batch_tokens) + " tokens does not hold " + std::to_string(config.running) +
                      " sequences with " + std::to_string(config.max_drafts) + " drafts each");
  }
  if (models.draft != nullptr) {
    draft_ = std::make_unique<Draft>(library, models.draft,
                                     Draft::Config{.sequences = config.sequences,
                                                   .positions = positions_,
                                                   .batch_tokens = config.batch_tokens,
                                                   .vocabulary = models.draft_shape->vocabulary},
                                     draft_tap());
  }
  for (std::int32_t id = 0; id < config.sequences; ++id) at(sequences_, id).id = id;
  for (const Request& request : requests) waiting_.push_back(&request);
}

RouterTap::Config Server::target_tap() {
  RouterTap::Config config;
  config.layers = models_.target_shape->moe_layers();
  if (config_.weights) config.weights_tensor = models_.target_shape->weights_tensor();
  config.prunes_last_layer = !config_.all_outputs;
  config.wants = [](std::size_t /*column*/) { return true; };
  config.take = [this](const RoutedRows& routed) {
    capture_.take(routed);
    naive_gated_.capture(routed.layer, capture_.ids(), routed.first_row, routed.row_ids);
    naive_open_.capture(routed.layer, capture_.ids(), routed.first_row, routed.row_ids);
  };
  return config;
}

RouterTap::Config Server::draft_tap() {
  RouterTap::Config config;
  config.layers = models_.draft_shape->moe_layers();
  // The gate travels with the tap (R19): where it is closed, the call is counted and the engine need not even stop. It stops here all the same, for
  // the naive capturer without a gate.
  config.wants = [this](std::size_t column) {
    capture_.take_draft(column);
    return true;
  };
  config.prunes_last_layer = true;
  config.take = [this](const RoutedRows& routed) {
    if (routed.layer >= models_.target_shape->layers || routed.topk->ne[0] != models_.target_shape->top_k) return;
    const std::size_t width = static_cast<std::size_t>(routed.topk->ne[0]) * sizeof(std::int32_t);
    draft_ids_.resize(static_cast<std::size_t>(routed.rows * routed.topk->ne[0]));
    library_.ggml_backend_tensor_get_2d(routed.topk, draft_ids_.data(), 0, width, static_cast<std::size_t>(routed.rows), routed.topk->nb[1], width);
    naive_open_.capture(routed.layer, draft_ids_, routed.first_row, routed.row_ids);
  };
  return config;
}

// The engine's first run touches every page and builds every graph. Its rows belong to nobody: the taps are closed.
void Server::warm_up() {
  batch_.clear();
  for (std::int32_t i = 0; i < config_.chunk; ++i) batch_.add(i % models_.target_shape->vocabulary, i, 0, true);
  batch_.decode(context_.get());
  library_.llama_memory_clear(library_.llama_get_memory(context_.get()), true);
  if (draft_ != nullptr) draft_->warm_up(0);
  totals_.warm_up_asked = tap_.asked_while_closed();
  const rcap_capturer_stats stats = capture_.stats();
  totals_.warm_up_captured = tap_.micro_batches() + stats.forwards + stats.rows_stored + stats.suppressed;
}

std::vector<Served> Server::run() {
  warm_up();
  std::vector<Served> served;
  while (count(served) < count(requests_)) {
    admit();
    step();
    finish(served);
  }
  totals_.micro_batches = tap_.micro_batches();
  totals_.rows_pruned = tap_.rows_pruned();
  return served;
}

void Server::admit() {
  // A later turn waits for the one before it; others pass it by.
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    const Request& request = **waiting;
    const bool is_ready = request.continues < 0 || !at(finished_, request.continues).empty();
    if (!is_ready) {
      ++waiting;
    } else if (admit(request)) {
      waiting = waiting_.erase(waiting);
    } else {
      return;
    }
  }
}

bool Server::has_room() const {
  return std::ranges::count_if(sequences_, [](const Sequence& sequence) { return sequence.is_running(); }) < config_.running;
}

bool Server::admit(const Request& request) {
  if (!has_room()) return false;
  std::vector<llama_token> prompt;
  if (request.continues >= 0) prompt = at(finished_, request.continues);
  prompt.insert(prompt.end(), request.prompt.begin(), request.prompt.end());

  std::int32_t common = 0;
  Sequence* prefix = best_prefix(prompt, &common);
  Sequence* sequence = place_for(prefix);
  if (sequence == nullptr) return false;
  if (sequence->is_used) remove(*sequence);
  if (sequence == prefix) prefix = nullptr;

  *sequence = Sequence{.id = sequence->id, .request = &request, .is_used = true, .tokens = std::move(prompt)};
  sequence->prompt = sequence->size();
  sequence->sampler = SamplerHandle(library_.llama_sampler_chain_init(library_.llama_sampler_chain_default_params()), library_.llama_sampler_free);
  library_.llama_sampler_chain_add(sequence->sampler.get(), library_.llama_sampler_init_temp(request.temperature));
  library_.llama_sampler_chain_add(sequence->sampler.get(), library_.llama_sampler_init_dist(request.seed));
  if (prefix != nullptr) take_over(*prefix, *sequence, common);
  if (sequence->prompt - sequence->past > config_.chunk) ++totals_.prompts_in_chunks;
  return true;
}

/// The sequence whose inputs begin most like the prompt. The prompt's last token is always read anew: its logits are wanted.
Server::Sequence* Server::best_prefix(const std::vector<llama_token>& prompt, std::int32_t* common) {
  constexpr std::int32_t kWorthWhile = 4;  // tokens
  Sequence* best = nullptr;
  *common = kWorthWhile - 1;
  for (Sequence& candidate : sequences_) {
    if (!candidate.is_used) continue;
    const auto limit = std::min<std::int64_t>(candidate.past, count(prompt) - 1);
    std::int32_t same = 0;
    while (same < limit && at(candidate.tokens, same) == at(prompt, same)) ++same;
    if (same <= *common) continue;
    best = &candidate;
    *common = same;
  }
  return best;
}

/// One that is free, else the one that has been over for the longest time; `spared` only where there is no other. Null: everything runs.
Server::Sequence* Server::place_for(const Sequence* spared) {
  Sequence* best = nullptr;
  const auto rank = [&](const Sequence& sequence) { return sequence.is_used ? sequence.over_since + (&sequence == spared ? INT64_MAX / 2 : 1) : 0; };
  for (Sequence& candidate : sequences_) {
    if (!candidate.is_running() && (best == nullptr || rank(candidate) < rank(*best))) best = &candidate;
  }
  return best;
}

void Server::take_over(Sequence& from, Sequence& to, std::int32_t tokens) {
  library_.llama_memory_seq_cp(library_.llama_get_memory(context_.get()), from.id, to.id, 0, tokens);
  if (draft_ != nullptr) draft_->copy(from.id, to.id, tokens);
  // The rows go with the KV (R12).
  const auto old_slots = slots_.slots(from.id, 0, tokens);
  const auto new_slots = slots_.slots(to.id, 0, tokens);
  capture_.copy(old_slots, new_slots);
  naive_gated_.copy(old_slots, new_slots);
  naive_open_.copy(old_slots, new_slots);
  to.past = tokens;
  to.has_last_layer.assign(from.has_last_layer.begin(), from.has_last_layer.begin() + tokens);
  to.last_forward = from.last_forward;
  totals_.prefix_rows_copied += tokens;
  totals_.generated_rows_copied += std::max(0, tokens - from.prompt);
}

void Server::fill_batch() {
  batch_.clear();
  parts_.clear();
  // Who decodes comes first: nobody waits for another's prompt.
  for (Sequence& sequence : sequences_) {
    if (!sequence.is_running() || sequence.is_reading()) continue;
    const std::int32_t first_row = batch_.add(sequence.tokens.back(), sequence.past, sequence.id, true);
    for (std::int32_t i = 0; i < count(sequence.drafts); ++i) batch_.add(at(sequence.drafts, i), sequence.past + 1 + i, sequence.id, true);
    parts_.push_back({&sequence, first_row, batch_.tokens() - first_row});
  }
  const bool has_decodes = !parts_.empty();
  bool has_prompts = false;
  for (Sequence& sequence : sequences_) {
    if (!sequence.is_running() || !sequence.is_reading()) continue;
    const std::int32_t tokens = std::min({config_.chunk, batch_.capacity() - batch_.tokens(), sequence.prompt - sequence.past});
    if (tokens <= 0) break;
    const std::int32_t first_row = batch_.tokens();
    for (std::int32_t position = sequence.past; position < sequence.past + tokens; ++position) {
      batch_.add(at(sequence.tokens, position), position, sequence.id, config_.all_outputs || position + 1 == sequence.prompt);
    }
    parts_.push_back({&sequence, first_row, tokens});
    has_prompts = true;
  }
  if (has_decodes && has_prompts) ++totals_.mixed_steps;
}

void Server::step() {
  fill_batch();
  tap_.begin(batch_);
  try {
    batch_.decode(context_.get());
    tap_.end();
  } catch (...) {
    capture_.discard_forward();
    throw;
  }
  ++totals_.steps;

  committed_rows_.clear();
  committed_slots_.clear();
  for (const Part& part : parts_) settle(part);
  const std::int64_t forward = capture_.end_forward(batch_.tokens(), committed_rows_, committed_slots_);
  for (const Part& part : parts_) part.sequence->last_forward = forward;

  // The draft runs before the step's results are handled, as it does where a scheduler works one step ahead.
  propose();
  naive_gated_.end_step(committed_rows_, committed_slots_);
  naive_open_.end_step(committed_rows_, committed_slots_);
}

void Server::commit(Sequence& sequence, std::int32_t row, std::int32_t position) {
  committed_rows_.push_back(row);
  committed_slots_.push_back(slots_.slot(sequence.id, position));
  sequence.has_last_layer.push_back(batch_.wants_logits(row) ? 1 : 0);
  sequence.past = position + 1;
}

/// Samples what the logits of a part allow, and says which of its rows count.
void Server::settle(const Part& part) {
  Sequence& sequence = *part.sequence;
  const std::int32_t first = sequence.past;
  if (sequence.is_reading()) {
    for (std::int32_t i = 0; i < part.tokens; ++i) commit(sequence, part.first_row + i, first + i);
    if (!sequence.is_reading()) {
      sequence.tokens.push_back(library_.llama_sampler_sample(sequence.sampler.get(), context_.get(), part.first_row + part.tokens - 1));
    }
    return;
  }
  // Row i had draft i - 1 as its input (row 0 the last token): it counts if the target sampled just that.
  for (std::int32_t i = 0; i < part.tokens; ++i) {
    const bool was_sampled = i == 0 || at(sequence.drafts, i - 1) == sequence.tokens.back();
    if (!was_sampled) break;
    commit(sequence, part.first_row + i, first + i);
    if (i > 0) ++totals_.drafts_accepted;
    if (sequence.generated() == sequence.request->new_tokens) {
      ++totals_.forwarded_past_the_end;
      break;
    }
    sequence.tokens.push_back(library_.llama_sampler_sample(sequence.sampler.get(), context_.get(), part.first_row + i));
  }
  const std::int32_t rejected = first + part.tokens - sequence.past;
  totals_.drafts_rejected += rejected;
  if (rejected > 0) remove_tail(sequence);
  if (draft_ != nullptr) draft_->keep(sequence.id, sequence.past);
  sequence.drafts.clear();
}

void Server::remove_tail(const Sequence& sequence) {
  if (!library_.llama_memory_seq_rm(library_.llama_get_memory(context_.get()), sequence.id, sequence.past, -1)) {
    throw EngineError("llama.cpp does not remove the tail of sequence " + std::to_string(sequence.id));
  }
}

void Server::propose() {
  if (draft_ == nullptr) return;
  std::vector<Draft::Wish> wishes;
  for (Sequence& sequence : sequences_) {
    if (!sequence.is_running() || sequence.is_reading() || sequence.request->drafts == 0) continue;
    const std::int32_t left = sequence.request->new_tokens - sequence.generated();
    if (left <= 0) continue;
    wishes.push_back({sequence.id, sequence.tokens, std::min(sequence.request->drafts, left), &sequence.drafts});
  }
  if (!wishes.empty()) draft_->propose(wishes);
}

}  // namespace llama_demo
