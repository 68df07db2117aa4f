// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <stdexcept>

#include "checks.h"

namespace gpu {

using namespace routecap_test;

void fail(const std::string& why) { throw std::runtime_error(why); }

void must(cudaError_t error, const char* call) {
  if (error != cudaSuccess) fail(std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

void must(std::int32_t status, const Error& error, const char* call) {
  if (status != RCAP_STATUS_OK) fail(std::string(call) + ": " + rcap_status_name(status) + ": " + error.text());
}

Stream::Stream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
Stream::~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
void Stream::wait() const { must(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

namespace {

/// The engine's own memory, which it may make and give back beside another thread's capture.
class Relaxed {
 public:
  Relaxed() { must(cudaThreadExchangeStreamCaptureMode(&mode_), "cudaThreadExchangeStreamCaptureMode"); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;
  ~Relaxed() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace

Engine::Engine(std::int64_t tokens, std::int32_t depth) : tokens_(tokens) {
  Error error;
  rcap_backend* backend = nullptr;
  must(rcap_backend_open("cuda", nullptr, &backend, error), error, "rcap_backend_open");
  backend_.reset(backend);
  auto config = make<rcap_capturer_config>();
  config.num_experts = kExperts;
  config.top_k = kTopK;
  config.chunked_prefill_size = tokens;
  config.num_slots = 4 * tokens + 16;
  config.pipeline_depth = depth;
  std::vector<std::int32_t> layers;
  for (std::int32_t layer = 0; layer < kLayers; ++layer) layers.push_back(layer + 3);
  rcap_capturer* capturer = nullptr;
  must(rcap_capturer_create(&config, layers.data(), kLayers, backend, &capturer, error), error, "rcap_capturer_create");
  capturer_.reset(capturer);
  rcap_model* target = nullptr;
  must(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, error), error, "rcap_capturer_add_model");
  taps_.resize(kLayers);
  for (std::size_t i = 0; i < taps_.size(); ++i) {
    must(rcap_model_add_tap(target, layers[i], nullptr, nullptr, 0, &taps_[i], error), error, "rcap_model_add_tap");
  }
  must(rcap_capturer_seal(capturer, error), error, "rcap_capturer_seal");
  const std::size_t bytes = static_cast<std::size_t>(tokens) * kLayers * kTopK * 4;
  const Relaxed relaxed;
  must(cudaMalloc(reinterpret_cast<void**>(&routed_), bytes), "cudaMalloc");
  must(cudaHostAlloc(reinterpret_cast<void**>(&written_), bytes, cudaHostAllocDefault), "cudaHostAlloc");
}

Engine::~Engine() {
  capturer_.reset();
  const Relaxed relaxed;
  static_cast<void>(cudaFree(routed_));
  static_cast<void>(cudaFreeHost(written_));
}

void Engine::route(std::int64_t step, cudaStream_t stream) {
  // The step before has been read from here when the stream is idle.
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::int32_t* out = written_;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    for (std::int64_t token = 0; token < tokens_; ++token) {
      for (std::int64_t k = 0; k < kTopK; ++k) *out++ = id_of(step, layer, token, k);
    }
  }
  const std::size_t bytes = static_cast<std::size_t>(tokens_) * kLayers * kTopK * 4;
  must(cudaMemcpyAsync(routed_, written_, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync to the device");
}

void Engine::capture(cudaStream_t stream, std::int64_t tokens) const {
  auto layout = make<rcap_capture_layout>();
  layout.memory = RCAP_MEMORY_DEVICE;
  layout.columns = kTopK;
  layout.tokens = tokens;
  Error error;
  for (std::size_t i = 0; i < taps_.size(); ++i) {
    const std::int32_t* ids = routed_ + static_cast<std::int64_t>(i) * tokens_ * kTopK;
    must(rcap_tap_capture(taps_[i], &layout, ids, tokens * kTopK * 4, nullptr, 0, nullptr, 0, stream, error), error, "rcap_tap_capture");
  }
}

Output Engine::end(cudaStream_t stream, std::int64_t tokens, std::int64_t first_slot) const {
  auto layout = make<rcap_forward_layout>();
  layout.tokens = tokens;
  std::vector<std::int64_t> slots;
  for (std::int64_t i = 0; i < tokens; ++i) slots.push_back(first_slot + i);
  rcap_output* output = nullptr;
  Error error;
  must(rcap_capturer_end_forward(capturer_.get(), &layout, slots.data(), tokens * 8, nullptr, 0, nullptr, 0, stream, &output, error), error,
       "rcap_capturer_end_forward");
  return Output(output);
}

void Engine::copy(const Output& output, cudaStream_t stream) {
  Error error;
  must(rcap_output_copy_to_host(output.get(), stream, error), error, "rcap_output_copy_to_host");
}

void Engine::settle(const Output& output) {
  Error error;
  constexpr std::int64_t kPatience = 20'000'000'000;
  must(rcap_output_wait(output.get(), kPatience, error), error, "rcap_output_wait");
  auto summary = make<rcap_summary>();
  must(rcap_output_finalize(output.get(), &summary, error), error, "rcap_output_finalize");
  if (summary.rows_bad != 0) fail(std::to_string(summary.rows_bad) + " rows are bad");
}

void Engine::expect(std::int64_t step, std::int64_t tokens, std::int64_t first_slot) const {
  auto layout = make<rcap_read_layout>();
  layout.tokens = tokens + 1;
  std::vector<std::int64_t> slots;
  for (std::int64_t i = 0; i < tokens; ++i) slots.push_back(first_slot + i);
  rcap_record* handle = nullptr;
  Error error;
  must(rcap_capturer_read(capturer_.get(), &layout, slots.data(), tokens * 8, nullptr, 0, &handle, error), error, "rcap_capturer_read");
  const Record record(handle);
  const void* ids = nullptr;
  std::int64_t bytes = 0;
  must(rcap_record_ids(record.get(), &ids, &bytes, error), error, "rcap_record_ids");
  if (bytes != tokens * kLayers * kTopK) fail("a record of " + std::to_string(bytes) + " bytes");
  const auto* at = static_cast<const std::uint8_t*>(ids);
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      for (std::int64_t k = 0; k < kTopK; ++k, ++at) {
        if (*at == id_of(step, layer, token, k)) continue;
        fail("step " + std::to_string(step) + ", token " + std::to_string(token) + ", layer " + std::to_string(layer) + ": expert " +
             std::to_string(*at) + " instead of " + std::to_string(id_of(step, layer, token, k)));
      }
    }
  }
}

}  // namespace gpu
