// SPDX-License-Identifier: Apache-2.0
//
// Ended forwards: which rows go to which slots, told at once or later, rightly or wrongly.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "property/session.h"

namespace routecap_test::property {
namespace {

std::int64_t size_of(const std::optional<Numbers>& list) { return list ? std::ssize(*list) : 0; }

bool fits_int32(const std::optional<Numbers>& list) {
  return !list || std::all_of(list->begin(), list->end(), [](std::int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; });
}

/// Rows known to be holes write nothing, but with slots on the device nobody needs to notice: whether a copy waits for such a forward is not said.
bool all_holes(const Numbers& rows) {
  return std::all_of(rows.begin(), rows.end(), [](std::int64_t row) { return row == -1; });
}

std::string memory_name(bool device) { return device ? " DEVICE" : " HOST"; }

}  // namespace

/// A list as groups of a width, with something unreadable between the groups.
Session::Laid Session::lay(const Numbers& list, std::int32_t dtype, std::int64_t groups, std::int64_t width, std::int64_t gap) {
  Laid laid;
  if (groups <= 1) {
    for (const std::int64_t value : list) append(laid.bytes, value, dtype);
    return laid;
  }
  laid.stride = gap == 0 ? 0 : width + gap;
  for (std::int64_t i = 0; i < std::ssize(list); ++i) {
    if (i > 0 && i % width == 0) {
      for (std::int64_t j = 0; j < gap; ++j) append(laid.bytes, INT32_MIN, dtype);
    }
    append(laid.bytes, list[static_cast<std::size_t>(i)], dtype);
  }
  return laid;
}

/// Distinct slots with a few holes and, where there are any, reserved ones. `among` limits the choice; empty = any slot.
Numbers Session::choose_slots(Draws& draws, std::size_t count, const std::vector<std::int64_t>& among) {
  std::vector<std::int64_t> free = among;
  if (among.empty()) {
    for (std::int64_t slot = geometry_.reserved; slot < geometry_.slots; ++slot) free.push_back(slot);
  }
  Numbers slots;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t draw = draws.below(64);
    if (draw == 63 || free.empty()) {
      slots.push_back(-1);
    } else if (draw == 62 && geometry_.reserved > 0) {
      slots.push_back(draws.below(geometry_.reserved));
    } else {
      const auto at = static_cast<std::ptrdiff_t>(draw % std::ssize(free));
      slots.push_back(free[static_cast<std::size_t>(at)]);
      free.erase(free.begin() + at);
    }
  }
  return slots;
}

/// Accepted rows: a linear run or a tree's path per group, or any rows at all. Sets the groups.
Numbers Session::choose_rows(Draws& draws, std::int64_t tokens, std::int64_t& groups, std::int64_t& width) {
  const std::int64_t style = draws.below(3);
  Numbers rows;
  if (style == 2 || tokens == 0) {
    groups = 0;
    width = 0;
    const std::int64_t count = draws.below(tokens + 2);
    Numbers free;
    for (std::int64_t row = 0; row < tokens; ++row) free.push_back(row);
    for (std::int64_t i = 0; i < count; ++i) {
      if (free.empty() || draws.chance(10)) {
        rows.push_back(-1);
        continue;
      }
      const auto at = static_cast<std::ptrdiff_t>(draws.below(std::ssize(free)));
      rows.push_back(free[static_cast<std::size_t>(at)]);
      free.erase(free.begin() + at);
    }
    return rows;
  }
  width = 1 + draws.below(std::min<std::int64_t>(tokens, 4));
  groups = tokens / width;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t accepted = draws.below(width + 1);  // 0: a request whose rows are all rejected or padding
    const std::int64_t path = style == 0 ? (1 << accepted) - 1 : draws.below(1 << width);
    Numbers line;
    for (std::int64_t j = 0; j < width; ++j) {
      if ((path >> j & 1) != 0) line.push_back(group * width + j);
    }
    line.resize(static_cast<std::size_t>(width), -1);
    rows.insert(rows.end(), line.begin(), line.end());
  }
  return rows;
}

/// Makes one entry wrong: 1 a slot out of range, 2 a slot twice, 3 a row out of range, 4 a row twice. Lists that are null are left alone.
void Session::spoil(Draws& draws, std::int64_t fault, Numbers* slots, Numbers* rows, std::int64_t tokens) const {
  Numbers* list = fault <= 2 ? slots : rows;
  if (fault == 0 || list == nullptr || list->empty()) return;
  const auto at = static_cast<std::size_t>(draws.below(std::ssize(*list)));
  const std::int64_t limit = fault <= 2 ? geometry_.slots : tokens;
  const Numbers beyond = {limit, -2, limit + 5, INT32_MIN, INT32_MAX, std::int64_t{1} << 40};
  const std::int64_t choice = draws.below(std::ssize(beyond));
  const std::size_t from = (at + 1 + static_cast<std::size_t>(draws.below(std::ssize(*list) - 1))) % list->size();
  (*list)[at] = fault % 2 == 1 ? beyond[static_cast<std::size_t>(choice)] : (*list)[from];
}

