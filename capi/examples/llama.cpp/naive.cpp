// SPDX-License-Identifier: Apache-2.0
#include "naive.h"

#include <algorithm>

#include "support.h"

namespace llama_demo {

using engine::at;
using engine::count;

NaiveCapturer::NaiveCapturer(std::int32_t layers, std::int32_t top_k, std::int64_t batch_tokens, std::int64_t num_slots)
    : layers_(layers),
      top_k_(top_k),
      capacity_(batch_tokens),
      buffer_(static_cast<std::size_t>(layers * batch_tokens * top_k)),
      host_(static_cast<std::size_t>(num_slots * layers * top_k)) {}

std::int32_t* NaiveCapturer::buffer(std::int32_t layer, std::int64_t row) { return buffer_.data() + (layer * capacity_ + row) * top_k_; }

void NaiveCapturer::capture(std::int32_t layer, std::span<const std::int32_t> ids, std::int64_t first_row, const std::vector<std::int32_t>* row_ids) {
  for (std::int64_t i = 0; i < count(ids) / top_k_; ++i) {
    const std::int64_t row = first_row + (row_ids == nullptr ? i : at(*row_ids, i));
    std::copy_n(ids.begin() + i * top_k_, top_k_, buffer(layer, row));
  }
}

void NaiveCapturer::end_step(std::span<const std::int64_t> rows, std::span<const std::int64_t> slots) {
  for (std::int64_t i = 0; i < count(rows); ++i) {
    for (std::int32_t layer = 0; layer < layers_; ++layer) {
      std::copy_n(buffer(layer, at(rows, i)), top_k_, host_.begin() + (at(slots, i) * layers_ + layer) * top_k_);
    }
  }
}

void NaiveCapturer::copy(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  const std::int64_t width = std::int64_t{layers_} * top_k_;
  for (std::int64_t i = 0; i < count(from); ++i) std::copy_n(host_.begin() + at(from, i) * width, width, host_.begin() + at(to, i) * width);
}

std::span<const std::int32_t> NaiveCapturer::ids(std::int64_t slot, std::int32_t layer) const {
  return std::span(host_).subspan(static_cast<std::size_t>((slot * layers_ + layer) * top_k_), static_cast<std::size_t>(top_k_));
}

}  // namespace llama_demo
