// SPDX-License-Identifier: Apache-2.0
//
// One request on its way through the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "router.h"
#include "support.h"

namespace engine {

enum class Phase {
  kWaiting,     // not admitted yet, or retracted: holds no KV
  kPrefilling,  // some of its tokens still have to be computed
  kRunning,     // every token but the last has KV; decodes
  kSwapped,     // as running, with its own KV in the host pool
  kFinishing,   // over; holds its KV until its record has been read
  kDone
};

struct Request {
  // What the client sent, and what the schedule has in store for it.
  std::int64_t id = 0;
  std::int64_t rank = 0;  // data-parallel rank that serves it
  std::int64_t arrival_step = 0;
  bool opted_in = true;      // wants its routed experts
  std::int64_t parent = -1;  // request whose whole text this one's prompt begins with, -1 = none
  std::int64_t prompt_tokens = 0;
  std::int64_t new_tokens = 0;       // tokens until its end of sequence
  std::int64_t abort_at = -1;        // the client goes away once so many tokens have KV, -1 = it stays
  std::int64_t external_tokens = 0;  // leading tokens whose KV arrives from another machine, without a forward here
  std::uint64_t sampling_seed = 0;
  std::int64_t trace_begin = -1;  // recorded rows of its generated tokens, -1 = none
  std::int64_t trace_end = -1;

  // Its tokens as the accelerator has them. The last one was sampled and has no KV yet.
  std::vector<Token> tokens;
  std::vector<PrefixHash> prefixes;  // of tokens 0 .. i
  /// KV slot of each computed token, in token order: all that routecap wants to know at the end.
  std::vector<std::int64_t> slots;
  /// The first of them belong to the prefix cache; the others to this request.
  std::int64_t cached_slots = 0;

  Phase phase = Phase::kWaiting;
  /// Tokens that the scheduler knows of; behind `tokens` while the acceptance of a verify forward has not reached the host.
  std::int64_t known_tokens = 0;
  /// Verify forwards of it whose acceptance has not reached the host.
  std::int64_t unaccepted_forwards = 0;
  /// Number of the last forward whose rows for this request are committed: what its read waits for (R36).
  std::int64_t last_sequence = 0;

  [[nodiscard]] std::int64_t final_tokens() const { return prompt_tokens + new_tokens; }

  void append(Token token) {
    prefixes.push_back(extend(prefixes.empty() ? kEmptyPrefix : prefixes.back(), token.id));
    tokens.push_back(token);
  }

  /// Recorded row of the token generated at a position, -1 where there is none.
  [[nodiscard]] std::int32_t trace_row(std::int64_t position) const {
    const std::int64_t row = trace_begin + position - prompt_tokens;
    return trace_begin >= 0 && position >= prompt_tokens && row < trace_end ? static_cast<std::int32_t>(row) : -1;
  }

  /// The token that the target samples behind a prefix; goes on beyond the end of sequence, as an engine that runs ahead does (R2).
  [[nodiscard]] Token sample(PrefixHash prefix, std::int64_t position) const {
    const std::uint64_t drawn = mix(prefix ^ sampling_seed) % static_cast<std::uint64_t>(kVocabulary);
    return {static_cast<std::int32_t>(drawn), trace_row(position)};
  }

  /// What decides the row of token i.
  [[nodiscard]] RowSource row_source(std::int64_t i) const {
    return {prefixes[static_cast<std::size_t>(i)], tokens[static_cast<std::size_t>(i)].trace_row};
  }
};

}  // namespace engine