ForwardCall Session::forward_call(Draws& draws, const Shape& shape, std::int64_t& groups, std::int64_t& width) {
  ForwardCall call;
  call.first_row = shape.first_row;
  call.tokens = shape.tokens;
  call.acceptance = static_cast<std::int32_t>(draws.below(3));
  call.slots_on_device = draws.chance(35);
  call.rows_on_device = draws.chance(35);
  call.step = draws.below(1000);
  call.weight_version = draws.chance(40) ? draws.below(4) : 0;
  if (geometry_.tags && call.tokens > 0) {
    call.tags.emplace();
    for (std::int64_t row = 0; row < call.tokens; ++row) call.tags->push_back(draws.below(4));
  }
  groups = 0;
  width = 0;
  if (call.acceptance == RCAP_ACCEPT_GIVEN) {
    call.rows = choose_rows(draws, call.tokens, groups, width);
    call.slots = choose_slots(draws, call.rows->size(), {});
    if (!call.rows_on_device && all_holes(*call.rows)) call.slots_on_device = false;
  } else {
    const bool unknown = call.acceptance == RCAP_ACCEPT_LATER && (draws.chance(40) || call.tokens == 0);
    if (!unknown) call.slots = choose_slots(draws, static_cast<std::size_t>(call.tokens), {});
    const std::int64_t cut = 1 + draws.below(4);
    if (call.tokens > 0 && call.tokens % cut == 0 && draws.chance(50)) {
      groups = call.tokens / cut;
      width = cut;
    }
  }
  return call;
}

/// What the model allows, and besides, with an own thread, what cannot be known because blocks are freed while we look (R32).
Statuses Session::may_end_forward(const ForwardCall& call) const {
  Statuses allowed = model_.may_end_forward(call);
  if (finalizing_ == Finalizing::kCaller || (allowed.refuses() && !allowed.allows(RCAP_STATUS_BUSY))) return allowed;
  std::int64_t held = 0;
  std::int64_t going = dropped_lately_;
  for (const Sequence number : model_.unsettled()) ++(model_.is_accepted(number) ? going : held);
  if (held >= geometry_.depth) return {RCAP_STATUS_BUSY};
  if (held + going < geometry_.depth) return {RCAP_STATUS_OK};
  return {RCAP_STATUS_OK, RCAP_STATUS_BUSY};
}

std::int32_t Session::end_forward(Draws& draws, const ForwardCall& call, std::int64_t groups, std::int64_t width) {
  auto layout = make<rcap_forward_layout>();
  layout.first_row = call.first_row;
  layout.tokens = call.tokens;
  layout.acceptance = call.acceptance;
  layout.slots_dtype = fits_int32(call.slots) && draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
  layout.rows_dtype = fits_int32(call.rows) && draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
  layout.slots_memory = call.slots_on_device ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.rows_memory = call.rows_on_device ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.tags_memory = draws.chance(30) ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.groups = groups;
  layout.group_width = width;
  layout.step = call.step;
  layout.weight_version = call.weight_version;
  const Laid slots = lay(call.slots.value_or(Numbers{}), layout.slots_dtype, groups, width, draws.below(3));
  const Laid rows = lay(call.rows.value_or(Numbers{}), layout.rows_dtype, groups, width, draws.below(3));
  layout.slots_group_stride = slots.stride;
  layout.rows_group_stride = rows.stride;
  const Placed given = slots.placed(layout.slots_memory);
  const Placed given_rows = rows.placed(layout.rows_memory);
  const Placed tags(call.tags ? call.tags->data() : nullptr, size_of(call.tags) * 8, layout.tags_memory);
  Error error;
  rcap_output* output = nullptr;
  const std::int32_t status = rcap_capturer_end_forward(capturer_, &layout, given.data(), given.bytes(), given_rows.data(), given_rows.bytes(),
                                                        tags.as<std::int64_t>(), size_of(call.tags), nullptr, &output, error);
  std::string shown = "end_forward first_row " + std::to_string(call.first_row) + " tokens " + std::to_string(call.tokens) + " acceptance " +
                      std::to_string(call.acceptance);
  if (call.slots) shown += " slots" + memory_name(call.slots_on_device) + " " + text_of(*call.slots);
  if (call.rows) shown += " rows" + memory_name(call.rows_on_device) + " " + text_of(*call.rows);
  if (call.tags) shown += " tags " + text_of(*call.tags);
  shown += " groups " + std::to_string(groups) + " of " + std::to_string(width) + " weight_version " + std::to_string(call.weight_version);
  const Sequence number = output == nullptr ? 0 : rcap_output_sequence(output, nullptr);
  note(shown + " -> " + name(status) + (output == nullptr ? "" : ", number " + std::to_string(number)));
  if (output != nullptr) outputs_.push_back({output, number});
  expect(status, may_end_forward(call), error, "end_forward");
  demand((status == RCAP_STATUS_OK) == (output != nullptr), "end_forward: an output is given with OK and only then");
  if (status == RCAP_STATUS_BUSY) model_.busy();
  if (status == RCAP_STATUS_OK) same(number, model_.end_forward(call), "number of the forward (R9)");
  return status;
}

