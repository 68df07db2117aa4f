// SPDX-License-Identifier: Apache-2.0
//
// What a slot shows, and what a read answers.
#include <algorithm>
#include <utility>

#include "property/model.h"

namespace routecap_test::property {

/// What a slot shows if only operations numbered below `before` had happened. As a copy's source (R12) also forwards that are not settled yet count:
/// it cannot be said before they are.
Shown Model::shown(std::int64_t slot, Sequence before, bool as_source) const {
  Shown shown;
  if (is_reserved(slot)) return shown;
  for (Sequence number = before - 1; number > forgotten_; --number) {
    const Operation& operation = this->operation(number);
    if (const auto* forward = std::get_if<Forward>(&operation)) {
      if (forward->state == State::kStaged) {
        if (!may_write(*forward, slot)) continue;
        if (variant_ == Variant::kUnsettledHides) return shown;
        if (as_source) shown.lacking.insert(number);
        continue;
      }
      const auto effect = forward->effects.find(slot);
      if (effect == forward->effects.end()) continue;
      shown.decided_by = number;
      shown.row = effect->second;
      return shown;
    }
    if (const auto* release = std::get_if<Release>(&operation)) {
      if (!release->all && release->slots.count(slot) == 0) continue;
      shown.decided_by = number;
      return shown;
    }
    const Copy& copy = std::get<Copy>(operation);
    const auto source = copy.source_of.find(slot);
    if (source == copy.source_of.end()) continue;
    shown.decided_by = number;
    if (variant_ == Variant::kCopyIgnoresPending) {
      shown.row = copy.shown_at_call.at(slot);
      return shown;
    }
    const Sequence seen_from = variant_ == Variant::kCopySourceMoves && source->second != slot && source->second > slot ? before : number;
    Shown taken = this->shown(source->second, seen_from, true);
    shown.row = std::move(taken.row);
    shown.lacking.merge(taken.lacking);
    return shown;
  }
  const Shown before_all = remembered(slot);
  shown.decided_by = before_all.decided_by;
  shown.row = before_all.row;
  return shown;
}

/// What a slot showed when everything up to then was forgotten; nothing where nothing was.
Shown Model::remembered(std::int64_t slot) const {
  if (remembered_.empty()) return {};
  return remembered_.at(static_cast<std::size_t>(slot));
}

/// The wrong way: the operation that was applied last decides.
Shown Model::shown_by_arrival(std::int64_t slot) const {
  Shown shown;
  for (const Sequence number : Numbers(arrivals_.rbegin(), arrivals_.rend())) {
    const Operation& operation = this->operation(number);
    shown.decided_by = number;
    if (const auto* forward = std::get_if<Forward>(&operation)) {
      const auto effect = forward->effects.find(slot);
      if (effect == forward->effects.end()) continue;
      shown.row = effect->second;
      return shown;
    }
    if (const auto* release = std::get_if<Release>(&operation)) {
      if (release->all || release->slots.count(slot) != 0) return shown;
      continue;
    }
    const Copy& copy = std::get<Copy>(operation);
    if (copy.source_of.count(slot) == 0) continue;
    shown.row = copy.shown_at_call.at(slot);
    return shown;
  }
  return remembered(slot);
}

Shown Model::shown_now(std::int64_t slot) const {
  if (variant_ == Variant::kArrivalOrder) return shown_by_arrival(slot);
  return shown(slot, last_sequence() + 1, false);
}

/// Unsettled forwards up to `after` that may still change what the slot shows (R36).
std::set<Sequence> Model::awaited(std::int64_t slot, const Shown& shown, Sequence after) const {
  std::set<Sequence> awaited = shown.lacking;
  for (const Sequence number : unsettled()) {
    if (number <= after && number > shown.decided_by && may_write(forward(number), slot)) awaited.insert(number);
  }
  return awaited;
}

SlotAnswer Model::slot_info(std::int64_t slot) const {
  SlotAnswer answer;
  if (slot < 0 || slot >= geometry_.slots) {
    answer.statuses = {RCAP_STATUS_OUT_OF_RANGE};
    return answer;
  }
  const Shown shown = shown_now(slot);
  if (!shown.lacking.empty()) {
    answer.statuses = {RCAP_STATUS_NOT_READY};
    answer.lacking = shown.lacking;
    return answer;
  }
  answer.info.sequence = shown.decided_by;
  answer.info.reserved_slot = is_reserved(slot) ? 1 : 0;
  if (shown.row) {
    answer.info.valid = 1;
    answer.info.row_sequence = shown.row->forward;
    answer.info.weight_version = shown.row->weight_version;
    answer.info.tag = shown.row->tag;
  }
  return answer;
}

ReadAnswer Model::read(const ReadCall& call) const {
  ReadAnswer answer;
  answer.start = call.start;
  std::set<std::int32_t> wrong;
  const std::int64_t per_element = call.pages ? geometry_.page_size : 1;
  const std::int64_t covered = static_cast<std::int64_t>(call.list.size()) * per_element;
  if (call.tokens < 0 || call.start < 0 || call.start > call.tokens) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
  if (covered < call.tokens - 1) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (call.after > last_sequence()) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
  if (call.tags && !geometry_.tags) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (call.tags && static_cast<std::int64_t>(call.tags->size()) != std::min(covered, call.tokens)) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (!wrong.empty()) {
    answer.statuses = Statuses(wrong);
    return answer;
  }
  const std::int64_t pages = geometry_.slots / geometry_.page_size;
  const auto slot_of = [&](std::int64_t token) -> std::int64_t {
    if (token >= covered) return -1;
    const std::int64_t element = call.list[static_cast<std::size_t>(token / per_element)];
    return call.pages && element >= 0 ? element * per_element + token % per_element : element;
  };
  const auto in_range = [&](std::int64_t token) {
    if (token >= covered) return true;
    const std::int64_t element = call.list[static_cast<std::size_t>(token / per_element)];
    return element >= -1 && element < (call.pages ? pages : geometry_.slots);
  };
  const std::int64_t end = call.include_last ? call.tokens : std::max<std::int64_t>(call.tokens - 1, 0);
  std::set<Sequence> lacking;
  bool only_forwards = true;
  for (std::int64_t token = call.start; token < end; ++token) {
    if (!in_range(token)) {
      answer.statuses = {RCAP_STATUS_OUT_OF_RANGE};
      return answer;
    }
    const std::int64_t slot = slot_of(token);
    RowPointer row;
    if (slot >= 0) {
      const Shown shown = shown_now(slot);
      lacking.merge(awaited(slot, shown, call.after));
      only_forwards = only_forwards && shown.lacking.empty();
      row = shown.row;
    }
    const bool compare = call.tags && variant_ != Variant::kTagsIgnored && token < static_cast<std::int64_t>(call.tags->size());
    if (row && compare && row->tag != (*call.tags)[static_cast<std::size_t>(token)]) row = nullptr;
    const bool is_last = token == call.tokens - 1;
    if (!is_last || row) answer.rows.push_back(row);
  }
  if (!lacking.empty()) {
    answer.statuses = {RCAP_STATUS_NOT_READY};
    // Of forwards that the read itself waits for, the oldest is named. Behind a copy stand several that may matter, or not, once the others settle.
    answer.lacking = only_forwards ? std::set<Sequence>{*lacking.begin()} : lacking;
    answer.rows.clear();
  }
  return answer;
}

std::int64_t Model::most_copies_pending() const {
  std::int64_t pending = 0;
  for (Sequence number = forgotten_ + 1; number <= last_sequence(); ++number) {
    const auto* copy = std::get_if<Copy>(&operation(number));
    if (copy == nullptr) continue;
    for (const auto& [target, source] : copy->source_of) {
      if (!shown(source, number, true).lacking.empty()) ++pending;
    }
  }
  return pending;
}

}  // namespace routecap_test::property
