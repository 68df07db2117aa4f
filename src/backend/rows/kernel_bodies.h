// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/rows/element.h"
#include "backend/rows/kernels.h"
#include "backend/rows/words.h"

/// Loops in plain C++ that compilers turn into vectors of whatever instruction set their caller is compiled for: they are inlined by force into one
/// wrapper per set.
#define RCAP_INLINE_BODY [[gnu::always_inline]] inline

namespace routecap::rows::bodies {

/// One maximum over everything instead of a branch per id: a bad id is rare, and the caller looks closer then.
template <class Id, class In>
RCAP_INLINE_BODY bool narrow(std::byte* __restrict out, const std::byte* __restrict in, std::int64_t count, std::uint64_t largest) {
  using Pattern = std::make_unsigned_t<In>;
  Pattern worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Pattern value;
    std::memcpy(&value, in + i * static_cast<std::int64_t>(sizeof(In)), sizeof(In));
    worst = value > worst ? value : worst;
    const auto kept = static_cast<Id>(value);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(Id)), &kept, sizeof(Id));
  }
  return worst <= largest;
}

RCAP_INLINE_BODY bool narrow_rows_of_8(std::byte* __restrict out, const std::byte* __restrict in, std::int64_t rows, std::int64_t stride,
                                       std::uint64_t largest) {
  std::uint32_t worst = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::byte* ids = in + row * stride;
    for (std::int64_t k = 0; k < 8; ++k) {
      std::uint32_t value;
      std::memcpy(&value, ids + k * 4, 4);
      worst = value > worst ? value : worst;
      out[row * 8 + k] = static_cast<std::byte>(value);
    }
  }
  return worst <= largest;
}

RCAP_INLINE_BODY void convert_to_float16(std::byte* __restrict out, const std::byte* __restrict in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) store_as(out + i * 2, to_float16(load_as<std::uint32_t>(in + i * 4)));
}

RCAP_INLINE_BODY void convert_to_bfloat16(std::byte* __restrict out, const std::byte* __restrict in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, in + i * 4, 4);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x0040U;
    const auto kept = static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : rounded);
    std::memcpy(out + i * 2, &kept, 2);
  }
}

/// Nearly always every row was captured once and well, or none was: two folds over whole words tell.
RCAP_INLINE_BODY MarkSummary summarize_marks(const std::uint8_t* marks, std::int64_t count) {
  std::uint64_t any_word = 0;
  std::uint64_t all_word = ~std::uint64_t{0};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, marks + i, 8);
    any_word |= word;
    all_word &= word;
  }
  for (int shift = 32; shift >= 8; shift /= 2) {
    any_word |= any_word >> shift;
    all_word &= all_word >> shift;
  }
  std::uint32_t any = any_word & 0xFFU;
  std::uint32_t all = all_word & 0xFFU;
  for (; i < count; ++i) {
    any |= marks[i];
    all &= marks[i];
  }
  MarkSummary summary;
  summary.any = static_cast<std::uint8_t>(any);
  if ((any & kMarkCaptured) == 0) return summary;
  if ((all & kMarkCaptured) != 0 && (any & kMarkRepeated) == 0) {
    summary.captured = count;
    return summary;
  }
  for (i = 0; i < count; ++i) {
    summary.captured += (marks[i] & kMarkCaptured) != 0 ? 1 : 0;
    summary.repeated += (marks[i] & kMarkRepeated) != 0 ? 1 : 0;
  }
  return summary;
}

/// Rows that are turned at a time: of every layer some whole cache lines are read, and what is written stays in the first-level cache until it is
/// complete.
constexpr std::int64_t kTurnedRows = 32;

inline void turn_words(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride, std::int64_t layers, std::int64_t rows,
                       bool /*more*/) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (std::int64_t row = 0; row < rows; ++row) std::memcpy(out + row * out_stride + layer * 8, in + layer * in_stride + row * 8, 8);
  }
}

// Eight at a time by hand: compilers neither join nor unroll atomic accesses, and a loop around each word costs as much as the word.
inline void store_words(std::uint64_t* slot, const std::byte* in, std::int64_t words) {
  for (; words >= 8; words -= 8, slot += 8, in += 64) {
    HostWords::store(slot[0], load_as<std::uint64_t>(in));
    HostWords::store(slot[1], load_as<std::uint64_t>(in + 8));
    HostWords::store(slot[2], load_as<std::uint64_t>(in + 16));
    HostWords::store(slot[3], load_as<std::uint64_t>(in + 24));
    HostWords::store(slot[4], load_as<std::uint64_t>(in + 32));
    HostWords::store(slot[5], load_as<std::uint64_t>(in + 40));
    HostWords::store(slot[6], load_as<std::uint64_t>(in + 48));
    HostWords::store(slot[7], load_as<std::uint64_t>(in + 56));
  }
  for (; words > 0; --words, ++slot, in += 8) HostWords::store(*slot, load_as<std::uint64_t>(in));
}

inline void load_words(std::byte* out, const std::uint64_t* slot, std::int64_t words) {
  for (; words >= 8; words -= 8, slot += 8, out += 64) {
    store_as(out, HostWords::load(slot[0]));
    store_as(out + 8, HostWords::load(slot[1]));
    store_as(out + 16, HostWords::load(slot[2]));
    store_as(out + 24, HostWords::load(slot[3]));
    store_as(out + 32, HostWords::load(slot[4]));
    store_as(out + 40, HostWords::load(slot[5]));
    store_as(out + 48, HostWords::load(slot[6]));
    store_as(out + 56, HostWords::load(slot[7]));
  }
  for (; words > 0; --words, ++slot, out += 8) store_as(out, HostWords::load(*slot));
}

}  // namespace routecap::rows::bodies
