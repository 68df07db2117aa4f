// SPDX-License-Identifier: Apache-2.0
//
// The context parameters that every part of this program uses.
#pragma once

#include <cstdint>

#include "library.h"
#include "router_tap.h"

namespace llama_demo {

struct ContextNeeds {
  std::int32_t sequences = 1;
  std::int32_t cells = 0;
  std::int32_t batch_tokens = 0;
  std::int32_t micro_batch_tokens = 0;
  RouterTap* tap = nullptr;
};

/// One KV cache for all sequences: then sequences share cells, copies cost nothing, and the rows of a micro-batch stand in the order of the batch. (A
/// cache per sequence makes the engine sort the batch by sequence, and cut it where sequences have different numbers of tokens.)
inline llama_context_params context_params(const Library& library, const ContextNeeds& needs) {
  llama_context_params params = library.llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(needs.cells);
  params.n_batch = static_cast<std::uint32_t>(needs.batch_tokens);
  params.n_ubatch = static_cast<std::uint32_t>(needs.micro_batch_tokens);
  params.n_seq_max = static_cast<std::uint32_t>(needs.sequences);
  params.kv_unified = true;
  // Two threads of llama.cpp spin on two cores and leave none for anybody else.
  params.n_threads = 1;
  params.n_threads_batch = 1;
  // What differs between a batched run and a plain one is then the order of float32 sums and nothing coarser; the engine's flash attention goes
  // through float16.
  params.type_k = GGML_TYPE_F32;
  params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.no_perf = true;
  if (needs.tap != nullptr) {
    params.cb_eval = RouterTap::on_eval;
    params.cb_eval_user_data = needs.tap;
  }
  return params;
}

}  // namespace llama_demo
