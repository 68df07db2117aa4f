// SPDX-License-Identifier: Apache-2.0
#include "record/geometry.h"

#include <algorithm>
#include <cstdio>

#include "config/shape.h"
#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"

namespace routecap {
namespace {

bool is_partial(std::int32_t flags) { return (flags & RCAP_TAP_PARTIAL) != 0; }

}  // namespace

RecordGeometry RecordGeometry::checked(RecordGeometry given) {
  require_range("start", given.start, 0, INT64_MAX);
  require_range("rows", given.rows, 0, INT64_MAX - given.start);
  check_experts(given.num_experts, given.top_k);
  check_weights(given.weights_dtype, given.weights_kind);
  check_layer_list(given.layer_ids);
  if (given.layer_flags.empty()) given.layer_flags.assign(given.layer_ids.size(), 0);
  if (given.layer_flags.size() != given.layer_ids.size()) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_flags_count is %zu, layer_ids_count is %zu", given.layer_flags.size(), given.layer_ids.size());
  }
  for (std::size_t column = 0; column < given.layer_flags.size(); ++column) {
    char field[40];
    std::snprintf(field, sizeof field, "layer_flags[%zu]", column);
    require_flags(field, given.layer_flags[column], kTapFlags);
  }
  given.ids_dtype = ids_dtype_for(given.num_experts);
  given.has_cells = given.any_partial();
  return given;
}

std::int64_t RecordGeometry::cell_ids_bytes() const { return std::int64_t{top_k} * dtype_bytes(ids_dtype); }

std::int64_t RecordGeometry::cell_weights_bytes() const { return std::int64_t{top_k} * dtype_bytes(weights_dtype); }

std::int64_t RecordGeometry::row_ids_bytes() const { return checked_multiply(layers(), cell_ids_bytes(), "bytes of a row's ids"); }

std::int64_t RecordGeometry::row_weights_bytes() const { return checked_multiply(layers(), cell_weights_bytes(), "bytes of a row's weights"); }

bool RecordGeometry::any_partial() const { return std::any_of(layer_flags.begin(), layer_flags.end(), is_partial); }

bool RecordGeometry::all_partial() const { return std::all_of(layer_flags.begin(), layer_flags.end(), is_partial); }

std::int64_t RecordGeometry::column_of(std::int32_t layer) const {
  const auto found = std::lower_bound(layer_ids.begin(), layer_ids.end(), layer);
  return found != layer_ids.end() && *found == layer ? found - layer_ids.begin() : -1;
}

}  // namespace routecap
