// SPDX-License-Identifier: Apache-2.0
#include "commit/settle.h"

#include <algorithm>
#include <utility>

#include "backend/rows/rows.h"

namespace routecap {

Settler::Settler(const rows::RowShape& shape, const CommitLimits& limits, bool check_repeated_ids, LayerFacts layers, SlotStore& store,
                 CopyLedger& copies, const rows::Crew& crew)
    : shape_(shape),
      limits_(limits),
      check_repeated_ids_(check_repeated_ids),
      layers_(std::move(layers)),
      store_(store),
      copies_(copies),
      crew_(crew),
      slots_once_(limits.device_rows),
      slots_twice_(limits.device_rows),
      rows_once_(limits.device_rows),
      rows_twice_(limits.device_rows) {}

Settler::Entries Settler::entries_of(const Block& block) const {
  Entries entries;
  entries.tokens = block.tokens;
  const std::int64_t* forward_slots = nullptr;
  if (block.slots_given)
    forward_slots = block.slots_on_device ? block.part<std::int64_t>(block.pinned, block.layout.slots) : block.forward_lists.slots;
  if (block.acceptance == RCAP_ACCEPT_LATER) {
    // A rank without slots stages rows and stores none.
    entries.count = block.accepted_slots_given || block.slots_given ? block.accepted_entries : 0;
    entries.rows = block.accepted_rows_on_device ? block.part<std::int64_t>(block.pinned, block.extra_rows()) : block.accepted_lists.rows;
    if (block.accepted_slots_given) {
      entries.slots = block.accepted_slots_on_device ? block.part<std::int64_t>(block.pinned, block.accepted_slots()) : block.accepted_lists.slots;
    } else {
      entries.row_slots = forward_slots;
    }
    const bool slots_known = block.accepted_slots_given ? !block.accepted_slots_on_device : !block.slots_on_device;
    entries.trusted = slots_known && !block.accepted_rows_on_device;
    // The forward's slots are a promise to readers and copies: the device may not break it (R36).
    const bool promised = block.slots_given && !block.slots_on_device && block.accepted_slots_given;
    if (promised && !entries.trusted) entries.allowed = &block.promised_slots();
    return entries;
  }
  entries.count = block.slots_given ? block.entries : 0;
  entries.slots = forward_slots;
  if (block.acceptance == RCAP_ACCEPT_GIVEN) {
    entries.rows = block.rows_on_device ? block.part<std::int64_t>(block.pinned, block.layout.rows) : block.forward_lists.rows;
  }
  entries.trusted = !block.slots_on_device && !block.rows_on_device;
  return entries;
}

void Settler::find_repeated(const Entries& entries) {
  slots_once_.clear(entries.count);
  slots_twice_.clear(entries.count);
  rows_once_.clear(entries.count);
  rows_twice_.clear(entries.count);
  for (std::int64_t i = 0; i < entries.count; ++i) {
    const std::int64_t slot = entries.slot(i);
    if (is_hole(entries, i) || reserved(slot)) continue;
    if (slot_in_range(slot) && !slots_once_.insert(slot)) slots_twice_.insert(slot);
    const std::int64_t row = entries.row(i);
    if (entries.row_in_range(row) && !rows_once_.insert(row)) rows_twice_.insert(row);
  }
}

std::int64_t Settler::count_rows_named(const Entries& entries) {
  rows_once_.clear(entries.count);
  std::int64_t named = 0;
  for (std::int64_t i = 0; i < entries.count; ++i) {
    const std::int64_t row = entries.row(i);
    if (!is_hole(entries, i) && entries.row_in_range(row) && rows_once_.insert(row)) ++named;
  }
  return named;
}

Settler::LayerFault Settler::check_layers(const Block& block, rcap_summary& summary) const {
  const auto* captured = block.part<std::int64_t>(block.pinned, block.layout.captured);
  const auto* repeated = block.part<std::int64_t>(block.pinned, block.layout.repeated);
  LayerFault first_incomplete;
  LayerFault first_repeated;
  for (std::int32_t column = 0; column < shape_.layers; ++column) {
    const bool incomplete = captured[column] < block.tokens && layers_.partial[static_cast<std::size_t>(column)] == 0;
    if (!incomplete && repeated[column] == 0) continue;
    if (incomplete && first_incomplete.column < 0) first_incomplete = {RCAP_FAULT_LAYER_INCOMPLETE, column};
    // What a PARTIAL layer captured twice spoils that row alone: its entry tells.
    const bool spoils = repeated[column] > 0 && layers_.partial[static_cast<std::size_t>(column)] == 0;
    if (spoils && first_repeated.column < 0) first_repeated = {RCAP_FAULT_LAYER_REPEATED, column};
    if (summary.layers_bad++ == 0) {
      summary.first_bad_layer_number = layers_.layer_ids[static_cast<std::size_t>(column)];
      summary.layer_rows_captured = captured[column];
      summary.layer_rows_expected = block.tokens;
    }
  }
  return first_incomplete.column >= 0 ? first_incomplete : first_repeated;
}

bool Settler::is_sound(const Block& block) const {
  const auto* bad_layer = block.part<std::int32_t>(block.pinned, block.layout.bad_layer);
  const std::int32_t least = rows::repeated_in(shape_.layers - 1);
  const std::int32_t most = rows::bad_id_in(shape_.layers - 1);
  bool outside = false;
  for (std::int64_t row = 0; row < block.staged; ++row) outside |= bad_layer[row] < least || bad_layer[row] > most;
  return !outside;
}

/// Whether the snapshot noted nothing of any staged row.
bool Settler::no_bad_rows(const Block& block) {
  const auto* bad_layer = block.part<std::int32_t>(block.pinned, block.layout.bad_layer);
  std::int32_t any = 0;
  for (std::int64_t row = 0; row < block.staged; ++row) any |= bad_layer[row];
  return any == 0;
}

/// R14: an entry of a PARTIAL tap's row_ids that named no row of the device buffer took no row with it, so it is counted by itself.
void Settler::count_strays(const Block& block, rcap_summary& summary) const {
  if (shape_.cell_words == 0) return;
  const auto* strays = block.part<std::int64_t>(block.pinned, block.layout.strays);
  for (std::int32_t column = 0; column < shape_.layers; ++column) {
    if (strays[column] == 0) continue;
    summary.rows_stray += strays[column];
    if (summary.first_stray_layer < 0) summary.first_stray_layer = layers_.layer_ids[static_cast<std::size_t>(column)];
  }
}

Settler::EntryFault Settler::check_entry(const Block& block, const Entries& entries, std::int64_t i, std::int64_t staged_row,
                                         LayerFault layers) const {
  if (layers.fault == RCAP_FAULT_LAYER_INCOMPLETE) return {layers.fault, layers.column};
  // R22: only the ids of committed rows count, so what the snapshot noted of a row is looked at here.
  const std::int32_t bad = entries.row_in_range(entries.row(i)) ? block.part<std::int32_t>(block.pinned, block.layout.bad_layer)[staged_row] : 0;
  if (bad < 0 || layers.fault == RCAP_FAULT_LAYER_REPEATED) {
    const std::int32_t here = bad < 0 ? rows::repeated_in(0) - bad : layers.column;
    return {RCAP_FAULT_LAYER_REPEATED, layers.fault == RCAP_FAULT_NONE ? here : std::min(here, layers.column)};
  }
  if (!entries.trusted) {
    const std::int64_t slot = entries.slot(i);
    const std::int64_t row = entries.row(i);
    const bool promised = entries.allowed == nullptr || !slot_in_range(slot) || entries.allowed->contains(slot);
    if (slot != Entries::kNoSlot && (!slot_in_range(slot) || !promised)) return {RCAP_FAULT_SLOT_OUT_OF_RANGE, -1};
    if (!entries.row_in_range(row)) return {RCAP_FAULT_ROW_OUT_OF_RANGE, -1};
    if (slots_twice_.contains(slot)) return {RCAP_FAULT_SLOT_REPEATED, -1};
    if (rows_twice_.contains(row)) return {RCAP_FAULT_ROW_REPEATED, -1};
  }
  if (bad != 0) return {RCAP_FAULT_ID_OUT_OF_RANGE, bad - rows::bad_id_in(0)};
  if (check_repeated_ids_) {
    std::int32_t column = -1;
    const std::byte* payload = block.pinned.get() + block.layout.payload + staged_row * shape_.payload_bytes;
    if (rows::has_repeated_id(shape_, payload, &column)) return {RCAP_FAULT_ID_REPEATED, column};
  }
  return {};
}

const std::int64_t* Settler::tags_of(Block& block, const Entries& entries) const {
  if (!limits_.tags) return nullptr;
  const std::int64_t* tags = block.tags_on_device ? block.part<std::int64_t>(block.pinned, block.layout.tags) : block.tags;
  if (block.acceptance != RCAP_ACCEPT_GIVEN) return tags;
  for (std::int64_t i = 0; i < entries.count; ++i) block.staged_tags[i] = entries.row_in_range(entries.row(i)) ? tags[entries.row(i)] : 0;
  return block.staged_tags;
}

rcap_summary Settler::store_rows(Block& block) {
  rcap_summary summary{};
  summary.struct_size = static_cast<std::int64_t>(sizeof summary);
  summary.sequence = block.sequence;
  summary.step = block.step;
  summary.first_bad_layer = -1;
  summary.first_bad_row = -1;
  summary.first_bad_slot = -1;
  summary.first_bad_layer_number = -1;
  summary.first_stray_layer = -1;

  const Entries entries = entries_of(block);
  if (!entries.trusted) find_repeated(entries);
  bool stores = false;
  for (std::int64_t i = 0; i < entries.count && !stores; ++i) stores = !is_hole(entries, i) && !reserved(entries.slot(i));
  // R27: a forward that stores no row needs no capture.
  const LayerFault layers = stores ? check_layers(block, summary) : LayerFault{};

  count_strays(block, summary);

  const bool later = block.acceptance == RCAP_ACCEPT_LATER;
  std::int64_t scattered = 0;
  const bool all_good = entries.trusted && layers.fault == RCAP_FAULT_NONE && !check_repeated_ids_ && no_bad_rows(block);
  for (std::int64_t i = 0; i < entries.count; ++i) {
    const std::int64_t row = entries.row(i);
    const std::int64_t slot = entries.slot(i);
    if (row == -1 || slot == -1) continue;
    ++summary.entries;
    if (reserved(slot)) {
      ++summary.rows_reserved;  // R15
      continue;
    }
    const std::int64_t staged_row = later ? row : i;
    const EntryFault fault = all_good ? EntryFault{} : check_entry(block, entries, i, staged_row, layers);
    if (fault.fault == RCAP_FAULT_NONE) {
      block.scatter[scattered++] = {slot, staged_row};
      continue;
    }
    if (summary.rows_bad++ == 0) {
      summary.first_bad_fault = fault.fault;
      summary.first_bad_layer = fault.column < 0 ? -1 : layers_.layer_ids[static_cast<std::size_t>(fault.column)];
      summary.first_bad_row = row;
      summary.first_bad_slot = slot == Entries::kNoSlot ? -1 : slot;
    }
    const bool may_write = entries.allowed == nullptr || (slot_in_range(slot) && entries.allowed->contains(slot));
    if (slot_in_range(slot) && may_write) block.scatter[scattered++] = {slot, -1};
  }
  if (block.acceptance != RCAP_ACCEPT_ALL) {  // R21
    // Trusted entries name a row once; only what a reserved slot's entry names was never looked at.
    const std::int64_t named = entries.trusted && summary.rows_reserved == 0 ? summary.entries : count_rows_named(entries);
    summary.rows_rejected = block.tokens - named;
  }

  const std::int64_t* tags = tags_of(block, entries);
  if (!copies_.empty()) note_copies(block, scattered, tags);
  const std::int64_t good = summary.entries - summary.rows_bad - summary.rows_reserved;
  // R9: everything numbered before a release of all slots is outdated.
  if (block.sequence > store_.floor()) {
    rows::ScatterJob job;
    job.shape = shape_;
    job.store = store_.view();
    job.payload = block.pinned.get() + block.layout.payload;
    job.tags = tags;
    job.entries = block.scatter;
    job.count = scattered;
    job.sequence = block.sequence;
    job.weight_version = block.weight_version;
    summary.rows_stored = rows::scatter(job, crew_).stored;
  }
  summary.rows_outdated = good - summary.rows_stored;
  return summary;
}

void Settler::drop_rows(Block& block) {
  if (block.acceptance == RCAP_ACCEPT_LATER && !block.accepted) return;
  // Lists that only a failed device knew are lost with it.
  const bool later = block.acceptance == RCAP_ACCEPT_LATER;
  const bool accepted_lost = later && block.accept_transfer.started && !block.accept_transfer.done;
  const bool slots_lost = block.slots_on_device && !(later && block.accepted_slots_given);
  if (block.failed && (accepted_lost || slots_lost || (!later && block.rows_on_device))) return;
  const Entries entries = entries_of(block);
  std::int64_t scattered = 0;
  for (std::int64_t i = 0; i < entries.count; ++i) {
    const std::int64_t slot = entries.slot(i);
    if (is_hole(entries, i) || reserved(slot) || !slot_in_range(slot)) continue;
    if (entries.allowed != nullptr && !entries.allowed->contains(slot)) continue;
    block.scatter[scattered++] = {slot, -1};
  }
  if (!copies_.empty()) note_copies(block, scattered, nullptr);
  for (std::int64_t i = 0; i < scattered; ++i) store_.settle_missing(block.scatter[i].slot, block.sequence);
}

void Settler::note_copies(const Block& block, std::int64_t scattered, const std::int64_t* tags) {
  for (std::int64_t i = 0; i < scattered; ++i) {
    const rows::ScatterEntry& entry = block.scatter[i];
    SlotRow row;
    row.valid = entry.staged_row >= 0;
    row.extension = {block.sequence, block.weight_version};
    const std::uint64_t* payload = nullptr;
    if (row.valid) {
      payload = block.part<std::uint64_t>(block.pinned, block.layout.payload + entry.staged_row * shape_.payload_bytes);
      if (tags != nullptr) row.tag = tags[entry.staged_row];
    }
    copies_.note(entry.slot, block.sequence, row, payload);
  }
}

}  // namespace routecap
