// SPDX-License-Identifier: Apache-2.0
#include "findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "print.h"
#include "progress.h"

namespace routecap::cli {
namespace {

/// What is wrong with one cell; the first that applies.
enum class Fault { kNone, kOutOfRange, kMissingBytes, kZeros, kDuplicate, kNotFinite, kSum };

/// Rows that are all the same are told from this many on; a chance repetition must also be this unlikely, in bits. Of 13,000 rows of four real models
/// no two neighbours are the same in all layers, and no layer alone repeats itself more than 6 times.
constexpr std::int64_t kSameRows = 3;
constexpr std::int64_t kSameRowsOfALayer = 16;
constexpr double kUnlikelyBits = 64;
/// With one expert per token a layer that always chose expert 0 may be real, in few rows.
constexpr std::int64_t kZeroRowsOfTopOne = 16;

/// How much one cell tells, if any K of E experts are as likely as any others.
double bits_of_cell(const RecordView& view, std::int32_t num_experts) {
  const double experts = std::max<double>(num_experts, static_cast<double>(view.top_k()));
  const double top_k = static_cast<double>(view.top_k());
  return (std::lgamma(experts + 1) - std::lgamma(top_k + 1) - std::lgamma(experts - top_k + 1)) / std::log(2.0);
}

class Checker {
 public:
  Checker(const RecordView& view, const CheckOptions& options)
      : view_(view), options_(options), cell_bits_(bits_of_cell(view, options.num_experts)) {}

  std::vector<Finding> check() {
    check_rows();
    check_versions();
    check_columns();
    check_repeats();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] std::int64_t position(std::int64_t row) const { return view_.start() + row; }

  void add(std::string kind, std::vector<std::int32_t> layers, Range rows, std::string what, std::string cause, std::string rule) {
    findings_.push_back({std::move(kind), std::move(layers), rows, std::move(what), std::move(cause), std::move(rule)});
  }

  void check_rows() {
    const Range all = view_.positions();
    const std::int64_t behind = std::max<std::int64_t>(0, options_.tokens - 1);
    if (options_.tokens >= 0 && (view_.rows() > 0 ? all.end != behind : all.begin < behind)) {
      add("row-count", {}, all,
          text_of("the rows end before position ", all.end, ", the answer counts ", options_.tokens, " tokens, so they should before ", behind),
          all.end == options_.tokens ? "the last token was forwarded too and its row not trimmed" : "rows were dropped, or the start is another",
          "R1");
    }
    // A server may leave out rows of the prompt alone, as it is asked; a start that follows from the counts and lies behind it means fewer rows than
    // that.
    if (options_.start_derived && options_.prompt_tokens >= 0 && all.begin > options_.prompt_tokens) {
      const std::int64_t least = behind - options_.prompt_tokens;
      add("row-count", {}, all,
          text_of(count_text(view_.rows(), "row", "rows"), ", the answer counts ", options_.tokens, " tokens, ", options_.prompt_tokens,
                  " of them of the prompt: ", least, " or more are needed"),
          "rows were dropped; --start says where they start if the counts do not", "R1");
    }
    if (view_.rows() == 0) return;
    if (view_.info().rows_valid == 0) {
      add("never-written", {}, all, "no row is there", "nothing was captured for this request, or its slots were released", "R7");
    } else if (options_.complete) {
      for (const Range& rows : view_.missing_rows()) add("missing", {}, rows, "missing", "nobody captured them", "R7");
    }
  }

  void check_versions() {
    const std::vector<VersionSpan> spans = view_.version_spans();
    for (std::size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].version >= spans[i - 1].version) continue;
      add("version-order", {}, {spans[i].begin, spans[i].end},
          text_of("weights of version ", spans[i].version, " behind rows of version ", spans[i - 1].version),
          "rows of an older request, or records joined in the wrong order", "R37");
    }
  }

  [[nodiscard]] Fault fault_of(std::int64_t row, std::int64_t column) {
    const std::int64_t top_k = view_.top_k();
    ids_.clear();
    bool all_same = true;
    Fault fault = Fault::kNone;
    for (std::int64_t rank = 0; rank < top_k; ++rank) {
      const std::int64_t id = view_.id(row, column, rank);
      ids_.push_back(id);
      all_same = all_same && id == ids_.front();
      if (id >= options_.num_experts) fault = Fault::kOutOfRange;
    }
    if (top_k > 1 && all_same && ids_.front() == missing_id()) return Fault::kMissingBytes;
    if (fault != Fault::kNone) return fault;
    if (top_k > 1 && all_same && ids_.front() == 0) return Fault::kZeros;
    std::vector<std::int64_t>& sorted = sorted_;
    sorted = ids_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return Fault::kDuplicate;
    return view_.has_weights() ? fault_of_weights(row, column) : Fault::kNone;
  }

