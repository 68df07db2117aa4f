// SPDX-License-Identifier: Apache-2.0
#include "bench_rig.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "record_view.h"

namespace routecap::cli {
namespace {

/// Of the int32 ids of a forward; a measurement needs no more.
constexpr std::int64_t kMostInput = std::int64_t{1} << 32;
/// First layers of DeepSeek-V3 are dense.
constexpr std::int32_t kFirstLayer = 3;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

template <class Element>
std::int64_t bytes_of(const std::vector<Element>& elements) {
  return static_cast<std::int64_t>(elements.size() * sizeof(Element));
}

void check(const BenchShape& shape) {
  if (shape.top_k > shape.experts) refuse("--top-k: ", shape.top_k, ", and a layer has --experts ", shape.experts);
  if (shape.tokens > shape.slots) refuse("--tokens: ", shape.tokens, " tokens need as many slots, and there are --slots ", shape.slots);
  const std::int64_t per_token = std::int64_t{shape.layers} * shape.top_k * 4;
  if (shape.tokens > kMostInput / per_token) {
    refuse("--tokens: ", shape.tokens, " tokens of ", shape.layers, " layers and top ", shape.top_k, " are more than ", kMostInput,
           " bytes of int32 ids");
  }
}

}  // namespace

BenchRig::BenchRig(const BenchShape& shape)
    : shape_((check(shape), shape)),
      backend_(make(rcap_backend_info_init)),
      ids_of_layer_(shape.tokens * shape.top_k),
      capture_(make(rcap_capture_layout_init)),
      forward_(make(rcap_forward_layout_init)),
      read_(make(rcap_read_layout_init)),
      info_(make(rcap_read_info_init)),
      base64_(make(rcap_encode_options_init)) {
  capture_.ids_dtype = RCAP_DTYPE_INT32;
  capture_.columns = shape_.top_k;
  capture_.tokens = shape_.tokens;
  forward_.tokens = shape_.tokens;
  read_.tokens = shape_.tokens + 1;  // a request of one token more has so many rows (R1)
  fill();
  create();
  capture();
  end_forward();
  copy_to_host();
  finalize();
  drop_output();
  size_buffers();
}

/// K different ids a cell, as a router gives them.
void BenchRig::fill() {
  std::mt19937_64 random(1);
  given_.resize(size(shape_.layers * ids_of_layer_));
  const std::int32_t stride = shape_.experts / shape_.top_k;
  for (std::size_t i = 0; i < given_.size(); i += size(shape_.top_k)) {
    const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape_.experts));
    for (std::int32_t rank = 0; rank < shape_.top_k; ++rank) {
      given_[i + static_cast<std::size_t>(rank)] = static_cast<std::int32_t>((first + std::int64_t{rank} * stride) % shape_.experts);
    }
  }
  std::vector<std::int64_t> order(size(shape_.slots));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  slots_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shape_.tokens));
}

BenchRig::BackendPointer BenchRig::open_backend() {
  auto options = make(rcap_backend_options_init);
  options.threads = shape_.threads;
  rcap_backend* opened = nullptr;
  require([&](rcap_error* error) { return rcap_backend_open(shape_.backend.c_str(), &options, &opened, error); });
  BackendPointer backend(opened);
  require([&](rcap_error* error) { return rcap_backend_describe(opened, &backend_, error); });
  if (backend_.host_memory == 0) {
    refuse("--backend: ", shape_.backend, " keeps its rows in a device's memory, and the ids of this benchmark are in the host's");
  }
  return backend;
}

void BenchRig::create() {
  const BackendPointer backend = open_backend();
  auto config = make(rcap_capturer_config_init);
  config.num_experts = shape_.experts;
  config.top_k = shape_.top_k;
  config.chunked_prefill_size = shape_.tokens;
  config.num_slots = shape_.slots;
  std::vector<std::int32_t> layers(static_cast<std::size_t>(shape_.layers));
  std::iota(layers.begin(), layers.end(), kFirstLayer);
  rcap_capturer* capturer = nullptr;
  require([&](rcap_error* error) { return rcap_capturer_create(&config, layers.data(), shape_.layers, backend.get(), &capturer, error); });
  capturer_.reset(capturer);
  rcap_model* target = nullptr;
  require([&](rcap_error* error) { return rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, error); });
  for (const std::int32_t layer : layers) {
    require([&](rcap_error* error) { return rcap_model_add_tap(target, layer, nullptr, nullptr, 0, &taps_.emplace_back(), error); });
  }
  require([&](rcap_error* error) { return rcap_capturer_seal(capturer, error); });
}

