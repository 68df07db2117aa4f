// SPDX-License-Identifier: Apache-2.0
#include "config/shape.h"

#include "support/checked.h"
#include "support/dtype.h"
#include "support/error.h"

namespace routecap {

void require_choice(const char* field, std::int32_t value, std::int32_t highest) {
  if (value >= 0 && value <= highest) return;
  fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is %d, known values are 0 .. %d", field, value, highest);
}

void check_experts(std::int32_t num_experts, std::int32_t top_k) {
  require_range("num_experts", num_experts, 1, INT32_MAX);
  require_range("top_k", top_k, 1, num_experts);
}

void check_weights(std::int32_t weights_dtype, std::int32_t weights_kind) {
  if (weights_dtype != RCAP_DTYPE_NONE && !is_weights_dtype(weights_dtype)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "weights_dtype is %d, allowed are NONE, FLOAT16, BFLOAT16 and FLOAT32 (0, 6, 7, 8)", weights_dtype);
  }
  require_choice("weights_kind", weights_kind, RCAP_WEIGHTS_SCALED);
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