void Session::forward(Draws& draws) {
  const Shape shape = place(draws);
  std::int64_t groups = 0;
  std::int64_t width = 0;
  ForwardCall call = forward_call(draws, shape, groups, width);
  const ForwardCall right = call;
  const std::int64_t fault = draws.below(12);
  if (call.slots && call.tokens > 0 && fault <= 4) spoil(draws, fault, &*call.slots, call.rows ? &*call.rows : nullptr, call.tokens);
  ++contents_;
  capture_forward(draws, shape);
  std::int32_t status = end_forward(draws, call, groups, width);
  if (status == RCAP_STATUS_BUSY && !draws.chance(20)) {
    // The captures stay: once a block is free the same call goes through (R32).
    if (finalizing_ == Finalizing::kOwnThread) synchronize();
    for (std::size_t i = 0; i < outputs_.size() && status == RCAP_STATUS_BUSY; ++i) {
      if (model_.is_settled(outputs_[i].number)) continue;
      if (model_.is_accepted(outputs_[i].number)) {
        copy_to_host(outputs_[i]);
        finalize(outputs_[i]);
      } else {
        drop(i);
      }
      break;
    }
    status = end_forward(draws, call, groups, width);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (status == RCAP_STATUS_BUSY && finalizing_ == Finalizing::kOwnThread && may_end_forward(call).allows(RCAP_STATUS_OK)) {
      demand(std::chrono::steady_clock::now() < give_up, "a dropped output's block does not become free (R32)");
      std::this_thread::yield();
      status = end_forward(draws, call, groups, width);
    }
  } else if (status != RCAP_STATUS_OK && status != RCAP_STATUS_BUSY && !draws.chance(15)) {
    if (draws.chance(30)) {
      discard();
    } else {
      status = end_forward(draws, right, groups, width);
    }
  }
  if (status == RCAP_STATUS_OK && draws.chance(40) && model_.is_accepted(outputs_.back().number)) {
    copy_to_host(outputs_.back());
    if (draws.chance(70)) finalize(outputs_.back());
  }
}

