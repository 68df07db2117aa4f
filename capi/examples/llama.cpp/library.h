// SPDX-License-Identifier: Apache-2.0
//
// llama.cpp, loaded at run time: the functions that this program calls, with the types that its own headers give them.
#pragma once

#include <ggml-backend.h>
#include <ggml.h>
#include <gguf.h>
#include <llama.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace llama_demo {

/// What llama.cpp, or this program's understanding of it, did not do as expected. One line.
class EngineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

#define LLAMA_DEMO_FUNCTIONS(X)         \
  X(ggml_backend_load_all_from_path)    \
  X(ggml_backend_tensor_get)            \
  X(ggml_backend_tensor_get_2d)         \
  X(ggml_backend_tensor_set_2d)         \
  X(ggml_free)                          \
  X(ggml_get_data)                      \
  X(ggml_init)                          \
  X(ggml_nbytes)                        \
  X(ggml_nelements)                     \
  X(ggml_new_tensor)                    \
  X(ggml_row_size)                      \
  X(ggml_set_name)                      \
  X(ggml_tensor_overhead)               \
  X(ggml_quantize_chunk)                \
  X(gguf_add_tensor)                    \
  X(gguf_free)                          \
  X(gguf_init_empty)                    \
  X(gguf_set_val_bool)                  \
  X(gguf_set_val_f32)                   \
  X(gguf_set_val_str)                   \
  X(gguf_set_val_u32)                   \
  X(gguf_write_to_file)                 \
  X(llama_backend_init)                 \
  X(llama_batch_free)                   \
  X(llama_batch_init)                   \
  X(llama_context_default_params)       \
  X(llama_decode)                       \
  X(llama_free)                         \
  X(llama_get_logits_ith)               \
  X(llama_get_memory)                   \
  X(llama_init_from_model)              \
  X(llama_log_set)                      \
  X(llama_memory_clear)                 \
  X(llama_memory_seq_cp)                \
  X(llama_memory_seq_rm)                \
  X(llama_model_default_params)         \
  X(llama_model_free)                   \
  X(llama_model_load_from_file)         \
  X(llama_n_ubatch)                     \
  X(llama_sampler_chain_add)            \
  X(llama_sampler_chain_default_params) \
  X(llama_sampler_chain_init)           \
  X(llama_sampler_free)                 \
  X(llama_sampler_init_dist)            \
  X(llama_sampler_init_temp)            \
  X(llama_sampler_sample)               \
  X(llama_version)

/// Handles that give themselves back through the function that the library has for it.
using ModelHandle = std::unique_ptr<llama_model, decltype(&::llama_model_free)>;
using ContextHandle = std::unique_ptr<llama_context, decltype(&::llama_free)>;
using SamplerHandle = std::unique_ptr<llama_sampler, decltype(&::llama_sampler_free)>;

/// Every function of the list above as a member of its own name. Stays in the process: nothing here is ever unloaded.
class Library {
 public:
  /// @param folder  where libllama.*.so and the libggml libraries lie
  /// @throws EngineError  naming the file or the symbol that is lacking
  explicit Library(const std::filesystem::path& folder);

#define LLAMA_DEMO_MEMBER(name) decltype(&::name) name = nullptr;
  LLAMA_DEMO_FUNCTIONS(LLAMA_DEMO_MEMBER)
#undef LLAMA_DEMO_MEMBER

  /// A model from a GGUF file. @throws EngineError
  [[nodiscard]] ModelHandle load_model(const std::string& file) const;

  /// @throws EngineError
  [[nodiscard]] ContextHandle make_context(llama_model* model, const llama_context_params& params) const;
};

/// A batch that the library allocated, and the one way in which this program fills it: every token in one sequence, its position given.
class Batch {
 public:
  Batch(const Library& library, std::int32_t capacity);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void clear() { batch_.n_tokens = 0; }
  /// @return the token's row in this batch. @throws EngineError where the batch is full
  std::int32_t add(llama_token token, llama_pos position, llama_seq_id sequence, bool wants_logits);
  [[nodiscard]] std::int32_t tokens() const { return batch_.n_tokens; }
  [[nodiscard]] std::int32_t capacity() const { return capacity_; }
  [[nodiscard]] std::int32_t sequence(std::int32_t row) const { return batch_.seq_id[row][0]; }
  [[nodiscard]] std::int32_t position(std::int32_t row) const { return batch_.pos[row]; }
  [[nodiscard]] bool wants_logits(std::int32_t row) const { return batch_.logits[row] != 0; }
  /// @throws EngineError
  void decode(llama_context* context) const;

 private:
  const Library& library_;
  std::int32_t capacity_;
  llama_batch batch_;
};

}  // namespace llama_demo
