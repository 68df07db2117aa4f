// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "load.h"
#include "load_statistics.h"
#include "markup.h"
#include "options.h"
#include "print.h"
#include "progress.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

constexpr const char* kMeaning =
    "What the columns mean; rows and cells that were not captured count nowhere:\n"
    "  cells      rows in which the layer was captured; missing: the other rows\n"
    "  load       of an expert: how often it was chosen; with --weighted, the sum of its weights\n"
    "  imbalance  largest load / mean load over all E experts, chosen or not: 1 is even\n"
    "  entropy    in bits, of the experts' shares of the load: log2(E) is even, 0 one expert alone\n"
    "  cv         coefficient of variation: standard deviation of the E loads (over E) / their mean\n"
    "  used       experts whose load is not 0\n"
    "  reuse      of all experts of the rows whose previous row (token position - 1) was captured too,\n"
    "             the share that the previous row had as well; order does not matter, and an expert\n"
    "             counts once a row\n"
    "  pairs      two experts in one cell, the cells that hold both, and the lift: these cells / those\n"
    "             expected if the two had nothing to do with each other, which is cells with the one *\n"
    "             cells with the other / all cells";

struct Options {
  std::string path;
  LoadOptions load;
  PrintOptions print;
  bool csv = false;
  std::string table = "layers";
  bool weighted = false;
  std::int64_t busiest = 5;
  std::int64_t pairs = 3;
};

