// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "store/slot_store.h"

namespace routecap {

/// One pair of a copy that waits for forwards numbered before it (R12).
///
/// It keeps its source *as numbered before the copy*: what the slot held at the call, brought up to date by those forwards as they settle, and
/// untouched by whatever happens to the slot later.
struct PendingCopy {
  Sequence number = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  SlotRow source;                    ///< `decided` is the number of its state; a pending stamp means that an earlier copy decides it
  std::uint64_t* payload = nullptr;  ///< of the source, in the group's memory
  bool applied = false;
};

/// Copies that wait. Everything here happens under the capturer's settle mutex.
class CopyLedger {
 public:
  explicit CopyLedger(SlotStore& store) : store_(store) {}

  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] std::int64_t size() const { return size_.load(std::memory_order_relaxed); }

  /// The waiting pairs of one copy call.
  struct Group {
    std::vector<PendingCopy> copies;
    std::unique_ptr<std::uint64_t[]> payloads;
    std::size_t waiting = 0;
  };
  /// Takes a call's pairs in, numbered above all others. Throws where memory lacks and has changed nothing then.
  void add(Group&& group);
  /// Marks the targets of the call numbered `sequence`: from now on they are not ready (R12).
  void mark_targets(Sequence sequence);

  /// A forward numbered `sequence` (or an earlier copy) leaves `row` in `slot`: every waiting copy numbered after it that takes this slot learns of
  /// it.
  void note(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload);

  /// Applies, oldest first, every copy whose source can no longer change. `may_change(slot, before, above)` returns the number of an unsettled
  /// forward numbered above .. before (both excluded) that may write the slot, or 0.
  template <class MayChange>
  void resolve(MayChange&& may_change) {
    for (Group& group : groups_) {
      // Within one call all sources were taken at once: resolving one pair never feeds another of the same call.
      for (PendingCopy& copy : group.copies) {
        if (copy.applied || copy.source.stamp.pending() || may_change(copy.from, copy.number, copy.source.decided) != 0) continue;
        apply(copy, group);
      }
    }
    std::erase_if(groups_, [](const Group& group) { return group.waiting == 0; });
  }

  /// For a slot that waits for the copy `number`: the unsettled forward it lacks, following copies of copies; 0 if none.
  template <class MayChange>
  [[nodiscard]] Sequence lacking(std::int64_t slot, Sequence number, MayChange&& may_change) const {
    for (const Group& group : groups_) {
      for (const PendingCopy& copy : group.copies) {
        if (copy.applied || copy.to != slot || copy.number != number) continue;
        const Sequence direct = may_change(copy.from, copy.number, copy.source.decided);
        if (direct != 0 || !copy.source.stamp.pending()) return direct;
        return lacking(copy.from, copy.source.stamp.sequence(), may_change);
      }
    }
    return 0;
  }

 private:
  void apply(PendingCopy& copy, Group& group);

  SlotStore& store_;
  std::vector<Group> groups_;  ///< ascending by number
  std::unordered_multimap<std::int64_t, PendingCopy*> by_source_;
  std::atomic<std::int64_t> size_{0};
};

}  // namespace routecap
