// SPDX-License-Identifier: Apache-2.0
#include "record/compare.h"

#include <algorithm>
#include <cstring>

#include "support/dtype.h"

namespace routecap {
namespace {

bool same_shape(const RecordGeometry& a, const RecordGeometry& b) {
  return a.num_experts == b.num_experts && a.top_k == b.top_k && a.ids_dtype == b.ids_dtype && a.weights_dtype == b.weights_dtype &&
         a.weights_kind == b.weights_kind && a.layer_ids == b.layer_ids;
}

// Records are canonical: the same content is the same bytes.
bool equal(const Record& first, const Record& second) {
  const RecordGeometry& a = first.geometry();
  const RecordGeometry& b = second.geometry();
  return a.start == b.start && a.rows == b.rows && same_shape(a, b) && a.layer_flags == b.layer_flags && a.has_cells == b.has_cells &&
         first.row_validity() == second.row_validity() && first.cell_validity() == second.cell_validity() && first.ids() == second.ids() &&
         first.weights() == second.weights() && first.spans() == second.spans();
}

template <class Id>
bool same_without_order(const std::byte* a, const std::byte* b, std::size_t count, std::vector<Id>& scratch) {
  scratch.resize(2 * count);
  std::memcpy(scratch.data(), a, count * sizeof(Id));
  std::memcpy(scratch.data() + count, b, count * sizeof(Id));
  const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(scratch.begin(), middle);
  std::sort(middle, scratch.end());
  return std::equal(scratch.begin(), middle, middle);
}

/// Walks the cells of the positions that both hold.
template <class Id>
class CellComparison {
 public:
  CellComparison(const Record& first, const Record& second, Comparison& result) : a_(first), b_(second), result_(result) {}

  void walk() {
    rcap_compare_report& report = result_.report;
    const std::int64_t row_a = report.start - a_.geometry().start;
    const std::int64_t row_b = report.start - b_.geometry().start;
    const std::vector<std::int64_t> versions_a = a_.row_versions();
    const std::vector<std::int64_t> versions_b = b_.row_versions();
    for (std::int64_t row = 0; row < report.rows; ++row) {
      if (!a_.row_valid(row_a + row) && !b_.row_valid(row_b + row)) continue;
      const bool both = a_.row_valid(row_a + row) && b_.row_valid(row_b + row);
      if (both && versions_a[static_cast<std::size_t>(row_a + row)] != versions_b[static_cast<std::size_t>(row_b + row)])
        ++report.rows_differ_in_version;
      for (std::int64_t column = 0; column < a_.geometry().layers(); ++column) compare_cell(row, column, row_a + row, row_b + row);
    }
  }

 private:
  void compare_cell(std::int64_t row, std::int64_t column, std::int64_t row_a, std::int64_t row_b) {
    rcap_compare_report& report = result_.report;
    const RecordGeometry& geometry = a_.geometry();
    const bool in_a = a_.cell_valid(row_a, column);
    const bool in_b = b_.cell_valid(row_b, column);
    if (!in_a && !in_b) return;
    bool differs = true;
    if (in_a != in_b) {
      ++(in_a ? report.cells_only_first : report.cells_only_second);
    } else {
      ++report.cells;
      const std::int64_t cell_a = row_a * geometry.layers() + column;
      const std::int64_t cell_b = row_b * geometry.layers() + column;
      const std::byte* ids_a = a_.ids().data() + cell_a * geometry.cell_ids_bytes();
      const std::byte* ids_b = b_.ids().data() + cell_b * geometry.cell_ids_bytes();
      differs = std::memcmp(ids_a, ids_b, static_cast<std::size_t>(geometry.cell_ids_bytes())) != 0;
      if (differs) {
        ++report.cells_differ;
        ++result_.by_layer[static_cast<std::size_t>(column)];
        if (!same_without_order<Id>(ids_a, ids_b, static_cast<std::size_t>(geometry.top_k), scratch_)) ++report.cells_differ_as_sets;
      }
      const std::int64_t weights = geometry.cell_weights_bytes();
      if (std::memcmp(a_.weights().data() + cell_a * weights, b_.weights().data() + cell_b * weights, static_cast<std::size_t>(weights)) != 0) {
        ++report.cells_differ_in_weights;
      }
    }
    if (!differs || report.first_row >= 0) return;
    report.first_row = report.start + row;
    report.first_layer = geometry.layer_ids[static_cast<std::size_t>(column)];
  }

  const Record& a_;
  const Record& b_;
  Comparison& result_;
  std::vector<Id> scratch_;
};

}  // namespace

Comparison compare(const Record& first, const Record& second) {
  const RecordGeometry& a = first.geometry();
  const RecordGeometry& b = second.geometry();
  Comparison result;
  rcap_compare_report& report = result.report;
  report.equal = equal(first, second) ? 1 : 0;
  report.same_shape = same_shape(a, b) ? 1 : 0;
  report.start = std::max(a.start, b.start);
  report.rows = std::max<std::int64_t>(0, std::min(a.end(), b.end()) - report.start);
  report.rows_only_first = a.rows - report.rows;
  report.rows_only_second = b.rows - report.rows;
  report.first_row = -1;
  report.first_layer = -1;
  if (report.same_shape == 0) return result;
  result.by_layer.resize(a.layer_ids.size());
  switch (dtype_bytes(a.ids_dtype)) {
    case 1: CellComparison<std::uint8_t>(first, second, result).walk(); break;
    case 2: CellComparison<std::uint16_t>(first, second, result).walk(); break;
    default: CellComparison<std::int32_t>(first, second, result).walk(); break;
  }
  return result;
}

}  // namespace routecap