/// All of a number's digits, so that it reads back as the same one.
std::string exact(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string exact(const std::optional<double>& value) { return value ? exact(*value) : ""; }

std::string shown(const std::optional<double>& value, int decimals) { return value ? fixed_text(*value, decimals) : "-"; }

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// Counts are whole numbers and are shown as such.
Json load_json(double load, bool weighted) { return weighted ? Json(load) : Json(static_cast<std::int64_t>(load)); }

double load_of(const LayerStatistics& layer, std::int32_t expert) { return layer.load[static_cast<std::size_t>(expert)]; }

double mean_of(const LayerStatistics& layer) { return layer.total / static_cast<double>(layer.load.size()); }

std::string text_of_layers(const RecordView& record, const std::vector<LayerStatistics>& layers, const Options& options) {
  std::string out = text_of("rows: ", record.rows(), " from position ", record.start(), ", ", record.info().rows_valid, " captured\n");
  out += text_of("experts: top ", record.top_k(), " of ", record.num_experts(), "; even load would be an entropy of ",
                 number_text(std::log2(record.num_experts()), 3), " bits\n");
  out += options.weighted ? text_of("load: sum of weights (", weights_kind_name(record.info().weights_kind), ")\n\n") : "load: choices\n\n";
  std::vector<std::string> heading{"layer", "cells", "missing", "imbalance", "entropy", "cv", "used", "reuse"};
  if (options.busiest > 0) heading.emplace_back("busiest experts, share of load");
  if (options.pairs > 0) heading.emplace_back("pairs, cells, x lift");
  Table table(std::move(heading));
  for (const LayerStatistics& layer : layers) {
    std::vector<std::string> cells{std::to_string(layer.layer) + ((layer.flags & RCAP_TAP_HASH_ROUTED) != 0 ? " (hash-routed)" : ""),
                                   std::to_string(layer.cells),
                                   std::to_string(record.rows() - layer.cells),
                                   shown(layer.imbalance, 2),
                                   shown(layer.entropy, 3),
                                   shown(layer.variation, 3),
                                   std::to_string(layer.used),
                                   layer.reuse ? fixed_text(100 * *layer.reuse, 1) + " %" : "-"};
    if (options.busiest > 0) {
      std::string text;
      for (const std::int32_t expert : busiest(layer, static_cast<std::size_t>(options.busiest))) {
        text += text_of(text.empty() ? "" : ", ", '#', expert, ' ', fixed_text(100 * load_of(layer, expert) / layer.total, 1), " %");
      }
      cells.push_back(text.empty() ? "-" : text);
    }
    if (options.pairs > 0) {
      std::string text;
      for (const ExpertPair& pair : layer.pairs) {
        text += text_of(text.empty() ? "" : ", ", '#', pair.first, "+#", pair.second, ' ', pair.cells, " x", fixed_text(pair.lift, 1));
      }
      cells.push_back(text.empty() ? "-" : text);
    }
    table.add(std::move(cells));
  }
  return out + table.text();
}

Json json_of_layer(const LayerStatistics& layer, const RecordView& record, const Options& options) {
  Json json{{"layer", layer.layer},
            {"hash_routed", (layer.flags & RCAP_TAP_HASH_ROUTED) != 0},
            {"cells", layer.cells},
            {"cells_missing", record.rows() - layer.cells},
            {"total", load_json(layer.total, options.weighted)},
            {"mean", mean_of(layer)},
            {"max", load_json(layer.largest, options.weighted)},
            {"imbalance", json_of(layer.imbalance)},
            {"entropy_bits", json_of(layer.entropy)},
            {"cv", json_of(layer.variation)},
            {"experts_used", layer.used},
            {"reuse", json_of(layer.reuse)}};
  json["busiest"] = Json::array();
  for (const std::int32_t expert : busiest(layer, static_cast<std::size_t>(options.busiest))) {
    json["busiest"].push_back({{"expert", expert}, {"load", load_json(load_of(layer, expert), options.weighted)}});
  }
  json["pairs"] = Json::array();
  for (const ExpertPair& pair : layer.pairs) {
    json["pairs"].push_back({{"experts", {pair.first, pair.second}}, {"cells", pair.cells}, {"lift", pair.lift}});
  }
  json["load"] = Json::array();
  for (const double load : layer.load) json["load"].push_back(load_json(load, options.weighted));
  return json;
}

std::string csv_of_layers(const RecordView& record, const std::vector<LayerStatistics>& layers) {
  std::string out = "layer,cells,cells_missing,total,mean,max,imbalance,entropy_bits,cv,experts_used,reuse\n";
  for (const LayerStatistics& layer : layers) {
    out += text_of(layer.layer, ',', layer.cells, ',', record.rows() - layer.cells, ',', exact(layer.total), ',', exact(mean_of(layer)), ',',
                   exact(layer.largest), ',', exact(layer.imbalance), ',', exact(layer.entropy), ',', exact(layer.variation), ',', layer.used, ',',
                   exact(layer.reuse), '\n');
  }
  return out;
}

std::string csv_of_load(const std::vector<LayerStatistics>& layers) {
  std::string out = "layer,expert,load\n";
  for (const LayerStatistics& layer : layers) {
    for (std::size_t expert = 0; expert < layer.load.size(); ++expert) out += text_of(layer.layer, ',', expert, ',', exact(layer.load[expert]), '\n');
  }
  return out;
}

std::string csv_of_pairs(const std::vector<LayerStatistics>& layers) {
  std::string out = "layer,expert,other_expert,cells,lift\n";
  for (const LayerStatistics& layer : layers) {
    for (const ExpertPair& pair : layer.pairs) {
      out += text_of(layer.layer, ',', pair.first, ',', pair.second, ',', pair.cells, ',', exact(pair.lift), '\n');
    }
  }
  return out;
}

ExitCode stats(const Options& options) {
  const Loaded loaded = load_one(options.path, options.load);
  const RecordView record(loaded.record.get());
  Progress progress("counting", record.columns());
  const std::vector<LayerStatistics> layers =
      load_statistics(record, {options.weighted, options.pairs}, [&](std::int64_t done) { progress.advance(done); });
  if (options.print.json) {
    Json json{{"start", record.start()},         {"rows", record.rows()},   {"rows_valid", record.info().rows_valid},
              {"experts", record.num_experts()}, {"top_k", record.top_k()}, {"load", options.weighted ? "weights" : "choices"}};
    json["entropy_limit_bits"] = std::log2(record.num_experts());
    json["layers"] = Json::array();
    for (const LayerStatistics& layer : layers) json["layers"].push_back(json_of_layer(layer, record, options));
    print_json(options.print, json);
  } else if (options.csv) {
    print_text(options.print, options.table == "load"    ? csv_of_load(layers)
                              : options.table == "pairs" ? csv_of_pairs(layers)
                                                         : csv_of_layers(record, layers));
  } else {
    print_text(options.print, text_of_layers(record, layers, options));
  }
  return kDone;
}

}  // namespace

Action setup_stats(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  add_print_options(parser, options->print);
  parser.add_flag("--csv", &options->csv, "comma-separated values instead of text, a heading line first").excludes = {"--json"};
  parser
      .add_choice("--table", &options->table, "what --csv writes: a line a layer, if not given; a line a layer and expert; or the pairs", "TABLE",
                  {"layers", "load", "pairs"})
      .needs = {"--csv"};
  parser.add_flag("--weighted", &options->weighted, "load is the sum of routing weights instead of the number of choices");
  parser.add_value("--busiest", &options->busiest, "how many of the busiest experts a layer shows; 5 if not given", "N", whole_number(0, INT64_MAX));
  parser.add_value("--pairs", &options->pairs, "how many of the most frequent pairs a layer shows; 3 if not given, 0 counts none", "N",
                   whole_number(0, INT64_MAX));
  add_load_options(parser, options->load);
  parser.footer(kMeaning);
  return [options] { return stats(*options); };
}

}  // namespace routecap::cli
