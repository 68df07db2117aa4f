// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <vector>

#include "capturer/capturer.h"
#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"

namespace routecap {
namespace {

/// A list of slots or pages whose shape has been checked.
struct UnitList {
  ListView view;
  std::int64_t unit_slots = 1;  ///< slots that one number names
  const char* unit = "slot";
  std::vector<std::int64_t> brought;  ///< the numbers, where they came from device memory
};

UnitList checked_list(const char* name, const rcap_slots_layout& layout, RawArray array, std::int64_t page_size) {
  require_dtype("slots_dtype", layout.slots_dtype, kListDtypes);
  require_choice("memory", layout.memory, kMemories);
  require_choice("unit", layout.unit, kSlotUnits);
  const std::int32_t element = dtype_bytes(layout.slots_dtype);
  if (array.bytes < 0 || array.bytes % element != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_bytes is %" PRId64 ", not a whole number of %d-byte elements", name, array.bytes, element);
  }
  if (array.data == nullptr && array.bytes != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, %s_bytes is %" PRId64, name, name, array.bytes);
  const std::int64_t count = array.bytes / element;
  return {{array.data, element, 1, count, count}, layout.unit == RCAP_UNIT_PAGE ? page_size : 1, layout.unit == RCAP_UNIT_PAGE ? "page" : "slot", {}};
}

/// Slots in device memory are needed at the call: it is refused whole where one of them is out of range (R14), and takes its number (R9).
void bring_to_host(UnitList& list, std::int32_t memory, Backend& backend, void* stream, FetchRoom& room) {
  const std::int64_t count = list.view.count();
  if (memory != RCAP_MEMORY_DEVICE || count == 0 || backend.reads_host_lists()) return;
  list.brought.resize(static_cast<std::size_t>(count));
  backend.widen_to_host(list.view, list.brought.data(), stream, room);
  list.view = {list.brought.data(), 8, 1, count, count};
}

/// -1 is no slot here, and nothing is applied (R14).
void check_range(const char* name, const UnitList& list, std::int64_t num_slots) {
  const std::int64_t units = num_slots / list.unit_slots;
  list.view.for_each([&](std::int64_t index, std::int64_t unit) {
    if (unit < 0 || unit >= units) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%s entry %" PRId64 " is %s %" PRId64 ", %s (num_slots is %" PRId64 ")", name, index, list.unit, unit,
           Allowed(0, units - 1).text(), num_slots);
    }
  });
}

std::vector<std::int64_t> expanded(const UnitList& list) {
  std::vector<std::int64_t> slots;
  slots.reserve(static_cast<std::size_t>(checked_multiply(list.view.count(), list.unit_slots, "slots of the pages")));
  list.view.for_each([&](std::int64_t /*index*/, std::int64_t unit) {
    for (std::int64_t i = 0; i < list.unit_slots; ++i) slots.push_back(unit * list.unit_slots + i);
  });
  return slots;
}

}  // namespace

void Capturer::release_slots(const rcap_slots_layout& layout, RawArray slots, void* stream) {
  require_sealed();
  UnitList list = checked_list("slots", layout, slots, geometry_.config().page_size);
  bring_to_host(list, layout.memory, *backend_, stream, stages_->fetched);
  check_range("slots", list, limits_.num_slots);
  const Sequence sequence = next_sequence();
  take_sequence(sequence);
  SlotStore& store = stages_->store;
  list.view.for_each([&](std::int64_t /*index*/, std::int64_t unit) {
    for (std::int64_t i = 0; i < list.unit_slots; ++i) store.release(unit * list.unit_slots + i, sequence);
  });
  counters_.released.fetch_add(list.view.count() * list.unit_slots, std::memory_order_relaxed);
  progress_.announce();
}

void Capturer::release_all() {
  require_sealed();
  const Sequence sequence = next_sequence();
  take_sequence(sequence);
  stages_->store.release_all(sequence);
  progress_.announce();
}

