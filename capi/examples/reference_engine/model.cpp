// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <numeric>

#include "support.h"

namespace engine {

ModelShape deepseek_v3() {
  ModelShape shape;
  shape.name = "DeepSeek-V3";
  shape.total_layers = 61;
  shape.moe_layers.resize(58);
  std::iota(shape.moe_layers.begin(), shape.moe_layers.end(), 3);
  shape.num_experts = 256;
  shape.top_k = 8;
  shape.fused_shared_experts = 1;
  shape.draft_layer = 3;
  return shape;
}

ModelShape traced_model(const std::string& name, std::int32_t layers, std::int32_t experts, std::int32_t top_k) {
  ModelShape shape;
  shape.name = name;
  shape.total_layers = layers;
  shape.moe_layers.resize(static_cast<std::size_t>(layers));
  std::iota(shape.moe_layers.begin(), shape.moe_layers.end(), 0);
  shape.num_experts = experts;
  shape.top_k = top_k;
  return shape;
}

std::int64_t EngineConfig::max_graph_tokens() const { return align_up(graph_batch_sizes.back() * num_verify_tokens, attn_tp_size); }

}  // namespace engine
