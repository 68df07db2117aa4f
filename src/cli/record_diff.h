// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record_view.h"

namespace routecap::cli {

/// How one cell (row and layer) is in two records.
enum class CellState {
  kSame,
  kOtherOrder,  ///< the same ids in another order
  kOtherIds,    ///< other ids
  kOnlyFirst,   ///< missing in the second
  kOnlySecond,  ///< missing in the first
  kBothMissing,
};

/// A layer's cells at the positions that both hold.
struct LayerDiff {
  std::int32_t layer = 0;
  std::int64_t cells = 0;        ///< valid in both
  std::int64_t differ = 0;       ///< of these, other ids or another order
  std::int64_t differ_sets = 0;  ///< of these, other ids
  std::int64_t only_first = 0;
  std::int64_t only_second = 0;
};

/// A cell that is not the same in both.
struct CellDiff {
  std::int64_t position = 0;
  std::int64_t column = 0;
  CellState state = CellState::kSame;
};

struct RecordDiff {
  rcap_compare_report report;     ///< the library's own comparison
  std::vector<LayerDiff> layers;  ///< one a column; empty where the shapes differ
  std::vector<CellDiff> first;    ///< the first ones, by position and layer
};

/// How the cell of a position and column that both hold compares. The records have the same shape.
CellState compare_cell(const RecordView& first, const RecordView& second, std::int64_t position, std::int64_t column);

/// @param limit  how many cells that differ to list
RecordDiff diff_of(const rcap_record* first, const rcap_record* second, std::int64_t limit);

}  // namespace routecap::cli
