// SPDX-License-Identifier: Apache-2.0
//
// Start-up of a rank's capturer, and the call that every MoE layer makes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model.h"
#include "rcap.h"

namespace engine {

/// A router's output for the gathered buffer: [rows, columns], the fused shared experts behind the K routed ones.
struct TopK {
  std::span<const std::int32_t> ids;
  std::span<const std::uint16_t> weights;  // bfloat16 bits, empty where the engine keeps none
  std::int32_t columns = 0;

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(ids.size()) / columns; }
};

/// One rank's capturer with its taps. An engine holds one per process and hands each layer its tap when it builds the model.
class Taps {
 public:
  Taps(const ModelShape& shape, const EngineConfig& engine);

  [[nodiscard]] rcap_capturer* capturer() const { return capturer_.get(); }
  [[nodiscard]] const rcap_capturer_plan& plan() const { return plan_; }

  /// The target's layer of a column hands over all rows of the buffer.
  void capture(std::int64_t column, const TopK& topk) const;
  /// Two-batch overlap: each half of the batch runs its layers by itself, and both halves are row ranges of one forward (R27).
  void capture_halves(std::int64_t column, const TopK& topk) const;
  /// The target's last layer, run on some rows only: `topk` holds those, `row_ids` says which they are (R7).
  void capture_rows(std::int64_t column, const TopK& topk, std::span<const std::int32_t> row_ids) const;
  /// The draft's layer. Its tap is denied: nothing is written, whatever its layer number, and the library counts the call (R18).
  void capture_draft(const TopK& topk) const;

  /// A warm-up, dummy or aborted forward leaves no trace (R27).
  void discard_forward() const;

 private:
  void call(rcap_tap* tap, const TopK& topk, std::int64_t first, std::int64_t rows, std::span<const std::int32_t> row_ids = {}) const;

  Accelerator* accelerator_;
  CapturerHandle capturer_;
  rcap_capturer_plan plan_;
  std::vector<rcap_tap*> target_;
  rcap_tap* draft_ = nullptr;
};

}  // namespace engine
