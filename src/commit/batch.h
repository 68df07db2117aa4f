// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "commit/slot_set.h"
#include "config/geometry.h"
#include "support/list_view.h"

namespace routecap {

/// An array of the caller, as it came through the C API.
struct RawArray {
  const void* data = nullptr;
  std::int64_t bytes = 0;
};

/// A list whose shape has been checked. In HOST memory its content has been, too; in DEVICE memory it is looked at when the forward settles (R14).
struct CommitList {
  ListView view;
  bool on_device = false;
  [[nodiscard]] bool given() const { return view.given(); }
};

/// What `rcap_capturer_end_forward` was given, checked: whoever holds one need not check shapes again.
struct Batch {
  std::int64_t first_row = 0;
  std::int64_t tokens = 0;
  std::int32_t acceptance = RCAP_ACCEPT_ALL;
  std::int64_t entries = 0;  ///< commit entries, holes included; with LATER the forward's rows
  CommitList slots;
  CommitList rows;
  CommitList tags;
  std::int64_t step = 0;
  std::int64_t weight_version = 0;
};

/// Commit entries told by `rcap_output_accept`, checked in shape.
struct Acceptance {
  std::int64_t entries = 0;
  CommitList slots;
  CommitList rows;
};

/// Limits that commit entries are checked against.
struct CommitLimits {
  std::int64_t device_rows = 0;
  std::int64_t num_slots = 0;
  std::int64_t reserved_slots = 0;
  bool tags = false;
};

/// Checks the shape of a forward (R14, R16, R21).
Batch checked_batch(const rcap_forward_layout& layout, RawArray slots, RawArray rows, RawArray tags, const CommitLimits& limits);

/// Checks the shape of an acceptance. `has_slots` tells whether the forward named its rows' slots.
Acceptance checked_acceptance(const rcap_accept_layout& layout, RawArray rows, RawArray slots, const CommitLimits& limits, bool has_slots);

/// What the host lists of a forward or an acceptance name: filled while they are checked.
struct NamedSets {
  SlotSet& slots;
  SlotSet& rows;
};

/// Entries as far as the host knows them, side by side; null = the device knows them, or every entry is its own row.
struct KnownLists {
  const std::int64_t* slots = nullptr;
  const std::int64_t* rows = nullptr;
  std::int64_t count = 0;
};

/// Refuses slots and rows that are out of range or named twice, as far as the host knows them, before anything is written (R14, R15). Entries for
/// reserved slots are dropped before anything else about them is looked at. `named.slots` holds the named slots afterwards.
void check_entries(KnownLists lists, std::int64_t tokens, const CommitLimits& limits, NamedSets named);

}  // namespace routecap
