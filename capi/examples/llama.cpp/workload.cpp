// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <algorithm>

#include "support.h"

namespace llama_demo {
namespace {

using engine::at;
using engine::count;
using engine::Random;

constexpr std::int64_t kSystemPrompt = 44;  // tokens

void append(std::vector<llama_token>& tokens, std::int64_t length, std::int32_t vocabulary, Random& random) {
  for (std::int64_t i = 0; i < length; ++i) tokens.push_back(static_cast<llama_token>(random.below(vocabulary)));
}

}  // namespace

std::vector<Request> make_workload(std::int64_t requests, std::int32_t vocabulary, std::int32_t max_drafts, std::uint64_t seed) {
  Random random(seed);
  std::vector<llama_token> system;
  append(system, kSystemPrompt, vocabulary, random);

  std::vector<Request> list;
  for (std::int64_t id = 0; id < requests; ++id) {
    Request request;
    request.id = id;
    request.new_tokens = static_cast<std::int32_t>(random.between(6, 24));
    request.seed = static_cast<std::uint32_t>(random.next() >> 32U);
    // Some are nearly greedy and agree with the draft often, some hardly ever do.
    request.temperature = random.chance(50) ? 0.3F : 1.2F;
    if (max_drafts > 0 && random.chance(70)) request.drafts = static_cast<std::int32_t>(random.between(1, max_drafts));
    const bool is_second_turn = id >= 8 && id % 4 == 0 && at(list, id - 8).given_up_after < 0;
    if (is_second_turn) {
      request.continues = id - 8;
      append(request.prompt, random.between(3, 12), vocabulary, random);
    } else {
      if (id % 2 == 0) request.prompt = system;
      append(request.prompt, random.between(2, 40), vocabulary, random);
    }
    if (id % 7 == 5) request.given_up_after = static_cast<std::int32_t>(random.between(1, 5));
    list.push_back(std::move(request));
  }
  return list;
}

std::int32_t longest(const std::vector<Request>& requests) {
  std::vector<std::int64_t> lengths;
  for (const Request& request : requests) {
    const std::int64_t before = request.continues < 0 ? 0 : at(lengths, request.continues);
    lengths.push_back(before + count(request.prompt) + request.new_tokens);
  }
  return lengths.empty() ? 0 : static_cast<std::int32_t>(*std::ranges::max_element(lengths));
}

}  // namespace llama_demo
