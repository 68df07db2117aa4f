// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "heat_options.h"
#include "load.h"
#include "markup.h"
#include "options.h"
#include "output.h"
#include "print.h"
#include "record_diff.h"

namespace routecap::cli {
namespace {

struct Options {
  std::string first;
  std::string second;
  LoadOptions load;
  PrintOptions print;
  bool ids_only = false;
  std::int64_t limit = 10;
  PictureOptions picture;
  bool as_sets = false;
};

/// A record of the same ids and holes, without weights, flags and versions: what foreign forms keep. Every column is PARTIAL in it.
RecordHandle ids_alone(const RecordView& view) {
  auto layout = make(rcap_record_layout_init);
  layout.start = view.start();
  layout.rows = view.rows();
  layout.num_experts = view.num_experts();
  layout.top_k = view.info().top_k;
  const std::vector<std::int32_t> flags(view.layer_ids().size(), RCAP_TAP_PARTIAL);
  std::vector<std::uint8_t> validity(static_cast<std::size_t>((view.rows() + 7) / 8 + (view.rows() * view.columns() + 7) / 8));
  std::uint8_t* rows = validity.data();
  std::uint8_t* cells = rows + (view.rows() + 7) / 8;
  const auto set = [](std::uint8_t* bitmap, std::int64_t index) {
    bitmap[index / 8] = static_cast<std::uint8_t>(bitmap[index / 8] | (1U << (index % 8)));
  };
  for (std::int64_t row = 0; row < view.rows(); ++row) {
    if (!view.row_valid(row)) continue;
    set(rows, row);
    for (std::int64_t column = 0; column < view.columns(); ++column) {
      if (view.cell_valid(row, column)) set(cells, row * view.columns() + column);
    }
  }
  const std::string_view ids = view.rows() == 0 ? std::string_view() : view.cell_bytes(0, 0, view.rows() * view.columns());
  return make_record([&](rcap_record** made, rcap_error* error) {
    return rcap_record_create(&layout, view.layer_ids().data(), view.columns(), flags.data(), view.columns(), ids.data(),
                              static_cast<std::int64_t>(ids.size()), nullptr, 0, validity.data(), static_cast<std::int64_t>(validity.size()), made,
                              error);
  });
}

/// Facts that make the shapes of two records different.
std::vector<std::string> shape_differences(const RecordView& a, const RecordView& b) {
  std::vector<std::string> found;
  const auto compare = [&found](const char* name, const auto& left, const auto& right) {
    if (left != right) found.push_back(text_of(name, ": ", left, " and ", right));
  };
  const auto layers = [](const RecordView& view) { return runs_text({view.layer_ids().begin(), view.layer_ids().end()}); };
  const auto flags = [](const RecordView& view) {
    std::string text;
    for (const std::int32_t flag : view.layer_flags()) text += text_of(text.empty() ? "" : ",", flag);
    return text;
  };
  compare("experts", a.num_experts(), b.num_experts());
  compare("top-k", a.top_k(), b.top_k());
  compare("layers", layers(a), layers(b));
  compare("weights", std::string(dtype_name(a.info().weights_dtype)), std::string(dtype_name(b.info().weights_dtype)));
  if (found.empty() && layers(a) == layers(b)) compare("layer flags", flags(a), flags(b));
  // A record has a kind of weights also where it has none, and the library compares it.
  const std::size_t before = found.size();
  compare("weights kind", std::string(weights_kind_name(a.info().weights_kind)), std::string(weights_kind_name(b.info().weights_kind)));
  if (found.size() > before && !a.has_weights() && !b.has_weights()) found.back() += ", although neither has weights";
  return found;
}

const char* state_name(CellState state) {
  switch (state) {
    case CellState::kOtherOrder: return "another order";
    case CellState::kOtherIds: return "other ids";
    case CellState::kOnlyFirst: return "missing in the second";
    case CellState::kOnlySecond: return "missing in the first";
    default: return "the same";
  }
}

Json ids_json(const RecordView& view, std::int64_t position, std::int64_t column) {
  if (!view.cell_valid(position - view.start(), column)) return nullptr;
  Json ids = Json::array();
  for (std::int64_t rank = 0; rank < view.top_k(); ++rank) ids.push_back(view.id(position - view.start(), column, rank));
  return ids;
}

std::string ids_text(const RecordView& view, std::int64_t position, std::int64_t column) {
  if (!view.cell_valid(position - view.start(), column)) return "missing";
  std::string text;
  for (std::int64_t rank = 0; rank < view.top_k(); ++rank) text += text_of(rank == 0 ? "" : " ", view.id(position - view.start(), column, rank));
  return text;
}

Json diff_json(const Options& options, const RecordDiff& diff, const RecordView& a, const RecordView& b) {
  const rcap_compare_report& report = diff.report;
  Json json{{"first", options.first},
            {"second", options.second},
            {"equal", report.equal == 1},
            {"same_shape", report.same_shape == 1},
            {"shape_differences", shape_differences(a, b)},
            {"start", report.start},
            {"rows", report.rows},
            {"rows_only_first", report.rows_only_first},
            {"rows_only_second", report.rows_only_second},
            {"cells", report.cells},
            {"cells_only_first", report.cells_only_first},
            {"cells_only_second", report.cells_only_second},
            {"cells_differ", report.cells_differ},
            {"cells_differ_as_sets", report.cells_differ_as_sets},
            {"cells_differ_in_weights", report.cells_differ_in_weights},
            {"rows_differ_in_version", report.rows_differ_in_version}};
  Json layers = Json::array();
  for (const LayerDiff& layer : diff.layers) {
    layers.push_back({{"layer", layer.layer},
                      {"cells", layer.cells},
                      {"differ", layer.differ},
                      {"differ_as_sets", layer.differ_sets},
                      {"only_first", layer.only_first},
                      {"only_second", layer.only_second}});
  }
  json["layers"] = std::move(layers);
  Json first = Json::array();
  for (const CellDiff& cell : diff.first) {
    first.push_back({{"row", cell.position},
                     {"layer", a.layer(cell.column)},
                     {"how", state_name(cell.state)},
                     {"first", ids_json(a, cell.position, cell.column)},
                     {"second", ids_json(b, cell.position, cell.column)}});
  }
  json["differences"] = std::move(first);
  return json;
}

std::string layers_text(const RecordDiff& diff) {
  Table table({"layer", "cells", "differ", "as sets", "only first", "only second"});
  bool any = false;
  for (const LayerDiff& layer : diff.layers) {
    if (layer.differ + layer.only_first + layer.only_second == 0) continue;
    any = true;
    table.add({std::to_string(layer.layer), std::to_string(layer.cells), std::to_string(layer.differ), std::to_string(layer.differ_sets),
               std::to_string(layer.only_first), std::to_string(layer.only_second)});
  }
  return any ? "\n" + table.text() : std::string();
}

std::string diff_text(const Options& options, const RecordDiff& diff, const RecordView& a, const RecordView& b) {
  const rcap_compare_report& report = diff.report;
  if (report.equal == 1) return text_of("the same: ", report.rows, " rows of ", a.columns(), " layers\n");
  std::string text;
  if (report.same_shape == 0) {
    text = "the shapes differ, rows are not compared:\n";
    for (const std::string& line : shape_differences(a, b)) text += "  " + line + "\n";
    return text + "  (--ids-only leaves weights, flags and versions out)\n";
  }
  text += text_of("rows:     ", report.rows, " in both");
  if (report.rows > 0) text += text_of(" (", positions_text(report.start, report.start + report.rows), ')');
  text += text_of(", ", report.rows_only_first, " only in the first, ", report.rows_only_second, " only in the second\n");
  text += text_of("cells:    ", report.cells, " in both, ", report.cells_differ, " differ, ", report.cells_differ_as_sets, " of them also as sets; ",
                  report.cells_only_first, " only in the first, ", report.cells_only_second, " only in the second\n");
  if (a.has_weights()) text += text_of("weights:  ", report.cells_differ_in_weights, " cells differ\n");
  if (a.layer_flags().size() == b.layer_flags().size() && !std::equal(a.layer_flags().begin(), a.layer_flags().end(), b.layer_flags().begin())) {
    text += text_of(shape_differences(a, b).front(), '\n');
  }
  if (report.rows_differ_in_version > 0) text += text_of("versions: ", report.rows_differ_in_version, " rows differ\n");
  text += layers_text(diff);
  if (!diff.first.empty()) text += "\nfirst differences (" + options.first + " | " + options.second + "):\n";
  for (const CellDiff& cell : diff.first) {
    text += text_of("position ", cell.position, ", layer ", a.layer(cell.column), ": ", ids_text(a, cell.position, cell.column), " | ",
                    ids_text(b, cell.position, cell.column), "; ", state_name(cell.state), '\n');
  }
  return text;
}

void draw(const Options& options, const RecordDiff& diff, const RecordView& a, const RecordView& b) {
  if (diff.report.same_shape == 0)
    refuse("--heatmap: the shapes of the records differ (", shape_differences(a, b).front(), "): there is nothing to draw");
  HeatOptions heat = heat_options(options.picture);
  if (heat.title.empty()) {
    heat.title = "Where they part: " + printable(name_of_input(options.first)) + " and " + printable(name_of_input(options.second));
  }
  write_picture(difference_map(a, b, options.as_sets, heat), picture_form(options.picture), options.picture);
}

ExitCode diff(const Options& options) {
  // An output that cannot be is told before anything is read.
  const bool is_drawn = !options.picture.output.empty();
  if (is_drawn) static_cast<void>(picture_form(options.picture));
  if (is_drawn && options.picture.output == "-" && options.print.output == "-") {
    refuse("--heatmap: picture and text would both go to standard output; send one to a file, the text with -o");
  }
  if (is_drawn && is_same_file(options.picture.output, options.print.output)) {
    refuse("--heatmap: picture and text would both go to ", options.picture.output, "; give them different names");
  }
  RecordHandle first = load_one(options.first, options.load).record;
  RecordHandle second = load_one(options.second, options.load).record;
  if (options.ids_only) {
    first = ids_alone(RecordView(first.get()));
    second = ids_alone(RecordView(second.get()));
  }
  const RecordDiff found = diff_of(first.get(), second.get(), options.limit == 0 ? INT64_MAX : options.limit);
  const RecordView a(first.get());
  const RecordView b(second.get());
  if (is_drawn) draw(options, found, a, b);
  if (options.print.json) {
    print_json(options.print, diff_json(options, found, a, b));
  } else {
    print_text(options.print, diff_text(options, found, a, b));
  }
  return found.report.equal == 1 ? kDone : kFindings;
}

}  // namespace

Action setup_diff(Parser& parser) {
  auto options = std::make_shared<Options>();
  options->load.several_inputs = true;
  add_input(parser, options->first, "FIRST");
  add_input(parser, options->second, "SECOND");
  add_print_options(parser, options->print);
  parser.add_flag("--ids-only", &options->ids_only, "compare ids and holes alone: leave out weights, layer flags and weight versions");
  parser.add_value("--limit", &options->limit, "how many cells that differ to list, 0 = all; 10 if not given", "N", whole_number(0, INT64_MAX));
  parser.add_value("--heatmap", &options->picture.output, "draw where they part, as a picture: .svg or .html, or - for standard output", "FILE");
  parser.add_flag("--as-sets", &options->as_sets, "in the picture, leave out the order of the ids of a cell").needs = {"--heatmap"};
  add_picture_options(parser, options->picture);
  for (const char* name : {"--as", "--scheme", "--title", "--max"}) parser.option(name).needs = {"--heatmap"};
  add_load_options(parser, options->load);
  parser.footer(
      "Exit code: 0 both are the same, 1 they differ, 2 and 3 they could not be compared.\n"
      "\n"
      "The picture has layers from top to bottom and token positions from left to right; its colour is the\n"
      "share of the cells there that differ, or that only one of the records has. Of all pairs of axes this\n"
      "one tells most: a band across says which layer was captured otherwise (a bypassed tap, a draft), a\n"
      "band down which rows were (a prefix, a padded or stale run), and an edge where they part for good.\n"
      "More than 512 positions are drawn in groups; `heatmap` of each record compares experts.");
  return [options] { return diff(*options); };
}

}  // namespace routecap::cli
