// SPDX-License-Identifier: Apache-2.0
//
// What one rank runs next: admission, chunked prefill, decode, and who has to give up its KV when slots run out.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "forward.h"
#include "kv_slots.h"
#include "model.h"
#include "prefix_cache.h"
#include "support.h"
#include "verify.h"

namespace engine {

/// What the ranks agree on for a step in which somebody decodes: collectives need the same forward everywhere.
struct DecodePlan {
  bool verify = false;
  DraftShape shape = DraftShape::kChain;
};

class Scheduler {
 public:
  Scheduler(const EngineConfig& config, KvSlots& slots, PrefixCache& cache, std::uint64_t seed)
      : config_(config), slots_(slots), cache_(cache), random_(seed) {}

  void enqueue(Request& request) { waiting_.push_back(&request); }

  /// The rank's next forward; takes the slots of its rows. Prefill goes before decode.
  [[nodiscard]] Forward next(const DecodePlan& plan);

  /// A request's prompt is computed and its first token sampled.
  void start_decoding(Request& request);
  /// A request is over: it takes part in no forward that begins after this.
  void retire(Request& request);

  [[nodiscard]] bool idle() const { return waiting_.empty() && prefilling_.empty() && running_.empty() && swapped_.empty(); }
  [[nodiscard]] std::int64_t prefix_rows_reused() const { return prefix_rows_reused_; }
  [[nodiscard]] std::int64_t retractions() const { return retractions_; }
  [[nodiscard]] std::int64_t swaps() const { return swaps_; }

 private:
  void admit();
  void start(Request& request);
  void swap_in();
  [[nodiscard]] Forward prefill();
  [[nodiscard]] Forward decode(const DecodePlan& plan);
  /// Takes slots for a decoding request, from others that came after it if need be.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> slots_for_decode(std::int64_t index, std::int64_t wanted);
  void preempt(Request& request);
  bool swap_out(Request& request);
  /// Back to the queue; its KV is computed anew (R12).
  void retract(Request& request);

  const EngineConfig& config_;
  KvSlots& slots_;
  PrefixCache& cache_;
  Random random_;
  std::deque<Request*> waiting_;
  std::vector<Request*> prefilling_;
  std::vector<Request*> running_;
  std::deque<Request*> swapped_;
  std::int64_t prefix_rows_reused_ = 0;
  std::int64_t retractions_ = 0;
  std::int64_t swaps_ = 0;
};

}  // namespace engine
