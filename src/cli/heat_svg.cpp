// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "colour_scale.h"
#include "error.h"
#include "heat_picture.h"
#include "markup.h"

namespace routecap::cli {
namespace {

constexpr double kBarWidth = 336;  ///< of the legend's scale
constexpr double kBarHeight = 12;
constexpr double kTitleBaseline = 32;
constexpr double kLineDistance = 18;

std::string number(double value) { return number_text(value, 2); }

std::string place(const char* name, double value) { return std::string(" ") + name + "=\"" + number(value) + '"'; }

std::string text_at(double x, double y, const char* classes, const std::string& text, const std::string& more = "") {
  return "<text" + place("x", x) + place("y", y) + " class=\"" + classes + '"' + more + '>' + escaped(text) + "</text>\n";
}

std::string rectangle(double x, double y, double width, double height, const std::string& classes) {
  return "<rect" + place("x", x) + place("y", y) + place("width", width) + place("height", height) + " class=\"" + classes + "\"/>\n";
}

/// Distance between labels: the smallest of a series that keeps them apart. @param most_per_number  labels per number that there is room for
std::int64_t label_step(double most_per_number, bool by_powers_of_two) {
  constexpr std::array<double, 3> kDecimal = {1, 2, 5};
  for (std::int64_t i = 0; i < 62; ++i) {
    const double step = by_powers_of_two ? std::ldexp(1, static_cast<int>(i)) : kDecimal[static_cast<std::size_t>(i % 3)] * std::pow(10, i / 3);
    if (step > 9e18) break;
    if (step * most_per_number >= 1) return static_cast<std::int64_t>(step);
  }
  return INT64_MAX;
}

/// All cells, as one path for each colour; neighbours of one colour in a line are one piece.
std::string cells_of(const HeatMap& map, const HeatLayout& layout) {
  std::vector<std::string> paths(kHeatLevels + 2);
  const auto index = [&](std::size_t row, std::size_t column) -> std::size_t {
    const auto& value = map.values[map.index(row, column)];
    return value ? static_cast<std::size_t>(heat_level(*value, map.top) + 1) : kHeatLevels + 1;
  };
  const std::string height = number(layout.cell_height);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const std::string y = number(layout.top + layout.cell_height * static_cast<double>(row));
    for (std::size_t column = 0; column < map.columns.size();) {
      std::size_t end = column + 1;
      while (end < map.columns.size() && index(row, end) == index(row, column)) ++end;
      const std::string width = number(layout.cell_width * static_cast<double>(end - column));
      const std::string x = number(layout.left + layout.cell_width * static_cast<double>(column));
      paths[index(row, column)] += text_of('M', x, ' ', y, 'h', width, 'v', height, "h-", width, 'z');
      column = end;
    }
  }
  std::string out = "<g shape-rendering=\"crispEdges\">\n";
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) continue;
    const std::string name = i == 0 ? "z" : i == kHeatLevels + 1 ? "no" : std::to_string(i - 1);
    out += "<path class=\"rc-" + name + "\" d=\"" + paths[i] + "\"/>\n";
  }
  return out + "</g>\n" +
         rectangle(layout.left - 0.5, layout.top - 0.5, layout.cell_width * static_cast<double>(map.columns.size()) + 1,
                   layout.cell_height * static_cast<double>(map.rows.size()) + 1, "rc-frame");
}

std::string row_labels(const HeatMap& map, const HeatLayout& layout) {
  std::string out;
  const bool all = layout.cell_height >= 13;
  const std::int64_t step = label_step(layout.cell_height / 14, false);
  double last = -1e9;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const AxisBand& band = map.rows[row];
    const double middle = layout.top + layout.cell_height * (static_cast<double>(row) + 0.5);
    if (!all && (!band.captured || band.first % step != 0 || middle - last < 13)) continue;
    const std::string label =
        band.first == band.last ? std::to_string(band.first) : std::to_string(band.first) + "\xE2\x80\x93" + std::to_string(band.last);
    out += text_at(layout.left - 7, middle + 4, band.captured ? "rc-tick rc-end" : "rc-tick rc-end rc-faint", label);
    last = middle;
  }
  const double middle = (layout.top + layout.axis_top) / 2;
  // A short plot has no room for the name along it.
  const bool fits = 12 * width_of(map.row_name) < layout.axis_top - layout.top + 12;
  if (fits) {
    out += text_at(kHeatMargin + 6, middle, "rc-label rc-mid", map.row_name,
                   " transform=\"rotate(-90 " + number(kHeatMargin + 6) + ' ' + number(middle) + ")\"");
  } else {
    out += text_at(layout.left - 7, layout.top - 6, "rc-label rc-end", map.row_name);
  }
  return out;
}

