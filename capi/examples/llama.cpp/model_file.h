// SPDX-License-Identifier: Apache-2.0
//
// Random-weight MoE models as GGUF files, written through llama.cpp's own gguf functions. What matters is the routing: how many layers route, over
// how many experts, under which names the engine builds it. Widths are as small as the engine takes them, so that a model is made in a moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "library.h"

namespace llama_demo {

enum class Family {
  kQwen3Moe,   // grouped-query attention, softmax router, renormalized weights; every layer routes
  kDeepSeek2,  // latent attention, sigmoid router with a selection bias, scaled weights, a shared expert; the first layers are dense
};

struct ModelShape {
  Family family = Family::kQwen3Moe;
  std::int32_t layers = 8;
  std::int32_t dense_layers = 0;  // the first ones; kDeepSeek2 only
  std::int32_t num_experts = 64;
  std::int32_t top_k = 8;
  std::int32_t embedding = 32;
  std::int32_t expert_width = 8;
  std::int32_t heads = 2;
  std::int32_t head_size = 16;
  std::int32_t vocabulary = 96;
  std::int32_t context = 4096;
  std::uint64_t seed = 1;
  ggml_type weights = GGML_TYPE_F32;  // of the matrices; routers, norms and the embedding stay F32

  /// The layers that route, ascending.
  [[nodiscard]] std::vector<std::int32_t> moe_layers() const;
  /// llama.cpp's name of the family.
  [[nodiscard]] const char* architecture() const;
  /// The tensor that holds a layer's routing weights as its experts are multiplied with them, without its `-<layer>`.
  [[nodiscard]] const char* weights_tensor() const;
};

/// Writes the file, or leaves it where one of these very properties lies already. @return its path. @throws EngineError
std::filesystem::path write_model(const Library& library, const ModelShape& shape, const std::filesystem::path& folder);

}  // namespace llama_demo
