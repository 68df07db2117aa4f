// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "backend/rows/element.h"
#include "backend/rows/rows.h"

namespace routecap::rows {
namespace {

/// Up to here comparing all pairs beats a bitmap that must be cleared.
constexpr std::int32_t kPairwise = 24;

template <class Id>
bool repeats_pairwise(const std::byte* ids, std::int32_t top_k) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Id));
  for (std::int64_t a = 1; a < top_k; ++a) {
    const Id id = load_as<Id>(ids + a * kSize);
    bool found = false;
    for (std::int64_t b = 0; b < a; ++b) found |= load_as<Id>(ids + b * kSize) == id;
    if (found) return true;
  }
  return false;
}

/// Any K, any E: one pass for every 2^16 ids that some id of the cell falls in, each with a bitmap of that size.
template <class Id>
bool repeats_by_bitmap(const std::byte* ids, std::int32_t top_k) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Id));
  constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::array<std::uint64_t, 1024> seen;
  for (std::uint32_t range = 0, next = kNone;; range = next, next = kNone) {
    seen.fill(0);
    for (std::int64_t k = 0; k < top_k; ++k) {
      const auto id = static_cast<std::uint32_t>(load_as<Id>(ids + k * kSize));
      if (id >> 16 > range) next = std::min(next, id >> 16);
      if (id >> 16 != range) continue;
      std::uint64_t& word = seen[(id & 0xFFFFU) / 64];
      const std::uint64_t bit = std::uint64_t{1} << (id % 64);
      if ((word & bit) != 0) return true;
      word |= bit;
    }
    if (next == kNone) return false;
  }
}

template <class Id>
bool repeats(const std::byte* ids, std::int32_t top_k) {
  return top_k <= kPairwise ? repeats_pairwise<Id>(ids, top_k) : repeats_by_bitmap<Id>(ids, top_k);
}

/// One byte per id: four words hold every id there is.
template <>
bool repeats<std::uint8_t>(const std::byte* ids, std::int32_t top_k) {
  std::array<std::uint64_t, 4> seen{};
  for (std::int32_t k = 0; k < top_k; ++k) {
    const auto id = static_cast<std::uint32_t>(ids[k]);
    std::uint64_t& word = seen[id / 64];
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    if ((word & bit) != 0) return true;
    word |= bit;
  }
  return false;
}

}  // namespace

bool has_repeated_id(const RowShape& shape, const std::byte* payload, std::int32_t* layer) {
  bool found = false;
  with_id_type(shape, [&]<class Id>() {
    for (std::int64_t column = 0; column < shape.layers; ++column) {
      if (shape.cell_words != 0) {
        const auto cells = load_as<std::uint64_t>(payload + shape.cells_offset + column / 64 * 8);
        if (((cells >> (column % 64)) & 1U) == 0) continue;
      }
      if (!repeats<Id>(payload + column * id_cell_bytes(shape), shape.top_k)) continue;
      *layer = static_cast<std::int32_t>(column);
      found = true;
      return;
    }
  });
  return found;
}

}  // namespace routecap::rows
