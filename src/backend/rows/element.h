// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <routecap/routecap.h>

#include "backend/rows/hd.h"
#include "backend/rows/views.h"

/// Single elements: engines hand arrays of any alignment, and float conversion must not depend on the floating point environment of their threads.
namespace routecap::rows {

template <class T>
RCAP_HD inline T load_as(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
RCAP_HD inline void store_as(void* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

/// Largest value of `In` that is a good id; a larger bit pattern, read as unsigned, is bad. Negative ids are large patterns, and stay bad where E
/// exceeds what the signed type can hold.
template <class In>
RCAP_HD constexpr std::make_unsigned_t<In> largest_id(std::int32_t num_experts) {
  constexpr auto kLimit = static_cast<std::uint64_t>(std::numeric_limits<In>::max());
  const auto last = static_cast<std::uint64_t>(num_experts - 1);
  return static_cast<std::make_unsigned_t<In>>(last < kLimit ? last : kLimit);
}

/// binary32 -> binary16 as bits, to nearest even. NaN stays NaN: quiet, with its sign and the upper bits of its payload.
RCAP_HD inline std::uint16_t to_float16(std::uint32_t bits) {
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x03FFU));
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 65520 and more round to infinity
  std::uint32_t kept = 0;                                                           // result before rounding
  std::uint32_t remainder = 0;  // what is cut off, aligned so that `half` is half a unit of the last kept place
  std::uint32_t half = 0;
  if (magnitude >= 0x38800000U) {  // normal in binary16: 2^-14 and more
    const std::uint32_t rebased = magnitude - 0x38000000U;
    kept = rebased >> 13;
    remainder = rebased & 0x1FFFU;
    half = 0x1000U;
  } else if (magnitude >= 0x33000000U) {  // 2^-25 and more: may round to a subnormal
    const std::uint32_t shift = 126U - (magnitude >> 23);
    const std::uint32_t significand = (magnitude & 0x007FFFFFU) | 0x00800000U;
    kept = significand >> shift;
    remainder = significand & ((1U << shift) - 1U);
    half = 1U << (shift - 1U);
  }
  if (remainder > half || (remainder == half && half != 0 && (kept & 1U) != 0)) ++kept;
  return static_cast<std::uint16_t>(sign | kept);
}

/// binary32 -> bfloat16 as bits, as `to_float16`.
RCAP_HD inline std::uint16_t to_bfloat16(std::uint32_t bits) {
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x0040U;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : rounded);
}

/// Bytes of one layer of one row.
RCAP_HD inline std::int64_t id_cell_bytes(const RowShape& shape) { return static_cast<std::int64_t>(shape.top_k) * shape.id_bytes; }
RCAP_HD inline std::int64_t weight_cell_bytes(const RowShape& shape) { return static_cast<std::int64_t>(shape.top_k) * shape.weight_bytes; }

/// First row of a layer in the cache.
RCAP_HD inline std::byte* layer_ids(const RowShape& shape, const CacheView& cache, std::int64_t layer) {
  return cache.ids + layer * cache.device_rows * id_cell_bytes(shape);
}
RCAP_HD inline std::byte* layer_weights(const RowShape& shape, const CacheView& cache, std::int64_t layer) {
  return cache.weights + layer * cache.device_rows * weight_cell_bytes(shape);
}
RCAP_HD inline std::uint8_t* layer_marks(const CacheView& cache, std::int64_t layer) { return cache.marks + layer * cache.device_rows; }

/// First word of a slot, its stamp; the others follow.
RCAP_HD inline std::uint64_t* slot_words(const StoreView& store, std::int64_t slot) {
  return reinterpret_cast<std::uint64_t*>(store.base + slot * store.slot_stride);
}
RCAP_HD inline std::int64_t payload_word(const StoreView& store) { return store.tags ? 2 : 1; }

/// Runs `call<Id>()` with the type that ids are kept in.
template <class Call>
void with_id_type(const RowShape& shape, Call&& call) {
  switch (shape.id_bytes) {
    case 1: return call.template operator()<std::uint8_t>();
    case 2: return call.template operator()<std::uint16_t>();
    default: return call.template operator()<std::int32_t>();
  }
}

/// Runs `call<In>()` with the type that ids come in.
template <class Call>
void with_given_type(std::int32_t dtype, Call&& call) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return call.template operator()<std::uint8_t>();
    case RCAP_DTYPE_UINT16: return call.template operator()<std::uint16_t>();
    case RCAP_DTYPE_INT16: return call.template operator()<std::int16_t>();
    case RCAP_DTYPE_INT64: return call.template operator()<std::int64_t>();
    default: return call.template operator()<std::int32_t>();
  }
}

}  // namespace routecap::rows
