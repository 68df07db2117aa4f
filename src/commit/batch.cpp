// SPDX-License-Identifier: Apache-2.0
#include "commit/batch.h"

#include <cinttypes>

#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"

namespace routecap {
namespace {

std::int32_t list_element_bytes(const char* field, std::int32_t dtype) {
  require_dtype(field, dtype, kListDtypes);
  return dtype_bytes(dtype);
}

bool on_device(const char* field, std::int32_t memory) {
  require_choice(field, memory, kMemories);
  return memory == RCAP_MEMORY_DEVICE;
}

void require_not_negative(const char* field, std::int64_t value) {
  if (value < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "%s is %" PRId64 ", it must not be negative", field, value);
}

/// Groups and width of the commit entries; 0 in the layout stands for one group of `whole` entries.
struct Groups {
  std::int64_t groups = 1;
  std::int64_t width = 0;
};

Groups checked_groups(std::int64_t groups, std::int64_t group_width, std::int64_t whole) {
  require_not_negative("groups", groups);
  require_not_negative("group_width", group_width);
  Groups checked{groups == 0 ? 1 : groups, group_width};
  if (group_width == 0 && checked.groups == 1) checked.width = whole;
  if (group_width == 0 && checked.groups > 1 && whole > 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "group_width is 0, only one group may leave it out, groups is %" PRId64, groups);
  }
  static_cast<void>(checked_multiply(checked.groups, checked.width, "groups * group_width"));
  return checked;
}

/// One of the lists: `name` is how its parameter is called, with _bytes and _group_stride behind it for the others.
CommitList checked_list(const char* name, RawArray array, std::int32_t element_bytes, Groups groups, std::int64_t stride, bool device) {
  if (stride < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_group_stride is %" PRId64 ", it must not be negative", name, stride);
  const std::int64_t step = stride == 0 ? groups.width : stride;
  if (groups.groups > 1 && step < groups.width) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_group_stride is %" PRId64 ", smaller than group_width %" PRId64, name, step, groups.width);
  }
  CommitList list{{array.data, element_bytes, groups.groups, groups.width, step}, device};
  if (list.view.count() == 0) return {};
  if (array.data == nullptr) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, the layout has %" PRId64 " entries", name, list.view.count());
  const std::int64_t elements =
      checked_add(checked_multiply(groups.groups - 1, step, "groups * group_stride"), groups.width, "groups * group_stride");
  const std::int64_t needed = checked_multiply(elements, element_bytes, "bytes of a list");
  if (array.bytes < needed) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_bytes is %" PRId64 ", the layout reads %" PRId64 " bytes", name, array.bytes, needed);
  }
  return list;
}

/// `rows_bytes` as a number of elements: with one group of unstated width, every element is an entry.
std::int64_t whole_list(const char* name, RawArray array, std::int32_t element_bytes) {
  if (array.bytes < 0 || array.bytes % element_bytes != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_bytes is %" PRId64 ", not a whole number of %d-byte elements", name, array.bytes, element_bytes);
  }
  if (array.data == nullptr && array.bytes != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, %s_bytes is %" PRId64, name, name, array.bytes);
  return array.bytes / element_bytes;
}

/// Slots without any row would commit nothing where the caller meant them to: the rows were forgotten.
void require_rows(RawArray rows, RawArray slots) {
  if (rows.data == nullptr && slots.bytes != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "rows is null, slots has %" PRId64 " bytes of entries that need one each", slots.bytes);
  }
}

CommitList checked_tags(const rcap_forward_layout& layout, RawArray tags, const CommitLimits& limits) {
  if (!limits.tags) {
    if (tags.data != nullptr || tags.bytes != 0) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "tags is given (tags_count %" PRId64 "), the capturer keeps none", tags.bytes / 8);
    }
    return {};
  }
  const bool device = on_device("tags_memory", layout.tags_memory);
  if (tags.bytes != layout.tokens * 8 || (layout.tokens > 0 && tags.data == nullptr)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "tags_count is %" PRId64 "%s, the forward has %" PRId64 " tokens", tags.bytes / 8,
         tags.data == nullptr ? " (null)" : "", layout.tokens);
  }
  if (layout.tokens == 0) return {};
  return {{tags.data, 8, 1, layout.tokens, layout.tokens}, device};
}

void check_rows_range(const rcap_forward_layout& layout, const CommitLimits& limits) {
  require_not_negative("first_row", layout.first_row);
  require_not_negative("tokens", layout.tokens);
  if (layout.first_row > limits.device_rows || layout.tokens > limits.device_rows - layout.first_row) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "first_row %" PRId64 " + tokens %" PRId64 " exceeds the %" PRId64 " device rows", layout.first_row, layout.tokens,
         limits.device_rows);
  }
}

void check_entry_count(std::int64_t entries, const CommitLimits& limits) {
  if (entries > limits.device_rows) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "groups * group_width is %" PRId64 ", the device buffer has %" PRId64 " rows", entries, limits.device_rows);
  }
}

}  // namespace

