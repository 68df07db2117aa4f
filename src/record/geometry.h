// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "support/error.h"

namespace routecap {

/// What describes a record's rows, without them (R37).
struct RecordGeometry {
  std::int64_t start = 0;  ///< token position of the first row
  std::int64_t rows = 0;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::int32_t ids_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_kind = RCAP_WEIGHTS_AS_ROUTED;
  /// Cells have a validity of their own: some column is PARTIAL, or some row is valid in a part of its columns.
  bool has_cells = false;
  std::vector<std::int32_t> layer_ids;
  std::vector<std::int32_t> layer_flags;  ///< as many as layer_ids

  /// From whoever is not trusted: start, rows, experts, weights, layer_ids and layer_flags (none = all 0) are checked, ids_dtype and has_cells
  /// follow from them.
  [[nodiscard]] static RecordGeometry checked(RecordGeometry given);

  [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(layer_ids.size()); }
  /// Position behind the last row.
  [[nodiscard]] std::int64_t end() const { return start + rows; }
  /// Bytes of one cell's and of one row's ids and weights.
  [[nodiscard]] std::int64_t cell_ids_bytes() const;
  [[nodiscard]] std::int64_t cell_weights_bytes() const;
  [[nodiscard]] std::int64_t row_ids_bytes() const;
  [[nodiscard]] std::int64_t row_weights_bytes() const;
  [[nodiscard]] bool any_partial() const;
  [[nodiscard]] bool all_partial() const;
  /// Column of a model layer number, -1 without one.
  [[nodiscard]] std::int64_t column_of(std::int32_t layer) const;
};

}  // namespace routecap
