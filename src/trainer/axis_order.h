// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "support/choice.h"

namespace routecap {

inline constexpr std::array<Choice, 2> kAxisOrders{{{RCAP_AXIS_ORDER_TOKENS_FIRST, "TOKENS_FIRST"}, {RCAP_AXIS_ORDER_LAYERS_FIRST, "LAYERS_FIRST"}}};

inline void check_axis_order(const char* field, std::int32_t order) { require_choice(field, order, kAxisOrders); }

/// Items between two tokens and between two layers of a dense array.
struct AxisStrides {
  std::int64_t token;
  std::int64_t layer;

  [[nodiscard]] std::int64_t cell(std::int64_t row, std::int64_t column) const { return row * token + column * layer; }
};

inline AxisStrides axis_strides(std::int32_t order, std::int64_t tokens, std::int64_t layers) {
  return order == RCAP_AXIS_ORDER_TOKENS_FIRST ? AxisStrides{layers, 1} : AxisStrides{1, tokens};
}

}  // namespace routecap
