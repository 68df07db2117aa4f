// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/rows/element.h"
#include "backend/rows/kernels.h"

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

RCAP_INLINE_BODY bool narrow_rows_of_8(std::byte* __restrict out, const std::byte* __restrict in, std::int64_t rows, std::int64_t stride, std::uint64_t largest) {
  std::uint32_t worst = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::byte* ids = in + row * stride;
    for (int k = 0; k < 8; ++k) {
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

/// Nearly always every row was captured once and well, or none was: those are told by two differences against a constant.
RCAP_INLINE_BODY MarkSummary summarize_marks(const std::uint8_t* marks, std::int64_t count) {
  std::uint8_t any = 0;
  std::uint8_t all = 0xFF;
  for (std::int64_t i = 0; i < count; ++i) {
    any = static_cast<std::uint8_t>(any | marks[i]);
    all = static_cast<std::uint8_t>(all & marks[i]);
  }
  MarkSummary summary;
  summary.any = any;
  if ((any & kMarkCaptured) == 0) return summary;
  if ((all & kMarkCaptured) != 0 && (any & kMarkRepeated) == 0) {
    summary.captured = count;
    return summary;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    summary.captured += (marks[i] & kMarkCaptured) != 0 ? 1 : 0;
    summary.repeated += (marks[i] & kMarkRepeated) != 0 ? 1 : 0;
  }
  return summary;
}

}  // namespace routecap::rows::bodies
