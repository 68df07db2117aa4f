// SPDX-License-Identifier: Apache-2.0
#include "store/copy_ledger.h"

#include <algorithm>

namespace routecap {

void CopyLedger::add(Group&& group) {
  group.waiting = group.copies.size();
  groups_.reserve(groups_.size() + 1);
  const auto forget = [this, &group] {
    for (PendingCopy& copy : group.copies) {
      const auto range = by_source_.equal_range(copy.from);
      for (auto at = range.first; at != range.second;) at = at->second == &copy ? by_source_.erase(at) : std::next(at);
    }
  };
  try {
    for (PendingCopy& copy : group.copies) by_source_.emplace(copy.from, &copy);
  } catch (...) {
    forget();
    throw;
  }
  size_.fetch_add(static_cast<std::int64_t>(group.copies.size()), std::memory_order_relaxed);
  groups_.push_back(std::move(group));
}

void CopyLedger::mark_targets(Sequence sequence) {
  if (groups_.empty()) return;
  for (const PendingCopy& copy : groups_.back().copies) {
    if (copy.number == sequence) store_.store_pending(copy.to, sequence);
  }
}

void CopyLedger::note(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload) {
  const auto range = by_source_.equal_range(slot);
  for (auto at = range.first; at != range.second; ++at) {
    PendingCopy& copy = *at->second;
    const bool awaited = copy.source.stamp.pending() && copy.source.stamp.sequence() == sequence;
    if (copy.number <= sequence || (copy.source.decided >= sequence && !awaited)) continue;
    copy.source = row;
    copy.source.decided = sequence;
    copy.source.stamp = Stamp(sequence, row.valid ? Stamp::kValid : 0);
    if (row.valid) std::copy_n(payload, store_.payload_words(), copy.payload);
  }
}

void CopyLedger::apply(PendingCopy& copy, Group& group) {
  store_.resolve_pending(copy.to, copy.number, copy.source, copy.payload);
  note(copy.to, copy.number, copy.source, copy.payload);
  const auto range = by_source_.equal_range(copy.from);
  for (auto at = range.first; at != range.second; ++at) {
    if (at->second != &copy) continue;
    by_source_.erase(at);
    break;
  }
  copy.applied = true;
  --group.waiting;
  size_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace routecap
