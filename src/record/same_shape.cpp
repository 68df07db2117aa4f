// SPDX-License-Identifier: Apache-2.0
#include "record/same_shape.h"

namespace routecap {
namespace {

void require_same(const char* what, const char* field, std::int32_t first, std::int32_t second) {
  if (first != second) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: %s is %d in the first record and %d in the second", what, field, first, second);
}

}  // namespace

void require_same_cells(const char* what, const RecordGeometry& first, const RecordGeometry& second) {
  require_same(what, "num_experts", first.num_experts, second.num_experts);
  require_same(what, "top_k", first.top_k, second.top_k);
  require_same(what, "weights_dtype", first.weights_dtype, second.weights_dtype);
  require_same(what, "weights_kind", first.weights_kind, second.weights_kind);
}

void require_same_columns(const char* what, const RecordGeometry& first, const RecordGeometry& second) {
  require_same_cells(what, first, second);
  if (first.layers() != second.layers()) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: the first record has %zu layers (%d .. %d), the second %zu (%d .. %d)", what, first.layer_ids.size(),
         first.layer_ids.front(), first.layer_ids.back(), second.layer_ids.size(), second.layer_ids.front(), second.layer_ids.back());
  }
  for (std::size_t column = 0; column < first.layer_ids.size(); ++column) {
    if (first.layer_ids[column] != second.layer_ids[column]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: column %zu is layer %d in the first record and %d in the second", what, column, first.layer_ids[column],
           second.layer_ids[column]);
    }
    if (first.layer_flags[column] != second.layer_flags[column]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: layer %d has flags %d in the first record and %d in the second", what, first.layer_ids[column],
           first.layer_flags[column], second.layer_flags[column]);
    }
  }
}

}  // namespace routecap