void BenchRig::size_buffers() {
  require([&](rcap_error* error) {
    return rcap_capturer_read_into(capturer_.get(), &read_, slots_.data(), bytes_of(slots_), nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, &info_,
                                   error);
  });
  ids_.resize(size(info_.ids_bytes));
  validity_.resize(size(info_.row_validity_bytes + info_.cell_validity_bytes));
  record_ = make_record([&](rcap_record** record, rcap_error* error) {
    return rcap_capturer_read(capturer_.get(), &read_, slots_.data(), bytes_of(slots_), nullptr, 0, record, error);
  });
  base64_.dtype = RecordView(record_.get()).info().ids_dtype;
  std::int64_t needed = 0;
  require([&](rcap_error* error) { return rcap_record_encode(record_.get(), RCAP_WIRE_SGLANG, &base64_, nullptr, 0, &needed, error); });
  text_.resize(size(needed));
  require([&](rcap_error* error) { return rcap_record_encode(record_.get(), RCAP_WIRE_FRAME, nullptr, nullptr, 0, &needed, error); });
  frame_.resize(size(needed));
  encode_frame();
}

std::int64_t BenchRig::input_bytes() const { return bytes_of(given_); }

void BenchRig::capture() {
  for (std::size_t layer = 0; layer < taps_.size(); ++layer) {
    require([&](rcap_error* error) {
      return rcap_tap_capture(taps_[layer], &capture_, given_.data() + static_cast<std::int64_t>(layer) * ids_of_layer_, ids_of_layer_ * 4, nullptr,
                              0, nullptr, 0, nullptr, error);
    });
  }
}

void BenchRig::discard() {
  require([&](rcap_error* error) { return rcap_capturer_discard_forward(capturer_.get(), nullptr, error); });
}

void BenchRig::end_forward() {
  rcap_output* output = nullptr;
  require([&](rcap_error* error) {
    return rcap_capturer_end_forward(capturer_.get(), &forward_, slots_.data(), bytes_of(slots_), nullptr, 0, nullptr, 0, nullptr, &output, error);
  });
  output_.reset(output);
}

void BenchRig::copy_to_host() {
  require([&](rcap_error* error) { return rcap_output_copy_to_host(output_.get(), nullptr, error); });
}

void BenchRig::finalize() {
  require([&](rcap_error* error) { return rcap_output_finalize(output_.get(), nullptr, error); });
}

void BenchRig::read_into() {
  require([&](rcap_error* error) {
    return rcap_capturer_read_into(capturer_.get(), &read_, slots_.data(), bytes_of(slots_), nullptr, 0, ids_.data(), bytes_of(ids_), nullptr, 0,
                                   validity_.data(), bytes_of(validity_), &info_, error);
  });
}

void BenchRig::encode_slots_base64() {
  std::int64_t written = 0;
  require([&](rcap_error* error) {
    return rcap_capturer_encode(capturer_.get(), &read_, slots_.data(), bytes_of(slots_), nullptr, 0, RCAP_WIRE_SGLANG, &base64_, text_.data(),
                                bytes_of(text_), &written, error);
  });
}

void BenchRig::encode_frame() {
  std::int64_t written = 0;
  require([&](rcap_error* error) {
    return rcap_record_encode(record_.get(), RCAP_WIRE_FRAME, nullptr, frame_.data(), bytes_of(frame_), &written, error);
  });
}

void BenchRig::decode_frame() {
  decoded_ = make_record([&](rcap_record** record, rcap_error* error) {
    return rcap_record_decode(RCAP_WIRE_FRAME, frame_.data(), bytes_of(frame_), nullptr, nullptr, 0, record, nullptr, error);
  });
}

bool BenchRig::is_right() const {
  if (decoded_ == nullptr) return false;
  const RecordView view(decoded_.get());
  if (view.rows() != shape_.tokens || view.columns() != shape_.layers || view.top_k() != shape_.top_k) return false;
  for (std::int64_t row = 0; row < shape_.tokens; ++row) {
    for (std::int64_t column = 0; column < shape_.layers; ++column) {
      if (!view.cell_valid(row, column)) return false;
      for (std::int64_t rank = 0; rank < shape_.top_k; ++rank) {
        if (view.id(row, column, rank) != given_[size(column * ids_of_layer_ + row * shape_.top_k + rank)]) return false;
      }
    }
  }
  return true;
}

}  // namespace routecap::cli