  [[nodiscard]] Fault fault_of_weights(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t rank = 0; rank < view_.top_k(); ++rank) sum += view_.weight(row, column, rank);
    if (!std::isfinite(sum)) return Fault::kNotFinite;
    // K weights of 8 significant bits each.
    const bool off = view_.info().weights_kind == RCAP_WEIGHTS_RENORMALIZED && std::abs(sum - 1) > 1.0 / 32;
    return off ? Fault::kSum : Fault::kNone;
  }

  /// What every byte 0xFF is as an id.
  [[nodiscard]] std::int64_t missing_id() const {
    switch (view_.info().ids_dtype) {
      case RCAP_DTYPE_UINT8: return 0xFF;
      case RCAP_DTYPE_UINT16: return 0xFFFF;
      // A wider type than the ids need: they came from a narrow form with ids beyond E.
      default: return options_.num_experts <= 256 ? 0xFF : 0xFFFF;
    }
  }

  void check_columns() {
    Progress progress("checking", view_.columns());
    for (std::int64_t column = 0; column < view_.columns(); ++column) {
      check_column(column);
      progress.advance(1);
    }
    // One line for a fault that several layers share.
    for (auto& [key, found] : faults_) {
      const auto& [fault, begin, end, detail] = key;
      add_fault(static_cast<Fault>(fault), {begin, end}, detail, std::move(found.first), found.second);
    }
  }

  void check_column(std::int64_t column) {
    std::int64_t valid = 0;
    std::int64_t zeros = 0;
    std::int64_t ascending = 0;
    std::int64_t shared_columns = 0;  // rows whose last ids alone are beyond E
    std::vector<std::pair<Fault, Range>> runs;
    std::vector<std::string> examples;
    for (std::int64_t row = 0; row < view_.rows(); ++row) {
      if (!view_.cell_valid(row, column)) continue;
      ++valid;
      const Fault fault = fault_of(row, column);
      if (fault == Fault::kOutOfRange && bad_ranks_are_last()) ++shared_columns;
      if (std::all_of(ids_.begin(), ids_.end(), [](std::int64_t id) { return id == 0; })) ++zeros;
      if (std::is_sorted(ids_.begin(), ids_.end())) ++ascending;
      if (fault == Fault::kNone) continue;
      const std::int64_t at = position(row);
      if (!runs.empty() && runs.back().first == fault && runs.back().second.end == at) {
        ++runs.back().second.end;
      } else {
        runs.push_back({fault, {at, at + 1}});
        examples.push_back(ids_text());
      }
    }
    const std::int32_t layer = view_.layer(column);
    if (valid == 0 && view_.info().rows_valid > 0) {
      note(Fault::kNone, {}, 0, layer, "");
      return;
    }
    if (valid > 0 && zeros == valid && (view_.top_k() > 1 || valid >= kZeroRowsOfTopOne)) {
      note(Fault::kZeros, {}, 1, layer, "");
      return;
    }
    const std::int32_t flags = view_.layer_flags()[static_cast<std::size_t>(column)];
    const double order_bits = std::lgamma(static_cast<double>(view_.top_k()) + 1) / std::log(2.0);
    if ((flags & RCAP_TAP_UNORDERED) == 0 && valid > 0 && ascending == valid && static_cast<double>(valid) * order_bits >= kUnlikelyBits) {
      note(Fault::kNone, {}, 2, layer, "");
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      note(runs[i].first, runs[i].second, shared_columns == valid ? 1 : 0, layer, examples[i]);
    }
  }

  /// Whether the ids beyond E stand in the last columns alone, and every other id is fine.
  [[nodiscard]] bool bad_ranks_are_last() const {
    const auto bad = [this](std::int64_t id) { return id >= options_.num_experts; };
    const auto first = std::find_if(ids_.begin(), ids_.end(), bad);
    return first != ids_.begin() && first != ids_.end() && std::all_of(first, ids_.end(), bad);
  }

  [[nodiscard]] std::string ids_text() const {
    std::string text;
    for (const std::int64_t id : ids_) text += text_of(text.empty() ? "" : " ", id);
    return text;
  }

  void note(Fault fault, Range rows, std::int64_t detail, std::int32_t layer, const std::string& example) {
    auto& found = faults_[{static_cast<int>(fault), rows.begin, rows.end, detail}];
    if (found.first.empty()) found.second = example;
    found.first.push_back(layer);
  }

  void add_fault(Fault fault, Range rows, std::int64_t detail, std::vector<std::int32_t> layers, const std::string& example) {
    const std::string ids = "ids " + example;
    switch (fault) {
      case Fault::kNone:
        if (detail == 0) {
          add("never-written", std::move(layers), rows, "no row has an id", "the kernel bypassed the tap, or the engine prunes before this layer",
              "R7");
        } else {
          add("sorted", std::move(layers), rows, "the ids of every row ascend",
              "somebody sorted them, or the kernel has no order and the layer should be flagged unordered", "R24");
        }
        break;
      case Fault::kZeros:
        if (detail == 1 && rows.end == 0) {
          add("all-zero-layer", std::move(layers), rows, "all ids are 0 in every row", "the kernel bypassed the tap, or a dense layer", "R7, R26");
        } else {
          add("duplicate", std::move(layers), rows, "all ids are 0", "zero padding: rows that nobody captured", "R25, R7");
        }
        break;
      case Fault::kOutOfRange:
        add("out-of-range", std::move(layers), rows, text_of(ids, ", there are ", options_.num_experts, " experts"),
            detail == 1 ? "a fused shared expert's column" : "physical ids, or a shared expert's column", detail == 1 ? "R23" : "R22");
        break;
      case Fault::kMissingBytes:
        add("missing-as-ids", std::move(layers), rows, text_of(ids, ", every byte is 0xFF"), "missing rows taken for ids", "R7");
        break;
      case Fault::kDuplicate:
        add("duplicate", std::move(layers), rows, text_of(ids, ", one stands twice"), "zero padding, or a row mixed of two", "R25");
        break;
      case Fault::kNotFinite:
        add("weights", std::move(layers), rows, "a weight is not finite", "weights were not captured, or another dtype was said", "R29");
        break;
      case Fault::kSum:
        add("weights", std::move(layers), rows, "renormalized weights do not add up to 1", "the kind of weights is another, or their dtype", "R29");
        break;
    }
  }

  /// The same row many times in a run: of all layers, else of a layer.
  void check_repeats() {
    std::vector<Range> whole;
    repeats(0, view_.columns(), kSameRows, [&](Range rows) { whole.push_back(rows); });
    for (const Range& rows : whole) add_repeat({}, rows);
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int32_t>> by_layer;
    for (std::int64_t column = 0; column < view_.columns(); ++column) {
      // Ids that follow from the token alone repeat with it.
      if ((view_.layer_flags()[static_cast<std::size_t>(column)] & RCAP_TAP_HASH_ROUTED) != 0) continue;
      repeats(column, 1, kSameRowsOfALayer, [&](Range rows) {
        const bool told =
            std::any_of(whole.begin(), whole.end(), [&rows](Range known) { return known.begin <= rows.begin && rows.end <= known.end; });
        if (!told) by_layer[{rows.begin, rows.end}].push_back(view_.layer(column));
      });
    }
    for (auto& [rows, layers] : by_layer) add_repeat(std::move(layers), {rows.first, rows.second});
  }

  void add_repeat(std::vector<std::int32_t> layers, Range rows) {
    add("repeated", std::move(layers), rows, text_of("the same row ", rows.end - rows.begin, " times in a run"), "stale or padded rows", "R15");
  }

  template <class Found>
  void repeats(std::int64_t column, std::int64_t count, std::int64_t least, const Found& found) {
    std::int64_t begin = 0;
    for (std::int64_t row = 1; row <= view_.rows(); ++row) {
      if (row < view_.rows() && same(row, column, count)) continue;
      const std::int64_t length = row - begin;
      if (length >= least && static_cast<double>((length - 1) * count) * cell_bits_ >= kUnlikelyBits && !only_zeros(begin, column, count)) {
        found({position(begin), position(row)});
      }
      begin = row;
    }
  }

  /// Whether a row has the same cells as the one before it, and has some.
  [[nodiscard]] bool same(std::int64_t row, std::int64_t column, std::int64_t count) const {
    bool any = false;
    for (std::int64_t at = column; at < column + count; ++at) {
      const bool valid = view_.cell_valid(row, at);
      if (valid != view_.cell_valid(row - 1, at)) return false;
      any = any || valid;
    }
    return any && view_.cell_bytes(row, column, count) == view_.cell_bytes(row - 1, column, count);
  }

  /// Those are told as such.
  [[nodiscard]] bool only_zeros(std::int64_t row, std::int64_t column, std::int64_t count) const {
    const std::string_view bytes = view_.cell_bytes(row, column, count);
    return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
  }

  const RecordView& view_;
  const CheckOptions& options_;
  double cell_bits_;
  std::vector<Finding> findings_;
  /// By fault, rows and detail: the layers, and the ids of the first row of the first.
  std::map<std::tuple<int, std::int64_t, std::int64_t, std::int64_t>, std::pair<std::vector<std::int32_t>, std::string>> faults_;
  std::vector<std::int64_t> ids_;  ///< of the cell looked at last
  std::vector<std::int64_t> sorted_;
};

}  // namespace

std::vector<Finding> findings_of(const RecordView& view, const CheckOptions& options) { return Checker(view, options).check(); }

std::string finding_text(const Finding& finding) {
  std::string text;
  if (!finding.layers.empty()) text = text_of(finding.layers.size() == 1 ? "layer " : "layers ", runs_text(finding.layers));
  if (finding.rows.end > finding.rows.begin) text += text_of(text.empty() ? "" : ", ", positions_text(finding.rows.begin, finding.rows.end));
  if (!text.empty()) text += ": ";
  text += finding.what;
  if (!finding.cause.empty()) text += "; " + finding.cause;
  if (!finding.rule.empty()) text += " (" + finding.rule + ")";
  return text;
}

}  // namespace routecap::cli
