// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_reduce.h>

#include "backend/rows/element.h"

namespace routecap::rows::algorithm {

/// One row into its slot.
template <class Words>
struct ScatterRow {
  ScatterJob job;

  RCAP_HD ScatterResult operator()(std::int64_t index) const {
    const ScatterEntry& entry = job.entries[index];
    std::uint64_t* words = slot_words(job.store, entry.slot);
    const bool has_row = entry.staged_row >= 0;
    ScatterResult result;
    if (!Words::claim(words[0], job.sequence)) {
      result.outdated = has_row ? 1 : 0;
      return result;
    }
    if (!has_row) {
      Words::publish(words[0], Stamp(job.sequence, 0));
      result.missing = 1;
      return result;
    }
    if (job.store.tags) Words::store(words[1], static_cast<std::uint64_t>(job.tags[entry.staged_row]));
    const std::byte* in = job.payload + entry.staged_row * job.shape.payload_bytes;
    std::uint64_t* out = words + payload_word(job.store);
    const std::int64_t count = job.shape.payload_bytes / 8;
    for (std::int64_t word = 0; word < count; ++word) Words::store(out[word], load_as<std::uint64_t>(in + word * 8));
    std::uint64_t flags = Stamp::kValid;
    if (job.weight_version != 0) {
      SlotExtension& extension = job.store.extensions[entry.slot];
      Words::store(reinterpret_cast<std::uint64_t&>(extension.row_sequence), static_cast<std::uint64_t>(job.sequence));
      Words::store(reinterpret_cast<std::uint64_t&>(extension.weight_version), static_cast<std::uint64_t>(job.weight_version));
      flags |= Stamp::kExtended;
    }
    Words::publish(words[0], Stamp(job.sequence, flags));
    result.stored = 1;
    return result;
  }
};

struct AddScattered {
  RCAP_HD ScatterResult operator()(const ScatterResult& a, const ScatterResult& b) const {
    ScatterResult sum;
    sum.stored = a.stored + b.stored;
    sum.missing = a.missing + b.missing;
    sum.outdated = a.outdated + b.outdated;
    return sum;
  }
};

template <class Words, class Policy>
ScatterResult scatter(const Policy& policy, const ScatterJob& job) {
  const thrust::counting_iterator<std::int64_t> first(0);
  return thrust::transform_reduce(policy, first, first + job.count, ScatterRow<Words>{job}, ScatterResult{}, AddScattered{});
}

}  // namespace routecap::rows::algorithm
