// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "findings.h"
#include "load.h"
#include "options.h"
#include "print.h"

namespace routecap::cli {
namespace {

struct Options {
  std::string path;
  LoadOptions load;
  PrintOptions print;
  bool complete = false;
  std::int64_t limit = 1000;
};

/// Findings of one record of an input.
struct Checked {
  std::string where;
  Json facts;
  std::vector<Finding> findings;
};

bool is_content_fault(rcap_status status) {
  return status == RCAP_STATUS_CORRUPT || status == RCAP_STATUS_OUT_OF_RANGE || status == RCAP_STATUS_VERSION_MISMATCH;
}

/// Cells that valid rows lack.
std::int64_t missing_cells(const RecordView& view) {
  std::int64_t count = 0;
  for (std::int64_t column = 0; view.info().has_cell_validity != 0 && column < view.columns(); ++column) {
    for (const Range& rows : view.missing_cells(column)) count += rows.end - rows.begin;
  }
  return count;
}

/// What nobody said and the counts of an answer made (R1).
std::string derived_text(const RecordView& view, std::int64_t tokens) {
  const Range all = view.positions();
  const std::int64_t last = tokens - 2;
  if (view.rows() == 0) return text_of("start derived from the token counts: no row, of positions 0 to ", last);
  return text_of("start derived from the token counts: rows cover positions ", all.begin, " to ", all.end - 1, " of 0 to ", last);
}

Checked check(const Loaded& loaded, const Options& options) {
  const RecordView view(loaded.record.get());
  CheckOptions checks;
  const bool frame = loaded.piece.format == RCAP_WIRE_FRAME || loaded.piece.format == RCAP_WIRE_FRAME_BASE64;
  checks.num_experts = options.load.num_experts > 0 && !frame ? options.load.num_experts : view.num_experts();
  checks.tokens = loaded.piece.tokens;
  checks.prompt_tokens = loaded.piece.prompt_tokens;
  checks.start_derived = loaded.piece.start_derived;
  checks.complete = options.complete;
  Checked checked;
  checked.where = loaded.piece.where;
  checked.facts = {{"where", loaded.piece.where},
                   {"form", rcap_wire_format_name(loaded.piece.format)},
                   {"start", view.start()},
                   {"start_derived", loaded.piece.start_derived},
                   {"note", loaded.piece.start_derived ? Json(derived_text(view, loaded.piece.tokens)) : Json()},
                   {"rows", view.rows()},
                   {"rows_missing", view.rows() - view.info().rows_valid},
                   {"cells_missing", missing_cells(view)},
                   {"num_layers", view.columns()},
                   {"top_k", view.top_k()},
                   {"num_experts", checks.num_experts}};
  checked.findings = findings_of(view, checks);
  return checked;
}

/// What could not even be read, as a finding. @param where  empty = the input as a whole
Checked unreadable(const std::string& why, const std::string& where) {
  Checked checked;
  checked.facts = {{"where", where.empty() ? Json() : Json(where)}, {"form", where.starts_with("frame") ? Json("frame") : Json()}};
  checked.findings.push_back({"unreadable", {}, {}, why, "", ""});
  return checked;
}

Json finding_json(const Finding& finding) {
  Json json{{"kind", finding.kind}, {"layers", finding.layers}, {"rows", nullptr},
            {"what", finding.what}, {"cause", finding.cause},   {"rule", finding.rule}};
  if (finding.rows.end > finding.rows.begin) json["rows"] = {finding.rows.begin, finding.rows.end};
  json["text"] = finding_text(finding);
  return json;
}

void print(const Options& options, const std::string& name, const std::vector<Checked>& all, std::int64_t count) {
  std::int64_t left = options.limit == 0 ? INT64_MAX : options.limit;
  if (options.print.json) {
    Json records = Json::array();
    for (const Checked& checked : all) {
      Json findings = Json::array();
      for (const Finding& finding : checked.findings) {
        if (left-- > 0) findings.push_back(finding_json(finding));
      }
      Json record = checked.facts;
      record["findings"] = std::move(findings);
      records.push_back(std::move(record));
    }
    print_json(options.print, {{"file", name}, {"findings", count}, {"records", std::move(records)}});
    return;
  }
  std::string text;
  for (const Checked& checked : all) {
    for (const Finding& finding : checked.findings) {
      if (left-- <= 0) continue;
      if (!checked.where.empty()) text += checked.where + ": ";
      text += finding_text(finding) + "\n";
    }
  }
  if (count == 0) {
    text = name + ": nothing found";
    for (const Checked& checked : all) {
      text += text_of(&checked == &all.front() ? " in " : "; ", checked.facts["rows"].get<std::int64_t>(), " rows of ",
                      checked.facts["num_layers"].get<std::int64_t>(), " layers");
      const auto missing = [&checked, &text](const char* fact, const char* one, const char* many) {
        const auto rows = checked.facts[fact].get<std::int64_t>();
        if (rows > 0) text += ", " + count_text(rows, one, many) + " missing";
      };
      missing("rows_missing", "row", "rows");
      missing("cells_missing", "more layer of a row", "more layers of rows");
      if (!checked.facts["note"].is_null()) text += ", " + checked.facts["note"].get<std::string>();
    }
    text += "\n";
  } else if (left < 0) {
    text += text_of(-left, " more; --limit 0 shows all\n");
  }
  print_text(options.print, text);
}

ExitCode validate(const Options& options) {
  std::vector<Checked> all;
  std::string name = options.path == "-" ? "standard input" : options.path;
  try {
    const Contents contents = load_all(options.path, options.load, IdRange::kAny);
    name = contents.name;
    for (const Loaded& loaded : contents.records) all.push_back(check(loaded, options));
    if (!contents.broken.empty()) all.push_back(unreadable(contents.broken, contents.broken_where));
  } catch (const LibraryFailure& failure) {
    if (!is_content_fault(failure.status())) throw;
    all.push_back(unreadable(failure.what(), ""));
  }
  std::int64_t count = 0;
  for (const Checked& checked : all) count += static_cast<std::int64_t>(checked.findings.size());
  print(options, name, all, count);
  return count == 0 ? kDone : kFindings;
}

}  // namespace

Action setup_validate(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  add_print_options(parser, options->print);
  parser.add_flag("--complete", &options->complete, "missing rows are findings too");
  parser.add_value("--limit", &options->limit, "findings to show, 0 = all; 1000 if not given", "N", whole_number(0, INT64_MAX));
  add_load_options(parser, options->load);
  parser.footer(
      "One finding a line, with layers, token positions, likely cause and rule; the manual lists them. Exit code: 0 nothing found, 1 something "
      "found, 2 and 3 "
      "it\n"
      "could not be looked at.");
  return [options] { return validate(*options); };
}

}  // namespace routecap::cli
