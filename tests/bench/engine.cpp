// SPDX-License-Identifier: Apache-2.0
#include "bench/engine.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace routecap_bench {

using routecap_test::make;
using routecap_test::Output;
using routecap_test::Record;

void must(rcap_status status, const char* call, const routecap_test::Error& error) {
  if (status == RCAP_STATUS_OK) return;
  std::fprintf(stderr, "bench: %s: %s: %s\n", call, rcap_status_name(status), error.text().c_str());
  std::exit(EXIT_FAILURE);
}

Engine::Engine(const Shape& shape, rcap_backend* backend) : shape_(shape) {
  auto config = make<rcap_capturer_config>();
  config.num_experts = shape.experts;
  config.top_k = shape.top_k;
  config.chunked_prefill_size = shape.device_rows;
  config.num_slots = shape.slots;
  config.pipeline_depth = shape.depth;
  std::vector<std::int32_t> layers(static_cast<std::size_t>(shape.layers));
  std::iota(layers.begin(), layers.end(), 0);
  must(rcap_capturer_plan_get(&config, layers.data(), shape.layers, &plan_, error_), "plan", error_);
  rcap_capturer* capturer = nullptr;
  must(rcap_capturer_create(&config, layers.data(), shape.layers, backend, &capturer, error_), "create", error_);
  capturer_.reset(capturer);
  rcap_model* target = nullptr;
  must(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, error_), "add_model", error_);
  taps_.resize(layers.size());
  for (std::size_t column = 0; column < layers.size(); ++column) {
    must(rcap_model_add_tap(target, layers[column], nullptr, nullptr, 0, &taps_[column], error_), "add_tap", error_);
  }
  must(rcap_capturer_seal(capturer, error_), "seal", error_);
  capture_.ids_dtype = RCAP_DTYPE_INT32;
  capture_.columns = shape.top_k;
}

void Engine::capture(const std::int32_t* ids, std::int64_t layer_stride, std::int64_t tokens) {
  capture_.tokens = tokens;
  const std::int64_t bytes = layer_ids(tokens) * 4;
  for (rcap_tap* tap : taps_) {
    must(rcap_tap_capture(tap, &capture_, ids, bytes, nullptr, 0, nullptr, 0, nullptr, error_), "capture", error_);
    ids += layer_stride;
  }
}

void Engine::discard() { must(rcap_capturer_discard_forward(capturer_.get(), nullptr, error_), "discard_forward", error_); }

Output Engine::end_forward(const std::int64_t* slots, std::int64_t tokens) {
  forward_.tokens = tokens;
  rcap_output* output = nullptr;
  must(rcap_capturer_end_forward(capturer_.get(), &forward_, slots, tokens * 8, nullptr, 0, nullptr, 0, nullptr, &output, error_), "end_forward",
       error_);
  return Output(output);
}

void Engine::copy_to_host(const Output& output) { must(rcap_output_copy_to_host(output.get(), nullptr, error_), "copy_to_host", error_); }

void Engine::finalize(const Output& output) { must(rcap_output_finalize(output.get(), nullptr, error_), "finalize", error_); }

void Engine::store(const std::int32_t* ids, std::int64_t layer_stride, const std::int64_t* slots, std::int64_t tokens) {
  capture(ids, layer_stride, tokens);
  const Output output = end_forward(slots, tokens);
  copy_to_host(output);
  finalize(output);
}

void Engine::read_into(const std::int64_t* slots, std::int64_t tokens, std::vector<std::byte>& ids, std::vector<std::byte>& validity) {
  read_.tokens = tokens + 1;  // rows 0 .. n-1 of a request with one token more
  must(rcap_capturer_read_into(capturer_.get(), &read_, slots, tokens * 8, nullptr, 0, ids.data(), static_cast<std::int64_t>(ids.size()), nullptr, 0,
                               validity.data(), static_cast<std::int64_t>(validity.size()), &info_, error_),
       "read_into", error_);
  if (info_.rows_valid == tokens) return;
  std::fprintf(stderr, "bench: read_into: %lld of %lld rows are there\n", static_cast<long long>(info_.rows_valid), static_cast<long long>(tokens));
  std::exit(EXIT_FAILURE);
}

Record Engine::read(const std::int64_t* slots, std::int64_t tokens) {
  read_.tokens = tokens + 1;
  rcap_record* record = nullptr;
  must(rcap_capturer_read(capturer_.get(), &read_, slots, tokens * 8, nullptr, 0, &record, error_), "read", error_);
  return Record(record);
}

std::int64_t Engine::encode(const std::int64_t* slots, std::int64_t tokens, std::int32_t format, std::int32_t dtype, std::string& out) {
  read_.tokens = tokens + 1;
  encode_.dtype = dtype;
  std::int64_t needed = 0;
  must(rcap_capturer_encode(capturer_.get(), &read_, slots, tokens * 8, nullptr, 0, format, &encode_, out.data(),
                            static_cast<std::int64_t>(out.size()), &needed, error_),
       "encode", error_);
  return needed;
}

std::int64_t Engine::encode(const rcap_record* record, std::int32_t format, std::int32_t dtype, std::string& out) {
  encode_.dtype = dtype;
  std::int64_t needed = 0;
  must(rcap_record_encode(record, format, &encode_, out.data(), static_cast<std::int64_t>(out.size()), &needed, error_), "record encode", error_);
  return needed;
}

}  // namespace routecap_bench
