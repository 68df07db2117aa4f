// SPDX-License-Identifier: Apache-2.0
#include "presence.h"

#include "support.h"

namespace engine {

void PresenceBook::wrote(std::int64_t slot, std::int64_t sequence, bool pruned) {
  Entry& entry = at(entries_, slot);
  if (entry.decided < sequence) entry = {sequence, sequence, pruned};
}

void PresenceBook::released(std::span<const std::int64_t> slots, std::int64_t sequence) {
  for (const std::int64_t slot : slots) at(entries_, slot) = {sequence, 0, false};
}

void PresenceBook::copied(std::span<const std::int64_t> from, std::span<const std::int64_t> to, std::int64_t sequence) {
  std::vector<Entry> sources;
  for (const std::int64_t slot : from) sources.push_back(at(entries_, slot));
  for (std::int64_t i = 0; i < count(to); ++i) {
    at(entries_, at(to, i)) = {sequence, at(sources, i).forward, at(sources, i).pruned};
  }
}

Presence PresenceBook::at_slot(std::int64_t slot) const {
  const Entry& entry = at(entries_, slot);
  if (entry.forward == 0 || dropped_.contains(entry.forward)) return Presence::kMissing;
  return entry.pruned ? Presence::kPrunedRow : Presence::kRow;
}

}  // namespace engine
