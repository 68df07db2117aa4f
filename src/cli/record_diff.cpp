// SPDX-License-Identifier: Apache-2.0
#include "record_diff.h"

#include <algorithm>

#include "progress.h"

namespace routecap::cli {

CellState compare_cell(const RecordView& first, const RecordView& second, std::int64_t position, std::int64_t column) {
  const std::int64_t row = position - first.start();
  const std::int64_t other = position - second.start();
  const bool here = first.cell_valid(row, column);
  const bool there = second.cell_valid(other, column);
  if (!here || !there) return here ? CellState::kOnlyFirst : there ? CellState::kOnlySecond : CellState::kBothMissing;
  if (first.cell_bytes(row, column) == second.cell_bytes(other, column)) return CellState::kSame;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> others;
  for (std::int64_t rank = 0; rank < first.top_k(); ++rank) {
    ids.push_back(first.id(row, column, rank));
    others.push_back(second.id(other, column, rank));
  }
  std::sort(ids.begin(), ids.end());
  std::sort(others.begin(), others.end());
  return ids == others ? CellState::kOtherOrder : CellState::kOtherIds;
}

RecordDiff diff_of(const rcap_record* first, const rcap_record* second, std::int64_t limit) {
  RecordDiff diff{make(rcap_compare_report_init), {}, {}};
  require([&](rcap_error* error) { return rcap_record_compare(first, second, &diff.report, nullptr, 0, error); });
  if (diff.report.same_shape == 0) return diff;
  const RecordView left(first);
  const RecordView right(second);
  for (const std::int32_t layer : left.layer_ids()) {
    diff.layers.emplace_back();
    diff.layers.back().layer = layer;
  }
  Progress progress("comparing", diff.report.rows);
  for (std::int64_t position = diff.report.start; position < diff.report.start + diff.report.rows; ++position) {
    for (std::int64_t column = 0; column < left.columns(); ++column) {
      LayerDiff& layer = diff.layers[static_cast<std::size_t>(column)];
      const CellState state = compare_cell(left, right, position, column);
      const bool both = state == CellState::kSame || state == CellState::kOtherOrder || state == CellState::kOtherIds;
      layer.cells += both ? 1 : 0;
      layer.differ += state == CellState::kOtherOrder || state == CellState::kOtherIds ? 1 : 0;
      layer.differ_sets += state == CellState::kOtherIds ? 1 : 0;
      layer.only_first += state == CellState::kOnlyFirst ? 1 : 0;
      layer.only_second += state == CellState::kOnlySecond ? 1 : 0;
      if (state == CellState::kSame || state == CellState::kBothMissing) continue;
      if (static_cast<std::int64_t>(diff.first.size()) < limit) diff.first.push_back({position, column, state});
    }
    progress.advance(1);
  }
  return diff;
}

}  // namespace routecap::cli