void Capturer::copy_slots(const rcap_slots_layout& layout, RawArray from, RawArray to, void* stream) {
  require_sealed();
  UnitList sources = checked_list("from", layout, from, geometry_.config().page_size);
  UnitList targets = checked_list("to", layout, to, geometry_.config().page_size);
  if (sources.view.count() != targets.view.count()) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "from_bytes is %" PRId64 " and to_bytes is %" PRId64 ", both lists must be of one length", from.bytes,
         to.bytes);
  }
  bring_to_host(sources, layout.memory, *backend_, stream, stages_->fetched);
  bring_to_host(targets, layout.memory, *backend_, stream, stages_->fetched);
  check_range("from", sources, limits_.num_slots);
  check_range("to", targets, limits_.num_slots);
  const std::vector<std::int64_t> from_slots = expanded(sources);
  const std::vector<std::int64_t> to_slots = expanded(targets);
  SlotStore& store = stages_->store;
  SlotSet named(static_cast<std::int64_t>(to_slots.size()));
  named.clear(static_cast<std::int64_t>(to_slots.size()));
  for (const std::int64_t slot : to_slots) {
    if (!named.insert(slot)) {
      const std::int64_t unit = slot / targets.unit_slots;
      fail(RCAP_STATUS_INVALID_ARGUMENT, "to names %s %" PRId64 " twice, a target may stand once", targets.unit, unit);
    }
  }

  const std::lock_guard<std::mutex> lock(settle_mutex_);
  const Sequence sequence = next_sequence();
  const auto words = static_cast<std::size_t>(store.payload_words());
  // All sources are taken before any target is written: the pairs happen as if at once (R12). First those that wait for a forward.
  std::vector<SlotRow> rows(from_slots.size());
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = store.load(from_slots[i], nullptr);
    if (store.reserved(to_slots[i])) continue;
    const bool target_of_copy = rows[i].stamp.pending() && rows[i].decided == rows[i].stamp.sequence();
    if (!target_of_copy) rows[i].stamp = Stamp(rows[i].decided, rows[i].valid ? Stamp::kValid : 0);
    if (target_of_copy || may_change(from_slots[i], sequence, rows[i].decided) != 0) ++waiting;
  }
  CopyLedger::Group group;
  group.copies.reserve(waiting);
  group.payloads = std::make_unique<std::uint64_t[]>(waiting * words);
  auto now_payloads = std::make_unique<std::uint64_t[]>((rows.size() - waiting) * words);
  std::vector<std::size_t> now;
  now.reserve(rows.size() - waiting);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (store.reserved(to_slots[i])) continue;
    const bool waits = rows[i].stamp.pending() || may_change(from_slots[i], sequence, rows[i].decided) != 0;
    std::uint64_t* payload = waits ? group.payloads.get() + group.copies.size() * words : now_payloads.get() + now.size() * words;
    if (rows[i].valid) store.load(from_slots[i], payload);
    if (waits) {
      group.copies.push_back({sequence, from_slots[i], to_slots[i], rows[i], payload});
    } else {
      now.push_back(i);
    }
  }
  if (!group.copies.empty()) {
    stages_->copies.add(std::move(group));
  }
  // From here on nothing fails: the copy has its number.
  take_sequence(sequence);
  for (std::size_t k = 0; k < now.size(); ++k) store.store(to_slots[now[k]], sequence, rows[now[k]], now_payloads.get() + k * words);
  stages_->copies.mark_targets(sequence);
  counters_.copied.fetch_add(static_cast<std::int64_t>(rows.size()), std::memory_order_relaxed);
  progress_.announce();
}

Answer Capturer::slot_info(std::int64_t slot, rcap_slot_info& info) {
  require_sealed();
  if (slot < 0 || slot >= limits_.num_slots) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "slot is %" PRId64 ", %s (num_slots is %" PRId64 ")", slot, Allowed(0, limits_.num_slots - 1).text(),
         limits_.num_slots);
  }
  reap_orphans();
  const SlotStore& store = stages_->store;
  for (;;) {
    const SlotRow row = store.load(slot, nullptr);
    if (row.stamp.pending() && row.stamp.sequence() == row.decided) {
      const Sequence lacking = lacking_copy(slot);
      if (lacking != 0) return {RCAP_STATUS_NOT_READY, lacking};
      continue;  // resolved meanwhile
    }
    info = {};
    info.struct_size = static_cast<std::int64_t>(sizeof info);
    info.sequence = row.decided;
    info.row_sequence = row.extension.row_sequence;
    info.weight_version = row.extension.weight_version;
    info.tag = row.tag;
    info.valid = row.valid ? 1 : 0;
    info.reserved_slot = store.reserved(slot) ? 1 : 0;
    return {};
  }
}

}  // namespace routecap
