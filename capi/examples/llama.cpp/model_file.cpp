// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "support.h"

namespace llama_demo {
namespace {

using engine::Random;

// Latent attention of kDeepSeek2, as small as it gets.
constexpr std::int32_t kQueryRank = 16;
constexpr std::int32_t kKeyValueRank = 16;
constexpr std::int32_t kRotated = 8;

// Gains of the random matrices, found by trying. The residual stream is the token's embedding and about as much of everything before it: less, and a
// row would tell the token but not the request; more, and draft and target would never agree.
constexpr float kRouterGain = 2.0F;
constexpr float kOutputGain = 2.5F;
constexpr float kAttentionGain = 0.8F;
constexpr float kExpertGain = 0.6F;
constexpr float kBiasWidth = 0.05F;

/// A file in the making: metadata, and tensors that live until it is written.
class ModelWriter {
 public:
  ModelWriter(const Library& library, const ModelShape& shape)
      : library_(library), shape_(shape), file_(library.gguf_init_empty(), library.gguf_free) {}
  ~ModelWriter() {
    for (ggml_context* context : contexts_) library_.ggml_free(context);
  }
  ModelWriter(const ModelWriter&) = delete;
  ModelWriter& operator=(const ModelWriter&) = delete;

  void text(const std::string& key, const char* value) { library_.gguf_set_val_str(file_.get(), key.c_str(), value); }
  void number(const char* key, std::int32_t value) { library_.gguf_set_val_u32(file_.get(), own(key).c_str(), static_cast<std::uint32_t>(value)); }
  void real(const char* key, float value) { library_.gguf_set_val_f32(file_.get(), own(key).c_str(), value); }
  void flag(const char* key, bool value) { library_.gguf_set_val_bool(file_.get(), own(key).c_str(), value); }

  void ones(const std::string& name, std::int64_t size) {
    float* values = data(add(name, GGML_TYPE_F32, {size}));
    std::fill_n(values, size, 1.0F);
  }
  /// Evenly spread around 0; the standard deviation is gain / sqrt(inputs), inputs being the first dimension.
  void matrix(const std::string& name, std::initializer_list<std::int64_t> sizes, float gain, Random& random) {
    fill(name, shape_.weights, sizes, gain / std::sqrt(static_cast<float>(*sizes.begin())), random);
  }
  void plain_matrix(const std::string& name, std::initializer_list<std::int64_t> sizes, float gain, Random& random) {
    fill(name, GGML_TYPE_F32, sizes, gain / std::sqrt(static_cast<float>(*sizes.begin())), random);
  }
  /// The same with a standard deviation of its own.
  void values(const std::string& name, std::initializer_list<std::int64_t> sizes, float deviation, Random& random) {
    fill(name, GGML_TYPE_F32, sizes, deviation, random);
  }

  void write(const std::filesystem::path& path) const {
    // A run that is stopped leaves no half of a model under the name that the next run looks for.
    const std::string unfinished = path.string() + "." + std::to_string(getpid());
    if (!library_.gguf_write_to_file(file_.get(), unfinished.c_str(), false)) throw EngineError("cannot write " + unfinished);
    std::filesystem::rename(unfinished, path);
  }

 private:
  [[nodiscard]] std::string own(const char* key) const { return std::string(shape_.architecture()) + "." + key; }

  [[nodiscard]] float* data(ggml_tensor* tensor) const { return static_cast<float*>(library_.ggml_get_data(tensor)); }

  ggml_tensor* add(const std::string& name, ggml_type type, const std::vector<std::int64_t>& sizes) {
    std::size_t bytes = library_.ggml_row_size(type, sizes[0]);
    for (std::size_t i = 1; i < sizes.size(); ++i) bytes *= static_cast<std::size_t>(sizes[i]);
    ggml_context* context = library_.ggml_init({bytes + library_.ggml_tensor_overhead() + 64, nullptr, false});
    if (context == nullptr) throw EngineError("no memory for the " + std::to_string(bytes) + " bytes of " + name);
    contexts_.push_back(context);
    ggml_tensor* tensor = library_.ggml_new_tensor(context, type, static_cast<int>(sizes.size()), sizes.data());
    library_.ggml_set_name(tensor, name.c_str());
    library_.gguf_add_tensor(file_.get(), tensor);
    return tensor;
  }

