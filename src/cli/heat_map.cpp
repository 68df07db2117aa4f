// SPDX-License-Identifier: Apache-2.0
#include "heat_map.h"

#include <algorithm>

#include "markup.h"
#include "record_diff.h"

namespace routecap::cli {
namespace {

// A picture of so many cells is below a few megabytes, and a screen has no room for more.
constexpr std::int64_t kMostLines = 512;
constexpr std::int64_t kMostColumns = 512;

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "\xE2\x80\x93" + std::to_string(last);
}

/// The end of the scale: as asked for, or the largest value there is.
double top_of(const HeatMap& map, std::optional<double> asked, double otherwise) {
  if (asked) return *asked;
  double top = 0;
  for (const auto& value : map.values) top = std::max(top, value.value_or(0));
  return top > 0 ? top : otherwise;
}

std::string layers_note(const RecordView& record) {
  return std::to_string(record.columns()) + (record.columns() == 1 ? " layer" : " layers") + ", top " + std::to_string(record.top_k()) + " of " +
         std::to_string(record.num_experts()) + " experts";
}

std::string rows_note(std::int64_t start, std::int64_t rows) {
  if (rows == 0) return "no rows";
  return std::to_string(rows) + (rows == 1 ? " row: token " : " rows: tokens ") + range_text(start, start + rows - 1);
}

/// What a difference map counts, in the order in which its hover text shows it.
struct Differences {
  std::int64_t compared = 0;
  std::int64_t differ = 0;
  std::int64_t differ_as_sets = 0;
  std::int64_t only_first = 0;
  std::int64_t only_second = 0;

  Differences& operator+=(const Differences& other) {
    compared += other.compared;
    differ += other.differ;
    differ_as_sets += other.differ_as_sets;
    only_first += other.only_first;
    only_second += other.only_second;
    return *this;
  }
  [[nodiscard]] std::int64_t held() const { return compared + only_first + only_second; }
  [[nodiscard]] std::int64_t parted(bool by_sets) const { return (by_sets ? differ_as_sets : differ) + only_first + only_second; }
};

Differences differences(const RecordView& one, const RecordView& other, std::int64_t position, std::int64_t column) {
  Differences found;
  switch (compare_cell(one, other, position, column)) {
    case CellState::kOtherIds: found.differ_as_sets = 1; [[fallthrough]];
    case CellState::kOtherOrder: found.differ = 1; [[fallthrough]];
    case CellState::kSame: found.compared = 1; break;
    case CellState::kOnlyFirst: found.only_first = 1; break;
    case CellState::kOnlySecond: found.only_second = 1; break;
    case CellState::kBothMissing: break;
  }
  return found;
}

std::string percent_text(double part, double whole) { return whole > 0 ? number_text(100 * part / whole, 2) + " %" : "\xE2\x80\x93"; }

}  // namespace

std::vector<AxisBand> layer_axis(const RecordView& record) {
  std::vector<AxisBand> axis;
  std::int64_t next = 0;
  for (const std::int32_t layer : record.layer_ids()) {
    if (layer > next) axis.push_back({next, std::int64_t{layer} - 1, false});
    axis.push_back({layer, layer, true});
    next = std::int64_t{layer} + 1;
  }
  if (static_cast<std::int64_t>(axis.size()) > kMostLines) {
    refuse("the record has ", record.columns(), " layers, and a picture shows at most ", kMostLines, " lines; `routecap stats --csv` has all layers");
  }
  return axis;
}

std::vector<AxisBand> number_axis(std::int64_t first, std::int64_t count) {
  std::int64_t width = 1;
  while ((count + width - 1) / width > kMostColumns) width *= 2;
  std::vector<AxisBand> axis;
  for (std::int64_t at = 0; at < count; at += width) axis.push_back({first + at, first + std::min(at + width, count) - 1, true});
  return axis;
}

