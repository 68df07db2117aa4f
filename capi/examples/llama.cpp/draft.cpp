// SPDX-License-Identifier: Apache-2.0
#include "draft.h"

#include <algorithm>
#include <utility>

#include "context.h"
#include "support.h"

namespace llama_demo {

using engine::at;

Draft::Draft(const Library& library, llama_model* model, const Config& config, RouterTap::Config tap)
    : library_(library),
      vocabulary_(config.vocabulary),
      tap_(library, std::move(tap)),
      context_(library.make_context(model, context_params(library, {.sequences = config.sequences,
                                                                    .cells = config.sequences * config.positions,
                                                                    .batch_tokens = config.batch_tokens,
                                                                    .micro_batch_tokens = config.batch_tokens,
                                                                    .tap = &tap_}))),
      batch_(library, config.batch_tokens),
      read_(static_cast<std::size_t>(config.sequences)) {}

void Draft::warm_up(llama_token token) {
  batch_.clear();
  batch_.add(token, 0, 0, true);
  batch_.decode(context_.get());
  library_.llama_memory_clear(library_.llama_get_memory(context_.get()), true);
  batch_.clear();
}

void Draft::propose(std::span<const Wish> wishes) {
  for (const Wish& wish : wishes) {
    for (std::int64_t i = at(read_, wish.sequence); i < std::ssize(wish.tokens); ++i) {
      add(at(wish.tokens, i), wish.sequence, i + 1 == std::ssize(wish.tokens) ? wish.proposed : nullptr);
    }
  }
  decode();
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (const Wish& wish : wishes) {
      if (std::ssize(*wish.proposed) >= wish.count) continue;
      add(wish.proposed->back(), wish.sequence, wish.proposed);
      is_more = true;
    }
    decode();
  }
}

void Draft::add(llama_token token, std::int32_t sequence, std::vector<llama_token>* proposed) {
  if (batch_.tokens() == batch_.capacity()) decode();
  const std::int32_t row = batch_.add(token, at(read_, sequence)++, sequence, proposed != nullptr);
  if (proposed != nullptr) wanted_.push_back({row, proposed});
}

void Draft::decode() {
  if (batch_.tokens() == 0) return;
  tap_.begin(batch_);
  batch_.decode(context_.get());
  tap_.end();
  for (const Wanted& wanted : wanted_) {
    const std::span logits(library_.llama_get_logits_ith(context_.get(), wanted.row), static_cast<std::size_t>(vocabulary_));
    wanted.proposed->push_back(static_cast<llama_token>(std::ranges::max_element(logits) - logits.begin()));
  }
  wanted_.clear();
  batch_.clear();
}

void Draft::keep(std::int32_t sequence, std::int32_t tokens) {
  if (at(read_, sequence) <= tokens) return;
  library_.llama_memory_seq_rm(library_.llama_get_memory(context_.get()), sequence, tokens, -1);
  at(read_, sequence) = tokens;
}

void Draft::copy(std::int32_t from, std::int32_t to, std::int32_t tokens) {
  const std::int32_t known = std::min(tokens, at(read_, from));
  library_.llama_memory_seq_cp(library_.llama_get_memory(context_.get()), from, to, 0, known);
  at(read_, to) = known;
}

}  // namespace llama_demo
