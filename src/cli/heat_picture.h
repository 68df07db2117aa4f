// SPDX-License-Identifier: Apache-2.0
//
// A heat map drawn: as an SVG, or as an HTML page around it that also tells values.
#pragma once

#include <string>

#include "heat_map.h"

namespace routecap::cli {

enum class Scheme {
  kAuto,  ///< as the reader's system is set; a program that cannot tell shows the light one
  kLight,
  kDark
};

/// Between a picture's parts and its edges, in pixels.
inline constexpr double kHeatMargin = 16;

/// Where things stand in a picture, in its pixels.
struct HeatLayout {
  double width = 0;
  double height = 0;
  double left = 0;  ///< upper left corner of the cells
  double top = 0;
  double cell_width = 0;
  double cell_height = 0;
  std::string title;    ///< as much of it as fits
  double axis_top = 0;  ///< under the last line of cells
  double legend_top = 0;
  struct Swatch {
    double x;
    double y;
  };
  std::vector<Swatch> swatches;  ///< zero, missing and, where there is one, the mark
};

/// Classes of colour that values above 0 are told apart by.
inline constexpr int kHeatLevels = 48;

/// The class of a value, 0 .. kHeatLevels - 1; -1 for 0.
[[nodiscard]] int heat_level(double value, double top);

[[nodiscard]] HeatLayout heat_layout(const HeatMap& map);

/// Rules of style for the picture; its elements carry class names that begin with `rc-`.
[[nodiscard]] std::string heat_style(Scheme scheme);

/// The `<svg>` element. @param style  rules to put into it, empty where the page has them
[[nodiscard]] std::string heat_svg(const HeatMap& map, const HeatLayout& layout, const std::string& style);

/// A whole file: an SVG document.
[[nodiscard]] std::string svg_document(const HeatMap& map, Scheme scheme);

/// A whole file: an HTML page that needs nothing but itself, with the picture, the values of the cell under the pointer or chosen by arrow keys, and
/// a table of layers.
[[nodiscard]] std::string html_document(const HeatMap& map, Scheme scheme);

}  // namespace routecap::cli
