// SPDX-License-Identifier: Apache-2.0
#include "config/shape.h"

#include <array>

#include "support/checked.h"
#include "support/choice.h"
#include "support/error.h"

namespace routecap {

namespace {

constexpr std::array<Choice, 4> kWeightsDtypes{
    {{RCAP_DTYPE_NONE, "NONE"}, {RCAP_DTYPE_FLOAT16, "FLOAT16"}, {RCAP_DTYPE_BFLOAT16, "BFLOAT16"}, {RCAP_DTYPE_FLOAT32, "FLOAT32"}}};

}  // namespace

void check_experts(std::int32_t num_experts, std::int32_t top_k) {
  require_range("num_experts", num_experts, 1, INT32_MAX);
  require_range("top_k", top_k, 1, num_experts);
}

void check_weights(std::int32_t weights_dtype, std::int32_t weights_kind) {
  require_dtype("weights_dtype", weights_dtype, kWeightsDtypes);
  require_choice("weights_kind", weights_kind, kWeightsKinds);
}

void check_layer_list(std::span<const std::int32_t> layer_ids) {
  require_range("layer_ids_count", static_cast<std::int64_t>(layer_ids.size()), 1, INT32_MAX);
  for (std::size_t column = 0; column < layer_ids.size(); ++column) {
    const std::int32_t layer = layer_ids[column];
    if (layer < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "layer_ids[%zu] is %d, it must not be negative", column, layer);
    if (column > 0 && layer <= layer_ids[column - 1]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids[%zu] is %d after %d, layers must ascend and stand once", column, layer, layer_ids[column - 1]);
    }
  }
}

}  // namespace routecap
