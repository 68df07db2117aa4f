// SPDX-License-Identifier: Apache-2.0
#include "store/slot_store.h"

#include <algorithm>

namespace routecap {
namespace {

/// A smaller store is within the TLB's reach as it is, and a huge page for its first slots would be memory for nothing.
constexpr std::int64_t kFewestBytesForHugePages = 8 << 20;

std::uint64_t load_word(std::uint64_t& word) { return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed); }
std::int64_t load_word(std::int64_t& word) { return std::atomic_ref<std::int64_t>(word).load(std::memory_order_relaxed); }
void store_word(std::uint64_t& word, std::uint64_t value) { std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_relaxed); }
void store_word(std::int64_t& word, std::int64_t value) { std::atomic_ref<std::int64_t>(word).store(value, std::memory_order_relaxed); }

}  // namespace

SlotStore::SlotStore(const Geometry& geometry, const rows::RowShape& shape)
    : slots_(Mapping::of(geometry.config().num_slots * geometry.slot_stride(shape), "slot store")),
      extensions_(Mapping::of(geometry.config().num_slots * static_cast<std::int64_t>(sizeof(rows::SlotExtension)), "slot extensions")),
      payload_words_(shape.payload_bytes / 8),
      reserved_slots_(geometry.config().reserved_slots) {
  // Slots come in no order: with small pages nearly every row of a large store is a miss of the TLB, and half the time of finalize and of reads.
  if (slots_.bytes() >= kFewestBytesForHugePages) slots_.prefer_huge_pages();
  view_.base = slots_.data();
  view_.extensions = reinterpret_cast<rows::SlotExtension*>(extensions_.data());
  view_.num_slots = geometry.config().num_slots;
  view_.slot_stride = geometry.slot_stride(shape);
  view_.tags = geometry.tags();
}

Stamp SlotStore::stamp(std::int64_t slot) const { return Stamp(std::atomic_ref<std::uint64_t>(*words(slot)).load(std::memory_order_acquire)); }

void SlotStore::settle_missing(std::int64_t slot, Sequence sequence) {
  if (reserved(slot)) return;
  std::uint64_t& word = *words(slot);
  if (claim(word, sequence)) publish(word, Stamp(sequence, 0));
}

SlotRow SlotStore::load(std::int64_t slot, std::uint64_t* payload) const {
  std::uint64_t* const word = words(slot);
  const std::atomic_ref<std::uint64_t> stamp_word(*word);
  for (Backoff backoff;; backoff.pause()) {
    SlotRow row;
    row.stamp = Stamp(stamp_word.load(std::memory_order_acquire));
    if (row.stamp.writing()) continue;
    const Sequence released = floor();
    row.decided = std::max(row.stamp.sequence(), released);
    row.valid = row.stamp.valid() && row.stamp.sequence() > released && !reserved(slot);
    if (row.valid) {
      row.extension.row_sequence = row.stamp.sequence();
      if (row.stamp.extended()) {
        row.extension.row_sequence = load_word(view_.extensions[slot].row_sequence);
        row.extension.weight_version = load_word(view_.extensions[slot].weight_version);
      }
      if (view_.tags) row.tag = static_cast<std::int64_t>(load_word(word[1]));
      if (payload != nullptr) {
        std::uint64_t* const from = word + view_.payload_offset() / 8;
        for (std::int64_t i = 0; i < payload_words_; ++i) payload[i] = load_word(from[i]);
      }
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (stamp_word.load(std::memory_order_relaxed) == row.stamp.bits()) return row;
  }
}

Stamp SlotStore::write(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload) {
  if (!row.valid) return {sequence, 0};
  std::uint64_t* const word = words(slot);
  if (view_.tags) store_word(word[1], static_cast<std::uint64_t>(row.tag));
  std::uint64_t* const to = word + view_.payload_offset() / 8;
  for (std::int64_t i = 0; i < payload_words_; ++i) store_word(to[i], payload[i]);
  store_word(view_.extensions[slot].row_sequence, row.extension.row_sequence);
  store_word(view_.extensions[slot].weight_version, row.extension.weight_version);
  return {sequence, Stamp::kValid | Stamp::kExtended};
}

void SlotStore::store(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload) {
  if (reserved(slot)) return;
  std::uint64_t& word = *words(slot);
  if (claim(word, sequence)) publish(word, write(slot, sequence, row, payload));
}

void SlotStore::store_pending(std::int64_t slot, Sequence sequence) {
  if (reserved(slot)) return;
  std::uint64_t& word = *words(slot);
  if (claim(word, sequence)) publish(word, Stamp(sequence, Stamp::kPending));
}

void SlotStore::resolve_pending(std::int64_t slot, Sequence sequence, const SlotRow& row, const std::uint64_t* payload) {
  if (reserved(slot)) return;
  const Stamp waiting(sequence, Stamp::kPending);
  const std::atomic_ref<std::uint64_t> stamp_word(*words(slot));
  std::uint64_t seen = waiting.bits();
  // Anything else there is newer than the copy, or is being made newer just now.
  if (!stamp_word.compare_exchange_strong(seen, waiting.bits() | Stamp::kWriting, std::memory_order_acq_rel)) return;
  std::atomic_thread_fence(std::memory_order_release);
  publish(*words(slot), write(slot, sequence, row, payload));
}

}  // namespace routecap
