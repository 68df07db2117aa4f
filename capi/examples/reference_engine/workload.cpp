// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <algorithm>

namespace engine {
namespace {

constexpr std::int64_t kSystemPrompts = 6;

}  // namespace

Workload::Workload(const Options& options, const Trace* trace, const WorkloadLimits& limits)
    : dp_size_(options.dp), limits_(limits), random_(static_cast<std::uint64_t>(options.seed)) {
  for (std::int64_t i = 0; i < kSystemPrompts; ++i) {
    std::vector<std::int32_t>& prompt =
        system_prompts_.emplace_back(static_cast<std::size_t>(random_.between(limits_.shortest_system_prompt, limits_.longest_system_prompt)));
    for (std::int32_t& token : prompt) token = static_cast<std::int32_t>(random_.below(kVocabulary));
  }
  std::int64_t arrival = 0;
  for (std::int64_t id = 0; id < options.requests; ++id) {
    auto request = std::make_unique<Request>();
    request->id = id;
    request->rank = id % dp_size_;
    request->arrival_step = arrival += random_.below(4);
    request->opted_in = random_.chance(80);
    request->sampling_seed = random_.next();
    if (trace != nullptr) {
      draw_traced(*request, at(trace->requests(), id % count(trace->requests())));
    } else {
      draw_synthetic(*request);
    }
    draw_incidents(*request);
    pending_.push_back(request.get());
    requests_.push_back(std::move(request));
  }
}

void Workload::draw_synthetic(Request& request) {
  request.prompt_tokens = random_.between(limits_.shortest_prompt, limits_.longest_prompt);
  request.new_tokens = random_.between(1, limits_.longest_answer);
}

void Workload::draw_traced(Request& request, const TraceRequest& recorded) {
  request.prompt_tokens = recorded.prompt_tokens;
  request.trace_begin = recorded.row_begin;
  request.trace_end = recorded.row_end;
  // The end of sequence is sampled behind the last recorded token: every recorded row was an input, so every one is asked for (R1).
  request.new_tokens = recorded.row_end - recorded.row_begin + 1;
}

void Workload::draw_incidents(Request& request) {
  if (request.id >= 2 * dp_size_ && random_.chance(20)) {
    // Routed to its parent's rank, where the prefix cache is.
    request.parent = request.rank + dp_size_ * random_.below(request.id / dp_size_);
    const Request& parent = *at(requests_, request.parent);
    if (parent.final_tokens() + request.final_tokens() > limits_.longest_conversation) request.parent = -1;
    if (request.parent >= 0) request.prompt_tokens += parent.final_tokens();
  }
  if (request.parent < 0 && random_.chance(15)) request.external_tokens = std::max<std::int64_t>(1, request.prompt_tokens / 3);
  if (random_.chance(8)) request.abort_at = random_.between(1, request.final_tokens() - 1);
}

void Workload::write_prompt(Request& request) const {
  Random words(request.sampling_seed);
  if (request.parent >= 0) {
    // An aborted parent has fewer tokens than it was meant to have; the rest is drawn as any other text.
    const Request& parent = *at(requests_, request.parent);
    const std::int64_t shared = std::min(parent.known_tokens, parent.final_tokens());
    for (std::int64_t i = 0; i < shared; ++i) request.append(at(parent.tokens, i));
  } else if (words.chance(70)) {
    const std::vector<std::int32_t>& prompt = at(system_prompts_, words.below(kSystemPrompts));
    const std::int64_t shared = std::min(count(prompt), request.prompt_tokens * 2 / 3);
    for (std::int64_t i = 0; i < shared; ++i) request.append({at(prompt, i), -1});
  }
  while (count(request.tokens) < request.prompt_tokens) request.append({static_cast<std::int32_t>(words.below(kVocabulary)), -1});
  request.known_tokens = count(request.tokens);
}

std::vector<Request*> Workload::arrivals(std::int64_t step) {
  std::vector<Request*> arrived;
  const auto ready = [&](const Request* request) {
    return request->arrival_step <= step && (request->parent < 0 || at(requests_, request->parent)->phase == Phase::kDone);
  };
  std::erase_if(pending_, [&](Request* request) {
    if (!ready(request)) return false;
    write_prompt(*request);
    arrived.push_back(request);
    return true;
  });
  return arrived;
}

}  // namespace engine
