// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <utility>

#include "record/algebra.h"
#include "record/same_shape.h"
#include "support/checked.h"

namespace routecap {
namespace {

/// Neighbouring columns of one record that stay neighbours.
struct ColumnRun {
  const Record* source;
  std::int64_t source_column;
  std::int64_t column;
  std::int64_t count;
};

/// Puts the layers of both in order into `geometry`; refuses one that both have.
std::vector<ColumnRun> merge_columns(const Record& first, const Record& second, RecordGeometry& geometry) {
  const RecordGeometry& a = first.geometry();
  const RecordGeometry& b = second.geometry();
  std::vector<ColumnRun> runs;
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < a.layers() || j < b.layers()) {
    const auto ai = static_cast<std::size_t>(i);
    const auto bj = static_cast<std::size_t>(j);
    if (i < a.layers() && j < b.layers() && a.layer_ids[ai] == b.layer_ids[bj]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "stack: layer %d is in both records (layers %d .. %d and %d .. %d)", a.layer_ids[ai], a.layer_ids.front(),
           a.layer_ids.back(), b.layer_ids.front(), b.layer_ids.back());
    }
    const bool from_first = j == b.layers() || (i < a.layers() && a.layer_ids[ai] < b.layer_ids[bj]);
    const Record* source = from_first ? &first : &second;
    const std::int64_t source_column = from_first ? i++ : j++;
    if (!runs.empty() && runs.back().source == source) {
      ++runs.back().count;
    } else {
      runs.push_back({source, source_column, geometry.layers(), 1});
    }
    geometry.layer_ids.push_back(source->geometry().layer_ids[static_cast<std::size_t>(source_column)]);
    geometry.layer_flags.push_back(source->geometry().layer_flags[static_cast<std::size_t>(source_column)]);
  }
  return runs;
}

}  // namespace

std::unique_ptr<Record> stack(const Record& first, const Record& second) {
  const RecordGeometry& a = first.geometry();
  const RecordGeometry& b = second.geometry();
  require_same_cells("stack", a, b);
  if (a.start != b.start || a.rows != b.rows) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "stack: the first record has the positions [%" PRId64 ", %" PRId64 "), the second [%" PRId64 ", %" PRId64 ")",
         a.start, a.end(), b.start, b.end());
  }
  RecordGeometry geometry = a;
  geometry.layer_ids.clear();
  geometry.layer_flags.clear();
  const std::vector<ColumnRun> runs = merge_columns(first, second, geometry);
  geometry.has_cells = true;  // until it shows that none are needed
  auto whole = std::make_unique<Record>(std::move(geometry));
  std::vector<std::int64_t> versions = first.row_versions();
  const std::vector<std::int64_t> others = second.row_versions();
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::int64_t& version = versions[static_cast<std::size_t>(row)];
    const std::int64_t other = others[static_cast<std::size_t>(row)];
    if (first.row_valid(row) && second.row_valid(row) && version != other) {
      fail(RCAP_STATUS_INVALID_ARGUMENT,
           "stack: position %" PRId64 " has weight version %" PRId64 " in the first record and %" PRId64 " in the second", a.start + row, version,
           other);
    }
    if (!first.row_valid(row)) version = other;
    if (first.row_valid(row) || second.row_valid(row)) bits::set(whole->row_validity().data(), row);
    for (const ColumnRun& run : runs) whole->copy_cells(*run.source, row, run.source_column, run.count, row, run.column);
  }
  whole->canonicalize();
  whole->set_versions(versions);
  return whole;
}

}  // namespace routecap
