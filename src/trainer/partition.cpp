// SPDX-License-Identifier: Apache-2.0
#include "trainer/partition.h"

#include <array>
#include <cinttypes>
#include <cstring>

#include "support/checked.h"
#include "support/choice.h"
#include "trainer/pack.h"

namespace routecap {
namespace {

constexpr std::array<Choice, 2> kSplits{{{RCAP_SPLIT_CONTIGUOUS, "CONTIGUOUS"}, {RCAP_SPLIT_ZIGZAG, "ZIGZAG"}}};

void check_sizes(const rcap_partition_layout& sizes) {
  require_choice("layout->split", sizes.split, kSplits);
  require_range("layout->cp_size", sizes.cp_size, 1, INT32_MAX);
  require_range("layout->sp_size", sizes.sp_size, 1, INT32_MAX);
}

/// Equal chunks that context parallelism cuts a sequence into.
std::int64_t chunks_of(const rcap_partition_layout& sizes) {
  return sizes.cp_size > 1 && sizes.split == RCAP_SPLIT_ZIGZAG ? std::int64_t{2} * sizes.cp_size : sizes.cp_size;
}

}  // namespace

std::int64_t partition_multiple(const rcap_partition_layout& sizes) {
  check_sizes(sizes);
  return checked_multiply(chunks_of(sizes), sizes.sp_size, "chunks of a sequence * sp_size");
}

void check_ranks(const rcap_partition_layout& layout) {
  check_sizes(layout);
  require_range("layout->cp_rank", layout.cp_rank, 0, layout.cp_size - 1);
  require_range("layout->sp_rank", layout.sp_rank, 0, layout.sp_size - 1);
}

Partition::Partition(const rcap_partition_layout& sizes, std::span<const std::int64_t> offsets)
    : offsets_(offsets), cp_size_(sizes.cp_size), sp_size_(sizes.sp_size), zigzag_(sizes.cp_size > 1 && sizes.split == RCAP_SPLIT_ZIGZAG) {
  check_sizes(sizes);
  check_offsets(offsets);
  const std::int64_t chunks = chunks_of(sizes);
  for (std::size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    const std::int64_t length = offsets[sequence + 1] - offsets[sequence];
    if (length % chunks != 0) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "sequence %zu has %" PRId64 " tokens in the pack, %s over %d ranks needs a multiple of %" PRId64, sequence,
           length, name_of(sizes.split, kSplits), sizes.cp_size, chunks);
    }
  }
  if (whole_tokens() / cp_size_ % sp_size_ != 0) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "a context-parallel rank has %" PRId64 " tokens, layout->sp_size is %d", whole_tokens() / cp_size_, sp_size_);
  }
}

template <class Visit>
void Partition::for_each_run(std::int32_t cp_rank, std::int64_t begin, std::int64_t count, Visit&& visit) const {
  std::int64_t passed = 0;  // tokens of the rank before the run at hand
  const auto run = [&](std::int64_t first, std::int64_t tokens) {
    const std::int64_t from = std::max(begin, passed);
    const std::int64_t to = std::min(begin + count, passed + tokens);
    if (from < to) visit(first + from - passed, from - begin, to - from);
    passed += tokens;
  };
  for (std::size_t sequence = 0; sequence + 1 < offsets_.size(); ++sequence) {
    const std::int64_t first = offsets_[sequence];
    const std::int64_t length = offsets_[sequence + 1] - first;
    if (zigzag_) {
      const std::int64_t chunk = length / cp_size_ / 2;
      run(first + cp_rank * chunk, chunk);
      run(offsets_[sequence + 1] - (cp_rank + 1) * chunk, chunk);
    } else {
      const std::int64_t chunk = length / cp_size_;
      run(first + cp_rank * chunk, chunk);
    }
  }
}

void Partition::indices(std::int32_t cp_rank, std::int32_t sp_rank, std::int64_t* out) const {
  for_each_run(cp_rank, sp_rank * rank_tokens(), rank_tokens(), [out](std::int64_t in_pack, std::int64_t in_slice, std::int64_t tokens) {
    for (std::int64_t i = 0; i < tokens; ++i) out[in_slice + i] = in_pack + i;
  });
}

void Partition::split(std::int32_t cp_rank, std::int32_t sp_rank, std::int64_t item_bytes, const std::byte* whole, std::byte* part) const {
  for_each_run(cp_rank, sp_rank * rank_tokens(), rank_tokens(), [&](std::int64_t in_pack, std::int64_t in_slice, std::int64_t tokens) {
    std::memcpy(part + in_slice * item_bytes, whole + in_pack * item_bytes, static_cast<std::size_t>(tokens * item_bytes));
  });
}

void Partition::gather(std::int64_t item_bytes, const std::byte* parts, std::byte* whole) const {
  // Slices of sequence parallelism stand one behind the other: all of them together are the context-parallel rank's tokens in order.
  const std::int64_t cp_tokens = whole_tokens() / cp_size_;
  for (std::int32_t cp_rank = 0; cp_rank < cp_size_ && cp_tokens > 0; ++cp_rank) {
    const std::byte* of_rank = parts + cp_rank * cp_tokens * item_bytes;
    for_each_run(cp_rank, 0, cp_tokens, [&](std::int64_t in_pack, std::int64_t in_slice, std::int64_t tokens) {
      std::memcpy(whole + in_pack * item_bytes, of_rank + in_slice * item_bytes, static_cast<std::size_t>(tokens * item_bytes));
    });
  }
}

}  // namespace routecap
