// SPDX-License-Identifier: Apache-2.0
// Columns for every layer of the model, or for some.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "config/shape.h"
#include "record/algebra.h"
#include "support/checked.h"
#include "support/choice.h"

namespace routecap {
namespace {

/// A thousand times what models have: a mistyped number is refused before memory is asked for.
constexpr std::int32_t kMostAxisLayers = 65536;

constexpr std::array<Choice, 2> kFills{{{RCAP_FILL_MISSING, "MISSING"}, {RCAP_FILL_VALUE, "VALUE"}}};

/// Neighbouring columns with the source of all of them, or without a source.
struct ColumnRun {
  std::int64_t source_column;  ///< -1: not captured
  std::int64_t column;
  std::int64_t count;
};

std::vector<ColumnRun> find_columns(const RecordGeometry& source, std::span<const std::int32_t> layer_ids) {
  std::vector<ColumnRun> runs;
  for (std::size_t column = 0; column < layer_ids.size(); ++column) {
    const std::int64_t found = source.column_of(layer_ids[column]);
    const std::int64_t follows = runs.empty() ? -2 : runs.back().source_column < 0 ? -1 : runs.back().source_column + runs.back().count;
    if (found == follows) {
      ++runs.back().count;
    } else {
      runs.push_back({found, static_cast<std::int64_t>(column), 1});
    }
  }
  return runs;
}

/// Cells that hold one id K times, with weights of 0.
void fill_cells(Record& record, std::int64_t row, const ColumnRun& run, std::int32_t id) {
  const RecordGeometry& geometry = record.geometry();
  const std::int64_t cell = row * geometry.layers() + run.column;
  std::byte* ids = record.ids().data() + cell * geometry.cell_ids_bytes();
  const std::int64_t id_bytes = geometry.cell_ids_bytes() / geometry.top_k;
  for (std::int64_t i = 0; i < run.count * geometry.top_k; ++i) {
    for (std::int64_t byte = 0; byte < id_bytes; ++byte) ids[i * id_bytes + byte] = static_cast<std::byte>(id >> (8 * byte) & 0xFF);
  }
  std::memset(record.weights().data() + cell * geometry.cell_weights_bytes(), 0, static_cast<std::size_t>(run.count * geometry.cell_weights_bytes()));
  bits::set_range(record.cell_validity().data(), cell, run.count);
}

/// The record's columns as `geometry` has them, which has cell validity; layers that were not captured hold `fill`.
std::unique_ptr<Record> with_columns(const Record& record, RecordGeometry geometry, AxisFill fill) {
  const std::vector<ColumnRun> runs = find_columns(record.geometry(), geometry.layer_ids);
  auto made = std::make_unique<Record>(std::move(geometry));
  for (std::int64_t row = 0; row < record.geometry().rows; ++row) {
    if (!record.row_valid(row)) continue;
    bits::set(made->row_validity().data(), row);
    for (const ColumnRun& run : runs) {
      if (run.source_column >= 0) {
        made->copy_cells(record, row, run.source_column, run.count, row, run.column);
      } else if (fill.kind == RCAP_FILL_VALUE) {
        fill_cells(*made, row, run, fill.id);
      }
    }
  }
  made->canonicalize();
  made->set_versions(record.row_versions());
  return made;
}

}  // namespace

std::unique_ptr<Record> to_full_axis(const Record& record, std::int32_t num_layers, AxisFill fill) {
  const RecordGeometry& source = record.geometry();
  require_choice("fill", fill.kind, kFills);
  if (fill.kind == RCAP_FILL_VALUE) require_range("fill_id", fill.id, 0, source.num_experts - 1);
  if (num_layers <= source.layer_ids.back()) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "num_layers is %d, the record's highest layer is %d", num_layers, source.layer_ids.back());
  }
  if (num_layers > kMostAxisLayers) fail(RCAP_STATUS_OUT_OF_RANGE, "num_layers is %d, a full axis has at most %d", num_layers, kMostAxisLayers);
  RecordGeometry geometry = source;
  geometry.has_cells = true;
  geometry.layer_ids.resize(static_cast<std::size_t>(num_layers));
  // A layer without cells is one that may lack them: with the flag, a row that only PARTIAL layers could have filled stays what it was.
  geometry.layer_flags.assign(geometry.layer_ids.size(), fill.kind == RCAP_FILL_MISSING ? RCAP_TAP_PARTIAL : 0);
  for (std::int32_t layer = 0; layer < num_layers; ++layer) geometry.layer_ids[static_cast<std::size_t>(layer)] = layer;
  for (std::size_t column = 0; column < source.layer_ids.size(); ++column) {
    geometry.layer_flags[static_cast<std::size_t>(source.layer_ids[column])] = source.layer_flags[column];
  }
  return with_columns(record, std::move(geometry), fill);
}

std::unique_ptr<Record> to_compact(const Record& record, std::span<const std::int32_t> layer_ids) {
  const RecordGeometry& source = record.geometry();
  check_layer_list(layer_ids);
  RecordGeometry geometry = source;
  geometry.has_cells = true;
  geometry.layer_ids.assign(layer_ids.begin(), layer_ids.end());
  geometry.layer_flags.clear();
  for (const std::int32_t layer : layer_ids) {
    const std::int64_t column = source.column_of(layer);
    if (column < 0) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "layer %d is not in the record, it has %zu layers (%d .. %d)", layer, source.layer_ids.size(),
           source.layer_ids.front(), source.layer_ids.back());
    }
    geometry.layer_flags.push_back(source.layer_flags[static_cast<std::size_t>(column)]);
  }
  return with_columns(record, std::move(geometry), {});
}

}  // namespace routecap