std::string column_labels(const HeatMap& map, const HeatLayout& layout) {
  const std::int64_t first = map.columns.front().first;
  const std::int64_t last = map.columns.back().last;
  const auto width = static_cast<double>(map.columns.front().last - first + 1);
  const double per_number = layout.cell_width / width;
  const double label = 12 * width_of(std::to_string(last)) + 12;
  // Counts of experts are powers of two, or near one.
  const std::int64_t step = label_step(per_number / label, map.column_name == "expert");
  std::string out;
  for (std::int64_t at = (first + step - 1) / step * step; at <= last && at >= first; at += step) {
    const double x = layout.left + per_number * (static_cast<double>(at - first) + 0.5);
    out += "<path class=\"rc-line\" d=\"M" + number(x) + ' ' + number(layout.axis_top + 1) + "v4\"/>\n";
    out += text_at(x, layout.axis_top + 17, "rc-tick rc-mid", std::to_string(at));
    if (at > INT64_MAX - step) break;
  }
  const double middle = layout.left + layout.cell_width * static_cast<double>(map.columns.size()) / 2;
  const double half = 6.2 * width_of(map.column_name);
  return out +
         text_at(std::clamp(middle, kHeatMargin + half, layout.width - kHeatMargin - half), layout.axis_top + 35, "rc-label rc-mid", map.column_name);
}

std::string legend_of(const HeatMap& map, const HeatLayout& layout) {
  const double y = layout.legend_top;
  std::string out = text_at(kHeatMargin, y, "rc-label", map.unit);
  const double piece = kBarWidth / kHeatLevels;
  out += "<g shape-rendering=\"crispEdges\">\n";
  for (int level = 0; level < kHeatLevels; ++level)
    out += rectangle(kHeatMargin + piece * level, y + 11, piece, kBarHeight, "rc-" + std::to_string(level));
  out += "</g>\n";
  // About four labels, at round values, and the end of the scale where there is room for it.
  double step = std::pow(10, std::floor(std::log10(map.top)));
  for (int halved = 0; halved < 2 && map.top / step < 3.5; ++halved) step /= 2;
  if (map.top / step > 7.5) step *= 2;
  bool end_is_free = true;
  for (int i = 0; step * i <= map.top * 1.0000001; ++i) {
    const double x = kHeatMargin + kBarWidth * step * i / map.top;
    const bool is_last = step * (i + 1) > map.top * 1.0000001;
    const std::string label = number_text(step * i, 6);
    if (is_last && x < kHeatMargin + kBarWidth - 1) end_is_free = kHeatMargin + kBarWidth - x > 7 * (width_of(label) + 7);
    if (is_last && x >= kHeatMargin + kBarWidth - 1) end_is_free = false;
    out += "<path class=\"rc-line\" d=\"M" + number(x) + ' ' + number(y + 11 + kBarHeight) + "v4\"/>\n";
    out += text_at(x, y + 11 + kBarHeight + 16, i == 0 ? "rc-tick" : "rc-tick rc-mid", label);
  }
  if (end_is_free) {
    out += "<path class=\"rc-line\" d=\"M" + number(kHeatMargin + kBarWidth) + ' ' + number(y + 11 + kBarHeight) + "v4\"/>\n";
    out += text_at(kHeatMargin + kBarWidth, y + 11 + kBarHeight + 16, "rc-tick rc-mid", number_text(map.top, 2));
  }
  const auto swatch = [&](std::size_t i, const std::string& name, const std::string& label) {
    const HeatLayout::Swatch& at = layout.swatches[i];
    out += rectangle(at.x + 0.5, at.y + 0.5, 16, 12, name);
    out += rectangle(at.x + 0.5, at.y + 0.5, 16, 12, "rc-frame");
    out += text_at(at.x + 24, at.y + 11, "rc-tick", label);
  };
  swatch(0, "rc-z", map.zero_label);
  swatch(1, "rc-no", map.missing_label);
  if (map.mark) {
    const HeatLayout::Swatch& at = layout.swatches[2];
    const std::string triangle = "l-5 -8h10z\"/>\n";
    out += "<path class=\"rc-mark\" d=\"M" + number(at.x + 5) + ' ' + number(at.y + 11) + triangle;
    out += text_at(at.x + 18, at.y + 11, "rc-tick", map.mark_label);
    if (*map.mark <= map.top)
      out += "<path class=\"rc-mark\" d=\"M" + number(kHeatMargin + kBarWidth * *map.mark / map.top) + ' ' + number(y + 14) + triangle;
  }
  return out;
}

