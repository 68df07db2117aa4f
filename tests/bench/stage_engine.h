// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "bench/measure.h"
#include "routecap/routecap.h"

namespace routecap_bench {

/// A benchmark of calls that fail would measure nothing.
inline void must(rcap_status status, const rcap_error& error) {
  if (status == RCAP_STATUS_OK) return;
  std::fprintf(stderr, "bench: %s: %s\n", rcap_status_name(status), error.text);
  std::abort();
}

template <class Struct>
Struct made(void (*init)(Struct*, int64_t)) {
  Struct made;
  init(&made, static_cast<int64_t>(sizeof made));
  return made;
}

/// An engine's side of one capturer: router output of a forward, and where its rows go.
class StageEngine {
 public:
  /// @param backend  null = the host
  explicit StageEngine(std::int64_t tokens, rcap_backend* backend = nullptr) : tokens_(tokens) {
    std::mt19937_64 random(1);
    for (std::int32_t& id : given_) id = static_cast<std::int32_t>(random() % kExperts);
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), random);
    aim_slots();
    error_ = made(&rcap_error_init);
    create(backend);
    capture_.ids_dtype = RCAP_DTYPE_INT32;
    capture_.columns = static_cast<std::int32_t>(kTopK);
    capture_.tokens = tokens_;
    forward_.tokens = tokens_;
    read_.tokens = tokens_ + 1;  // rows 0 .. n-1 of a request with one token more
  }

  StageEngine(const StageEngine&) = delete;
  StageEngine& operator=(const StageEngine&) = delete;

  ~StageEngine() {
    rcap_output_destroy(output_);
    rcap_capturer_destroy(capturer_);
  }

  void capture_layers() { capture_from(tokens_ * kTopK); }

  /// A forward for a later stage to be measured on: all layers get the same ids, so that what is captured does not empty the caches in between.
  void capture_same() { capture_from(0); }

  void capture_layer(std::int64_t layer) {
    must(rcap_tap_capture(taps_[static_cast<std::size_t>(layer)], &capture_, given_.data(), tokens_ * kTopK * 4, nullptr, 0, nullptr, 0, nullptr,
                          &error_),
         error_);
  }

  void discard() { must(rcap_capturer_discard_forward(capturer_, nullptr, &error_), error_); }

  void end_forward() {
    must(rcap_capturer_end_forward(capturer_, &forward_, slots_.data(), tokens_ * 8, nullptr, 0, nullptr, 0, nullptr, &output_, &error_), error_);
  }

  /// The snapshot and next to nothing else: slots come with the acceptance, and none are looked at before.
  void end_forward_without_slots() {
    forward_.acceptance = RCAP_ACCEPT_LATER;
    must(rcap_capturer_end_forward(capturer_, &forward_, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, &output_, &error_), error_);
    forward_.acceptance = RCAP_ACCEPT_ALL;
  }

  void copy_to_host() { must(rcap_output_copy_to_host(output_, nullptr, &error_), error_); }

  void finalize() { must(rcap_output_finalize(output_, nullptr, &error_), error_); }

  void destroy() {
    rcap_output_destroy(output_);
    output_ = nullptr;
  }

  void store() {
    capture_layers();
    end_forward();
    copy_to_host();
    finalize();
    destroy();
  }

  /// The rows of the slots aimed at first, once.
  void store_once() {
    if (!stored_) store();
    stored_ = true;
  }

  void read() {
    must(rcap_capturer_read_into(capturer_, &read_, slots_.data(), tokens_ * 8, nullptr, 0, ids_.data(), static_cast<std::int64_t>(ids_.size()),
                                 nullptr, 0, validity_.data(), static_cast<std::int64_t>(validity_.size()), &info_, &error_),
         error_);
    if (info_.rows_valid != tokens_) std::abort();
  }

  /// The next n slots of the random order.
  void walk() {
    at_ = (at_ + tokens_) % kSlots;
    aim_slots();
  }

 private:
  /// @param step  ids from one layer's to the next one's
  void capture_from(std::int64_t step) {
    const std::int64_t bytes = tokens_ * kTopK * 4;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      must(rcap_tap_capture(taps_[static_cast<std::size_t>(layer)], &capture_, given_.data() + layer * step, bytes, nullptr, 0, nullptr, 0, nullptr,
                            &error_),
           error_);
    }
  }

  void create(rcap_backend* backend) {
    rcap_capturer_config config = made(&rcap_capturer_config_init);
    config.num_experts = kExperts;
    config.top_k = static_cast<std::int32_t>(kTopK);
    config.chunked_prefill_size = kDeviceRows;
    config.max_running_requests = 256;
    config.num_slots = kSlots;
    std::vector<std::int32_t> layers(kLayers);
    std::iota(layers.begin(), layers.end(), 3);
    must(rcap_capturer_create(&config, layers.data(), kLayers, backend, &capturer_, &error_), error_);
    rcap_model* target = nullptr;
    must(rcap_capturer_add_model(capturer_, RCAP_ROLE_TARGET, "target", &target, &error_), error_);
    for (const std::int32_t layer : layers) {
      must(rcap_model_add_tap(target, layer, nullptr, nullptr, 0, &taps_.emplace_back(), &error_), error_);
    }
    must(rcap_capturer_seal(capturer_, &error_), error_);
  }

  void aim_slots() {
    for (std::int64_t row = 0; row < tokens_; ++row) slots_[static_cast<std::size_t>(row)] = order_[static_cast<std::size_t>((at_ + row) % kSlots)];
  }

  template <class T>
  static std::vector<T> sized(std::int64_t count) {
    return std::vector<T>(static_cast<std::size_t>(count));
  }

  std::int64_t tokens_;
  std::vector<std::int32_t> given_ = sized<std::int32_t>(kLayers * tokens_ * kTopK);
  std::vector<std::int64_t> order_ = sized<std::int64_t>(kSlots);
  std::vector<std::int64_t> slots_ = sized<std::int64_t>(tokens_);
  std::vector<std::byte> ids_ = sized<std::byte>(tokens_ * kLayers * kTopK);
  std::vector<std::byte> validity_ = sized<std::byte>((tokens_ + 7) / 8);
  rcap_capture_layout capture_ = made(&rcap_capture_layout_init);
  rcap_forward_layout forward_ = made(&rcap_forward_layout_init);
  rcap_read_layout read_ = made(&rcap_read_layout_init);
  rcap_read_info info_ = made(&rcap_read_info_init);
  rcap_error error_{};
  rcap_capturer* capturer_ = nullptr;
  rcap_output* output_ = nullptr;
  std::vector<rcap_tap*> taps_;
  std::int64_t at_ = 0;
  bool stored_ = false;
};

}  // namespace routecap_bench
