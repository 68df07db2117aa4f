// SPDX-License-Identifier: Apache-2.0
#include "trainer/pack.h"

#include <cinttypes>
#include <cstring>

#include "support/checked.h"

namespace routecap {
namespace {

void check_lengths(std::span<const std::int64_t> lengths) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "lengths[%zu] is %" PRId64 ", it must not be negative", i, lengths[i]);
  }
}

/// std::memcpy must not be given null, not even for nothing.
void copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

void check_offsets(std::span<const std::int64_t> offsets) {
  if (offsets.front() != 0) fail(RCAP_STATUS_OUT_OF_RANGE, "offsets[0] is %" PRId64 ", only 0 is allowed", offsets.front());
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "offsets[%zu] is %" PRId64 " behind %" PRId64 ", they must not descend", i, offsets[i], offsets[i - 1]);
    }
  }
}

std::vector<std::int64_t> pack_offsets(std::span<const std::int64_t> lengths, std::int64_t multiple) {
  require_range("multiple", multiple, 1, INT64_MAX);
  check_lengths(lengths);
  std::vector<std::int64_t> offsets(1, 0);
  offsets.reserve(lengths.size() + 1);
  for (const std::int64_t length : lengths) {
    offsets.push_back(checked_add(offsets.back(), checked_align_up(length, multiple, "a length rounded up"), "lengths summed up"));
  }
  return offsets;
}

Packing::Packing(std::span<const std::int64_t> lengths, std::span<const std::int64_t> offsets, std::int64_t item_bytes)
    : lengths_(lengths), offsets_(offsets), item_bytes_(item_bytes) {
  check_lengths(lengths);
  check_offsets(offsets);
  require_range("item_bytes", item_bytes, 1, INT64_MAX);
  std::int64_t tokens = 0;  // no more than the pack's
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t room = offsets[i + 1] - offsets[i];
    if (lengths[i] > room) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "lengths[%zu] is %" PRId64 ", its place in the pack is [%" PRId64 ", %" PRId64 ")", i, lengths[i], offsets[i],
           offsets[i + 1]);
    }
    tokens += lengths[i];
  }
  packed_bytes_ = checked_multiply(offsets.back(), item_bytes, "tokens of the pack * item_bytes");
  tokens_bytes_ = tokens * item_bytes;
}

void Packing::pad(const std::byte* pad, const std::byte* tokens, std::byte* packed) const {
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const std::int64_t bytes = lengths_[i] * item_bytes_;
    copy(packed + offsets_[i] * item_bytes_, tokens, bytes);
    tokens += bytes;
    std::byte* behind = packed + offsets_[i] * item_bytes_ + bytes;
    const std::int64_t padding = offsets_[i + 1] - offsets_[i] - lengths_[i];
    if (pad == nullptr && padding > 0) std::memset(behind, 0, static_cast<std::size_t>(padding * item_bytes_));
    for (std::int64_t item = 0; pad != nullptr && item < padding; ++item) copy(behind + item * item_bytes_, pad, item_bytes_);
  }
}

void Packing::strip(const std::byte* packed, std::byte* tokens) const {
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const std::int64_t bytes = lengths_[i] * item_bytes_;
    copy(tokens, packed + offsets_[i] * item_bytes_, bytes);
    tokens += bytes;
  }
}

}  // namespace routecap
