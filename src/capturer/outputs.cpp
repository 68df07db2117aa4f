// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cinttypes>

#include "capturer/capturer.h"
#include "support/backoff.h"
#include "support/checked.h"
#include "support/choice.h"

namespace routecap {
namespace {

void require_timeout(std::int64_t timeout_ns) {
  if (timeout_ns < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "timeout_ns is %" PRId64 ", it must not be negative", timeout_ns);
}

}  // namespace

Block& Capturer::live_block(Output& output) const {
  Block* block = output.block();
  if (block == nullptr || output.settled()) fail(RCAP_STATUS_INVALID_STATE, "output of forward %" PRId64 " is settled", output.sequence());
  return *block;
}

/// Checks what the host knows of an acceptance, with the entries' lists in the block's. Returns whether every slot of it is known, and fills
/// the block's spare set with them.
bool Capturer::check_acceptance(Block& block, const Acceptance& acceptance) {
  HostLists& lists = block.accepted_lists;
  KnownLists known{nullptr, nullptr, acceptance.entries};
  if (!acceptance.rows.on_device && acceptance.entries > 0) known.rows = lists.rows;
  if (acceptance.slots.given()) {
    if (!acceptance.slots.on_device) known.slots = lists.slots;
  } else if (block.slots_given && !block.slots_on_device && known.rows != nullptr) {
    // The rows alone: each goes to the slot that the forward named for it.
    for (std::int64_t i = 0; i < acceptance.entries; ++i) {
      const std::int64_t row = lists.rows[i];
      if (row < -1 || row >= block.tokens) {
        fail(RCAP_STATUS_OUT_OF_RANGE, "rows entry %" PRId64 " is %" PRId64 ", %s (the forward has %" PRId64 " tokens)", i, row,
             Allowed(-1, block.tokens - 1).text(), block.tokens);
      }
      lists.slots[i] = row == -1 ? -1 : block.forward_lists.slots[row];
    }
    known.slots = lists.slots;
  }
  check_entries(known, block.tokens, limits_, {*block.spare_slots, stages_->ring.accept_rows});
  const bool promised = block.slots_given && !block.slots_on_device;
  if (known.slots != nullptr && promised) {
    for (std::int64_t i = 0; i < acceptance.entries; ++i) {
      const std::int64_t slot = lists.slots[i];
      if (slot < limits_.reserved_slots || (known.rows != nullptr && known.rows[i] == -1) || block.pending.may_write(slot)) continue;
      fail(RCAP_STATUS_OUT_OF_RANGE, "slots entry %" PRId64 " is %" PRId64 ", not one of the %" PRId64 " slots given with the forward", i, slot,
           block.tokens);
    }
  }
  return known.slots != nullptr || acceptance.entries == 0;
}

void Capturer::accept(Output& output, const rcap_accept_layout& layout, RawArray rows, RawArray slots, void* stream) {
  const auto failed = [&output] { fail(RCAP_STATUS_DEVICE, "forward %" PRId64 ": the device has failed it", output.sequence()); };
  // The own thread lets go of a block a moment before it says what became of it.
  for (Backoff backoff; output.block() == nullptr && !output.settled();) backoff.pause();
  if (output.settled() && output.settled_status() == RCAP_STATUS_DEVICE) failed();  // R34
  Block& block = live_block(output);
  if (block.acceptance != RCAP_ACCEPT_LATER) {
    fail(RCAP_STATUS_INVALID_STATE, "forward %" PRId64 " has acceptance %s, only a LATER one is accepted", output.sequence(),
         name_of(block.acceptance, kAcceptances));
  }
  if (block.accepted) fail(RCAP_STATUS_INVALID_STATE, "forward %" PRId64 " is accepted already", output.sequence());
  const Acceptance acceptance = checked_acceptance(layout, rows, slots, limits_, block.slots_given);
  const auto take = [&](const CommitList& list, std::int64_t* out) {
    if (list.given() && !list.on_device) list.view.widen(out);
  };
  {
    const std::lock_guard<std::mutex> lock(settle_mutex_);
    // The own thread may have ended it meanwhile, as a device's fault only can before it is accepted: then the block is another forward's by now.
    if (block.pending.sequence() != output.sequence()) failed();
    take(acceptance.rows, block.accepted_lists.rows);
    take(acceptance.slots, block.accepted_lists.slots);
    const bool slots_known = check_acceptance(block, acceptance);
    block.accepted_entries = acceptance.entries;
    fetch_acceptance(block, acceptance, stream);
    // Where every slot is known by now, the settler need not look it up again by its row.
    block.accepted_slots_given = acceptance.slots.given() || slots_known;
    block.accepted_slots_on_device = acceptance.slots.on_device;
    block.accepted_rows_on_device = acceptance.rows.on_device;
    if (slots_known) {
      block.pending.update([&] {
        block.spare_slots = block.pending.exchange_slots(block.spare_slots);
        block.pending.set_any_slot(false);
      });
    }
    resolve_copies();
    if (own_thread_) {
      own_thread_->enqueue(block, true);
    } else {
      block.accepted = true;
    }
  }
  progress_.announce();
}

/// Queues what only the device knows of an acceptance on its way to the host; it is looked at when the forward settles. A fault here ends the output
/// with DEVICE: what was queued already may still write where a second acceptance would (R34).
void Capturer::fetch_acceptance(Block& block, const Acceptance& acceptance, void* stream) {
  if (!acceptance.rows.on_device && !acceptance.slots.on_device) return;
  const std::int64_t begin = acceptance.rows.on_device ? block.extra_rows() : block.accepted_slots();
  const std::int64_t end = acceptance.slots.on_device ? block.accepted_slots() + acceptance.entries * 8 : block.accepted_slots();
  try {
    if (acceptance.rows.on_device) backend_->widen(acceptance.rows.view, block.out_part<std::int64_t>(block.extra_rows()), stream);
    if (acceptance.slots.on_device) backend_->widen(acceptance.slots.view, block.out_part<std::int64_t>(block.accepted_slots()), stream);
    backend_->copy_to_host({block.pinned.get() + begin, block.device.get() + begin, end - begin}, stream, block.accept_transfer);
  } catch (const Error&) {
    block.failed = true;
    if (own_thread_) own_thread_->enqueue(block, false);
    throw;
  }
}

RawArray Capturer::device_rows(Output& output) {
  const Block& block = live_block(output);
  return {block.device.get() + block.layout.payload, block.staged * stages_->shape.payload_bytes};
}

void Capturer::copy_to_host(Output& output, void* stream) {
  // The own thread copies by itself.
  if (own_thread_ || output.settled()) return;
  Block& block = live_block(output);
  if (!block.failed) start_copy(block, stream);
  progress_.announce();
  if (block.failed) fail(RCAP_STATUS_DEVICE, "forward %" PRId64 ": the device failed while its rows were copied", output.sequence());
}

/// A fault of the device is kept with the block: its output ends with DEVICE (R34).
void Capturer::start_copy(Block& block, void* stream) {
  if (block.transfer.started) return;
  try {
    backend_->copy_to_host({block.pinned.get(), block.device.get(), block.layout.bytes, block.staged_event.get()}, stream, block.transfer);
  } catch (const Error&) {
    block.failed = true;
  }
}

bool Capturer::transfer_over(Block& block, Transfer& transfer) {
  if (transfer.failed) return true;
  try {
    transfer.done = transfer.started && backend_->complete(transfer);
    return transfer.done;
  } catch (const Error&) {
    transfer.failed = true;
    block.failed = true;
    return true;
  }
}

bool Capturer::copy_complete(Block& block) {
  // Of a forward that the device failed, the lists of its acceptance may still come: they say which slots to settle as missing.
  const bool lists = !block.accept_transfer.started || transfer_over(block, block.accept_transfer);
  return lists && (block.failed || transfer_over(block, block.transfer));
}

bool Capturer::quiet(const Block& block) {
  const auto over = [this](const Transfer& transfer) {
    if (!transfer.started) return true;
    try {
      return backend_->complete(transfer);
    } catch (const Error&) {
      return backend_->lost();
    }
  };
  return over(block.transfer) && over(block.accept_transfer);
}

bool Capturer::ready(Output& output) {
  if (output.settled()) return true;
  return !own_thread_ && copy_complete(live_block(output));
}

Answer Capturer::wait(Output& output, std::int64_t timeout_ns) {
  require_timeout(timeout_ns);
  const bool is_ready = wait_until(deadline_after(timeout_ns), [&] { return ready(output); });
  return {is_ready ? RCAP_STATUS_OK : RCAP_STATUS_TIMEOUT};
}

bool Capturer::wait_until(Deadline deadline, FunctionRef<bool()> condition) {
  if (!backend_->completes_by_itself()) return progress_.wait_until(deadline, condition);
  constexpr std::chrono::nanoseconds kLongest = std::chrono::milliseconds(1);
  for (std::chrono::nanoseconds step = std::chrono::microseconds(20);; step = std::min(2 * step, kLongest)) {
    const Deadline next = std::min(deadline, std::chrono::steady_clock::now() + step);
    if (progress_.wait_until(next, condition)) return true;
    if (next == deadline) return false;
  }
}

Sequence Capturer::may_change(std::int64_t slot, Sequence before, Sequence above) const {
  Sequence first = 0;
  for (const auto& block : stages_->ring.blocks()) {
    const Sequence sequence = block->pending.sequence();
    if (sequence <= above || sequence >= before || (first != 0 && sequence > first) || stages_->store.reserved(slot)) continue;
    if (block->pending.may_write(slot)) first = sequence;
  }
  return first;
}

void Capturer::resolve_copies() {
  CopyLedger& copies = stages_->copies;
  if (copies.empty()) return;
  copies.resolve([this](std::int64_t slot, Sequence before, Sequence above) { return may_change(slot, before, above); });
}

/// Under the settle mutex: the forward is done with every slot.
void Capturer::finish(Block& block) {
  block.pending.update([&] { block.pending.set_sequence(0); });
  resolve_copies();
}

rcap_summary Capturer::settle_stored(Block& block) {
  const std::lock_guard<std::mutex> lock(settle_mutex_);
  const rcap_summary summary = stages_->settler.store_rows(block);
  finish(block);
  counters_.finalized.fetch_add(1, std::memory_order_relaxed);
  counters_.stored.fetch_add(summary.rows_stored, std::memory_order_relaxed);
  counters_.bad.fetch_add(summary.rows_bad, std::memory_order_relaxed);
  counters_.outdated.fetch_add(summary.rows_outdated, std::memory_order_relaxed);
  counters_.reserved.fetch_add(summary.rows_reserved, std::memory_order_relaxed);
  counters_.stray.fetch_add(summary.rows_stray, std::memory_order_relaxed);
  counters_.rejected.fetch_add(summary.rows_rejected, std::memory_order_relaxed);
  return summary;
}

/// Settles what was accepted as missing (R33), from the lists that have reached the host.
void Capturer::settle_dropped(Block& block) {
  const std::lock_guard<std::mutex> lock(settle_mutex_);
  stages_->settler.drop_rows(block);
  finish(block);
}

/// Ends a block whose copy is complete, or will never be.
Settled Capturer::settle(Block& block) {
  // Nothing is stored from a device that says what cannot be: it is a fault of the device's like any other (R34).
  if (!block.failed && !stages_->settler.is_sound(block)) block.failed = true;
  if (!block.failed) return {true, RCAP_STATUS_OK, settle_stored(block)};
  settle_dropped(block);
  counters_.finalized.fetch_add(1, std::memory_order_relaxed);
  return {true, RCAP_STATUS_DEVICE, {}};
}

void Capturer::free_block(Block& block) {
  if (block.failed && !quiet(block)) {
    // What failed may go on writing for a while: the block is not another forward's before that is over.
    orphan(block, true);
    return;
  }
  block.in_use.store(false, std::memory_order_release);
  progress_.announce();
}

Answer Capturer::finalize(Output& output, rcap_summary* summary) {
  if (!output.settled()) {
    if (own_thread_) return {RCAP_STATUS_NOT_READY};
    Block& block = live_block(output);
    const bool complete = copy_complete(block);
    if (!complete || (!block.failed && !block.accepted)) return {RCAP_STATUS_NOT_READY};  // R21, R31
    const Settled settled = settle(block);
    output.settle(settled.status, settled.summary);
    free_block(block);
  }
  if (output.settled_status() != RCAP_STATUS_OK) return {output.settled_status()};
  if (summary != nullptr) *summary = output.summary();
  return {};
}

Settled Capturer::work_at(Block& block, bool accepted) {
  if (!block.failed) start_copy(block, stages_->stream.get());
  const auto wait_for = [&](Transfer& transfer) {
    if (!transfer.started) return;
    try {
      backend_->wait(transfer);
      transfer.done = true;
    } catch (const Error&) {
      transfer.failed = true;
      block.failed = true;
    }
  };
  wait_for(block.transfer);
  if (accepted) wait_for(block.accept_transfer);
  return accepted || block.failed ? settle(block) : Settled{};
}

void Capturer::destroy(Output& output) {
  Block* const unsettled = output.block();
  if (output.settled() || unsettled == nullptr) return;
  if (own_thread_ && own_thread_->detach(output) != OwnThread::Detached::kTaken) return;
  Block& block = *unsettled;
  counters_.dropped.fetch_add(1, std::memory_order_relaxed);
  // What only the device knows of the lists comes with the copy; a LATER forward never accepted touches no slot and needs none.
  const bool settles_now = !block.accepted || block.lists_on_host();
  if (settles_now) settle_dropped(block);
  if (!settles_now && !block.failed) start_copy(block, stages_->stream.get());
  if ((block.transfer.started || block.accept_transfer.started) && !copy_complete(block)) {
    // R32: the block is free when its copy is over. Whoever needs a block or a slot next looks after it.
    orphan(block, settles_now);
    return;
  }
  if (!settles_now) settle_dropped(block);
  free_block(block);
}

void Capturer::orphan(Block& block, bool settled) {
  block.settled = settled;
  orphans_.fetch_add(1, std::memory_order_relaxed);
  block.orphaned.store(true, std::memory_order_release);
}

void Capturer::reap_orphans() {
  if (orphans_.load(std::memory_order_acquire) == 0) return;
  for (const auto& block : stages_->ring.blocks()) {
    // Taken by one thread at a time; put back while the copy goes on.
    if (!block->orphaned.exchange(false, std::memory_order_acq_rel)) continue;
    if (!(block->settled ? quiet(*block) : copy_complete(*block))) {
      block->orphaned.store(true, std::memory_order_release);
      continue;
    }
    orphans_.fetch_sub(1, std::memory_order_relaxed);
    if (!block->settled) settle_dropped(*block);
    free_block(*block);
  }
}

OwnThread& Capturer::own_thread(const char* function) {
  require_sealed();
  if (!own_thread_) fail(RCAP_STATUS_INVALID_STATE, "%s: finalize_mode is CALLER, it needs OWN_THREAD", function);
  return *own_thread_;
}

}  // namespace routecap
