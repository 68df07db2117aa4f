// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "heat_picture.h"
#include "markup.h"

namespace routecap::cli {
namespace {

using Json = nlohmann::ordered_json;

// Nothing may be loaded from anywhere: the page holds all it needs.
constexpr const char* kPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

constexpr const char* kPageStyle = R"css(
body{margin:0;font:15px/1.45 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;background:var(--paper);color:var(--ink)}
main{padding:8px 16px 32px}
h1{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
#rc-picture{overflow-x:auto;width:fit-content;max-width:100%}
#rc-picture:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
#rc-picture svg{display:block}
#rc-values{position:fixed;left:0;top:0;opacity:0;pointer-events:none;background:var(--raised);border:1px solid var(--edge);border-radius:6px;
padding:6px 10px;box-shadow:0 2px 10px rgb(0 0 0/.25);font-size:13px;max-width:min(340px,90vw)}
#rc-values b{display:block}
#rc-values div{display:flex;justify-content:space-between;gap:18px}
#rc-values span+span{font-variant-numeric:tabular-nums;text-align:right}
p,summary{max-width:70em;color:var(--quiet)}
table{border-collapse:collapse;margin-top:8px;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:2px 12px;text-align:right;border-bottom:1px solid var(--edge)}
thead th{text-align:right;vertical-align:bottom;max-width:9em}
)css";

constexpr const char* kLightColours = "--paper:#fff;--ink:#1b1f24;--quiet:#57606a;--raised:#fff;--edge:#c6ccd3;--focus:#c2255c";
constexpr const char* kDarkColours = "--paper:#14171b;--ink:#e6e9ed;--quiet:#a3acb7;--raised:#22272e;--edge:#454d57;--focus:#ff8f73";

// Values appear for the pointer and for the arrow keys; the box is a live region, so that a screen reader says them.
constexpr const char* kScript = R"js(
"use strict";
const data = JSON.parse(document.getElementById("rc-data").textContent);
const picture = document.getElementById("rc-picture");
const svg = picture.querySelector("svg");
const box = document.getElementById("rc-values");
const cursor = document.createElementNS("http://www.w3.org/2000/svg", "rect");
cursor.setAttribute("class", "rc-cursor");
let chosen = null;

const span = (name, band) => name + " " + (band[0] === band[1] ? band[0] : band[0] + "–" + band[1]);
const share = (value) => (value === 0 ? "0" : value < 0.01 ? value.toPrecision(2) : value.toFixed(2));

// What is known of a cell: a heading, then pairs of label and value.
function describe(row, column) {
  const lines = [];
  const heading = span(data.rowName, data.rows[row]) + ", " + span(data.columnName, data.columns[column]);
  if (!data.rows[row][2]) return { heading, lines: [[data.missing, ""]] };
  const count = (which) => {
    const counts = data.counts[which].counts;
    return counts.length === data.rows.length ? counts[row] : counts[row * data.columns.length + column];
  };
  const isMissing = count(data.ratios[0].other) === 0;
  if (isMissing) return { heading, lines: [[data.missing, ""]] };
  for (const ratio of data.ratios) {
    const perRow = data.counts[ratio.other].counts.length === data.rows.length;
    const width = perRow ? data.columns[column][1] - data.columns[column][0] + 1 : 1;
    lines.push([ratio.label, share((ratio.factor * count(ratio.one)) / (count(ratio.other) * width)) + ratio.unit]);
  }
  data.counts.forEach((one, which) => lines.push([one.label, count(which).toLocaleString("en-US")]));
  return { heading, lines };
}

function hide() {
  box.style.opacity = 0;
  box.replaceChildren();
  cursor.remove();
}

// x, y: where on the window the box is wanted; it keeps inside.
function show(row, column, x, y) {
  const { heading, lines } = describe(row, column);
  const title = document.createElement("b");
  title.textContent = heading;
  box.replaceChildren(title);
  for (const [label, value] of lines) {
    const line = document.createElement("div");
    for (const text of [label, value]) line.appendChild(document.createElement("span")).textContent = text;
    box.appendChild(line);
  }
  const right = document.documentElement.clientWidth - box.offsetWidth - 4;
  const below = document.documentElement.clientHeight - box.offsetHeight - 4;
  box.style.left = Math.max(4, x + 16 > right ? Math.min(right, x - box.offsetWidth - 16) : x + 16) + "px";
  box.style.top = Math.max(4, y + 16 > below ? y - box.offsetHeight - 16 : y + 16) + "px";
  box.style.opacity = 1;
  cursor.setAttribute("x", data.left + column * data.cellWidth);
  cursor.setAttribute("y", data.top + row * data.cellHeight);
  cursor.setAttribute("width", data.cellWidth);
  cursor.setAttribute("height", data.cellHeight);
  svg.appendChild(cursor);
  chosen = [row, column];
}

picture.addEventListener("pointermove", (event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const row = Math.floor((at.y - data.top) / data.cellHeight);
  const column = Math.floor((at.x - data.left) / data.cellWidth);
  const isInside = row >= 0 && row < data.rows.length && column >= 0 && column < data.columns.length;
  if (isInside) show(row, column, event.clientX, event.clientY);
  else hide();
});
picture.addEventListener("pointerleave", hide);
picture.addEventListener("blur", hide);
picture.addEventListener("keydown", (event) => {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity] };
  if (event.key === "Escape") return hide();
  if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const [down, right] = chosen === null ? [0, 0] : steps[event.key];
  const [row, column] = chosen === null ? [0, 0] : chosen;
  const inside = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const next = [inside(row + down, data.rows.length), inside(column + right, data.columns.length)];
  const corner = new DOMPoint(data.left + (next[1] + 1) * data.cellWidth, data.top + (next[0] + 1) * data.cellHeight);
  const at = corner.matrixTransform(svg.getScreenCTM());
  show(next[0], next[1], at.x - 8, at.y - 8);
});
)js";