std::string rules(Ground ground) {
  const bool dark = ground == Ground::kDark;
  const std::string paper = dark ? "#14171b" : "#ffffff";
  const std::string ink = dark ? "#e6e9ed" : "#1b1f24";
  const std::string muted = dark ? "#a3acb7" : "#57606a";
  std::string out = ".rc-paper{fill:" + paper + "}.rc-title,.rc-label{fill:" + ink + "}.rc-note,.rc-tick{fill:" + muted + "}.rc-mark{fill:" + ink +
                    ";stroke:" + paper + "}.rc-frame{stroke:" + (dark ? "#6b7480" : "#8c959f") + "}.rc-line{stroke:" + muted +
                    "}.rc-cursor{stroke:" + (dark ? "#ff8f73" : "#c2255c") + "}.rc-hatch{stroke:" + (dark ? "#59626d" : "#a8b0ba") +
                    "}.rc-z{fill:" + (dark ? "#2b3037" : "#e4e7eb") + "}";
  const std::vector<std::string> colours = colour_scale(ground, kHeatLevels);
  for (std::size_t level = 0; level < colours.size(); ++level) out += ".rc-" + std::to_string(level) + "{fill:" + colours[level] + "}";
  return out + "\n";
}

}  // namespace

std::string heat_style(Scheme scheme) {
  std::string out =
      ".rc text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;font-size:12px}.rc "
      ".rc-title{font-size:17px;font-weight:600}"
      ".rc .rc-note{font-size:12.5px}.rc .rc-faint{opacity:.7}.rc-end{text-anchor:end}.rc-mid{text-anchor:middle}"
      ".rc-frame,.rc-line,.rc-cursor{fill:none;stroke-width:1}.rc-cursor{stroke-width:2}.rc-hatch{stroke-width:1.4}.rc-no{fill:url(#rc-hatched)}\n";
  out += rules(scheme == Scheme::kDark ? Ground::kDark : Ground::kLight);
  if (scheme == Scheme::kAuto) out += "@media (prefers-color-scheme:dark){" + rules(Ground::kDark) + "}\n";
  return out;
}

std::string heat_svg(const HeatMap& map, const HeatLayout& layout, const std::string& style) {
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rc\" role=\"img\" aria-labelledby=\"rc-name rc-about\"" +
                    place("width", layout.width) + place("height", layout.height) + " viewBox=\"0 0 " + number(layout.width) + ' ' +
                    number(layout.height) + "\">\n";
  out += "<title id=\"rc-name\">" + escaped(map.title) + "</title>\n<desc id=\"rc-about\">";
  for (const std::string& note : map.notes) out += escaped(note) + ". ";
  out += "Vertical: " + escaped(map.row_name) + "; horizontal: " + escaped(map.column_name) + "; colour: " + escaped(map.unit) + ".</desc>\n";
  if (!style.empty()) out += "<style>\n" + style + "</style>\n";
  out +=
      "<defs><pattern id=\"rc-hatched\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<rect width=\"6\" height=\"6\" class=\"rc-paper\"/><path d=\"M3 0v6\" class=\"rc-hatch\"/></pattern></defs>\n";
  out += rectangle(0, 0, layout.width, layout.height, "rc-paper");
  out += text_at(kHeatMargin, kTitleBaseline, "rc-title", layout.title);
  for (std::size_t i = 0; i < map.notes.size(); ++i) {
    out += text_at(kHeatMargin, kTitleBaseline + 4 + kLineDistance * static_cast<double>(i + 1), "rc-note", map.notes[i]);
  }
  return out + cells_of(map, layout) + row_labels(map, layout) + column_labels(map, layout) + legend_of(map, layout) + "</svg>\n";
}

std::string svg_document(const HeatMap& map, Scheme scheme) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + heat_svg(map, heat_layout(map), heat_style(scheme));
}

}  // namespace routecap::cli
