// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "records/view.h"

/// What a record means, without any thought of bytes: a cell for every (position, layer) that was captured.
namespace routecap_records {

struct Cell {
  std::vector<std::int32_t> ids;
  std::vector<std::uint32_t> weights;  ///< bits; none where no weights are kept

  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Model {
  std::int64_t start = 0;
  std::int64_t rows = 0;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_kind = RCAP_WEIGHTS_AS_ROUTED;
  std::map<std::int32_t, std::int32_t> layers;                  ///< layer number -> flags
  std::map<std::int64_t, std::int64_t> versions;                ///< position of a valid row -> its weight version
  std::map<std::pair<std::int64_t, std::int32_t>, Cell> cells;  ///< (position, layer) -> what is valid there

  [[nodiscard]] std::int64_t end() const { return start + rows; }
  /// Takes a row of another model, or takes a row away where that has none.
  void take_row(const Model& from, std::int64_t position, std::int64_t to);
  /// Without rows; the same shape.
  [[nodiscard]] Model emptied(std::int64_t new_start, std::int64_t new_rows) const;
  /// Rows without a cell are missing, unless every layer is PARTIAL.
  void settle();
};

/// Every byte that a record with this content must have.
View view(const Model& model);

/// A record with exactly these bytes, made by the core without any of its algebra.
Handle record(const Model& model);

}  // namespace routecap_records
