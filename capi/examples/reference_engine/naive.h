// SPDX-License-Identifier: Apache-2.0
//
// A capturer as engines first wrote it, one per rank, fed by the same schedule as the real one:
// - one buffer [layer number][row][K] of int32, with as many rows as one rank's largest batch; rows of the gathered batch behind it are cut off;
// - every MoE layer writes the row block of its number, the draft's too;
// - rows leave the buffer when the step's results are handled, after the draft has run;
// - a host array [slot][layer number][K] begins as zeros, takes rows in the order in which outputs come, rejected and padded ones too, and hears
//   nothing of releases, copies and moves.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "model.h"
#include "router.h"
#include "taps.h"

namespace engine {

class NaiveCapturer {
 public:
  NaiveCapturer(const ModelShape& shape, const EngineConfig& config);

  /// @param row_ids  rows that the ids belong to; empty = rows from 0
  void capture(std::int32_t layer_number, const TopK& topk, std::span<const std::int32_t> row_ids = {});

  /// Takes this rank's rows out of the buffer. @return ticket for `finalize`
  std::int64_t stage(std::int64_t first_row, std::span<const RowSource> rows, std::span<const std::int64_t> slots);
  void finalize(std::int64_t ticket);
  void drop(std::int64_t ticket);

  [[nodiscard]] std::int64_t bytes_per_slot() const;

  /// What it would answer for a slot: K ids of a captured layer.
  [[nodiscard]] std::span<const std::int32_t> ids(std::int64_t slot, std::int32_t layer_number) const;

  // What the buffer itself does not know and the comparison wants to: why a row is as it is.
  struct Note {
    PrefixHash written = 0;  // whose row was last written, 0 = none
    bool cut_off = false;    // the last forward's row for the slot lay behind the buffer's end
  };
  [[nodiscard]] const Note& note(std::int64_t slot) const;

 private:
  struct Staged {
    std::int64_t ticket = 0;
    std::vector<std::int64_t> slots;
    std::vector<RowSource> sources;
    std::int64_t rows = 0;          // that fitted
    std::vector<std::int32_t> ids;  // [rows][layer number][K]
  };

  std::int32_t layers_;
  std::int32_t top_k_;
  std::int64_t capacity_;
  std::vector<std::int32_t> device_;  // [layer number][row][K]
  std::vector<std::int32_t> host_;    // [slot][layer number][K]
  std::vector<Note> notes_;
  std::deque<Staged> staged_;
  std::int64_t next_ticket_ = 0;
};

}  // namespace engine
