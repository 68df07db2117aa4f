// SPDX-License-Identifier: Apache-2.0
#include "outputs.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace engine {
namespace {

/// Far longer than a copy takes: a wait that runs into it is a fault.
constexpr std::int64_t kCopyTimeout = 10'000'000'000;

void compare(const char* what, std::int64_t sequence, std::int64_t is, std::int64_t expected) {
  if (is == expected) return;
  throw std::runtime_error("forward " + std::to_string(sequence) + ": the summary has " + what + " " + std::to_string(is) + ", expected " +
                           std::to_string(expected));
}

/// Every engine should look at its summaries: `rows_bad` is how a slot, row or id that only the device knew shows that it was wrong (R14).
void check_summary(const rcap_summary& summary, std::int64_t sequence, const Expectation& expected) {
  compare("sequence", sequence, summary.sequence, sequence);
  compare("rows_bad", sequence, summary.rows_bad, 0);
  compare("layers_bad", sequence, summary.layers_bad, 0);
  compare("entries", sequence, summary.entries, expected.entries);
  compare("rows_reserved", sequence, summary.rows_reserved, expected.reserved);
  compare("rows_rejected", sequence, summary.rows_rejected, expected.uncommitted);
  compare("rows_stored + rows_outdated", sequence, summary.rows_stored + summary.rows_outdated, expected.entries - expected.reserved);
}

}  // namespace

std::int64_t OutputPipeline::push(OutputHandle output, std::int64_t naive_ticket, const Expectation& expectation, bool accepted) {
  Entry entry;
  entry.naive_ticket = naive_ticket;
  entry.expectation = expectation;
  entry.accepted = accepted;
  rcap_error error = make(rcap_error_init);
  entry.sequence = rcap_output_sequence(output.get(), &error);
  if (entry.sequence < 0) throw LibraryError(static_cast<rcap_status>(entry.sequence), error);
  entry.output = std::move(output);
  // One copy, begun at once; it needs no acceptance. Every other forward that waits for one starts its copy only with it: both are right.
  if (accepted || entry.sequence % 2 == 0) start_copy(entry);
  last_sequence_ = entry.sequence;
  outputs_.push_back(std::move(entry));
  return last_sequence_;
}

void OutputPipeline::start_copy(Entry& entry) {
  // The capturer's own thread copies by itself.
  if (mode_ == FinalizeMode::kThread || std::exchange(entry.copying, true)) return;
  const auto lap = library_.lap();
  rcap_error error = make(rcap_error_init);
  require(rcap_output_copy_to_host(entry.output.get(), nullptr, &error), error);
}

void OutputPipeline::accept(std::int64_t sequence, const CommitEntries& entries, bool with_slots, const Expectation& expectation) {
  Entry& entry = *find(sequence);
  {
    const auto lap = library_.lap();
    rcap_error error = make(rcap_error_init);
    rcap_accept_layout layout = make(rcap_accept_layout_init);
    layout.rows_dtype = RCAP_DTYPE_INT32;
    require(rcap_output_accept(entry.output.get(), &layout, entries.rows.data(), bytes_of(entries.rows), with_slots ? entries.slots.data() : nullptr,
                               with_slots ? bytes_of(entries.slots) : 0, nullptr, &error),
            error);
  }
  entry.accepted = true;
  entry.expectation = expectation;
  start_copy(entry);
}

void OutputPipeline::abandon(std::int64_t sequence) {
  const Position position = find(sequence);
  {
    const auto lap = library_.lap();
    position->output.reset();
  }
  naive_.drop(position->naive_ticket);
  ++lost_;
  outputs_.erase(position);
}

void OutputPipeline::settle_some(Random& random) {
  const std::int64_t stay = random.below(depth_ + 1);
  while (count(outputs_) > stay) {
    std::vector<Position> ready;
    for (auto position = outputs_.begin(); position != outputs_.end(); ++position) {
      if (position->accepted) ready.push_back(position);
    }
    if (ready.empty()) return;
    const Position chosen = random.chance(60) ? ready.front() : at(ready, random.below(count(ready)));
    if (random.chance(2)) {
      lose(chosen);
    } else {
      settle(chosen);
    }
  }
}

bool OutputPipeline::settle_oldest() {
  const auto oldest = std::ranges::find_if(outputs_, &Entry::accepted);
  if (oldest != outputs_.end()) {
    settle(oldest);
    return true;
  }
  if (count(outputs_) >= depth_) throw std::logic_error("every staging block waits for an acceptance");
  return false;
}

void OutputPipeline::settle_all() {
  while (!outputs_.empty()) {
    if (!settle_oldest()) throw std::logic_error("an output waits for an acceptance");
  }
}

void OutputPipeline::settle(const Position& position) {
  count_order(position);
  rcap_summary summary = make(rcap_summary_init);
  {
    const auto lap = library_.lap();
    rcap_error error = make(rcap_error_init);
    // In thread mode the wait ends when the thread has stored the rows, and finalize only reads the summary.
    require(rcap_output_wait(position->output.get(), kCopyTimeout, &error), error);
    require(rcap_output_finalize(position->output.get(), &summary, &error), error);
    position->output.reset();
  }
  const auto lap = harness_.lap();
  check_summary(summary, position->sequence, position->expectation);
  rejected_rows_ += position->expectation.rejected;
  naive_.finalize(position->naive_ticket);
  outputs_.erase(position);
}

void OutputPipeline::lose(const Position& position) {
  count_order(position);
  {
    const auto lap = library_.lap();
    position->output.reset();
  }
  const auto lap = harness_.lap();
  if (mode_ == FinalizeMode::kThread) {
    // Destroying an accepted output only detaches it: fire and forget, the thread stores it all the same.
    rejected_rows_ += position->expectation.rejected;
    naive_.finalize(position->naive_ticket);
  } else {
    presence_.dropped(position->sequence);
    naive_.drop(position->naive_ticket);
    ++lost_;
  }
  outputs_.erase(position);
}

void OutputPipeline::count_order(const Position& position) {
  const bool late = position->sequence != last_sequence_;
  const bool early = position != outputs_.begin();
  if (late || early) ++out_of_order_;
}

OutputPipeline::Position OutputPipeline::find(std::int64_t sequence) {
  const Position found = std::ranges::find(outputs_, sequence, &Entry::sequence);
  if (found == outputs_.end()) throw std::logic_error("no output of forward " + std::to_string(sequence));
  return found;
}

}  // namespace engine
