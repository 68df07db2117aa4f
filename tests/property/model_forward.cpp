// SPDX-License-Identifier: Apache-2.0
//
// What a forward may write, what is wrong with its entries, and what it leaves behind.
#include <algorithm>
#include <utility>

#include "property/model.h"

namespace routecap_test::property {

/// What host-known lists show by themselves; a null list is on the device and shows nothing (R14, R15).
std::set<std::int32_t> Model::refusals(const Numbers* rows, const Numbers* slots, std::int64_t tokens,
                                       const std::optional<std::set<std::int64_t>>& within) const {
  std::set<std::int32_t> wrong;
  std::set<std::int64_t> rows_seen;
  std::set<std::int64_t> slots_seen;
  const std::size_t count = rows != nullptr ? rows->size() : slots != nullptr ? slots->size() : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool hole = (rows != nullptr && (*rows)[i] == -1) || (slots != nullptr && (*slots)[i] == -1);
    if (hole) continue;
    if (slots != nullptr && is_reserved((*slots)[i])) continue;
    if (slots != nullptr) {
      const std::int64_t slot = (*slots)[i];
      if (slot < 0 || slot >= geometry_.slots || (within && within->count(slot) == 0)) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
      if (!slots_seen.insert(slot).second) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
    }
    if (rows != nullptr) {
      const std::int64_t row = (*rows)[i];
      if (row < 0 || row >= tokens) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
      if (!rows_seen.insert(row).second) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
    }
  }
  return wrong;
}

/// Commit entries without the holes.
std::vector<Model::Entry> Model::entries(const Forward& forward) const {
  std::vector<Entry> entries;
  const ForwardCall& call = forward.call;
  const auto add = [&](std::int64_t row, std::int64_t slot) {
    if (variant_ == Variant::kHolesStored && slot == -1) slot = geometry_.slots - 1;
    if (row != -1 && slot != -1) entries.push_back({row, slot, true});
  };
  if (call.acceptance == RCAP_ACCEPT_ALL && call.slots) {
    for (std::size_t i = 0; i < call.slots->size(); ++i) add(static_cast<std::int64_t>(i), (*call.slots)[i]);
  } else if (call.acceptance == RCAP_ACCEPT_GIVEN && call.slots && call.rows) {
    for (std::size_t i = 0; i < call.slots->size(); ++i) add((*call.rows)[i], (*call.slots)[i]);
  } else if (forward.accepted) {
    const AcceptCall& accepted = *forward.accepted;
    for (std::size_t i = 0; i < accepted.rows.size(); ++i) {
      const std::int64_t row = accepted.rows[i];
      if (accepted.slots) {
        add(row, (*accepted.slots)[i]);
      } else if (row >= 0 && row < call.tokens) {
        add(row, (*call.slots)[static_cast<std::size_t>(row)]);
      } else if (row != -1) {
        entries.push_back({row, -1, false});
      }
    }
  }
  return entries;
}

/// With LATER, the slots told from host memory: the only ones the forward may ever write.
std::optional<std::set<std::int64_t>> Model::given_slots(const Forward& forward) const {
  const ForwardCall& call = forward.call;
  if (call.acceptance != RCAP_ACCEPT_LATER || !call.slots || call.slots_on_device) return std::nullopt;
  std::set<std::int64_t> slots(call.slots->begin(), call.slots->end());
  slots.erase(-1);
  return slots;
}

/// Whether an unsettled forward may still write a slot, by what the host knows (R12, R36).
bool Model::may_write(const Forward& forward, std::int64_t slot) const {
  const ForwardCall& call = forward.call;
  const bool nothing = call.acceptance != RCAP_ACCEPT_LATER && call.slots->empty();
  if (is_reserved(slot) || nothing) return false;
  const auto named = [&](const Numbers& slots, const Numbers* rows) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] == slot && (rows == nullptr || (*rows)[i] != -1)) return true;
    }
    return false;
  };
  if (call.acceptance == RCAP_ACCEPT_ALL) return call.slots_on_device || named(*call.slots, nullptr);
  if (call.acceptance == RCAP_ACCEPT_GIVEN) return call.slots_on_device || named(*call.slots, call.rows_on_device ? nullptr : &*call.rows);
  const std::optional<std::set<std::int64_t>> given = given_slots(forward);
  if (given && given->count(slot) == 0) return false;
  if (!forward.accepted) return true;
  const AcceptCall& accepted = *forward.accepted;
  if (accepted.rows.empty()) return false;
  if (accepted.slots) return accepted.slots_on_device || named(*accepted.slots, accepted.rows_on_device ? nullptr : &accepted.rows);
  if (accepted.rows_on_device || call.slots_on_device) return true;
  const std::vector<Entry> known = entries(forward);
  return std::any_of(known.begin(), known.end(), [&](const Entry& entry) { return entry.has_slot && entry.slot == slot; });
}

