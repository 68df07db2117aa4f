// SPDX-License-Identifier: Apache-2.0
//
// The oracle's book of which slots must hold a row. It says nothing about a row's content, which follows from the request's tokens alone; it
// follows the schedule by the rules of the contract (R8 to R12, R21, R33) and never asks the library.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace engine {

enum class Presence {
  kMissing,
  kRow,       // every layer
  kPrunedRow  // every layer but the last: a prefill forward that ran its last layer on some rows only
};

class PresenceBook {
 public:
  explicit PresenceBook(std::int64_t num_slots) : entries_(static_cast<std::size_t>(num_slots)) {}

  /// A forward committed a row into a slot. A late acceptance keeps the number of its forward: what happened to the slot since counts (R21).
  void wrote(std::int64_t slot, std::int64_t sequence, bool pruned);
  void released(std::span<const std::int64_t> slots, std::int64_t sequence);
  /// As if all at once; the row keeps the number of the forward that wrote it.
  void copied(std::span<const std::int64_t> from, std::span<const std::int64_t> to, std::int64_t sequence);
  /// A forward's output was destroyed unsettled: its rows are missing, wherever they were copied to (R33).
  void dropped(std::int64_t sequence) { dropped_.insert(sequence); }

  [[nodiscard]] Presence at_slot(std::int64_t slot) const;

 private:
  struct Entry {
    std::int64_t decided = 0;  // number of the operation that decided the slot
    std::int64_t forward = 0;  // forward whose row it is, 0 = none
    bool pruned = false;
  };

  std::vector<Entry> entries_;
  std::unordered_set<std::int64_t> dropped_;
};

}  // namespace engine
