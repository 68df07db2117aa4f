// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace llama_demo {
namespace {

/// The library of that stem, whatever version stands in its name: `libllama.so`, `libllama.v0.5.0.so`.
std::filesystem::path find(const std::filesystem::path& folder, std::string_view stem) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(std::string(stem) + ".") && name.ends_with(".so")) found.push_back(entry.path());
  }
  if (error) throw EngineError(folder.string() + ": " + error.message());
  if (found.empty()) throw EngineError(folder.string() + " has no " + std::string(stem) + ".*.so");
  return *std::ranges::min_element(found);
}

void* open(const std::filesystem::path& file) {
  void* library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw EngineError(dlerror());
  return library;
}

/// llama.cpp talks on stderr while it loads; what goes wrong is told by its return values.
void say_nothing(ggml_log_level /*level*/, const char* /*text*/, void* /*user*/) {}

}  // namespace

Library::Library(const std::filesystem::path& folder) {
  const std::vector<void*> libraries = {open(find(folder, "libggml-base")), open(find(folder, "libggml")), open(find(folder, "libllama"))};
  const auto symbol = [&](const char* name) {
    for (void* library : libraries) {
      if (void* address = dlsym(library, name); address != nullptr) return address;
    }
    throw EngineError(folder.string() + ": its libraries have no " + name);
  };
#define LLAMA_DEMO_RESOLVE(name) name = reinterpret_cast<decltype(&::name)>(symbol(#name));
  LLAMA_DEMO_FUNCTIONS(LLAMA_DEMO_RESOLVE)
#undef LLAMA_DEMO_RESOLVE

  llama_log_set(say_nothing, nullptr);
  // The processor's own variant of the CPU backend is chosen among the files of the folder.
  ggml_backend_load_all_from_path(folder.c_str());
  llama_backend_init();
}

ModelHandle Library::load_model(const std::string& file) const {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  ModelHandle model(llama_model_load_from_file(file.c_str(), params), llama_model_free);
  if (model == nullptr) throw EngineError("llama.cpp does not load " + file);
  return model;
}

ContextHandle Library::make_context(llama_model* model, const llama_context_params& params) const {
  ContextHandle context(llama_init_from_model(model, params), llama_free);
  if (context == nullptr) throw EngineError("llama.cpp makes no context of " + std::to_string(params.n_ctx) + " cells");
  return context;
}

Batch::Batch(const Library& library, std::int32_t capacity)
    : library_(library), capacity_(capacity), batch_(library.llama_batch_init(capacity, 0, 1)) {}

Batch::~Batch() { library_.llama_batch_free(batch_); }

std::int32_t Batch::add(llama_token token, llama_pos position, llama_seq_id sequence, bool wants_logits) {
  if (batch_.n_tokens == capacity_) throw EngineError("a batch of " + std::to_string(capacity_) + " tokens is full");
  const std::int32_t row = batch_.n_tokens++;
  batch_.token[row] = token;
  batch_.pos[row] = position;
  batch_.n_seq_id[row] = 1;
  batch_.seq_id[row][0] = sequence;
  batch_.logits[row] = wants_logits ? 1 : 0;
  return row;
}

void Batch::decode(llama_context* context) const {
  const std::int32_t status = library_.llama_decode(context, batch_);
  if (status != 0) throw EngineError("llama_decode of " + std::to_string(batch_.n_tokens) + " tokens: " + std::to_string(status));
}

}  // namespace llama_demo