/// Whether an entry names a slot that it may settle, as a row or as missing.
bool Model::slot_in_range(const Forward& forward, const Entry& entry) const {
  if (!entry.has_slot || entry.slot < 0 || entry.slot >= geometry_.slots) return false;
  const std::optional<std::set<std::int64_t>> given = given_slots(forward);
  return !given || given->count(entry.slot) != 0;
}

bool Model::layer_incomplete(const Forward& forward, std::size_t column) const {
  const std::vector<Captured>& rows = forward.captured[column];
  return !geometry_.partial[column] && std::any_of(rows.begin(), rows.end(), [](const Captured& row) { return row.times == 0; });
}

bool Model::layer_repeated(const Forward& forward, std::size_t column) const {
  const std::vector<Captured>& rows = forward.captured[column];
  return std::any_of(rows.begin(), rows.end(), [](const Captured& row) { return row.times > 1; });
}

/// Whether what a layer captured twice spoils this row: any row of the forward does, with a PARTIAL layer only the row itself.
bool Model::row_repeated(const Forward& forward, std::size_t column, std::int64_t row) const {
  if (!geometry_.partial[column]) return layer_repeated(forward, column);
  return row >= 0 && row < forward.call.tokens && forward.captured[column][static_cast<std::size_t>(row)].times > 1;
}

/// What is wrong with one entry: the first fault of the enumeration that applies, and the first layer that has it.
Model::Verdict Model::judge(const Forward& forward, const std::vector<Entry>& remaining, const Entry& entry) const {
  const auto first_layer = [&](auto&& applies) -> std::int32_t {
    for (std::size_t column = 0; column < geometry_.layers(); ++column) {
      if (applies(column)) return geometry_.layer_numbers[column];
    }
    return -1;
  };
  if (const std::int32_t layer = first_layer([&](std::size_t column) { return layer_incomplete(forward, column); }); layer != -1) {
    return {RCAP_FAULT_LAYER_INCOMPLETE, layer};
  }
  if (const std::int32_t layer = first_layer([&](std::size_t column) { return row_repeated(forward, column, entry.row); }); layer != -1) {
    return {RCAP_FAULT_LAYER_REPEATED, layer};
  }
  const bool row_in_range = entry.row >= 0 && entry.row < forward.call.tokens;
  if (entry.has_slot && !slot_in_range(forward, entry)) return {RCAP_FAULT_SLOT_OUT_OF_RANGE, -1};
  if (!row_in_range) return {RCAP_FAULT_ROW_OUT_OF_RANGE, -1};
  const auto same_slot = [&](const Entry& other) { return other.has_slot && entry.has_slot && other.slot == entry.slot; };
  const auto same_row = [&](const Entry& other) { return other.row == entry.row; };
  if (std::count_if(remaining.begin(), remaining.end(), same_slot) > 1) return {RCAP_FAULT_SLOT_REPEATED, -1};
  if (std::count_if(remaining.begin(), remaining.end(), same_row) > 1) return {RCAP_FAULT_ROW_REPEATED, -1};
  const auto row = static_cast<std::size_t>(entry.row);
  if (const std::int32_t layer = first_layer([&](std::size_t column) { return forward.captured[column][row].id_out_of_range; }); layer != -1) {
    return {RCAP_FAULT_ID_OUT_OF_RANGE, layer};
  }
  if (const std::int32_t layer = first_layer([&](std::size_t column) { return forward.captured[column][row].id_repeated; });
      layer != -1 && geometry_.full_check) {
    return {RCAP_FAULT_ID_REPEATED, layer};
  }
  return {};
}

RowPointer Model::row_of(const Forward& forward, std::int64_t row) const {
  auto made = std::make_shared<Row>();
  for (const std::vector<Captured>& column : forward.captured) {
    const Captured& captured = column[static_cast<std::size_t>(row)];
    made->cells.push_back(captured.times == 0 ? std::nullopt : std::optional(captured.cell));
  }
  made->forward = forward.number;
  made->weight_version = forward.call.weight_version;
  if (geometry_.tags) made->tag = (*forward.call.tags)[static_cast<std::size_t>(row)];
  return made;
}

void Model::name_bad_layers(Forward& forward) const {
  rcap_summary& summary = forward.summary;
  for (std::size_t column = 0; column < geometry_.layers(); ++column) {
    if (!layer_incomplete(forward, column) && !layer_repeated(forward, column)) continue;
    if (summary.layers_bad++ != 0) continue;
    const std::vector<Captured>& rows = forward.captured[column];
    summary.first_bad_layer_number = geometry_.layer_numbers[column];
    summary.layer_rows_captured = std::count_if(rows.begin(), rows.end(), [](const Captured& row) { return row.times > 0; });
    summary.layer_rows_expected = forward.call.tokens;
  }
}

