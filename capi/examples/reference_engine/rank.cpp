// SPDX-License-Identifier: Apache-2.0
#include "rank.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "accelerator.h"

namespace engine {
namespace {

/// The slot that takes padding: reserved in the capturer, so that rows for it are discarded by contract (R15).
constexpr std::int64_t kPaddingSlot = 0;

/// A list made as long as the rank's rows of a graph batch.
template <typename Element>
std::vector<Element> padded_to(std::vector<Element> list, std::int64_t rows, Element padding) {
  list.resize(static_cast<std::size_t>(rows), padding);
  return list;
}

/// Shape of a forward whose every row is committed.
rcap_forward_layout forward_layout(const RankRows& rows, bool graph) {
  rcap_forward_layout layout = make(rcap_forward_layout_init);
  layout.first_row = rows.first_row;
  layout.tokens = rows.tokens;
  layout.acceptance = RCAP_ACCEPT_ALL;
  layout.rows_dtype = RCAP_DTYPE_INT32;
  // A replayed graph reads slots and accept index where its kernels left them: no host synchronization. The price: nobody on the host knows
  // which slots the forward writes, so reads and copies wait for it whatever they name.
  layout.slots_memory = layout.rows_memory = graph ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  return layout;
}

}  // namespace

Rank::Rank(const ModelShape& shape, const EngineConfig& config, std::uint64_t seed, Checker& checker, Clocks& clocks, RecordKeeper& keeper)
    : config_(config),
      checker_(checker),
      clocks_(clocks),
      keeper_(keeper),
      random_(seed),
      taps_(shape, config),
      naive_(shape, config),
      presence_(config.num_slots()),
      slots_(config, taps_.capturer(), presence_, clocks.library),
      cache_(slots_),
      scheduler_(config, slots_, cache_, seed + 1),
      outputs_(config, naive_, presence_, clocks.library, clocks.harness),
      reader_(shape, taps_.capturer()) {}

/// Lists in device memory have to stay until the queued work has read them: a graph's own buffers do.
OutputHandle Rank::end(const rcap_forward_layout& layout, std::span<const std::int64_t> slots, std::span<const std::int32_t> rows) {
  Accelerator* const accelerator = layout.slots_memory == RCAP_MEMORY_DEVICE ? config_.accelerator : nullptr;
  const DeviceArray given_slots(accelerator, slots);
  const DeviceArray given_rows(accelerator, rows);
  for (;;) {
    rcap_output* output = nullptr;
    rcap_status status = RCAP_STATUS_OK;
    rcap_error error = make(rcap_error_init);
    {
      const auto lap = clocks_.library.lap();
      status = rcap_capturer_end_forward(taps_.capturer(), &layout, given_slots.data(), given_slots.bytes(), given_rows.data(), given_rows.bytes(),
                                         nullptr, 0, nullptr, &output, &error);
    }
    if (status != RCAP_STATUS_BUSY) {
      require(status, error);
      return OutputHandle(output);
    }
    // Every block is in flight. The captured rows are still there: settle one output and make the same call again (R32). Where there is none to
    // settle, an accelerator is still copying what was dropped.
    if (!outputs_.settle_oldest()) std::this_thread::yield();
  }
}

void Rank::end_forward(Forward forward, const RankRows& rows, bool graph) {
  switch (forward.kind) {
    case ForwardKind::kIdle: end_idle(); break;
    case ForwardKind::kPrefill:
    case ForwardKind::kDecode: end_sampled(forward, rows, graph); break;
    case ForwardKind::kVerify: end_verify(std::move(forward), rows, graph); break;
  }
}

void Rank::end_idle() {
  // The other ranks' tokens went through this rank's MoE layers all the same. Either those captures are forgotten, or a forward of no rows
  // ends them, for engines that want a number every step (R16).
  if (random_.chance(50)) {
    const auto lap = clocks_.library.lap();
    taps_.discard_forward();
    return;
  }
  OutputHandle output = end(forward_layout({}, false), {}, {});
  outputs_.push(std::move(output), naive_.stage(0, {}, {}), {}, true);
}

void Rank::end_sampled(const Forward& forward, const RankRows& rows, bool graph) {
  const std::vector<std::int64_t> slots = padded_to(forward.slots, rows.tokens, kPaddingSlot);
  OutputHandle output = end(forward_layout(rows, graph), slots, {});
  std::int64_t ticket = 0;
  {
    const auto lap = clocks_.harness.lap();
    ticket = naive_.stage(rows.first_row, padded_to(forward.rows, rows.tokens, RowSource{}), slots);
  }
  Expectation expectation;
  expectation.entries = rows.tokens;
  expectation.reserved = rows.tokens - forward.tokens();
  const std::int64_t sequence = outputs_.push(std::move(output), ticket, expectation, true);
  commit_pieces(forward, sequence);
}

void Rank::end_verify(Forward forward, const RankRows& rows, bool graph) {
  rcap_forward_layout layout = forward_layout(rows, graph);
  const std::vector<std::int64_t> row_slots = padded_to(forward.slots, rows.tokens, kPaddingSlot);
  const bool is_late = random_.chance(50);
  const bool slots_given = !is_late || random_.chance(50);
  const CommitEntries entries = accept_index(forward, graph ? rows.tokens / forward.group_rows : forward.batch_size());

  OutputHandle output;
  if (is_late) {
    // Told one step later. Where the slots are known now they are given now: they are all that the forward may ever write, so nobody else has
    // to wait for its acceptance.
    layout.acceptance = RCAP_ACCEPT_LATER;
    layout.slots_memory = RCAP_MEMORY_HOST;
    output = end(layout, slots_given ? row_slots : std::vector<std::int64_t>(), {});
  } else {
    layout.acceptance = RCAP_ACCEPT_GIVEN;
    layout.groups = entries.groups;
    layout.group_width = entries.width;
    layout.rows_group_stride = entries.rows_stride;
    layout.slots_group_stride = entries.slots_stride;
    output = end(layout, entries.slots, entries.rows);
  }
  std::int64_t ticket = 0;
  {
    const auto lap = clocks_.harness.lap();
    ticket = naive_.stage(rows.first_row, padded_to(forward.rows, rows.tokens, RowSource{}), row_slots);
  }
  Expectation expectation;
  expectation.entries = entries.named;
  expectation.uncommitted = rows.tokens - entries.named;
  expectation.rejected = forward.tokens() - entries.named;
  const std::int64_t sequence = outputs_.push(std::move(output), ticket, expectation, !is_late);

  for (VerifyGroup& group : forward.groups) grow(group);
  if (!is_late) {
    commit_groups(forward, sequence);
    return;
  }
  for (const VerifyGroup& group : forward.groups) ++group.request->unaccepted_forwards;
  late_ = LateForward{std::move(forward), sequence, expectation, slots_given};
  // A client that goes away now leaves behind a forward whose acceptance names slots that are somebody else's by then.
  for (const VerifyGroup& group : late_->forward.groups) finish_if_over(*group.request);
}

void Rank::handle_late_acceptance() {
  if (!late_) return;
  const LateForward late = std::exchange(late_, std::nullopt).value();
  for (const VerifyGroup& group : late.forward.groups) --group.request->unaccepted_forwards;
  if (random_.chance(3)) {
    outputs_.abandon(late.sequence);
    lose_groups(late.forward);
    return;
  }
  outputs_.accept(late.sequence, accepted_list(late.forward), !late.slots_given, late.expectation);
  commit_groups(late.forward, late.sequence);
}

void Rank::commit_pieces(const Forward& forward, std::int64_t sequence) {
  std::int64_t row = 0;
  for (const Piece& piece : forward.pieces) {
    Request& request = *piece.request;
    for (std::int64_t i = 0; i < piece.tokens; ++i, ++row) {
      const bool is_sampled =
          forward.kind == ForwardKind::kDecode || std::ranges::binary_search(forward.sampled_rows, static_cast<std::int32_t>(row));
      presence_.wrote(at(forward.slots, row), sequence, !is_sampled);
      request.slots.push_back(at(forward.slots, row));
    }
    // A request that ended while this forward was already queued takes its rows along until it is freed; reads stop at its own length (R2).
    if (request.phase == Phase::kFinishing) continue;
    request.last_sequence = sequence;
    if (request.slots.size() == request.tokens.size()) {
      request.append(request.sample(request.prefixes.back(), count(request.tokens)));
      request.known_tokens = count(request.tokens);
      if (request.phase == Phase::kPrefilling) scheduler_.start_decoding(request);
    }
    finish_if_over(request);
  }
}

/// The accelerator goes on with the accepted tokens at once, whenever the host hears of them.
void Rank::grow(VerifyGroup& group) const {
  for (const std::int32_t node : group.accepted) group.request->slots.push_back(at(group.slots, node));
  for (const Token& token : group.new_tokens) group.request->append(token);
}

void Rank::commit_groups(const Forward& forward, std::int64_t sequence) {
  for (const VerifyGroup& group : forward.groups) {
    Request& request = *group.request;
    std::vector<std::int64_t> rejected;
    for (std::int64_t node = 0; node < count(group.slots); ++node) {
      if (std::ranges::binary_search(group.accepted, static_cast<std::int32_t>(node))) {
        presence_.wrote(at(group.slots, node), sequence, false);
      } else {
        rejected.push_back(at(group.slots, node));
      }
    }
    slots_.give_back(rejected);  // no trace of a row is in them (R21)
    if (request.phase != Phase::kRunning) continue;
    request.last_sequence = sequence;
    request.known_tokens = group.tokens_after;
    finish_if_over(request);
  }
}

/// The acceptance was lost. The forward writes nothing, so its slots go on showing what they had: they have to be released (R8, R33).
void Rank::lose_groups(const Forward& forward) {
  for (const VerifyGroup& group : forward.groups) {
    Request& request = *group.request;
    std::vector<std::int64_t> accepted;
    std::vector<std::int64_t> rejected;
    for (std::int64_t node = 0; node < count(group.slots); ++node) {
      const bool is_accepted = std::ranges::binary_search(group.accepted, static_cast<std::int32_t>(node));
      (is_accepted ? accepted : rejected).push_back(at(group.slots, node));
    }
    slots_.give_back(rejected);
    if (request.phase != Phase::kRunning) continue;
    slots_.release(accepted);
    request.known_tokens = group.tokens_after;
    finish_if_over(request);
  }
}

void Rank::finish_if_over(Request& request) {
  if (request.phase != Phase::kRunning && request.phase != Phase::kPrefilling) return;
  if (request.known_tokens >= request.final_tokens()) return finish(request, request.final_tokens());
  if (request.abort_at < 0 || count(request.slots) < request.abort_at) return;
  // What the host does not know to be accepted is not the client's. Those slots are freed although a forward that will name them is under way: it
  // is older than whatever fills them next, and loses against it (R9, R10).
  const std::int64_t kept = std::min(count(request.slots), request.known_tokens - 1);
  slots_.give_back(std::span(request.slots).subspan(static_cast<std::size_t>(kept)));
  request.slots.resize(static_cast<std::size_t>(kept));
  finish(request, request.known_tokens);
}

void Rank::finish(Request& request, std::int64_t tokens) {
  scheduler_.retire(request);
  Finishing finishing;
  finishing.request = &request;
  finishing.tokens = tokens;
  finishing.due_after = outputs_.last_sequence();
  finishing.include_last = request.known_tokens > tokens;
  finishing_.push_back(finishing);
}

std::int64_t Rank::finish_step() {
  outputs_.settle_some(random_);
  return read_finished();
}

std::int64_t Rank::drain() {
  handle_late_acceptance();
  outputs_.settle_all();
  return read_finished();
}

}  // namespace engine
