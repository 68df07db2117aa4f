// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "support/error.h"

namespace routecap::wire {

/// Types that ids have in foreign arrays; more than `rcap_dtype` knows.
enum class Scalar { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kUint64, kInt64 };

struct ScalarFacts {
  Scalar scalar;
  std::int32_t bytes;
  bool is_signed;
  std::string_view name;   ///< as numpy and the JSON forms spell it
  std::string_view descr;  ///< as a little-endian `.npy` spells it
  std::int32_t dtype;      ///< `rcap_dtype`, or NONE
};

inline constexpr std::array<ScalarFacts, 8> kScalars{{
    {Scalar::kUint8, 1, false, "uint8", "|u1", RCAP_DTYPE_UINT8},
    {Scalar::kInt8, 1, true, "int8", "|i1", RCAP_DTYPE_NONE},
    {Scalar::kUint16, 2, false, "uint16", "<u2", RCAP_DTYPE_UINT16},
    {Scalar::kInt16, 2, true, "int16", "<i2", RCAP_DTYPE_INT16},
    {Scalar::kUint32, 4, false, "uint32", "<u4", RCAP_DTYPE_NONE},
    {Scalar::kInt32, 4, true, "int32", "<i4", RCAP_DTYPE_INT32},
    {Scalar::kUint64, 8, false, "uint64", "<u8", RCAP_DTYPE_NONE},
    {Scalar::kInt64, 8, true, "int64", "<i8", RCAP_DTYPE_INT64},
}};

constexpr const ScalarFacts& facts_of(Scalar scalar) { return kScalars[static_cast<std::size_t>(scalar)]; }

/// Null where no scalar has the name.
constexpr const ScalarFacts* scalar_named(std::string_view name) {
  for (const ScalarFacts& facts : kScalars) {
    if (facts.name == name) return &facts;
  }
  return nullptr;
}

/// Null where ids never have the dtype.
constexpr const ScalarFacts* scalar_of_dtype(std::int32_t dtype) {
  for (const ScalarFacts& facts : kScalars) {
    if (facts.dtype == dtype && dtype != RCAP_DTYPE_NONE) return &facts;
  }
  return nullptr;
}

/// The narrowest signed type that holds ids below num_experts.
constexpr Scalar narrowest_signed(std::int32_t num_experts) {
  if (num_experts <= 128) return Scalar::kInt8;
  return num_experts <= 32768 ? Scalar::kInt16 : Scalar::kInt32;
}

}  // namespace routecap::wire
