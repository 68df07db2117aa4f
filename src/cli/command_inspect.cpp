// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "describe.h"
#include "load.h"
#include "options.h"
#include "print.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

struct Options {
  std::string path;
  LoadOptions load;
  PrintOptions print;
};

std::string weight_text(double weight) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.4g", weight);
  return digits.data();
}

/// One line per row and layer; ids of a row that is missing are a dash.
std::string rows_table(const RecordView& view, Range shown) {
  std::vector<std::string> heading{"position", "layer", "ids"};
  if (view.has_weights()) heading.emplace_back("weights");
  Table table(std::move(heading));
  for (std::int64_t position = shown.begin; position < shown.end; ++position) {
    const std::int64_t row = position - view.start();
    if (!view.row_valid(row)) {
      table.add({std::to_string(position), "all", "missing"});
      continue;
    }
    for (std::int64_t column = 0; column < view.columns(); ++column) {
      std::vector<std::string> cells{std::to_string(position), std::to_string(view.layer(column))};
      if (view.cell_valid(row, column)) {
        std::string ids;
        std::string weights;
        for (std::int64_t rank = 0; rank < view.top_k(); ++rank) {
          const char* gap = rank == 0 ? "" : " ";
          ids.append(gap).append(std::to_string(view.id(row, column, rank)));
          if (view.has_weights()) weights.append(gap).append(weight_text(view.weight(row, column, rank)));
        }
        cells.push_back(std::move(ids));
        if (view.has_weights()) cells.push_back(std::move(weights));
      } else {
        cells.emplace_back("missing");
      }
      table.add(std::move(cells));
    }
  }
  return table.text();
}

/// Every row of the range: its position, and ids and weights [layers][K]; null where a row or cell is missing.
Json rows_json(const RecordView& view, Range shown) {
  Json rows = Json::array();
  for (std::int64_t position = shown.begin; position < shown.end; ++position) {
    const std::int64_t row = position - view.start();
    Json line{{"row", position}, {"ids", nullptr}};
    if (view.has_weights()) line["weights"] = nullptr;
    if (view.row_valid(row)) {
      Json ids = Json::array();
      Json weights = Json::array();
      for (std::int64_t column = 0; column < view.columns(); ++column) {
        Json cell_ids;
        Json cell_weights;
        if (view.cell_valid(row, column)) {
          for (std::int64_t rank = 0; rank < view.top_k(); ++rank) {
            cell_ids.push_back(view.id(row, column, rank));
            if (view.has_weights()) cell_weights.push_back(view.weight(row, column, rank));
          }
        }
        ids.push_back(std::move(cell_ids));
        weights.push_back(std::move(cell_weights));
      }
      line["ids"] = std::move(ids);
      if (view.has_weights()) line["weights"] = std::move(weights);
    }
    rows.push_back(std::move(line));
  }
  return rows;
}

ExitCode inspect(Options options) {
  // `--rows 12` says how many rows there are, `--rows 3:7` which ones to show.
  std::string shown;
  if (options.load.rows.find(':') != std::string::npos) std::swap(shown, options.load.rows);
  const Contents contents = load_all(options.path, options.load);
  Json records = Json::array();
  std::string text;
  for (const Loaded& loaded : contents.records) {
    const RecordView view(loaded.record.get());
    Json facts = describe_json(loaded.piece, view);
    if (!text.empty()) text += '\n';
    text += describe_text(contents, loaded.piece, view);
    if (!shown.empty()) {
      const Range range = range_of(shown, "--rows", view.positions());
      if (options.print.json) {
        facts["table"] = rows_json(view, range);
      } else {
        text.append("\n").append(rows_table(view, range));
      }
    }
    records.push_back(std::move(facts));
  }
  if (options.print.json) {
    Json json{{"file", contents.name}, {"bytes", contents.bytes}, {"records", std::move(records)}};
    json["broken"] = contents.broken.empty() ? Json() : Json(contents.broken);
    print_json(options.print, json);
  } else {
    print_text(options.print, text);
  }
  if (!contents.broken.empty())
    refuse(contents.broken, contents.records.size() == 1 ? "; the record shown is whole" : "; the records shown are whole");
  return kDone;
}

}  // namespace

Action setup_inspect(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  add_print_options(parser, options->print);
  add_load_options(parser, options->load);
  Option& rows = parser.option("--rows");
  rows.placeholder = "N|A:B";
  rows.help = "number of rows; or, as A:B, the token positions [A, B) to show as a table";
  parser.footer(
      "A file may hold many frames: all are shown. One that is cut off at the end, or an event of a stream that is no JSON, is told on standard "
      "error,\n"
      "behind the records that can be read, and the exit code is 2.");
  return [options] { return inspect(*options); };
}

}  // namespace routecap::cli