  void fill(const std::string& name, ggml_type type, const std::vector<std::int64_t>& sizes, float deviation, Random& random) {
    std::int64_t total = 1;
    for (const std::int64_t size : sizes) total *= size;
    ggml_tensor* tensor = add(name, type, sizes);
    if (type != GGML_TYPE_F32) scratch_.resize(static_cast<std::size_t>(total));
    float* values = type == GGML_TYPE_F32 ? data(tensor) : scratch_.data();
    // Uniform numbers of 24 bits in [-1, 1) have the standard deviation 1 / sqrt(3).
    const float scale = deviation * std::sqrt(3.0F);
    for (std::int64_t i = 0; i < total; ++i) {
      const auto bits = static_cast<std::int32_t>(random.next() >> 40U);
      values[i] = scale * (static_cast<float>(bits) / 8388608.0F - 1.0F);
    }
    if (type != GGML_TYPE_F32) {
      library_.ggml_quantize_chunk(type, values, library_.ggml_get_data(tensor), 0, total / sizes[0], sizes[0], nullptr);
    }
  }

  const Library& library_;
  const ModelShape& shape_;
  std::unique_ptr<gguf_context, decltype(&::gguf_free)> file_;
  std::vector<ggml_context*> contexts_;
  std::vector<float> scratch_;
};

void write_metadata(ModelWriter& file, const ModelShape& shape) {
  file.text("general.architecture", shape.architecture());
  file.text("tokenizer.ggml.model", "no_vocab");
  file.number("vocab_size", shape.vocabulary);
  file.number("context_length", shape.context);
  file.number("embedding_length", shape.embedding);
  file.number("block_count", shape.layers);
  file.number("feed_forward_length", 2 * shape.embedding);
  file.number("expert_count", shape.num_experts);
  file.number("expert_used_count", shape.top_k);
  file.number("expert_feed_forward_length", shape.expert_width);
  file.number("attention.head_count", shape.heads);
  file.real("attention.layer_norm_rms_epsilon", 1e-6F);
  file.real("rope.freq_base", 10000.0F);
  if (shape.family == Family::kQwen3Moe) {
    file.number("attention.head_count_kv", 1);
    file.number("attention.key_length", shape.head_size);
    file.number("attention.value_length", shape.head_size);
    return;
  }
  file.number("leading_dense_block_count", shape.dense_layers);
  file.number("attention.head_count_kv", 1);
  file.number("attention.q_lora_rank", kQueryRank);
  file.number("attention.kv_lora_rank", kKeyValueRank);
  file.number("attention.key_length", kKeyValueRank + kRotated);
  file.number("attention.value_length", kKeyValueRank);
  file.number("attention.key_length_mla", shape.head_size + kRotated);
  file.number("attention.value_length_mla", shape.head_size);
  file.number("rope.dimension_count", kRotated);
  file.number("expert_shared_count", 1);
  file.number("expert_gating_func", 2);  // sigmoid
  file.flag("expert_weights_norm", true);
  file.real("expert_weights_scale", 2.5F);
}

void write_attention(ModelWriter& file, const ModelShape& shape, const std::string& block, float gain, Random& random) {
  const std::int64_t width = shape.embedding;
  const std::int64_t size = shape.head_size;
  const std::int64_t heads = shape.heads;
  file.ones(block + "attn_norm.weight", width);
  if (shape.family == Family::kQwen3Moe) {
    file.matrix(block + "attn_q.weight", {width, heads * size}, 1.0F, random);
    file.matrix(block + "attn_k.weight", {width, size}, 1.0F, random);
    file.matrix(block + "attn_v.weight", {width, size}, 1.0F, random);
    file.ones(block + "attn_q_norm.weight", size);
    file.ones(block + "attn_k_norm.weight", size);
  } else {
    file.matrix(block + "attn_q_a.weight", {width, kQueryRank}, 1.0F, random);
    file.ones(block + "attn_q_a_norm.weight", kQueryRank);
    file.matrix(block + "attn_q_b.weight", {kQueryRank, heads * (size + kRotated)}, 1.0F, random);
    file.matrix(block + "attn_kv_a_mqa.weight", {width, kKeyValueRank + kRotated}, 1.0F, random);
    file.ones(block + "attn_kv_a_norm.weight", kKeyValueRank);
    file.matrix(block + "attn_k_b.weight", {size, kKeyValueRank, heads}, 1.0F, random);
    file.matrix(block + "attn_v_b.weight", {kKeyValueRank, size, heads}, 1.0F, random);
  }
  file.matrix(block + "attn_output.weight", {heads * size, width}, gain, random);
}

/// Gate, up and down of a plain or shared feed-forward part.
void write_feed_forward(ModelWriter& file, const std::string& block, const char* suffix, std::int64_t width, std::int64_t inner, float gain,
                        Random& random) {
  file.matrix(block + "ffn_gate" + suffix, {width, inner}, 1.0F, random);
  file.matrix(block + "ffn_up" + suffix, {width, inner}, 1.0F, random);
  file.matrix(block + "ffn_down" + suffix, {inner, width}, gain, random);
}

void write_experts(ModelWriter& file, const ModelShape& shape, const std::string& block, float gain, Random& random) {
  const std::int64_t width = shape.embedding;
  const std::int64_t inner = shape.expert_width;
  const std::int64_t experts = shape.num_experts;
  // Routers stay in full precision, as real models keep them.
  file.plain_matrix(block + "ffn_gate_inp.weight", {width, experts}, kRouterGain, random);
  if (shape.family == Family::kDeepSeek2) {
    file.values(block + "exp_probs_b.bias", {experts}, kBiasWidth, random);
    write_feed_forward(file, block, "_shexp.weight", width, inner, gain, random);
  }
  file.matrix(block + "ffn_gate_exps.weight", {width, inner, experts}, 1.0F, random);
  file.matrix(block + "ffn_up_exps.weight", {width, inner, experts}, 1.0F, random);
  file.matrix(block + "ffn_down_exps.weight", {inner, width, experts}, gain, random);
}

/// Everything that decides the file's bytes.
std::string name_of(const ModelShape& shape) {
  std::string name = shape.architecture();
  for (const std::int32_t value : {shape.layers, shape.dense_layers, shape.num_experts, shape.top_k, shape.embedding, shape.expert_width, shape.heads,
                                   shape.head_size, shape.vocabulary, shape.context, static_cast<std::int32_t>(shape.weights)}) {
    name += '-';
    name += std::to_string(value);
  }
  return name + "-" + std::to_string(shape.seed) + ".gguf";
}

}  // namespace

std::vector<std::int32_t> ModelShape::moe_layers() const {
  std::vector<std::int32_t> numbers;
  for (std::int32_t layer = dense_layers; layer < layers; ++layer) numbers.push_back(layer);
  return numbers;
}

const char* ModelShape::architecture() const { return family == Family::kQwen3Moe ? "qwen3moe" : "deepseek2"; }

const char* ModelShape::weights_tensor() const { return family == Family::kQwen3Moe ? "ffn_moe_weights_norm" : "ffn_moe_weights_scaled"; }

std::filesystem::path write_model(const Library& library, const ModelShape& shape, const std::filesystem::path& folder) {
  std::filesystem::path path = folder / name_of(shape);
  if (std::filesystem::exists(path)) return path;
  std::filesystem::create_directories(folder);

  ModelWriter file(library, shape);
  write_metadata(file, shape);
  // Embedding and output depend on their sizes alone: a draft of the same widths shares them with its target, and so agrees with it now and then.
  Random shared(0);
  file.values("token_embd.weight", {shape.embedding, shape.vocabulary}, 1.0F, shared);
  file.plain_matrix("output.weight", {shape.embedding, shape.vocabulary}, kOutputGain, shared);
  file.ones("output_norm.weight", shape.embedding);

  Random random(shape.seed);
  const float share = 1.0F / std::sqrt(static_cast<float>(shape.layers));
  for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    write_attention(file, shape, block, kAttentionGain * share, random);
    file.ones(block + "ffn_norm.weight", shape.embedding);
    if (layer < shape.dense_layers) {
      write_feed_forward(file, block, ".weight", shape.embedding, std::int64_t{2} * shape.embedding, kExpertGain * share, random);
    } else {
      write_experts(file, shape, block, kExpertGain * share, random);
    }
  }
  file.write(path);
  return path;
}

}  // namespace llama_demo
