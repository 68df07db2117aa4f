// SPDX-License-Identifier: Apache-2.0
#include "naive.h"

#include <algorithm>
#include <stdexcept>

#include "support.h"

namespace engine {

NaiveCapturer::NaiveCapturer(const ModelShape& shape, const EngineConfig& config)
    : layers_(shape.total_layers),
      top_k_(shape.top_k),
      capacity_(std::max(config.chunked_prefill_size, config.max_running_requests)),
      device_(static_cast<std::size_t>(layers_ * capacity_ * top_k_)),
      host_(static_cast<std::size_t>(config.num_slots() * layers_ * top_k_)),
      notes_(static_cast<std::size_t>(config.num_slots())) {}

void NaiveCapturer::capture(std::int32_t layer_number, const TopK& topk, std::span<const std::int32_t> row_ids) {
  for (std::int64_t i = 0; i < topk.rows(); ++i) {
    const std::int64_t row = row_ids.empty() ? i : at(row_ids, i);
    if (row >= capacity_) continue;
    std::copy_n(topk.ids.begin() + i * topk.columns, top_k_, device_.begin() + (layer_number * capacity_ + row) * top_k_);
  }
}

std::int64_t NaiveCapturer::stage(std::int64_t first_row, std::span<const RowSource> rows, std::span<const std::int64_t> slots) {
  Staged staged;
  staged.ticket = next_ticket_++;
  staged.slots.assign(slots.begin(), slots.end());
  staged.sources.assign(rows.begin(), rows.end());
  staged.rows = std::clamp<std::int64_t>(capacity_ - first_row, 0, count(rows));
  staged.ids.resize(static_cast<std::size_t>(staged.rows * layers_ * top_k_));
  for (std::int64_t row = 0; row < staged.rows; ++row) {
    for (std::int32_t layer = 0; layer < layers_; ++layer) {
      std::copy_n(device_.begin() + (layer * capacity_ + first_row + row) * top_k_, top_k_, staged.ids.begin() + (row * layers_ + layer) * top_k_);
    }
  }
  const std::int64_t ticket = staged.ticket;
  staged_.push_back(std::move(staged));
  return ticket;
}

void NaiveCapturer::finalize(std::int64_t ticket) {
  const auto found = std::ranges::find(staged_, ticket, &Staged::ticket);
  if (found == staged_.end()) throw std::logic_error("the naive capturer has no such output");
  const std::int64_t row_ids = static_cast<std::int64_t>(layers_) * top_k_;
  for (std::int64_t row = 0; row < count(found->slots); ++row) {
    const std::int64_t slot = at(found->slots, row);
    const bool cut_off = row >= found->rows;
    at(notes_, slot).cut_off = cut_off;
    if (cut_off) continue;
    at(notes_, slot).written = at(found->sources, row).prefix;
    std::copy_n(found->ids.begin() + row * row_ids, row_ids, host_.begin() + slot * row_ids);
  }
  staged_.erase(found);
}

void NaiveCapturer::drop(std::int64_t ticket) {
  std::erase_if(staged_, [&](const Staged& staged) { return staged.ticket == ticket; });
}

std::int64_t NaiveCapturer::bytes_per_slot() const {
  return static_cast<std::int64_t>(layers_) * top_k_ * static_cast<std::int64_t>(sizeof(std::int32_t));
}

std::span<const std::int32_t> NaiveCapturer::ids(std::int64_t slot, std::int32_t layer_number) const {
  return std::span(host_).subspan(static_cast<std::size_t>((slot * layers_ + layer_number) * top_k_), static_cast<std::size_t>(top_k_));
}

const NaiveCapturer::Note& NaiveCapturer::note(std::int64_t slot) const { return at(notes_, slot); }

}  // namespace engine
