// SPDX-License-Identifier: Apache-2.0
//
// What the engine knows about its models and about itself before it asks for a capturer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.h"

namespace engine {

/// Shape of the target, and the one number of the draft that matters here.
struct ModelShape {
  std::string name;
  std::int32_t total_layers = 0;          // dense ones too: what a buffer indexed by layer number has to hold
  std::vector<std::int32_t> moe_layers;   // numbers of the captured layers, ascending
  std::int32_t num_experts = 0;           // E, routed ones only
  std::int32_t top_k = 0;                 // K, routed ones only
  std::int32_t fused_shared_experts = 0;  // columns that the kernel appends behind the K routed ones
  std::int32_t draft_layer = 0;           // layer number of the draft's only MoE layer; a target's layer has the same number

  [[nodiscard]] std::int32_t columns() const { return top_k + fused_shared_experts; }
  [[nodiscard]] std::int32_t num_layers() const { return static_cast<std::int32_t>(moe_layers.size()); }
};

/// DeepSeek-V3: 61 layers, the first three dense, 8 of 256 experts, the shared expert fused behind them as a ninth column.
[[nodiscard]] ModelShape deepseek_v3();

/// The shape of recorded routes: every layer is a MoE layer, no shared expert.
[[nodiscard]] ModelShape traced_model(const std::string& name, std::int32_t layers, std::int32_t experts, std::int32_t top_k);

/// Limits of one data-parallel rank. They decide the size of the capturer's device buffer (R13): a number that the engine can exceed here is
/// a forward that the library will refuse there (R14).
struct EngineConfig {
  std::int64_t dp_size = 4;
  std::int64_t attn_tp_size = 2;
  std::int64_t chunked_prefill_size = 256;
  std::int64_t max_running_requests = 12;
  std::int64_t num_verify_tokens = 5;                              // drafts + 1
  std::vector<std::int64_t> graph_batch_sizes = {1, 2, 4, 8, 12};  // requests of the recorded graphs
  std::int64_t reserved_slots = 1;                                 // slot 0 takes the rows that pad a graph batch
  std::int64_t device_slots = 2048;                                // KV slots of the accelerator, the reserved one included
  std::int64_t host_slots = 1024;                                  // KV slots of the host pool: the capturer's slots behind the accelerator's
  std::int64_t pipeline_depth = 3;
  FinalizeMode finalize = FinalizeMode::kCaller;
  bool weights = false;
  Accelerator* accelerator = nullptr;  // null: the host's memory stands for the accelerator's

  [[nodiscard]] std::int64_t num_slots() const { return device_slots + host_slots; }
  [[nodiscard]] std::int64_t max_graph_tokens() const;
};

}  // namespace engine
