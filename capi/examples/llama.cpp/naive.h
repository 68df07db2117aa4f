// SPDX-License-Identifier: Apache-2.0
//
// What capturing by layer name without a gate gives: one buffer of the process, [layer number][row][K], which every router of that layer number
// writes, and a host array [slot][layer number][K] that takes the rows when the step is over, behind the draft. For comparison only: it runs beside
// routecap on the same schedule, once with the draft shut out and once with it let in, and nothing else differs between the two.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace llama_demo {

class NaiveCapturer {
 public:
  NaiveCapturer(std::int32_t layers, std::int32_t top_k, std::int64_t batch_tokens, std::int64_t num_slots);

  /// @param ids      [rows, K]
  /// @param row_ids  null: rows from first_row on
  void capture(std::int32_t layer, std::span<const std::int32_t> ids, std::int64_t first_row, const std::vector<std::int32_t>* row_ids);
  void end_step(std::span<const std::int64_t> rows, std::span<const std::int64_t> slots);
  void copy(std::span<const std::int64_t> from, std::span<const std::int64_t> to);

  /// K ids of one layer of the slot.
  [[nodiscard]] std::span<const std::int32_t> ids(std::int64_t slot, std::int32_t layer) const;

 private:
  [[nodiscard]] std::int32_t* buffer(std::int32_t layer, std::int64_t row);

  std::int32_t layers_;
  std::int32_t top_k_;
  std::int64_t capacity_;
  std::vector<std::int32_t> buffer_;
  std::vector<std::int32_t> host_;
};

}  // namespace llama_demo
