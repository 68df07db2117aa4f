// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "capturer/capturer.h"

namespace routecap {

/// Host lists as int64 in the scratch, so that they can be checked and then exchanged with the block's.
KnownLists Capturer::widen_known(const Batch& batch) {
  HostLists& scratch = stages_->ring.scratch_lists;
  KnownLists known;
  known.count = batch.entries;
  if (batch.slots.given() && !batch.slots.on_device) {
    batch.slots.view.widen(scratch.slots);
    known.slots = scratch.slots;
  }
  if (batch.rows.given() && !batch.rows.on_device) {
    batch.rows.view.widen(scratch.rows);
    known.rows = scratch.rows;
  }
  return known;
}

Block* Capturer::free_block_or_wait() {
  reap_orphans();
  Block* block = stages_->ring.find_free();
  if (block == nullptr && geometry_.config().busy_policy == RCAP_BUSY_WAIT) {
    wait_until(deadline_after(geometry_.config().busy_timeout_ns), [&] {
      reap_orphans();
      block = stages_->ring.find_free();
      return block != nullptr;
    });
  }
  return block;
}

void Capturer::describe_forward(Block& block, const Batch& batch, Sequence sequence) const {
  block.sequence = sequence;
  block.tokens = batch.tokens;
  block.entries = batch.entries;
  block.staged = batch.entries;
  block.acceptance = batch.acceptance;
  block.slots_given = batch.slots.given();
  block.slots_on_device = batch.slots.on_device;
  block.rows_on_device = batch.rows.on_device;
  block.tags_on_device = batch.tags.on_device;
  block.step = batch.step;
  block.weight_version = batch.weight_version;
  block.accepted = batch.acceptance != RCAP_ACCEPT_LATER;
  block.accepted_entries = 0;
  block.transfer = {block.copied_event.get()};
  block.accept_transfer = {block.accepted_event.get()};
  block.failed = false;
  const auto on_device = [](const CommitList& list) { return list.on_device ? list.view.count() : 0; };
  block.layout = StagingLayout::of(stages_->shape, {block.staged, on_device(batch.slots), on_device(batch.rows), on_device(batch.tags)});
}

/// Everything that is queued on the stream: the lists only the device knows, then the rows (R30).
void Capturer::stage(Block& block, const Batch& batch, void* stream) {
  if (batch.slots.on_device) backend_->widen(batch.slots.view, block.out_part<std::int64_t>(block.layout.slots), stream);
  if (batch.rows.on_device) backend_->widen(batch.rows.view, block.out_part<std::int64_t>(block.layout.rows), stream);
  if (batch.tags.on_device) backend_->widen(batch.tags.view, block.out_part<std::int64_t>(block.layout.tags), stream);
  rows::SnapshotJob job;
  job.shape = stages_->shape;
  job.cache = stages_->cache.view();
  job.first_row = batch.first_row;
  job.tokens = batch.tokens;
  NamedRows named;
  if (batch.rows.on_device) {
    job.rows = block.out_part<std::int64_t>(block.layout.rows);
  } else if (batch.rows.given()) {
    job.rows = stages_->ring.scratch_lists.rows;
    if (!backend_->reads_host_lists()) {
      auto* pinned = reinterpret_cast<std::int64_t*>(block.pinned.get() + block.extra_rows());
      std::copy_n(job.rows, block.staged, pinned);
      named = {pinned, block.out_part<std::int64_t>(block.extra_rows())};
      job.rows = nullptr;
    }
  }
  job.staged = block.staged;
  job.partial = job.cache.partial;
  job.payload = block.device.get() + block.layout.payload;
  job.bad_layer = block.out_part<std::int32_t>(block.layout.bad_layer);
  job.captured = block.out_part<std::int64_t>(block.layout.captured);
  job.repeated = block.out_part<std::int64_t>(block.layout.repeated);
  if (job.shape.cell_words != 0) job.strays = block.out_part<std::int64_t>(block.layout.strays);
  backend_->snapshot(job, named, stream);
  try {
    backend_->record(block.staged_event.get(), stream);
  } catch (const Error&) {
    // The rows have left the cache: the forward cannot be refused any more, it ends with DEVICE (R34).
    block.failed = true;
  }
}

void Capturer::publish_pending(Block& block, bool any_slot) {
  StagingRing& ring = stages_->ring;
  block.pending.update([&] {
    ring.scratch_slots = block.pending.exchange_slots(ring.scratch_slots);
    block.pending.set_any_slot(any_slot);
    block.pending.set_sequence(block.sequence);
  });
}

Answer Capturer::end_forward(const rcap_forward_layout& layout, RawArray slots, RawArray rows, RawArray tags, void* stream, Output*& output) {
  require_sealed();
  const Batch batch = checked_batch(layout, slots, rows, tags, limits_);
  StagingRing& ring = stages_->ring;
  check_entries(widen_known(batch), batch.tokens, limits_, {*ring.scratch_slots, ring.scratch_rows});
  if (own_thread_) own_thread_->start();
  Block* block = free_block_or_wait();
  if (block == nullptr) {
    counters_.busy.fetch_add(1, std::memory_order_relaxed);
    return {RCAP_STATUS_BUSY};
  }
  Output& made = pool_->acquire();
  const Sequence sequence = next_sequence();
  try {
    describe_forward(*block, batch, sequence);
    stage(*block, batch, stream);
  } catch (...) {
    pool_->release(made);
    throw;
  }
  // From here on nothing fails: the forward has its number.
  std::swap(block->forward_lists.slots, ring.scratch_lists.slots);
  std::swap(block->forward_lists.rows, ring.scratch_lists.rows);
  if (batch.tags.given() && !batch.tags.on_device) batch.tags.view.widen(block->tags);
  // R12: until it is accepted a LATER forward without slots counts as one that may write any, one of 0 tokens too: an acceptance whose rows only the
  // device knows settles the slots that it names as missing, rows of the forward or not.
  const bool slots_unknown = batch.slots.given() ? batch.slots.on_device : batch.acceptance == RCAP_ACCEPT_LATER && limits_.num_slots > 0;
  publish_pending(*block, slots_unknown);
  take_sequence(sequence);
  block->in_use.store(true, std::memory_order_relaxed);
  made.begin(*block);
  output = &made;
  counters_.forwards.fetch_add(1, std::memory_order_relaxed);
  if (own_thread_) {
    block->output = &made;
    own_thread_->enqueue(*block, block->accepted);
  }
  return {};
}

void Capturer::discard_forward(void* stream) {
  require_sealed();
  backend_->forget(stages_->shape, stages_->cache.view(), stream);
  counters_.discarded.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace routecap
