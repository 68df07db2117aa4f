// SPDX-License-Identifier: Apache-2.0
#include "backend/rows/element.h"
#include "backend/rows/prefetch.h"
#include "backend/rows/tuned.h"
#include "backend/rows/words.h"

namespace routecap::rows::tuned {
namespace {

/// Rows whose slots are fetched ahead: a slot is a handful of lines at a random place, and the claim of the next row waits until the stores of the
/// one before it have reached the cache.
constexpr std::int64_t kAhead = 8;

}  // namespace

ScatterResult scatter(const ScatterJob& job, const Kernels& kernels) {
  ScatterResult result;
  const StoreView& store = job.store;
  const std::int64_t words = job.shape.payload_bytes / 8;
  const std::int64_t slot_bytes = store.payload_offset() + job.shape.payload_bytes;
  const std::uint64_t flags = job.weight_version != 0 ? Stamp::kValid | Stamp::kExtended : Stamp::kValid;
  for (std::int64_t index = 0; index < job.count && index < kAhead; ++index) {
    fetch_to_write(store.base + job.entries[index].slot * store.slot_stride, slot_bytes);
  }
  for (std::int64_t index = 0; index < job.count; ++index) {
    if (index + kAhead < job.count) fetch_to_write(store.base + job.entries[index + kAhead].slot * store.slot_stride, slot_bytes);
    const ScatterEntry& entry = job.entries[index];
    std::uint64_t* slot = slot_words(store, entry.slot);
    if (!HostWords::claim(slot[0], job.sequence)) {
      if (entry.staged_row >= 0) ++result.outdated;
      continue;
    }
    if (entry.staged_row < 0) {
      HostWords::publish(slot[0], Stamp(job.sequence, 0));
      ++result.missing;
      continue;
    }
    if (store.tags) HostWords::store(slot[1], static_cast<std::uint64_t>(job.tags[entry.staged_row]));
    kernels.store_words(slot + payload_word(store), job.payload + entry.staged_row * job.shape.payload_bytes, words);
    if (job.weight_version != 0) {
      SlotExtension& extension = store.extensions[entry.slot];
      HostWords::store(reinterpret_cast<std::uint64_t&>(extension.row_sequence), static_cast<std::uint64_t>(job.sequence));
      HostWords::store(reinterpret_cast<std::uint64_t&>(extension.weight_version), static_cast<std::uint64_t>(job.weight_version));
    }
    HostWords::publish(slot[0], Stamp(job.sequence, flags));
    ++result.stored;
  }
  return result;
}

}  // namespace routecap::rows::tuned