std::string data_of(const HeatMap& map, const HeatLayout& layout) {
  Json data;
  data["left"] = layout.left;
  data["top"] = layout.top;
  data["cellWidth"] = layout.cell_width;
  data["cellHeight"] = layout.cell_height;
  data["rowName"] = map.row_name;
  data["columnName"] = map.column_name;
  data["missing"] = map.missing_label;
  data["rows"] = Json::array();
  for (const AxisBand& band : map.rows) data["rows"].push_back({band.first, band.last, band.captured ? 1 : 0});
  data["columns"] = Json::array();
  for (const AxisBand& band : map.columns) data["columns"].push_back({band.first, band.last});
  data["counts"] = Json::array();
  for (const CellCounts& counts : map.counts) data["counts"].push_back({{"label", counts.label}, {"counts", counts.counts}});
  data["ratios"] = Json::array();
  for (const CellRatio& ratio : map.ratios) {
    data["ratios"].push_back({{"label", ratio.label}, {"one", ratio.one}, {"other", ratio.other}, {"factor", ratio.factor}, {"unit", ratio.unit}});
  }
  // Nothing in a script element may look like its end.
  std::string text = data.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

std::string table_of(const HeatMap& map) {
  std::string out = "<details><summary>Table of layers</summary>\n<table>\n<thead><tr>";
  for (const std::string& heading : map.table_heading) out += "<th scope=\"col\">" + escaped(heading) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : map.table) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "<th scope=\"row\">" : "<td>") + escaped(row[i]) + (i == 0 ? "</th>" : "</td>");
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></details>\n";
}

std::string page_style(Scheme scheme) {
  std::string out = std::string(":root{color-scheme:") +
                    (scheme == Scheme::kAuto   ? "light dark"
                     : scheme == Scheme::kDark ? "dark"
                                               : "light") +
                    ';' + (scheme == Scheme::kDark ? kDarkColours : kLightColours) + "}\n";
  if (scheme == Scheme::kAuto) out.append("@media (prefers-color-scheme:dark){:root{").append(kDarkColours).append("}}\n");
  return out + kPageStyle;
}

}  // namespace

std::string html_document(const HeatMap& map, Scheme scheme) {
  const HeatLayout layout = heat_layout(map);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"";
  out.append(kPolicy).append("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  out.append(escaped(map.title))
      .append("</title>\n<style>\n")
      .append(page_style(scheme))
      .append(heat_style(scheme))
      .append("</style>\n</head>\n<body>\n");
  out.append("<main>\n<h1>").append(escaped(map.title)).append("</h1>\n<div id=\"rc-picture\" tabindex=\"0\" role=\"group\" aria-label=\"");
  out.append(escaped(map.title)).append("; arrow keys tell the values of cells\">\n").append(heat_svg(map, layout, ""));
  out +=
      "</div>\n<div id=\"rc-values\" role=\"status\"></div>\n<p>Values appear under the pointer, or with the arrow keys once the picture has the "
      "focus.";
  out += "</p>\n" + table_of(map) + "</main>\n";
  out.append("<script type=\"application/json\" id=\"rc-data\">").append(data_of(map, layout)).append("</script>\n<script>").append(kScript);
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace routecap::cli
