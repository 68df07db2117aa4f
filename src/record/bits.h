// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Bitmaps in the order of records: bit i is bit i % 8, counted from the lowest, of byte i / 8. Every index and count is the caller's promise to stay
/// inside the bitmap; no byte outside the bits named is touched.
namespace routecap::bits {

inline bool test(const std::byte* bitmap, std::int64_t index) { return (static_cast<unsigned>(bitmap[index / 8]) >> (index % 8) & 1U) != 0; }

inline void set(std::byte* bitmap, std::int64_t index) { bitmap[index / 8] |= std::byte{1} << (index % 8); }

inline void clear(std::byte* bitmap, std::int64_t index) { bitmap[index / 8] &= ~(std::byte{1} << (index % 8)); }

/// `count` bits, 1 .. 8, from any place, as the low bits of a number.
inline unsigned load(const std::byte* bitmap, std::int64_t from, std::int64_t count) {
  const std::int64_t at = from / 8;
  const std::int64_t shift = from % 8;
  unsigned value = static_cast<unsigned>(bitmap[at]) >> shift;
  if (shift + count > 8) value |= static_cast<unsigned>(bitmap[at + 1]) << (8 - shift);
  return value & ((1U << count) - 1U);
}

inline std::int64_t count_set(const std::byte* bitmap, std::int64_t from, std::int64_t count) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; i += 8) found += std::popcount(load(bitmap, from + i, std::min<std::int64_t>(8, count - i)));
  return found;
}

/// Copies bits from any place to clear bits at any other.
inline void copy(const std::byte* source, std::int64_t from, std::int64_t count, std::byte* target, std::int64_t to) {
  while (count > 0) {
    std::int64_t step = std::min(count, 8 - to % 8);
    if (from % 8 == 0 && to % 8 == 0 && count >= 8) {
      step = count - count % 8;
      std::memcpy(target + to / 8, source + from / 8, static_cast<std::size_t>(step / 8));
    } else {
      target[to / 8] |= static_cast<std::byte>(load(source, from, step) << (to % 8));
    }
    from += step;
    to += step;
    count -= step;
  }
}

inline void set_range(std::byte* bitmap, std::int64_t from, std::int64_t count) {
  for (std::int64_t end = from + count; from < end;) {
    const std::int64_t step = std::min(end - from, 8 - from % 8);
    bitmap[from / 8] |= static_cast<std::byte>(((1U << step) - 1U) << (from % 8));
    from += step;
  }
}

inline void clear_range(std::byte* bitmap, std::int64_t from, std::int64_t count) {
  for (std::int64_t end = from + count; from < end;) {
    const std::int64_t step = std::min(end - from, 8 - from % 8);
    bitmap[from / 8] &= static_cast<std::byte>(~(((1U << step) - 1U) << (from % 8)));
    from += step;
  }
}

}  // namespace routecap::bits
