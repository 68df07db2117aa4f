// SPDX-License-Identifier: Apache-2.0
#include "backend/rows/element.h"
#include "backend/rows/prefetch.h"
#include "backend/rows/tuned.h"
#include "backend/rows/words.h"

namespace routecap::rows::tuned {
namespace {

/// Rows whose slots are fetched ahead: a slot is a handful of lines at a random place. More than this overflows what a core can have under way.
constexpr std::int64_t kAhead = 8;

void store_extension(SlotExtension& extension, const ScatterJob& job) {
  HostWords::store(reinterpret_cast<std::uint64_t&>(extension.row_sequence), static_cast<std::uint64_t>(job.sequence));
  HostWords::store(reinterpret_cast<std::uint64_t&>(extension.weight_version), static_cast<std::uint64_t>(job.weight_version));
}

}  // namespace

ScatterResult scatter(const ScatterJob& job, const Kernels& kernels) {
  // Read once: behind every store of a slot the compiler must take what the job points to for changed.
  const StoreWordsKernel store_words = kernels.store_words;
  const ScatterEntry* entries = job.entries;
  const std::int64_t count = job.count;
  const std::int64_t* tags = job.store.tags ? job.tags : nullptr;
  const std::byte* payload = job.payload;
  const std::int64_t payload_bytes = job.shape.payload_bytes;
  const std::int64_t first_word = payload_word(job.store);
  std::byte* base = job.store.base;
  const std::int64_t stride = job.store.slot_stride;
  const std::int64_t slot_bytes = job.store.payload_offset() + payload_bytes;
  const Sequence sequence = job.sequence;
  const bool extended = job.weight_version != 0;
  const Stamp whole(sequence, extended ? Stamp::kValid | Stamp::kExtended : Stamp::kValid);

  ScatterResult result;
  for (std::int64_t index = 0; index < count && index < kAhead; ++index) fetch_to_write(base + entries[index].slot * stride, slot_bytes);
  for (std::int64_t index = 0; index < count; ++index) {
    if (index + kAhead < count) fetch_to_write(base + entries[index + kAhead].slot * stride, slot_bytes);
    const ScatterEntry entry = entries[index];
    auto* words = reinterpret_cast<std::uint64_t*>(base + entry.slot * stride);
    if (!HostWords::claim(words[0], sequence)) {
      if (entry.staged_row >= 0) ++result.outdated;
      continue;
    }
    if (entry.staged_row < 0) {
      HostWords::publish(words[0], Stamp(sequence, 0));
      ++result.missing;
      continue;
    }
    if (tags != nullptr) HostWords::store(words[1], static_cast<std::uint64_t>(tags[entry.staged_row]));
    store_words(words + first_word, payload + entry.staged_row * payload_bytes, payload_bytes / 8);
    if (extended) store_extension(job.store.extensions[entry.slot], job);
    HostWords::publish(words[0], whole);
    ++result.stored;
  }
  return result;
}

}  // namespace routecap::rows::tuned
