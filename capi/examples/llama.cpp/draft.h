// SPDX-License-Identifier: Apache-2.0
//
// The draft: a second, small MoE in the same process, with a context, a KV cache and an evaluation callback of its own. It follows every sequence
// that speculates and proposes what it finds likeliest. Its routers have the same tensor names as the target's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "library.h"
#include "router_tap.h"

namespace llama_demo {

class Draft {
 public:
  struct Config {
    std::int32_t sequences = 0;
    std::int32_t positions = 0;     // of a sequence
    std::int32_t batch_tokens = 0;  // of one decode
    std::int32_t vocabulary = 0;
  };
  /// What one sequence wants: its tokens so far, and how many to propose.
  struct Wish {
    std::int32_t sequence = 0;
    std::span<const llama_token> tokens;
    std::int32_t count = 0;
    std::vector<llama_token>* proposed = nullptr;
  };

  Draft(const Library& library, llama_model* model, const Config& config, RouterTap::Config tap);

  void warm_up(llama_token token);
  /// Reads what it has not seen of every sequence, then proposes for all of them together, a token at a time.
  void propose(std::span<const Wish> wishes);
  /// The target kept the first `tokens` of the sequence.
  void keep(std::int32_t sequence, std::int32_t tokens);
  void copy(std::int32_t from, std::int32_t to, std::int32_t tokens);

 private:
  struct Wanted {
    std::int32_t row;
    std::vector<llama_token>* proposed;
  };

  void add(llama_token token, std::int32_t sequence, std::vector<llama_token>* proposed);
  void decode();

  const Library& library_;
  std::int32_t vocabulary_;
  RouterTap tap_;
  ContextHandle context_;
  Batch batch_;
  std::vector<Wanted> wanted_;      // rows of the batch whose likeliest token is proposed
  std::vector<std::int32_t> read_;  // tokens of each sequence that are in the draft's KV cache
};

}  // namespace llama_demo
