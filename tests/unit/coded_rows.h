// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/rig.h"

/// Rows that say themselves which they are: the first id is the code, every other id, weight and the tag follow from it. A reader on another thread
/// can tell a whole row from a mixture of two without knowing what was written when.
namespace routecap_test {

inline constexpr std::int32_t kCodedTopK = 4;
inline constexpr std::int64_t kCodes = 65536;

/// E = 65536, so that a code is an id; weights and tags are kept.
inline Setup coded_setup(std::int32_t layers, std::int32_t finalize_mode = RCAP_FINALIZE_CALLER) {
  Setup setup;
  setup.config.num_experts = static_cast<std::int32_t>(kCodes);
  setup.config.top_k = kCodedTopK;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  setup.config.tags = 1;
  setup.config.finalize_mode = finalize_mode;
  setup.layer_ids.clear();
  for (std::int32_t layer = 0; layer < layers; ++layer) setup.layer_ids.push_back(layer);
  return setup;
}

inline std::uint16_t coded_id(std::int64_t code, std::int32_t layer, std::int32_t k) {
  return layer == 0 && k == 0 ? static_cast<std::uint16_t>(code) : static_cast<std::uint16_t>(mix(code, layer * 64 + k));
}
inline float coded_weight(std::int64_t code, std::int32_t layer, std::int32_t k) {
  return static_cast<float>(mix(code, 100000 + layer * 64 + k) & 0xFFFFFF);
}
inline std::int64_t coded_tag(std::int64_t code) { return static_cast<std::int64_t>(mix(code, -5)); }

/// One layer's rows of these codes. Touches nothing of the rig that another thread may touch.
inline std::int32_t capture_coded(const Rig& rig, std::int32_t layer, const std::vector<std::int64_t>& codes, std::int64_t first_row = 0) {
  std::vector<std::uint16_t> ids;
  std::vector<float> weights;
  for (const std::int64_t code : codes) {
    for (std::int32_t k = 0; k < kCodedTopK; ++k) {
      ids.push_back(coded_id(code, layer, k));
      weights.push_back(coded_weight(code, layer, k));
    }
  }
  auto layout = make<rcap_capture_layout>();
  layout.ids_dtype = RCAP_DTYPE_UINT16;
  layout.weights_dtype = RCAP_DTYPE_FLOAT32;
  layout.columns = kCodedTopK;
  layout.tokens = static_cast<std::int64_t>(codes.size());
  layout.first_row = first_row;
  return rcap_tap_capture(rig.tap(static_cast<std::size_t>(layer)), &layout, ids.data(), static_cast<std::int64_t>(ids.size() * 2), weights.data(),
                          static_cast<std::int64_t>(weights.size() * 4), nullptr, 0, nullptr, nullptr);
}

/// A forward of these codes whose captures are done.
inline std::int32_t end_coded(Rig& rig, const std::vector<std::int64_t>& codes, const Slots& slots, Output& output,
                              std::int32_t acceptance = RCAP_ACCEPT_ALL) {
  Forward forward{.tokens = static_cast<std::int64_t>(codes.size()), .acceptance = acceptance, .slots = slots};
  for (const std::int64_t code : codes) forward.tags.push_back(coded_tag(code));
  return rig.try_end(forward, output);
}

/// Reads slots into its own buffers, again and again.
class CodedReader {
 public:
  CodedReader(const Rig& rig, std::size_t most) : rig_(rig) {
    const auto cells = most * static_cast<std::size_t>(rig.layers() * kCodedTopK);
    ids_.resize(cells);
    weights_.resize(cells);
    validity_.resize(most / 8 + 1);
  }

  /// Status of the read; afterwards `code` tells each row.
  std::int32_t read(const Slots& slots, std::int64_t after_sequence = 0, std::int64_t timeout_ns = 0) {
    auto layout = make<rcap_read_layout>();
    layout.tokens = static_cast<std::int64_t>(slots.size()) + 1;
    layout.after_sequence = after_sequence;
    layout.timeout_ns = timeout_ns;
    return rcap_capturer_read_into(rig_.get(), &layout, slots.data(), static_cast<std::int64_t>(slots.size() * 8), nullptr, 0, ids_.data(),
                                   static_cast<std::int64_t>(ids_.size() * 2), weights_.data(), static_cast<std::int64_t>(weights_.size() * 4),
                                   validity_.data(), static_cast<std::int64_t>(validity_.size()), nullptr, nullptr);
  }

  /// Code of a row: -1 missing, -2 torn (not one row but a mixture, or bytes of a missing row that are not 0xFF).
  [[nodiscard]] std::int64_t code(std::size_t row) const {
    const bool valid = (validity_[row / 8] >> (row % 8) & 1) != 0;
    const auto width = static_cast<std::size_t>(rig_.layers() * kCodedTopK);
    const std::uint16_t* ids = ids_.data() + row * width;
    const float* weights = weights_.data() + row * width;
    const std::int64_t code = ids[0];
    for (std::size_t i = 0; i < width; ++i) {
      const auto layer = static_cast<std::int32_t>(i / kCodedTopK);
      const auto k = static_cast<std::int32_t>(i % kCodedTopK);
      std::uint32_t bits = 0;
      std::memcpy(&bits, weights + i, sizeof bits);
      const bool right =
          valid ? ids[i] == coded_id(code, layer, k) && weights[i] == coded_weight(code, layer, k) : ids[i] == 0xFFFF && bits == 0xFFFFFFFF;
      if (!right) return -2;
    }
    return valid ? code : -1;
  }

 private:
  const Rig& rig_;
  std::vector<std::uint16_t> ids_;
  std::vector<float> weights_;
  std::vector<std::uint8_t> validity_;
};

/// Whether this program runs many times slower than usual.
inline constexpr bool kSlow =
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

}  // namespace routecap_test
