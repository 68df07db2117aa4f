// SPDX-License-Identifier: Apache-2.0
#include "scheduler.h"

#include <algorithm>
#include <span>

namespace engine {
namespace {

/// A request whose last acceptance has not reached the host cannot give up its KV: how much of it there is would be a guess.
bool can_be_preempted(const Request* request) { return request->unaccepted_forwards == 0; }

std::span<const std::int64_t> own_slots(const Request& request) {
  return std::span(request.slots).subspan(static_cast<std::size_t>(request.cached_slots));
}

}  // namespace

Forward Scheduler::next(const DecodePlan& plan) {
  swap_in();
  if (random_.chance(3) && !running_.empty()) {
    // Somebody with a higher priority, somewhere: memory pressure alone would make this rare in a short run.
    Request* victim = at(running_, random_.below(count(running_)));
    if (can_be_preempted(victim)) preempt(*victim);
  }
  admit();
  Forward forward = prefill();
  if (forward.rows.empty()) forward = decode(plan);
  // Prompts that were begun together, or that wait for what is swapped out, can hold all slots with none left to finish: the last starts again.
  if (forward.rows.empty() && running_.empty() && count(prefilling_) + count(swapped_) > 1 && !prefilling_.empty()) retract(*prefilling_.back());
  return forward;
}

void Scheduler::admit() {
  std::int64_t promised = 0;
  for (const Request* request : prefilling_) promised += count(request->tokens) - count(request->slots);
  promised += count(running_) * config_.num_verify_tokens * 2;
  while (!waiting_.empty() && count(prefilling_) + count(running_) + count(swapped_) < config_.max_running_requests) {
    Request& request = *waiting_.front();
    const std::int64_t wanted = count(request.tokens) + config_.num_verify_tokens;
    const bool alone = prefilling_.empty() && running_.empty() && swapped_.empty();
    if (!alone && cache_.available_device() < promised + wanted) return;
    waiting_.pop_front();
    start(request);
    promised += wanted - count(request.slots);
  }
}

void Scheduler::start(Request& request) {
  cache_.match(request);
  prefix_rows_reused_ += count(request.slots);
  // KV that another machine computed: its slots are filled without a forward, so nothing would ever overwrite what they still show. This is
  // the one place where a release must not be forgotten (R8); the rows read as missing, as they are (R7).
  const std::int64_t external = std::min(request.external_tokens, count(request.tokens) - 1) - count(request.slots);
  if (external > 0) {
    if (const auto taken = cache_.take_device(external)) {
      slots_.release(*taken);
      request.slots.insert(request.slots.end(), taken->begin(), taken->end());
    }
  }
  request.external_tokens = 0;  // once; what is recomputed later is computed here
  request.phase = Phase::kPrefilling;
  prefilling_.push_back(&request);
}

Forward Scheduler::prefill() {
  Forward forward;
  std::int64_t budget = config_.chunked_prefill_size;
  for (Request* request : prefilling_) {
    const std::int64_t first = count(request->slots);
    const std::int64_t left = count(request->tokens) - first;
    const std::int64_t tokens = std::min({budget, left, cache_.available_device()});
    if (tokens == 0) break;
    const auto taken = cache_.take_device(tokens);
    if (!taken) break;
    for (std::int64_t i = first; i < first + tokens; ++i) forward.rows.push_back(request->row_source(i));
    forward.slots.insert(forward.slots.end(), taken->begin(), taken->end());
    if (tokens == left) forward.sampled_rows.push_back(static_cast<std::int32_t>(forward.tokens() - 1));
    forward.pieces.push_back({request, first, tokens});
    budget -= tokens;
  }
  if (!forward.rows.empty()) forward.kind = ForwardKind::kPrefill;
  return forward;
}

Forward Scheduler::decode(const DecodePlan& plan) {
  Forward forward;
  const std::int64_t rows = plan.verify ? config_.num_verify_tokens : 1;
  for (std::int64_t i = 0; i < count(running_); ++i) {
    Request& request = *at(running_, i);
    auto taken = slots_for_decode(i, rows);
    if (!taken) break;
    if (plan.verify) {
      propose(forward, request, std::move(*taken), plan.shape, random_);
      continue;
    }
    const std::int64_t last = count(request.tokens) - 1;
    forward.kind = ForwardKind::kDecode;
    forward.rows.push_back(request.row_source(last));
    forward.slots.push_back(taken->front());
    forward.pieces.push_back({&request, last, 1});
  }
  return forward;
}

std::optional<std::vector<std::int64_t>> Scheduler::slots_for_decode(std::int64_t index, std::int64_t wanted) {
  for (;;) {
    if (auto taken = cache_.take_device(wanted)) return taken;
    const auto victim = std::find_if(running_.rbegin(), running_.rend() - index - 1, can_be_preempted);
    if (victim == running_.rend() - index - 1) return std::nullopt;
    preempt(**victim);
  }
}

void Scheduler::start_decoding(Request& request) {
  std::erase(prefilling_, &request);
  running_.push_back(&request);
  request.phase = Phase::kRunning;
}

void Scheduler::retire(Request& request) {
  std::erase(prefilling_, &request);
  std::erase(running_, &request);
  request.phase = Phase::kFinishing;
}

void Scheduler::preempt(Request& request) {
  if (random_.chance(50) && swap_out(request)) return;
  retract(request);
}

bool Scheduler::swap_out(Request& request) {
  const auto host = cache_.take_host(count(own_slots(request)));
  if (!host) return false;
  // The last forward's rows may still be on their way to the store: they go along (R12). The cached prefix stays pinned where it is.
  slots_.move(own_slots(request), *host);
  std::ranges::copy(*host, request.slots.begin() + request.cached_slots);
  std::erase(running_, &request);
  request.phase = Phase::kSwapped;
  swapped_.push_back(&request);
  ++swaps_;
  return true;
}

void Scheduler::swap_in() {
  while (!swapped_.empty() && count(running_) < config_.max_running_requests) {
    Request& request = *swapped_.front();
    const std::int64_t wanted = count(own_slots(request));
    const bool alone = running_.empty() && prefilling_.empty();
    if (!alone && cache_.available_device() < wanted + config_.chunked_prefill_size) return;
    const auto device = cache_.take_device(wanted);
    if (!device) return;
    slots_.move(own_slots(request), *device);
    std::ranges::copy(*device, request.slots.begin() + request.cached_slots);
    swapped_.pop_front();
    request.phase = Phase::kRunning;
    running_.push_back(&request);
  }
}

void Scheduler::retract(Request& request) {
  // No release: whoever gets these slots next writes them before they are read, and forwards of ours that are still unsettled are older than
  // that write and lose against it, in whatever order they settle (R9, R10).
  slots_.give_back(own_slots(request));
  request.slots.resize(static_cast<std::size_t>(request.cached_slots));
  cache_.unpin(request);
  std::erase(prefilling_, &request);
  std::erase(running_, &request);
  request.phase = Phase::kWaiting;
  waiting_.push_front(&request);
  ++retractions_;
}

}  // namespace engine