Batch checked_batch(const rcap_forward_layout& layout, RawArray slots, RawArray rows, RawArray tags, const CommitLimits& limits) {
  check_rows_range(layout, limits);
  require_choice("acceptance", layout.acceptance, kAcceptances);
  Batch batch;
  batch.first_row = layout.first_row;
  batch.tokens = layout.tokens;
  batch.acceptance = layout.acceptance;
  batch.step = layout.step;
  batch.weight_version = layout.weight_version;
  const std::int32_t slot_bytes = list_element_bytes("slots_dtype", layout.slots_dtype);
  const bool slots_on_device = on_device("slots_memory", layout.slots_memory);
  const bool given = layout.acceptance == RCAP_ACCEPT_GIVEN;
  std::int64_t whole = layout.tokens;
  std::int32_t row_bytes = 8;
  if (given) {
    row_bytes = list_element_bytes("rows_dtype", layout.rows_dtype);
    whole = whole_list("rows", rows, row_bytes);
    require_rows(rows, slots);
  } else if (rows.data != nullptr || rows.bytes != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "rows is given (%" PRId64 " bytes), acceptance is %s and only GIVEN takes them", rows.bytes,
         name_of(layout.acceptance, kAcceptances));
  }
  const Groups groups = checked_groups(layout.groups, layout.group_width, whole);
  batch.entries = groups.groups * groups.width;
  check_entry_count(batch.entries, limits);
  if (!given && batch.entries != layout.tokens) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "groups %" PRId64 " * group_width %" PRId64 " is %" PRId64 ", not the %" PRId64 " tokens", groups.groups,
         groups.width, batch.entries, layout.tokens);
  }
  if (given) batch.rows = checked_list("rows", rows, row_bytes, groups, layout.rows_group_stride, on_device("rows_memory", layout.rows_memory));
  // LATER may leave its slots to the accept; a rank without slots captures and stages only.
  const bool slots_optional = layout.acceptance == RCAP_ACCEPT_LATER || limits.num_slots == 0;
  if (slots.data != nullptr || slots.bytes != 0 || !slots_optional) {
    batch.slots = checked_list("slots", slots, slot_bytes, groups, layout.slots_group_stride, slots_on_device);
  }
  batch.tags = checked_tags(layout, tags, limits);
  return batch;
}

Acceptance checked_acceptance(const rcap_accept_layout& layout, RawArray rows, RawArray slots, const CommitLimits& limits, bool has_slots) {
  const std::int32_t row_bytes = list_element_bytes("rows_dtype", layout.rows_dtype);
  const std::int32_t slot_bytes = list_element_bytes("slots_dtype", layout.slots_dtype);
  const bool rows_on_device = on_device("rows_memory", layout.rows_memory);
  const bool slots_on_device = on_device("slots_memory", layout.slots_memory);
  const Groups groups = checked_groups(layout.groups, layout.group_width, whole_list("rows", rows, row_bytes));
  require_rows(rows, slots);
  Acceptance acceptance;
  acceptance.entries = groups.groups * groups.width;
  check_entry_count(acceptance.entries, limits);
  acceptance.rows = checked_list("rows", rows, row_bytes, groups, layout.rows_group_stride, rows_on_device);
  const bool slots_optional = has_slots || limits.num_slots == 0;
  if (slots.data != nullptr || slots.bytes != 0 || !slots_optional) {
    acceptance.slots = checked_list("slots", slots, slot_bytes, groups, layout.slots_group_stride, slots_on_device);
  }
  return acceptance;
}

namespace {

void check_slot(std::int64_t index, std::int64_t slot, const CommitLimits& limits, SlotSet& named) {
  if (slot < -1 || slot >= limits.num_slots) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "slots entry %" PRId64 " is %" PRId64 ", %s (num_slots is %" PRId64 ")", index, slot,
         Allowed(-1, limits.num_slots - 1).text(), limits.num_slots);
  }
  if (!named.insert(slot)) fail(RCAP_STATUS_INVALID_ARGUMENT, "slots entry %" PRId64 " is %" PRId64 ", named twice in one forward", index, slot);
}

void check_row(std::int64_t index, std::int64_t row, std::int64_t tokens, SlotSet& named) {
  if (row < -1 || row >= tokens) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "rows entry %" PRId64 " is %" PRId64 ", %s (the forward has %" PRId64 " tokens)", index, row,
         Allowed(-1, tokens - 1).text(), tokens);
  }
  if (!named.insert(row)) fail(RCAP_STATUS_INVALID_ARGUMENT, "rows entry %" PRId64 " is %" PRId64 ", named twice in one forward", index, row);
}

}  // namespace

void check_entries(KnownLists lists, std::int64_t tokens, const CommitLimits& limits, NamedSets named) {
  named.slots.clear(lists.slots != nullptr ? lists.count : 0);
  named.rows.clear(lists.rows != nullptr ? lists.count : 0);
  for (std::int64_t index = 0; index < lists.count; ++index) {
    const std::int64_t slot = lists.slots != nullptr ? lists.slots[index] : 0;
    const std::int64_t row = lists.rows != nullptr ? lists.rows[index] : 0;
    if (slot == -1 || row == -1) continue;
    if (lists.slots != nullptr && slot >= 0 && slot < limits.reserved_slots) continue;
    if (lists.rows != nullptr) check_row(index, row, tokens, named.rows);
    if (lists.slots != nullptr) check_slot(index, slot, limits, named.slots);
  }
}

}  // namespace routecap
