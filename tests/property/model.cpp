// SPDX-License-Identifier: Apache-2.0
#include "property/model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace routecap_test::property {

std::string Statuses::text() const {
  std::string text;
  for (const std::int32_t status : allowed_) text += (text.empty() ? "" : " or ") + std::string(rcap_status_name(status));
  return text;
}

bool Geometry::any_partial() const { return std::find(partial.begin(), partial.end(), true) != partial.end(); }

Model::Model(Geometry geometry, Variant variant) : geometry_(std::move(geometry)), variant_(variant) {
  discard_forward();
  stats_ = {};
}

void Model::discard_forward() {
  captured_.assign(geometry_.layers(), std::vector<Captured>(static_cast<std::size_t>(geometry_.device_rows)));
  strays_.assign(geometry_.layers(), 0);
  ++stats_.discarded_forwards;
}

Statuses Model::may_capture(const CaptureCall& call) const {
  std::set<std::int32_t> refusals;
  if (call.row_ids && !geometry_.partial[call.column]) refusals.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (call.first_row < 0 || call.first_row > geometry_.device_rows) refusals.insert(RCAP_STATUS_OUT_OF_RANGE);
  if (!call.row_ids && call.first_row + call.tokens > geometry_.device_rows) refusals.insert(RCAP_STATUS_OUT_OF_RANGE);
  if (call.row_ids && !call.device) {
    std::set<std::int32_t> seen;
    for (const std::int32_t row : *call.row_ids) {
      if (row < 0 || row >= geometry_.device_rows - call.first_row) refusals.insert(RCAP_STATUS_OUT_OF_RANGE);
      if (!seen.insert(row).second) refusals.insert(RCAP_STATUS_INVALID_ARGUMENT);
    }
  }
  if (refusals.empty()) refusals.insert(RCAP_STATUS_OK);
  return Statuses(refusals);
}

void Model::capture(const CaptureCall& call) {
  for (std::int64_t i = 0; i < call.tokens; ++i) {
    const std::int64_t row = call.first_row + (call.row_ids ? (*call.row_ids)[static_cast<std::size_t>(i)] : i);
    const bool out_of_range = call.row_ids && (row < call.first_row || row >= geometry_.device_rows);
    if (out_of_range) {
      ++strays_[call.column];
      continue;
    }
    Captured& captured = captured_[call.column][static_cast<std::size_t>(row)];
    ++captured.times;
    captured.cell = {};
    std::set<std::int64_t> seen;
    for (std::int64_t k = 0; k < geometry_.top_k; ++k) {
      const auto at = static_cast<std::size_t>(i * call.columns + k);
      std::int64_t id = call.ids[at];
      if (call.id_map) {
        const bool mapped = id >= 0 && id < static_cast<std::int64_t>(call.id_map->size());
        id = mapped ? (*call.id_map)[static_cast<std::size_t>(id)] : -1;
      }
      if (id < 0 || id >= geometry_.experts) captured.id_out_of_range = true;
      if (!seen.insert(id).second) captured.id_repeated = true;
      captured.cell.ids.push_back(id);
      if (geometry_.weights_dtype != RCAP_DTYPE_NONE) captured.cell.weights.push_back(call.weights[at]);
    }
  }
}

Statuses Model::may_end_forward(const ForwardCall& call) const {
  std::set<std::int32_t> wrong;
  if (call.first_row < 0 || call.tokens < 0 || call.first_row + call.tokens > geometry_.device_rows) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
  // A staging block holds a row per entry, holes included.
  if (call.rows && std::ssize(*call.rows) > geometry_.device_rows) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
  if (call.tags && !geometry_.tags) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (!call.tags && geometry_.tags && call.tokens > 0) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (call.tags && static_cast<std::int64_t>(call.tags->size()) != call.tokens) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (!call.slots && call.acceptance != RCAP_ACCEPT_LATER && call.tokens > 0) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  if (wrong.empty()) {
    const Numbers* rows = call.acceptance == RCAP_ACCEPT_GIVEN && !call.rows_on_device && call.rows ? &*call.rows : nullptr;
    const Numbers* slots = call.slots && !call.slots_on_device ? &*call.slots : nullptr;
    wrong = refusals(rows, slots, call.tokens, std::nullopt);
  }
  if (wrong.empty()) wrong.insert(static_cast<std::int64_t>(unsettled().size()) >= geometry_.depth ? RCAP_STATUS_BUSY : RCAP_STATUS_OK);
  return Statuses(wrong);
}

Sequence Model::end_forward(const ForwardCall& call) {
  Forward forward;
  forward.call = call;
  for (const std::vector<Captured>& rows : captured_) {
    forward.captured.emplace_back(rows.begin() + call.first_row, rows.begin() + call.first_row + call.tokens);
  }
  forward.strays = strays_;
  forward.number = last_sequence() + 1;
  const std::int64_t discarded = stats_.discarded_forwards;
  discard_forward();
  stats_.discarded_forwards = discarded;
  ++stats_.forwards;
  operations_.emplace_back(std::move(forward));
  return last_sequence();
}

