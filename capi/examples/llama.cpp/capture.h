// SPDX-License-Identifier: Apache-2.0
//
// What this program uses routecap for: a capturer with the target's taps and the draft's, and the slots that it gives to (sequence, position).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model_file.h"
#include "rcap.h"
#include "router_tap.h"

namespace llama_demo {

/// llama.cpp keeps its KV cells to itself, and moves them as it likes. A row's slot is therefore the program's own: sequence * positions + position.
class SlotMap {
 public:
  SlotMap(std::int64_t sequences, std::int64_t positions) : sequences_(sequences), positions_(positions) {}

  [[nodiscard]] std::int64_t slot(std::int64_t sequence, std::int64_t position) const { return sequence * positions_ + position; }
  /// Slots of the positions [first, end) of a sequence.
  [[nodiscard]] std::vector<std::int64_t> slots(std::int64_t sequence, std::int64_t first, std::int64_t end) const;
  [[nodiscard]] std::int64_t count() const { return sequences_ * positions_; }

 private:
  std::int64_t sequences_;
  std::int64_t positions_;
};

class Capture {
 public:
  struct Config {
    std::int64_t batch_tokens = 0;   // of the largest decode
    std::int64_t verify_tokens = 0;  // drafts + 1
    std::int64_t sequences = 0;
    std::int64_t num_slots = 0;
    bool weights = false;
    bool prunes_last_layer = false;
  };

  /// @param draft  null: there is none
  Capture(const Library& library, const ModelShape& target, const ModelShape* draft, const Config& config);

  /// One layer of the target: copies the tensors with the engine's own accessor and hands them over.
  void take(const RoutedRows& routed);
  /// One layer of the draft. Its taps are denied: nothing is looked at, the call is counted (R18).
  void take_draft(std::size_t column) const;
  [[nodiscard]] bool is_draft_enabled() const;
  /// Whether the library lets anybody open the draft's gate (R20). It does not.
  [[nodiscard]] bool draft_can_be_allowed() const { return draft_can_be_allowed_; }

  /// The ids that `take` copied last, [rows, K].
  [[nodiscard]] std::span<const std::int32_t> ids() const { return {ids_.data(), static_cast<std::size_t>(taken_)}; }

  /// Ends a forward: row rows[i] goes to slots[i], every other row was rejected (R21). @return its number
  std::int64_t end_forward(std::int64_t tokens, std::span<const std::int64_t> rows, std::span<const std::int64_t> slots);
  /// Forgets what was captured of a forward that failed.
  void discard_forward();
  void release(std::span<const std::int64_t> slots);
  void copy(std::span<const std::int64_t> from, std::span<const std::int64_t> to);
  /// @param after  number of the request's last forward
  [[nodiscard]] engine::RecordHandle read(std::span<const std::int64_t> slots, std::int64_t tokens, std::int64_t after) const;
  [[nodiscard]] rcap_capturer_stats stats() const;
  /// Is there a row in this slot?
  [[nodiscard]] bool holds_row(std::int64_t slot) const;

 private:
  const Library& library_;
  ModelShape target_;
  bool weights_;
  engine::CapturerHandle capturer_;
  std::vector<rcap_tap*> taps_;
  std::vector<rcap_tap*> draft_taps_;
  bool draft_can_be_allowed_ = false;
  rcap_capture_layout layout_;
  std::vector<std::int32_t> ids_;
  std::vector<float> row_weights_;
  std::int64_t taken_ = 0;
};

}  // namespace llama_demo