void Session::accept(Draws& draws) {
  if (outputs_.empty()) return;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Sequence number = outputs_[i].number;
    if (!model_.is_settled(number) && !model_.is_accepted(number)) open.push_back(i);
  }
  const bool again = open.empty() || draws.chance(5);  // mostly a call that comes too late
  if (again && !draws.chance(20)) return;
  const LiveOutput output = outputs_[again ? pick(draws) : open[static_cast<std::size_t>(draws.below(std::ssize(open)))]];
  const ForwardCall& forward = model_.call(output.number);
  AcceptCall call;
  std::int64_t groups = 0;
  std::int64_t width = 0;
  call.rows = choose_rows(draws, forward.tokens, groups, width);
  call.rows_on_device = draws.chance(35);
  if (forward.tokens == 0) call.rows.clear();  // an idle rank has no row to name, not even wrongly
  if (!forward.slots || draws.chance(40)) {
    Numbers among;
    if (forward.slots && !forward.slots_on_device) {
      std::copy_if(forward.slots->begin(), forward.slots->end(), std::back_inserter(among), [](std::int64_t slot) { return slot >= 0; });
    }
    const bool none = forward.slots && !forward.slots_on_device && among.empty();
    if (!none && draws.chance(25)) among.clear();  // slots that the forward was not told it may write
    call.slots = none ? Numbers(call.rows.size(), -1) : choose_slots(draws, call.rows.size(), among);
    call.slots_on_device = draws.chance(35);
    // A row that was told to have no slot can never be committed, with whatever slot.
    for (std::int64_t& row : call.rows) {
      if (forward.slots && row >= 0 && row < std::ssize(*forward.slots) && (*forward.slots)[static_cast<std::size_t>(row)] == -1) row = -1;
    }
  }
  if (!call.rows_on_device && all_holes(call.rows)) call.slots_on_device = false;
  const AcceptCall right = call;
  const std::int64_t fault = draws.below(10);
  if (forward.tokens > 0 && fault <= 4) spoil(draws, fault, call.slots ? &*call.slots : nullptr, &call.rows, forward.tokens);
  for (const AcceptCall* attempt : {static_cast<const AcceptCall*>(&call), &right}) {
    auto layout = make<rcap_accept_layout>();
    layout.rows_dtype = fits_int32(attempt->rows) && draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
    layout.slots_dtype = fits_int32(attempt->slots) && draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
    layout.rows_memory = attempt->rows_on_device ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
    layout.slots_memory = attempt->slots_on_device ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
    layout.groups = groups;
    layout.group_width = width;
    const Laid rows = lay(attempt->rows, layout.rows_dtype, groups, width, draws.below(3));
    const Laid slots = lay(attempt->slots.value_or(Numbers{}), layout.slots_dtype, groups, width, draws.below(3));
    layout.rows_group_stride = rows.stride;
    layout.slots_group_stride = slots.stride;
    Error error;
    const Statuses allowed = model_.may_accept(output.number, *attempt);
    const Placed given = slots.placed(layout.slots_memory);
    const Placed given_rows = rows.placed(layout.rows_memory);
    const std::int32_t status =
        rcap_output_accept(output.handle, &layout, given_rows.data(), given_rows.bytes(), given.data(), given.bytes(), copies_, error);
    note("accept " + std::to_string(output.number) + " rows" + memory_name(attempt->rows_on_device) + " " + text_of(attempt->rows) +
         (attempt->slots ? " slots" + memory_name(attempt->slots_on_device) + " " + text_of(*attempt->slots) : "") + " groups " +
         std::to_string(groups) + " of " + std::to_string(width) + " -> " + name(status));
    expect(status, allowed, error, "accept");
    if (status == RCAP_STATUS_OK) {
      model_.accept(output.number, *attempt);
      return;
    }
    if (status == RCAP_STATUS_INVALID_STATE) return;
  }
}

/// Calls with one mistake in their shape. Each is refused as a whole: the comparisons that follow show that nothing was changed.
void Session::misuse(Draws& draws) {
  Error error;
  const std::int64_t rows = geometry_.device_rows;
  const Numbers slots(static_cast<std::size_t>(rows + 1), -1);
  auto layout = make<rcap_forward_layout>();
  layout.tokens = 2;
  std::int64_t slots_bytes = std::ssize(slots) * 8;
  bool tags_given = geometry_.tags;
  bool rows_given = false;
  const std::int64_t mistake = draws.below(11);
  Statuses allowed = {RCAP_STATUS_INVALID_ARGUMENT};
  if (mistake < 4) allowed = {RCAP_STATUS_OUT_OF_RANGE};
  switch (mistake) {
    case 0: layout.tokens = rows + 1; break;
    case 1: layout.first_row = rows - 1; break;
    case 2: layout.first_row = -1; break;
    case 3:
      layout.tokens = -1;
      tags_given = false;
      break;
    case 4: slots_bytes = 15; break;
    case 5: slots_bytes = 8; break;
    case 6: layout.acceptance = 3; break;
    case 7:
      layout.acceptance = RCAP_ACCEPT_GIVEN;
      layout.groups = 1;
      layout.group_width = 2;
      break;
    case 8: tags_given = !tags_given; break;
    case 9:
      layout.groups = 3;
      layout.group_width = 1;
      break;
    default:
      layout.acceptance = RCAP_ACCEPT_GIVEN;
      layout.groups = 2;
      layout.group_width = 2;
      layout.rows_group_stride = 1;
      rows_given = true;
      break;
  }
  rcap_output* output = nullptr;
  const std::int32_t status =
      rcap_capturer_end_forward(capturer_, &layout, slots.data(), slots_bytes, rows_given ? slots.data() : nullptr, rows_given ? slots_bytes : 0,
                                tags_given ? slots.data() : nullptr, tags_given ? layout.tokens : 0, nullptr, &output, error);
  const std::string what = "end_forward with mistake " + std::to_string(mistake);
  note(what + " -> " + name(status));
  if (output != nullptr) outputs_.push_back({output, 0});
  expect(status, allowed, error, what);
}

}  // namespace routecap_test::property