HeatMap load_map(const RecordView& record, const std::vector<LayerStatistics>& statistics, const HeatOptions& options) {
  HeatMap map;
  map.title = options.title;
  map.row_name = "layer";
  map.column_name = "expert";
  map.rows = layer_axis(record);
  map.columns = number_axis(0, record.num_experts());
  const double even = static_cast<double>(record.top_k()) / record.num_experts();
  const bool grouped = map.columns.front().last > map.columns.front().first;
  map.notes = {rows_note(record.start(), record.rows()) + "; " + layers_note(record)};
  if (grouped) map.notes.emplace_back("experts are drawn in groups; a colour is the mean of the group's experts");
  map.unit = "tokens of the layer that chose the expert, %";
  map.zero_label = "chosen by no token";
  map.missing_label = "not captured";
  map.mark = 100 * even;
  map.mark_label = "even load: " + number_text(100 * even, 2) + " %";
  map.values.resize(map.rows.size() * map.columns.size());
  map.counts = {{grouped ? "choices of these experts" : "tokens that chose it", std::vector<std::int64_t>(map.values.size())},
                {"tokens captured", std::vector<std::int64_t>(map.rows.size())}};
  map.ratios = {{grouped ? "mean share of tokens" : "share of tokens", 0, 1, 100, " %"}, {"compared with even load", 0, 1, 1 / even, " times"}};
  map.table_heading = {"layer",           "tokens captured",     "tokens missing", "busiest expert", "its share of tokens",
                       "times even load", "experts never chosen"};
  std::size_t column = 0;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    if (!map.rows[row].captured) continue;
    const LayerStatistics& layer = statistics[column++];
    map.counts[1].counts[row] = layer.cells;
    for (std::size_t band = 0; band < map.columns.size(); ++band) {
      std::int64_t chosen = 0;
      for (std::int64_t expert = map.columns[band].first; expert <= map.columns[band].last; ++expert) {
        chosen += layer.chosen_by[static_cast<std::size_t>(expert)];
      }
      map.counts[0].counts[map.index(row, band)] = chosen;
      const double choices = static_cast<double>(layer.cells) * static_cast<double>(map.columns[band].last - map.columns[band].first + 1);
      if (layer.cells > 0) map.values[map.index(row, band)] = 100 * static_cast<double>(chosen) / choices;
    }
    const auto most = static_cast<std::int64_t>(std::max_element(layer.chosen_by.begin(), layer.chosen_by.end()) - layer.chosen_by.begin());
    const auto share = static_cast<double>(layer.chosen_by[static_cast<std::size_t>(most)]);
    const auto tokens = static_cast<double>(layer.cells);
    map.table.push_back({std::to_string(layer.layer), std::to_string(layer.cells), std::to_string(record.rows() - layer.cells),
                         layer.cells > 0 ? std::to_string(most) : "\xE2\x80\x93", percent_text(share, tokens),
                         layer.cells > 0 ? number_text(share / tokens / even, 2) : "\xE2\x80\x93",
                         layer.cells > 0 ? std::to_string(std::int64_t{record.num_experts()} - layer.used) : "\xE2\x80\x93"});
  }
  map.top = top_of(map, options.top, 100);
  return map;
}

HeatMap difference_map(const RecordView& one, const RecordView& other, bool by_sets, const HeatOptions& options) {
  const std::int64_t begin = std::max(one.positions().begin, other.positions().begin);
  const std::int64_t end = std::min(one.positions().end, other.positions().end);
  if (begin >= end) refuse("the records have no token position in common: there is nothing to draw");
  HeatMap map;
  map.title = options.title;
  map.row_name = "layer";
  map.column_name = "token position";
  map.rows = layer_axis(one);
  map.columns = number_axis(begin, end - begin);
  map.notes = {"compared: " + rows_note(begin, end - begin) + "; " + layers_note(one),
               by_sets ? "two cells are the same where they name the same experts in any order"
                       : "two cells are the same where they name the same experts in the same order"};
  const std::int64_t together = map.columns.front().last - map.columns.front().first + 1;
  if (together > 1) map.notes.push_back(text_of("a column stands for ", together, " tokens"));
  map.unit = "cells (one token, one layer) that differ or that only one record has, %";
  map.zero_label = "all the same";
  map.missing_label = "in neither record";
  map.values.resize(map.rows.size() * map.columns.size());
  const std::vector<std::int64_t> none(map.values.size());
  map.counts = {{"differ, or only one has them", none}, {"cells in either", none},   {"cells in both", none},     {"of these, differ", none},
                {"of these, differ as sets", none},     {"only in the first", none}, {"only in the second", none}};
  map.ratios = {{"part", 0, 1, 100, " %"}};
  map.table_heading = {"layer", "cells in both", "differ", "differ as sets", "only in the first", "only in the second", "share that parts"};
  std::int64_t column = 0;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    if (!map.rows[row].captured) continue;
    Differences layer;
    for (std::size_t band = 0; band < map.columns.size(); ++band) {
      Differences cell;
      for (std::int64_t position = map.columns[band].first; position <= map.columns[band].last; ++position) {
        cell += differences(one, other, position, column);
      }
      const std::size_t at = map.index(row, band);
      if (cell.held() > 0) map.values[at] = 100 * static_cast<double>(cell.parted(by_sets)) / static_cast<double>(cell.held());
      const std::int64_t shown[] = {cell.parted(by_sets), cell.held(),     cell.compared,   cell.differ,
                                    cell.differ_as_sets,  cell.only_first, cell.only_second};
      for (std::size_t i = 0; i < map.counts.size(); ++i) map.counts[i].counts[at] = shown[i];
      layer += cell;
    }
    map.table.push_back({std::to_string(map.rows[row].first), std::to_string(layer.compared), std::to_string(layer.differ),
                         std::to_string(layer.differ_as_sets), std::to_string(layer.only_first), std::to_string(layer.only_second),
                         percent_text(static_cast<double>(layer.parted(by_sets)), static_cast<double>(layer.held()))});
    ++column;
  }
  map.top = top_of(map, options.top, 100);
  return map;
}

}  // namespace routecap::cli
