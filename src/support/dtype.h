// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "support/error.h"

namespace routecap {

/// Bytes of one element of a `rcap_dtype`; 0 for NONE and for numbers that are no dtype.
constexpr std::int32_t dtype_bytes(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return 1;
    case RCAP_DTYPE_UINT16:
    case RCAP_DTYPE_INT16:
    case RCAP_DTYPE_FLOAT16:
    case RCAP_DTYPE_BFLOAT16: return 2;
    case RCAP_DTYPE_INT32:
    case RCAP_DTYPE_FLOAT32: return 4;
    case RCAP_DTYPE_INT64: return 8;
    default: return 0;
  }
}

constexpr bool is_weights_dtype(std::int32_t dtype) {
  return dtype == RCAP_DTYPE_FLOAT16 || dtype == RCAP_DTYPE_BFLOAT16 || dtype == RCAP_DTYPE_FLOAT32;
}

/// dtype of ids in [0, num_experts): chosen once per capturer (R28).
constexpr std::int32_t ids_dtype_for(std::int32_t num_experts) {
  if (num_experts <= 256) return RCAP_DTYPE_UINT8;
  return num_experts <= 65536 ? RCAP_DTYPE_UINT16 : RCAP_DTYPE_INT32;
}

}  // namespace routecap
