// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace routecap {

/// What every padded sequence must be a multiple of.
[[nodiscard]] std::int64_t partition_multiple(const rcap_partition_layout& sizes);

/// A pack of sequences dealt out over context-parallel and then sequence-parallel ranks (R43). Made from whoever is not trusted; nothing fails after
/// it is made. Holds on to `offsets`.
class Partition {
 public:
  /// Ranks of the layout are not looked at.
  Partition(const rcap_partition_layout& sizes, std::span<const std::int64_t> offsets);

  /// Tokens of the pack, and of every rank.
  [[nodiscard]] std::int64_t whole_tokens() const { return offsets_.back(); }
  [[nodiscard]] std::int64_t rank_tokens() const { return whole_tokens() / cp_size_ / sp_size_; }

  void indices(std::int32_t cp_rank, std::int32_t sp_rank, std::int64_t* out) const;
  void split(std::int32_t cp_rank, std::int32_t sp_rank, std::int64_t item_bytes, const std::byte* whole, std::byte* part) const;
  /// Parts of all ranks, [cp_size, sp_size, rank_tokens].
  void gather(std::int64_t item_bytes, const std::byte* parts, std::byte* whole) const;

 private:
  /// Calls visit(place in the pack, place in the slice, tokens) for each run of neighbours in the slice [begin, begin + count) of the tokens of a
  /// context-parallel rank.
  template <class Visit>
  void for_each_run(std::int32_t cp_rank, std::int64_t begin, std::int64_t count, Visit&& visit) const;

  std::span<const std::int64_t> offsets_;
  std::int32_t cp_size_;
  std::int32_t sp_size_;
  bool zigzag_;
};

/// Refuses ranks that the sizes do not have.
void check_ranks(const rcap_partition_layout& layout);

}  // namespace routecap