bool Model::is_accepted(Sequence number) const {
  const Forward& forward = this->forward(number);
  return forward.call.acceptance != RCAP_ACCEPT_LATER || forward.accepted.has_value();
}

Statuses Model::may_accept(Sequence number, const AcceptCall& call) const {
  const Forward& forward = this->forward(number);
  if (is_accepted(number) || forward.state != State::kStaged) return {RCAP_STATUS_INVALID_STATE};
  const bool any = !call.rows.empty();
  if (any && !call.slots && !forward.call.slots) return {RCAP_STATUS_INVALID_ARGUMENT};
  const Numbers* rows = call.rows_on_device ? nullptr : &call.rows;
  std::set<std::int32_t> wrong;
  if (std::ssize(call.rows) > geometry_.device_rows) return {RCAP_STATUS_OUT_OF_RANGE};
  if (call.slots) {
    wrong = refusals(rows, call.slots_on_device ? nullptr : &*call.slots, forward.call.tokens, given_slots(forward));
  } else if (any && rows != nullptr && !forward.call.slots_on_device) {
    // Every entry's slot is known through its row. A row outside the forward has none.
    Numbers slots;
    for (const std::int64_t row : *rows) {
      const bool inside = row >= 0 && row < forward.call.tokens;
      if (!inside && row != -1) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
      slots.push_back(inside ? (*forward.call.slots)[static_cast<std::size_t>(row)] : -1);
    }
    wrong.merge(refusals(rows, &slots, forward.call.tokens, std::nullopt));
  } else {
    wrong = refusals(rows, nullptr, forward.call.tokens, std::nullopt);
  }
  if (wrong.empty()) wrong.insert(RCAP_STATUS_OK);
  return Statuses(wrong);
}

void Model::accept(Sequence number, const AcceptCall& call) { this->forward(number).accepted = call; }

Statuses Model::may_finalize(Sequence number) const {
  const Forward& forward = this->forward(number);
  if (forward.state == State::kSettled) return {RCAP_STATUS_OK};
  if (!forward.copied || !is_accepted(number)) return {RCAP_STATUS_NOT_READY};
  return {RCAP_STATUS_OK};
}

Statuses Model::may_release(const Numbers& slots) const {
  for (const std::int64_t slot : slots) {
    if (slot < 0 || slot >= geometry_.slots) return {RCAP_STATUS_OUT_OF_RANGE};
  }
  return {RCAP_STATUS_OK};
}

Sequence Model::release(const Numbers& slots) {
  operations_.emplace_back(Release{std::set<std::int64_t>(slots.begin(), slots.end()), false});
  arrivals_.push_back(last_sequence());
  stats_.slots_released += static_cast<std::int64_t>(slots.size());
  return last_sequence();
}

Sequence Model::release_all() {
  operations_.emplace_back(Release{{}, true});
  arrivals_.push_back(last_sequence());
  return last_sequence();
}

Statuses Model::may_copy(const Numbers& from, const Numbers& to) const {
  std::set<std::int32_t> wrong;
  std::set<std::int64_t> targets;
  if (from.size() != to.size()) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  for (const Numbers* list : {&from, &to}) {
    if (may_release(*list).refuses()) wrong.insert(RCAP_STATUS_OUT_OF_RANGE);
  }
  for (const std::int64_t target : to) {
    if (!targets.insert(target).second) wrong.insert(RCAP_STATUS_INVALID_ARGUMENT);
  }
  if (wrong.empty()) wrong.insert(RCAP_STATUS_OK);
  return Statuses(wrong);
}

Sequence Model::copy(const Numbers& from, const Numbers& to) {
  Copy copy;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (is_reserved(to[i])) continue;
    copy.source_of[to[i]] = from[i];
    copy.shown_at_call[to[i]] = shown_now(from[i]).row;
  }
  operations_.emplace_back(std::move(copy));
  arrivals_.push_back(last_sequence());
  stats_.slots_copied += static_cast<std::int64_t>(from.size());
  return last_sequence();
}

std::vector<Sequence> Model::unsettled() const {
  std::vector<Sequence> numbers;
  for (Sequence number = forgotten_ + 1; number <= last_sequence(); ++number) {
    const auto* forward = std::get_if<Forward>(&operation(number));
    if (forward != nullptr && forward->state == State::kStaged) numbers.push_back(number);
  }
  return numbers;
}

void Model::forget() {
  if (!unsettled().empty()) throw std::logic_error("a model with unsettled forwards cannot forget");
  std::vector<Shown> now;
  for (std::int64_t slot = 0; slot < geometry_.slots; ++slot) now.push_back(shown_now(slot));
  remembered_ = std::move(now);
  forgotten_ = last_sequence();
  operations_.clear();
  arrivals_.clear();
}

rcap_capturer_stats Model::stats() const {
  rcap_capturer_stats stats = stats_;
  stats.in_flight = static_cast<std::int64_t>(unsettled().size());
  stats.last_sequence = last_sequence();
  for (std::int64_t slot = 0; slot < geometry_.slots; ++slot) {
    if (!shown_now(slot).lacking.empty()) ++stats.copies_pending;
  }
  return stats;
}

}  // namespace routecap_test::property
