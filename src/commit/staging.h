// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "commit/batch.h"
#include "commit/slot_set.h"
#include "config/geometry.h"
#include "config/staging_layout.h"
#include "store/stamp.h"
#include "support/backoff.h"
#include "support/mapping.h"

namespace routecap {

class Output;

/// Lists of one forward or acceptance as int64 in host memory, with room for as many entries as the device buffer has rows.
struct HostLists {
  std::int64_t* slots = nullptr;
  std::int64_t* rows = nullptr;
};

/// What readers and copies may ask of a block without a lock: which forward is unsettled in it and which slots that forward may still write.
///
/// Guarded by a version: odd while it changes. At any time one thread changes it (the engine's at the start, the handle's at the accept, whoever
/// settles at the end), any number look at it.
class PendingForward {
 public:
  /// The unsettled forward's number, 0 without one.
  [[nodiscard]] Sequence sequence() const { return sequence_.load(std::memory_order_acquire); }

  /// Whether `matches(slot_may_be_written)` holds for a forward numbered 1 .. `until`; the predicate is given a function slot -> bool and called
  /// again where the block changed meanwhile. Returns that forward's number, or 0.
  template <class Matches>
  [[nodiscard]] Sequence find(Sequence until, Matches&& matches) const {
    for (Backoff backoff;; backoff.pause()) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      const Sequence sequence = sequence_.load(std::memory_order_acquire);
      if (sequence == 0 || sequence > until) return 0;
      if ((before & 1) != 0) continue;
      const bool any = any_slot_.load(std::memory_order_relaxed);
      const SlotSet& set = *slots_.load(std::memory_order_relaxed);
      const bool found = matches(sequence, [any, &set](std::int64_t slot) { return any || set.contains(slot); });
      std::atomic_thread_fence(std::memory_order_acquire);
      if (version_.load(std::memory_order_relaxed) == before) return found ? sequence : 0;
    }
  }

  /// Calls change() between two versions.
  template <class Change>
  void update(Change&& change) {
    const std::uint64_t now = version_.load(std::memory_order_relaxed);
    version_.store(now + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    change();
    version_.store(now + 2, std::memory_order_release);
  }
  void set_sequence(Sequence sequence) { sequence_.store(sequence, std::memory_order_release); }
  void set_any_slot(bool any) { any_slot_.store(any, std::memory_order_relaxed); }
  /// Swaps in a filled set and returns the old one.
  SlotSet* exchange_slots(SlotSet* slots) { return slots_.exchange(slots, std::memory_order_relaxed); }
  /// For the thread that may change it.
  [[nodiscard]] bool may_write(std::int64_t slot) const {
    return any_slot_.load(std::memory_order_relaxed) || slots_.load(std::memory_order_relaxed)->contains(slot);
  }
  [[nodiscard]] bool any_slot() const { return any_slot_.load(std::memory_order_relaxed); }
  [[nodiscard]] const SlotSet& slots() const { return *slots_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::atomic<Sequence> sequence_{0};
  std::atomic<bool> any_slot_{false};
  std::atomic<SlotSet*> slots_{nullptr};
};

/// One staging block and the forward in it.
struct Block {
  PendingForward pending;
  std::atomic<bool> in_use{false};

  // Memory, made once.
  Memory device;
  Memory pinned;
  Event staged_event;    ///< behind the snapshot
  Event copied_event;    ///< behind the copy of the block
  Event accepted_event;  ///< behind the copy of an acceptance's lists
  Mapping lists_memory;
  HostLists forward_lists;         ///< of end_forward, where the host knows them
  HostLists accepted_lists;        ///< of the accept
  SlotSet* spare_slots = nullptr;  ///< filled while an accept is checked, then exchanged with the pending one
  std::int64_t* tags = nullptr;
  std::int64_t* staged_tags = nullptr;
  rows::ScatterEntry* scatter = nullptr;

  // The forward, set by end_forward.
  Sequence sequence = 0;
  std::int64_t tokens = 0;
  std::int64_t staged = 0;
  std::int64_t entries = 0;  ///< commit entries of end_forward
  std::int32_t acceptance = RCAP_ACCEPT_ALL;
  bool slots_given = false;
  bool slots_on_device = false;
  bool rows_on_device = false;
  bool tags_on_device = false;
  std::int64_t step = 0;
  std::int64_t weight_version = 0;
  StagingLayout layout;
  Transfer transfer;
  std::atomic<bool> orphaned{false};  ///< has no output any more while copies of it may be on their way
  bool settled = false;               ///< orphaned: only its memory is waited for
  std::atomic<bool> failed{false};    ///< the device failed the forward: nothing of it is stored (R34)

  // The acceptance of a LATER forward.
  bool accepted = false;
  std::int64_t accepted_entries = 0;
  bool accepted_slots_given = false;
  bool accepted_slots_on_device = false;
  bool accepted_rows_on_device = false;
  Transfer accept_transfer;  ///< of the lists that only the device knows

  // Own-thread mode, under its mutex.
  Output* output = nullptr;  ///< null when detached
  bool queued = false;
  bool working = false;
  Block* next_queued = nullptr;

  /// The slots that the forward may write, where it named them.
  [[nodiscard]] const SlotSet& promised_slots() const { return pending.slots(); }

  template <class Element>
  [[nodiscard]] const Element* part(const Memory& side, std::int64_t offset) const {
    return reinterpret_cast<const Element*>(side.get() + offset);
  }
  /// Whether the host knows which slots the forward was to write.
  [[nodiscard]] bool lists_on_host() const {
    if (acceptance != RCAP_ACCEPT_LATER) return !slots_on_device && !rows_on_device;
    return !accepted_rows_on_device && !accepted_slots_on_device && (accepted_slots_given || !slots_on_device);
  }
  /// Where in either side an acceptance's lists stand that only the device knows, or the rows that the host named for the device.
  [[nodiscard]] std::int64_t extra_rows() const { return layout.bytes; }
  [[nodiscard]] std::int64_t accepted_slots() const { return layout.bytes + accepted_entries * 8; }

  template <class Element>
  [[nodiscard]] Element* out_part(std::int64_t offset) {
    return reinterpret_cast<Element*>(device.get() + offset);
  }
};

/// `pipeline_depth` staging blocks. The engine's thread takes them; whoever settles an output gives its block back (R32).
class StagingRing {
 public:
  StagingRing(const Geometry& geometry, const rows::RowShape& shape, Backend& backend);

  /// A free block, or null: then every one is in flight.
  Block* find_free();
  [[nodiscard]] std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
  [[nodiscard]] std::int64_t in_flight() const;

  // The engine's scratch: lists and set are filled and checked here, then exchanged with the block's.
  HostLists scratch_lists;
  SlotSet* scratch_slots = nullptr;
  SlotSet scratch_rows;
  SlotSet accept_rows;  ///< rows of an acceptance; under the settle mutex

 private:
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<SlotSet>> sets_;
  Mapping scratch_memory_;
};

}  // namespace routecap