/// Settles a forward: stores the good rows, makes the bad ones missing, tells what became of every entry.
void Model::settle(Forward& forward) {
  rcap_summary& summary = forward.summary;
  summary.struct_size = static_cast<std::int64_t>(sizeof summary);
  summary.sequence = forward.number;
  summary.step = forward.call.step;
  summary.first_bad_layer = -1;
  summary.first_bad_row = -1;
  summary.first_bad_slot = -1;
  summary.first_bad_layer_number = -1;
  summary.first_stray_layer = -1;
  for (std::size_t column = 0; column < geometry_.layers(); ++column) {
    if (forward.strays[column] > 0 && summary.rows_stray == 0) summary.first_stray_layer = geometry_.layer_numbers[column];
    summary.rows_stray += forward.strays[column];
  }
  const std::vector<Entry> named = entries(forward);
  std::vector<Entry> remaining;
  for (const Entry& entry : named) {
    ++summary.entries;
    const bool reserved = entry.has_slot && is_reserved(entry.slot);
    if (reserved) {
      ++summary.rows_reserved;
    } else {
      remaining.push_back(entry);
    }
  }
  if (!remaining.empty()) name_bad_layers(forward);
  for (const Entry& entry : remaining) {
    const Verdict verdict = judge(forward, remaining, entry);
    if (verdict.fault != RCAP_FAULT_NONE) {
      if (summary.rows_bad++ == 0) {
        summary.first_bad_fault = verdict.fault;
        summary.first_bad_layer = verdict.layer;
        summary.first_bad_row = entry.row;
        summary.first_bad_slot = entry.has_slot ? entry.slot : -1;
      }
      if (slot_in_range(forward, entry) && variant_ != Variant::kBadRowLeavesOld) forward.effects[entry.slot] = nullptr;
      continue;
    }
    const bool outdated = shown_now(entry.slot).decided_by > forward.number;
    ++(outdated ? summary.rows_outdated : summary.rows_stored);
    forward.effects[entry.slot] = row_of(forward, entry.row);
  }
  if (forward.call.acceptance != RCAP_ACCEPT_ALL) {
    for (std::int64_t row = 0; row < forward.call.tokens; ++row) {
      const auto names = [&](const Entry& entry) { return entry.row == row; };
      if (std::none_of(named.begin(), named.end(), names)) ++summary.rows_rejected;
    }
  }
}

void Model::finalize(Sequence number) {
  Forward& forward = this->forward(number);
  if (forward.state != State::kStaged) return;
  settle(forward);
  forward.state = State::kSettled;
  arrivals_.push_back(number);
  ++stats_.finalized;
  stats_.rows_stored += forward.summary.rows_stored;
  stats_.rows_bad += forward.summary.rows_bad;
  stats_.rows_outdated += forward.summary.rows_outdated;
  stats_.rows_reserved += forward.summary.rows_reserved;
  stats_.rows_stray += forward.summary.rows_stray;
  stats_.rows_rejected += forward.summary.rows_rejected;
}

void Model::drop(Sequence number) {
  Forward& forward = this->forward(number);
  if (forward.state != State::kStaged) return;
  if (variant_ != Variant::kDropLeavesOld) {
    for (const Entry& entry : entries(forward)) {
      if (slot_in_range(forward, entry) && !is_reserved(entry.slot)) forward.effects[entry.slot] = nullptr;
    }
  }
  forward.state = State::kDropped;
  arrivals_.push_back(number);
  ++stats_.dropped;
}

std::vector<RowPointer> Model::staged_rows(Sequence number) const {
  const Forward& forward = this->forward(number);
  std::vector<RowPointer> staged;
  const auto defined = [&](std::int64_t row) {
    if (row < 0 || row >= forward.call.tokens) return false;
    for (std::size_t column = 0; column < geometry_.layers(); ++column) {
      const Captured& captured = forward.captured[column][static_cast<std::size_t>(row)];
      if (captured.times > 1 || captured.id_out_of_range || (captured.times == 0 && !geometry_.partial[column])) return false;
    }
    return true;
  };
  if (forward.call.acceptance == RCAP_ACCEPT_GIVEN) {
    for (std::size_t i = 0; i < forward.call.rows->size(); ++i) {
      const std::int64_t row = (*forward.call.rows)[i];
      const bool hole = (*forward.call.slots)[i] < 0;
      staged.push_back(defined(row) && !hole ? row_of(forward, row) : nullptr);
    }
    return staged;
  }
  for (std::int64_t row = 0; row < forward.call.tokens; ++row) {
    const bool hole = forward.call.acceptance == RCAP_ACCEPT_ALL && (*forward.call.slots)[static_cast<std::size_t>(row)] < 0;
    staged.push_back(defined(row) && !hole ? row_of(forward, row) : nullptr);
  }
  return staged;
}

}  // namespace routecap_test::property
