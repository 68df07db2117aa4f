// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/rows/views.h"
#include "config/geometry.h"
#include "store/stamp.h"
#include "support/mapping.h"

namespace routecap {

/// A row as it stands in a slot, in memory of whoever asks.
struct SlotRow {
  Stamp stamp;           ///< as the slot had it; see `decided`
  Sequence decided = 0;  ///< number that decides what the slot shows: the stamp's, or a later release_all
  bool valid = false;
  rows::SlotExtension extension;  ///< of a valid row: own number and weight version
  std::int64_t tag = 0;           ///< of a valid row, where tags are kept
};

/// One row per KV slot behind a stamp (R7-R10). Position independent: a slot is found by its number alone.
class SlotStore {
 public:
  SlotStore(const Geometry& geometry, const rows::RowShape& shape);

  [[nodiscard]] const rows::StoreView& view() const { return view_; }
  [[nodiscard]] std::int64_t num_slots() const { return view_.num_slots; }
  [[nodiscard]] bool reserved(std::int64_t slot) const { return slot < reserved_slots_; }
  [[nodiscard]] std::int64_t reserved_slots() const { return reserved_slots_; }

  /// Number of the last release_all: stamps up to it read as missing.
  [[nodiscard]] Sequence floor() const { return floor_.load(std::memory_order_acquire); }
  void release_all(Sequence sequence) { floor_.store(sequence, std::memory_order_release); }
  /// The slot reads as missing until something numbered later is stored (R8).
  void release(std::int64_t slot, Sequence sequence) { settle_missing(slot, sequence); }
  void settle_missing(std::int64_t slot, Sequence sequence);

  [[nodiscard]] Stamp stamp(std::int64_t slot) const;
  /// Whether an operation numbered `sequence` could still change what the slot shows.
  [[nodiscard]] bool open_to(std::int64_t slot, Sequence sequence) const {
    return stamp(slot).sequence() < sequence && floor() < sequence && !reserved(slot);
  }

  /// Reads a slot whole; `payload` (words of the shape) is filled for a valid row. Retries while a writer is at it (R36).
  SlotRow load(std::int64_t slot, std::uint64_t* payload) const;
  /// Writes a row (valid) or settles the slot as missing, unless it is newer. `extension` keeps a copied row's age (R12).
  void store(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload);
  /// Marks the slot as the target of a copy that waits for a forward.
  void store_pending(std::int64_t slot, Sequence sequence);
  /// As `store`, where the slot still waits for the copy numbered `sequence`.
  void resolve_pending(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload);

  [[nodiscard]] std::int64_t payload_words() const { return payload_words_; }

 private:
  [[nodiscard]] std::uint64_t* words(std::int64_t slot) const { return reinterpret_cast<std::uint64_t*>(view_.base + slot * view_.slot_stride); }
  /// The row's bytes, after a claim; returns the stamp to publish.
  Stamp write(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload);

  Mapping slots_;
  Mapping extensions_;
  rows::StoreView view_;
  std::int64_t payload_words_ = 0;
  std::int64_t reserved_slots_ = 0;
  std::atomic<Sequence> floor_{0};
};

}  // namespace routecap
