// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace routecap::cli {
namespace {

/// Ranges listed in text; more are counted.
constexpr std::size_t kRangesShown = 20;

/// Names of the bits of a column's flags.
std::vector<std::string> flag_names(std::int32_t flags) {
  std::vector<std::string> names;
  if ((flags & RCAP_TAP_HASH_ROUTED) != 0) names.emplace_back("hash-routed");
  if ((flags & RCAP_TAP_UNORDERED) != 0) names.emplace_back("unordered");
  if ((flags & RCAP_TAP_PARTIAL) != 0) names.emplace_back("partial");
  return names;
}

bool is_frame(const Piece& piece) { return piece.format == RCAP_WIRE_FRAME || piece.format == RCAP_WIRE_FRAME_BASE64; }

std::string ranges_text(const std::vector<Range>& ranges) {
  std::string text;
  for (std::size_t i = 0; i < ranges.size() && i < kRangesShown; ++i) {
    text += text_of(i == 0 ? "" : ", ", ranges[i].begin);
    if (ranges[i].end - ranges[i].begin > 1) text += text_of('-', ranges[i].end - 1);
  }
  if (ranges.size() > kRangesShown) text += text_of(" and ", ranges.size() - kRangesShown, " more runs");
  return text;
}

std::int64_t total(const std::vector<Range>& ranges) {
  std::int64_t rows = 0;
  for (const Range& range : ranges) rows += range.end - range.begin;
  return rows;
}

Json ranges_json(const std::vector<Range>& ranges) {
  Json json = Json::array();
  for (const Range& range : ranges) json.push_back({range.begin, range.end});
  return json;
}

/// Columns of one kind of flag, as layer numbers.
std::string layers_with(const RecordView& view, std::int32_t flag) {
  std::vector<std::int32_t> layers;
  for (std::int64_t column = 0; column < view.columns(); ++column) {
    if ((view.layer_flags()[static_cast<std::size_t>(column)] & flag) != 0) layers.push_back(view.layer(column));
  }
  return runs_text(layers);
}

class Lines {
 public:
  template <class... Parts>
  void add(const char* name, const Parts&... parts) {
    const std::string label = std::string(name) + ':';
    text_ += label + std::string(label.size() < 12 ? 12 - label.size() : 1, ' ') + text_of(parts...) + '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_flags(Lines& lines, const RecordView& view) {
  constexpr std::pair<std::int32_t, const char*> kFlags[] = {{RCAP_TAP_HASH_ROUTED, "hash-routed (ids from no router)"},
                                                             {RCAP_TAP_UNORDERED, "unordered (ranks mean nothing)"},
                                                             {RCAP_TAP_PARTIAL, "partial (may be idle on some rows)"}};
  for (const auto& [flag, name] : kFlags) {
    const std::string layers = layers_with(view, flag);
    if (!layers.empty()) lines.add("flags", name, ": layers ", layers);
  }
}

void add_missing(Lines& lines, const RecordView& view) {
  const std::vector<Range> rows = view.missing_rows();
  if (rows.empty()) {
    lines.add("missing", "no row");
  } else {
    lines.add("missing", count_text(total(rows), "row", "rows"), " of ", view.rows(), ": ", ranges_text(rows));
  }
  if (view.info().has_cell_validity == 0) return;
  for (std::int64_t column = 0; column < view.columns(); ++column) {
    const std::vector<Range> cells = view.missing_cells(column);
    if (!cells.empty())
      lines.add("", "layer ", view.layer(column), " in ", count_text(total(cells), "more row", "more rows"), ": ", ranges_text(cells));
  }
}

}  // namespace

std::string describe_text(const Contents& contents, const Piece& piece, const RecordView& view) {
  const rcap_record_info& info = view.info();
  Lines lines;
  lines.add("file", contents.name, piece.where.empty() ? "" : ", ", piece.where);
  lines.add("form", rcap_wire_format_name(piece.format), ", ", bytes_text(piece.bytes));
  if (is_frame(piece)) lines.add("checksums", "header and every part agree");
  const char* derived = piece.start_derived ? ", start derived from the token counts" : "";
  if (info.rows > 0) {
    lines.add("rows", info.rows, " (positions ", info.start, " to ", view.positions().end - 1, ")", derived);
  } else {
    lines.add("rows", "0 (start ", info.start, ")", derived);
  }
  if (piece.tokens >= 0) lines.add("tokens", piece.tokens, ", as the answer counts them");
  lines.add("layers", info.num_layers, " (", runs_text({view.layer_ids().begin(), view.layer_ids().end()}), ")");
  lines.add("experts", info.num_experts, ", ", info.top_k, " per token and layer");
  lines.add("ids", dtype_name(info.ids_dtype), ", ", bytes_text(view.ids_bytes()));
  if (view.has_weights()) {
    lines.add("weights", dtype_name(info.weights_dtype), ", ", weights_kind_name(info.weights_kind), ", ", bytes_text(view.weights_bytes()));
  } else {
    lines.add("weights", "none");
  }
  add_flags(lines, view);
  add_missing(lines, view);
  const std::vector<VersionSpan> spans = view.version_spans();
  for (std::size_t i = 0; i < spans.size() && i < kRangesShown; ++i) {
    lines.add(i == 0 ? "versions" : "", positions_text(spans[i].begin, spans[i].end), ": weights of version ", spans[i].version);
  }
  if (spans.size() > kRangesShown) lines.add("", spans.size() - kRangesShown, " more spans");
  return lines.text();
}

Json describe_json(const Piece& piece, const RecordView& view) {
  const rcap_record_info& info = view.info();
  Json json;
  json["where"] = piece.where;
  json["form"] = rcap_wire_format_name(piece.format);
  json["offset"] = piece.offset;
  json["bytes"] = piece.bytes;
  json["checksum"] = is_frame(piece) ? Json("good") : Json();
  json["start"] = info.start;
  json["start_derived"] = piece.start_derived;
  json["rows"] = info.rows;
  json["rows_valid"] = info.rows_valid;
  json["tokens"] = piece.tokens >= 0 ? Json(piece.tokens) : Json();
  json["num_layers"] = info.num_layers;
  json["top_k"] = info.top_k;
  json["num_experts"] = info.num_experts;
  json["ids_dtype"] = dtype_name(info.ids_dtype);
  json["ids_bytes"] = view.ids_bytes();
  json["weights_dtype"] = view.has_weights() ? Json(dtype_name(info.weights_dtype)) : Json();
  json["weights_kind"] = view.has_weights() ? Json(weights_kind_name(info.weights_kind)) : Json();
  json["weights_bytes"] = view.weights_bytes();
  json["missing_rows"] = ranges_json(view.missing_rows());
  Json layers = Json::array();
  for (std::int64_t column = 0; column < view.columns(); ++column) {
    layers.push_back({{"layer", view.layer(column)},
                      {"flags", flag_names(view.layer_flags()[static_cast<std::size_t>(column)])},
                      {"missing_in_valid_rows", ranges_json(view.missing_cells(column))}});
  }
  json["layers"] = std::move(layers);
  Json spans = Json::array();
  for (const VersionSpan& span : view.version_spans()) {
    spans.push_back({{"start", span.begin}, {"end", span.end}, {"weight_version", span.version}});
  }
  json["version_spans"] = std::move(spans);
  return json;
}

}  // namespace routecap::cli
