// SPDX-License-Identifier: Apache-2.0
//
// The end of a request: its KV is held until its record has been read, and only then cached or freed.
#include <algorithm>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "rank.h"

namespace engine {
namespace {

/// Every forward that a read waits for is settled or with the capturer's thread when this is waited for.
constexpr std::int64_t kReadTimeout = 10'000'000'000;

void demand(const char* what, std::int64_t is, std::int64_t wanted) {
  if (is != wanted)
    throw std::runtime_error(std::string("at the end ") + what + " is " + std::to_string(is) + ", expected " + std::to_string(wanted));
}

std::int64_t rows_captured(const RecordBytes& record) {
  std::int64_t captured = 0;
  for (const std::uint8_t byte : record.row_validity) captured += std::popcount(byte);
  return captured;
}

}  // namespace

std::vector<ExpectedRow> Rank::expected_rows(const Finishing& finishing) const {
  const Request& request = *finishing.request;
  std::vector<ExpectedRow> rows;
  PrefixHash prefix = kEmptyPrefix;
  for (std::int64_t i = 0; i < finishing.tokens; ++i) {
    // From the tokens alone, as an outsider would.
    prefix = extend(prefix, at(request.tokens, i).id);
    ExpectedRow row;
    row.source = {prefix, at(request.tokens, i).trace_row};
    if (i < count(request.slots)) {
      row.slot = at(request.slots, i);
      row.presence = presence_.at_slot(row.slot);
    }
    const bool is_last = i + 1 == finishing.tokens;
    if (!is_last || (finishing.include_last && row.presence != Presence::kMissing)) rows.push_back(row);
  }
  return rows;
}

bool Rank::read_and_check(const Finishing& finishing, std::int64_t timeout_ns) {
  const Request& request = *finishing.request;
  ReadRange range;
  range.tokens = finishing.tokens;
  range.include_last = finishing.include_last;
  range.after_sequence = request.last_sequence;
  range.timeout_ns = timeout_ns;
  // Tokens of an aborted request that were never computed have no slot: -1 reads as missing (R3).
  std::vector<std::int64_t> slots = request.slots;
  if (count(slots) < finishing.tokens) slots.resize(static_cast<std::size_t>(finishing.tokens), -1);

  std::optional<RecordBytes> record;
  {
    const auto lap = clocks_.library.lap();
    record = request.id % 2 == 0 ? reader_.read(range, slots) : reader_.read_into(range, slots);
  }
  if (!record) return false;
  const auto lap = clocks_.harness.lap();
  if (spoil_next_record_ && record->rows > 0) {
    record->ids.front() ^= 1;
    spoil_next_record_ = false;
  }
  checker_.check(request.id, expected_rows(finishing), *record);
  const std::int64_t captured = rows_captured(*record);
  if (keeper_.wants(captured)) keeper_.keep({request.id, record->rows, captured, reader_.encode(range, slots)});
  return true;
}

std::int64_t Rank::read_finished() {
  std::int64_t done = 0;
  std::erase_if(finishing_, [&](Finishing& finishing) {
    Request& request = *finishing.request;
    // Asked at once, a read says NOT_READY while a forward that matters is unsettled, and the engine goes on with the next step.
    if (request.opted_in && !finishing.checked) finishing.checked = read_and_check(finishing, 0);
    // What follows goes by the engine's own book and not by that answer, so that a run is the same whoever finalizes.
    if (!outputs_.is_settled_through(finishing.due_after)) return false;
    if (request.opted_in) {
      if (!finishing.checked && !read_and_check(finishing, kReadTimeout)) {
        throw std::runtime_error("request " + std::to_string(request.id) + " cannot be read although all its forwards are settled");
      }
      const auto lap = clocks_.harness.lap();
      checker_.compare_naive(expected_rows(finishing), naive_);
    }
    // Rows stay with their slots: whoever hits this prefix later finds them there (R11, R17). Only what the host knows to be accepted is kept.
    cache_.insert(request, std::min(finishing.tokens, request.known_tokens - 1), random_.chance(50));
    request.phase = Phase::kDone;
    ++done;
    return true;
  });
  return done;
}

void Rank::audit(std::int64_t draft_captures) const {
  rcap_error error = make(rcap_error_init);
  rcap_capturer_stats stats = make(rcap_capturer_stats_init);
  // Detached outputs end on the capturer's thread, in their own time.
  for (int milliseconds = 0; milliseconds < 10'000; ++milliseconds) {
    require(rcap_capturer_stats_get(taps_.capturer(), &stats, &error), error);
    if (stats.in_flight == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  demand("in_flight", stats.in_flight, 0);
  demand("copies_pending", stats.copies_pending, 0);
  demand("rows_bad", stats.rows_bad, 0);
  demand("dropped", stats.dropped, outputs_.lost());
  demand("slots_copied", stats.slots_copied, slots_.rows_copied());
  demand("suppressed", stats.suppressed, draft_captures);
}

}  // namespace engine
