// SPDX-License-Identifier: Apache-2.0
//
// Sizes and places of a picture's parts. Text has no size before it is drawn, so that its width is estimated.
#include <algorithm>
#include <cmath>

#include "heat_picture.h"
#include "markup.h"

namespace routecap::cli {
namespace {

constexpr double kLeastWidth = 560;  ///< title and legend have room
constexpr double kTitleSize = 17;
constexpr double kNoteSize = 12.5;

/// Cells as large as the plot's wanted extent allows.
double cell_extent(double wanted, std::size_t count, double least, double most) {
  return std::clamp(std::floor(wanted / static_cast<double>(count)), least, most);
}

}  // namespace

int heat_level(double value, double top) {
  if (value <= 0) return -1;
  return std::clamp(static_cast<int>(std::ceil(value / top * kHeatLevels)) - 1, 0, kHeatLevels - 1);
}

HeatLayout heat_layout(const HeatMap& map) {
  HeatLayout layout;
  layout.cell_width = cell_extent(1024, map.columns.size(), 2, 48);
  layout.cell_height = cell_extent(768, map.rows.size(), 3, 22);
  double label_width = 0;
  for (const AxisBand& row : map.rows) {
    const std::string label = row.first == row.last ? std::to_string(row.first) : std::to_string(row.first) + "-" + std::to_string(row.last);
    label_width = std::max(label_width, 12 * width_of(label));
  }
  layout.left = kHeatMargin + 18 + label_width + 8;
  const double plot_width = layout.cell_width * static_cast<double>(map.columns.size());
  layout.width = std::max(kLeastWidth, layout.left + plot_width + kHeatMargin + 8);
  for (const std::string& note : map.notes) layout.width = std::max(layout.width, 2 * kHeatMargin + kNoteSize * width_of(note));
  const double room = layout.width - 2 * kHeatMargin;
  auto fitting = static_cast<std::size_t>(room / (kTitleSize * 0.6));
  layout.title = shortened(map.title, fitting);
  while (fitting > 8 && kTitleSize * 1.05 * width_of(layout.title) > room) layout.title = shortened(map.title, --fitting);

  layout.top = kHeatMargin + 24 + 18 * static_cast<double>(map.notes.size()) + 10;
  layout.axis_top = layout.top + layout.cell_height * static_cast<double>(map.rows.size());
  layout.legend_top = layout.axis_top + 60;
  std::vector<double> widths = {24 + 12 * width_of(map.zero_label), 24 + 12 * width_of(map.missing_label)};
  if (map.mark) widths.push_back(20 + 12 * width_of(map.mark_label));
  double x = kHeatMargin;
  double y = layout.legend_top + 49;
  for (const double width : widths) {
    if (x > kHeatMargin && x + width > layout.width - kHeatMargin) {
      x = kHeatMargin;
      y += 20;
    }
    layout.swatches.push_back({x, y});
    x += width + 22;
  }
  layout.height = y + 14 + kHeatMargin;
  return layout;
}

}  // namespace routecap::cli
