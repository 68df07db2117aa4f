// SPDX-License-Identifier: Apache-2.0
//
// A heat map before it is drawn: layers from top to bottom, something that is counted from left to right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load_statistics.h"
#include "record_view.h"

namespace routecap::cli {

/// Numbers [first, last] that share a line or a column of the picture.
struct AxisBand {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool captured = true;  ///< false: layers that the record does not have
};

/// Whole numbers that belong to the cells, for the values shown on hovering.
struct CellCounts {
  std::string label;
  std::vector<std::int64_t> counts;  ///< [rows, columns], or [rows] where all columns of a row have the same
};

/// A hover value computed from two of the counts: factor * one / other; where `other` belongs to the row, per number of the column.
struct CellRatio {
  std::string label;
  std::size_t one = 0;
  std::size_t other = 0;
  double factor = 1;
  std::string unit;  ///< behind the number
};

struct HeatMap {
  std::string title;
  std::vector<std::string> notes;  ///< lines under the title
  std::string row_name;            ///< of the vertical axis: `layer`
  std::string column_name;         ///< of the horizontal axis: `expert`, `token`
  std::vector<AxisBand> rows;
  std::vector<AxisBand> columns;
  /// [rows, columns]: what the colour says; empty = there is nothing to say.
  std::vector<std::optional<double>> values;
  std::string unit;            ///< of the values, as the legend states it
  double top = 1;              ///< value at the upper end of the scale, > 0; larger ones are drawn like it
  std::optional<double> mark;  ///< a value worth marking on the scale
  std::string mark_label;
  std::string zero_label;     ///< what a value of 0 means
  std::string missing_label;  ///< what no value means
  std::vector<CellCounts> counts;
  std::vector<CellRatio> ratios;
  /// A line per captured layer, for readers who do not see the picture.
  std::vector<std::string> table_heading;
  std::vector<std::vector<std::string>> table;

  [[nodiscard]] std::size_t index(std::size_t row, std::size_t column) const { return row * columns.size() + column; }
};

/// Lines of the vertical axis: one a captured layer, and one for each run of layers below or between them that were not captured. Refuses more layers
/// than a picture can show.
[[nodiscard]] std::vector<AxisBand> layer_axis(const RecordView& record);

/// `count` numbers from `first` on as bands of equal width (but for the last), no more of them than a picture can show.
[[nodiscard]] std::vector<AxisBand> number_axis(std::int64_t first, std::int64_t count);

struct HeatOptions {
  std::string title;
  std::optional<double> top;  ///< end of the scale, in units of the values
};

/// Load: layers by experts. @param statistics  of the same record, not weighted
[[nodiscard]] HeatMap load_map(const RecordView& record, const std::vector<LayerStatistics>& statistics, const HeatOptions& options);

/// Where two records of one shape part: layers by token positions. @param by_sets  the order of ids in a cell is left out
[[nodiscard]] HeatMap difference_map(const RecordView& one, const RecordView& other, bool by_sets, const HeatOptions& options);

}  // namespace routecap::cli
