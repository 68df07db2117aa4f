// SPDX-License-Identifier: Apache-2.0
//
// The requests: prompts longer than a chunk, prompts that begin alike, later turns of a conversation, with and without a draft, and some that are
// given up.
#pragma once

#include <cstdint>
#include <vector>

#include <llama.h>

namespace llama_demo {

struct Request {
  std::int64_t id = 0;
  std::vector<llama_token> prompt;   // behind the tokens of the request that it continues
  std::int64_t continues = -1;       // id of the conversation's turn before it; -1 = none
  std::int32_t new_tokens = 0;       // to generate
  std::int32_t drafts = 0;           // tokens that the draft proposes at a time; 0 = no speculation
  std::int32_t given_up_after = -1;  // generated tokens after which the client goes away; -1 = it stays
  std::uint32_t seed = 0;            // of the sampler
  float temperature = 0.8F;
};

/// The same list for the same numbers.
[[nodiscard]] std::vector<Request> make_workload(std::int64_t requests, std::int32_t vocabulary, std::int32_t max_drafts, std::uint64_t seed);

/// Tokens that the longest of them has, prompt and conversation included.
[[nodiscard]] std::int32_t longest(const std::vector<Request>& requests);

}  // namespace llama_demo
