// SPDX-License-Identifier: Apache-2.0
//
// Releases, copies, and the state of one slot.
#include <algorithm>
#include <utility>

#include "property/session.h"

namespace routecap_test::property {
namespace {

/// The slots that a list of pages stands for.
Numbers slots_of(const Numbers& list, bool pages, std::int64_t page_size) {
  if (!pages) return list;
  Numbers slots;
  for (const std::int64_t page : list) {
    for (std::int64_t i = 0; i < page_size; ++i) slots.push_back(page < 0 ? -1 : page * page_size + i);
  }
  return slots;
}

Bytes packed(const Numbers& list, std::int32_t dtype) {
  Bytes bytes;
  for (const std::int64_t value : list) append(bytes, value, dtype);
  return bytes;
}

}  // namespace

void Session::release(Draws& draws) {
  const bool pages = draws.chance(30);
  const std::int64_t limit = pages ? geometry_.slots / geometry_.page_size : geometry_.slots;
  Numbers list;
  const std::int64_t count = draws.below(4);
  for (std::int64_t i = 0; i < count; ++i) list.push_back(draws.below(limit));
  if (!list.empty() && draws.chance(8)) list.back() = draws.chance(50) ? limit : -1;
  auto layout = make<rcap_slots_layout>();
  layout.slots_dtype = draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
  layout.memory = draws.chance(30) ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.unit = pages ? RCAP_UNIT_PAGE : RCAP_UNIT_SLOT;
  const Bytes bytes = packed(list, layout.slots_dtype);
  const Numbers slots = slots_of(list, pages, geometry_.page_size);
  Error error;
  const Placed given(bytes, layout.memory);
  const std::int32_t status = rcap_capturer_release_slots(capturer_, &layout, given.data(), given.bytes(), nullptr, error);
  note("release " + text_of(slots) + " -> " + name(status) + ", number " + std::to_string(model_.last_sequence() + 1));
  expect(status, model_.may_release(slots), error, "release_slots");
  if (status == RCAP_STATUS_OK) model_.release(slots);
}

void Session::release_all() {
  Error error;
  const std::int32_t status = rcap_capturer_release_all(capturer_, nullptr, error);
  note("release_all -> " + name(status) + ", number " + std::to_string(model_.last_sequence() + 1));
  expect(status, {RCAP_STATUS_OK}, error, "release_all");
  model_.release_all();
}

/// Copies: forks of a prefix, moves, swaps, shifts within one range, a source several times.
void Session::copy_slots(Draws& draws) {
  const bool pages = draws.chance(20);
  const std::int64_t limit = pages ? geometry_.slots / geometry_.page_size : geometry_.slots;
  Numbers from;
  Numbers to;
  const std::int64_t style = draws.below(5);
  const std::int64_t a = draws.below(limit);
  const std::int64_t b = draws.below(limit);
  const std::int64_t count = draws.below(4);
  if (style == 0) {
    from = {a};
    to = {b};
  } else if (style == 1 && a != b) {
    from = {a, b};
    to = {b, a};
  } else if (style == 2) {
    for (std::int64_t i = 0; i <= count && a + i + 1 < limit; ++i) {
      from.push_back(a + i);
      to.push_back(a + i + 1);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      from.push_back(style == 3 ? a : draws.below(limit));
      to.push_back((b + i) % limit);
    }
  }
  // A reserved target twice is left alone or refused: the contract does not say which, so it is not asked for.
  const std::int64_t mistake = draws.chance(8) && !to.empty() ? 1 + draws.below(4) : 0;
  if (mistake == 1) to.back() = limit;
  if (mistake == 2) from.back() = -1;
  if (mistake == 3 && to.front() * (pages ? geometry_.page_size : 1) >= geometry_.reserved) to.back() = to.front();
  auto layout = make<rcap_slots_layout>();
  layout.slots_dtype = draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
  layout.memory = draws.chance(30) ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.unit = pages ? RCAP_UNIT_PAGE : RCAP_UNIT_SLOT;
  const Bytes from_bytes = packed(from, layout.slots_dtype);
  const Bytes to_bytes = packed(to, layout.slots_dtype);
  std::int64_t to_size = std::ssize(to_bytes);
  Numbers sources = slots_of(from, pages, geometry_.page_size);
  Numbers targets = slots_of(to, pages, geometry_.page_size);
  if (mistake == 4) {
    to_size -= bytes_of(layout.slots_dtype);
    targets.resize(targets.size() - static_cast<std::size_t>(pages ? geometry_.page_size : 1));
  }
  const Placed given(from_bytes, layout.memory);
  const Placed given_to(to_bytes, layout.memory);
  Error error;
  const std::int32_t status = rcap_capturer_copy_slots(capturer_, &layout, given.data(), given.bytes(), given_to.data(), to_size, nullptr, error);
  note("copy " + text_of(sources) + " to " + text_of(targets) + " -> " + name(status) + ", number " + std::to_string(model_.last_sequence() + 1));
  expect(status, model_.may_copy(sources, targets), error, "copy_slots");
  if (status != RCAP_STATUS_OK) return;
  model_.copy(sources, targets);
  if (draws.chance(25) && std::ssize(from) == 1) {
    // A move: the old place is given up at once, its forwards in flight or not.
    Error moved;
    const std::int32_t released = rcap_capturer_release_slots(capturer_, &layout, given.data(), given.bytes(), nullptr, moved);
    note("release " + text_of(sources) + " -> " + name(released) + ", number " + std::to_string(model_.last_sequence() + 1));
    expect(released, {RCAP_STATUS_OK}, moved, "release_slots");
    model_.release(sources);
  }
}

void Session::discard() {
  Error error;
  const std::int32_t status = rcap_capturer_discard_forward(capturer_, nullptr, error);
  note("discard_forward -> " + name(status));
  expect(status, {RCAP_STATUS_OK}, error, "discard_forward");
  model_.discard_forward();
}

void Session::check_slot(std::int64_t slot) const {
  Error error;
  auto info = make<rcap_slot_info>();
  const SlotAnswer answer = model_.slot_info(slot);
  const std::int32_t status = rcap_capturer_slot_info_get(capturer_, slot, &info, error);
  const std::string of = " of slot " + std::to_string(slot);
  expect(status, answer.statuses, error, "state" + of);
  expect_lacking(error, answer.lacking, "lacking sequence" + of);
  if (status != RCAP_STATUS_OK) return;
  same(info.valid, answer.info.valid, "valid" + of);
  same(info.reserved_slot, answer.info.reserved_slot, "reserved_slot" + of);
  same(info.row_sequence, answer.info.row_sequence, "row_sequence" + of);
  same(info.weight_version, answer.info.weight_version, "weight_version" + of);
  same(info.tag, answer.info.tag, "tag" + of);
  // Whether releasing everything touches a reserved slot's number is nobody's business.
  if (answer.info.reserved_slot == 0) same(info.sequence, answer.info.sequence, "sequence" + of);
}

}  // namespace routecap_test::property
