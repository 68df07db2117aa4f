// SPDX-License-Identifier: Apache-2.0
#include "commit/staging.h"

#include "support/checked.h"

namespace routecap {

StagingRing::StagingRing(const Geometry& geometry, const rows::RowShape& shape, Backend& backend)
    : scratch_rows(geometry.device_rows().rows), accept_rows(geometry.device_rows().rows) {
  const std::int64_t rows = geometry.device_rows().rows;
  const std::int64_t block_bytes = StagingLayout::block_bytes(shape, rows);
  const std::int64_t list_bytes =
      checked_multiply(rows, std::int64_t{6} * 8 + static_cast<std::int64_t>(sizeof(rows::ScatterEntry)), "bytes of a staging block's lists");
  const auto depth = static_cast<std::size_t>(geometry.config().pipeline_depth);
  blocks_.reserve(depth);
  const std::size_t sets = 2 * depth + 1;
  sets_.reserve(sets);
  for (std::size_t i = 0; i < sets; ++i) sets_.push_back(std::make_unique<SlotSet>(rows));
  scratch_slots = sets_[2 * depth].get();
  scratch_memory_ = Mapping::of(2 * rows * 8, "scratch lists");
  scratch_lists.slots = reinterpret_cast<std::int64_t*>(scratch_memory_.data());
  scratch_lists.rows = scratch_lists.slots + rows;
  for (std::size_t i = 0; i < depth; ++i) {
    auto block = std::make_unique<Block>();
    block->pending.exchange_slots(sets_[2 * i].get());
    block->spare_slots = sets_[2 * i + 1].get();
    block->device = backend.allocate(MemoryHome::kDevice, block_bytes, "staging block on the device");
    block->pinned = backend.host_side(block->device, block_bytes, "staging block on the host");
    block->staged_event = backend.make_event();
    block->copied_event = backend.make_event();
    block->accepted_event = backend.make_event();
    block->lists_memory = Mapping::of(list_bytes, "lists of a staging block");
    auto* lists = reinterpret_cast<std::int64_t*>(block->lists_memory.data());
    block->forward_lists = {lists, lists + rows};
    block->accepted_lists = {lists + 2 * rows, lists + 3 * rows};
    block->tags = lists + 4 * rows;
    block->staged_tags = lists + 5 * rows;
    block->scatter = reinterpret_cast<rows::ScatterEntry*>(lists + 6 * rows);
    blocks_.push_back(std::move(block));
  }
}

Block* StagingRing::find_free() {
  // The first free one, not the next: its memory is the one most likely still in cache.
  for (const auto& block : blocks_) {
    if (!block->in_use.load(std::memory_order_acquire)) return block.get();
  }
  return nullptr;
}

std::int64_t StagingRing::in_flight() const {
  std::int64_t count = 0;
  for (const auto& block : blocks_) count += block->in_use.load(std::memory_order_relaxed) ? 1 : 0;
  return count;
}

}  // namespace routecap
