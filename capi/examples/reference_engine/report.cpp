// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {
namespace {

constexpr int kBarWidth = 40;

/// 1234567 -> 1,234,567
std::string grouped(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string decimals(double value, int places) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", places, value);
  return text.data();
}

/// Members in the order in which they are added; keys and values need no escapes here.
class JsonObject {
 public:
  void add(std::string_view key, std::string_view value) { text_.append(text_.size() > 1 ? ", \"" : "\"").append(key).append("\": ").append(value); }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

struct Line {
  std::string label;
  std::string ours;
  std::string naive;
};

std::string heading(const Engine& engine, const Options& options) {
  const ModelShape& shape = engine.shape();
  const EngineConfig& config = engine.config();
  std::string text = shape.name + ": " + std::to_string(shape.num_layers()) + " MoE layers of " + std::to_string(shape.total_layers) + ", top " +
                     std::to_string(shape.top_k) + " of " + std::to_string(shape.num_experts) + " experts";
  if (shape.fused_shared_experts > 0) text += " + " + std::to_string(shape.fused_shared_experts) + " fused shared";
  text += "; DP " + std::to_string(config.dp_size) + " x attention-TP " + std::to_string(config.attn_tp_size) + ", depth " +
          std::to_string(config.pipeline_depth) + ", finalized by " +
          (config.finalize == FinalizeMode::kThread ? "the capturer's thread" : "the caller") + ", seed " + std::to_string(options.seed) + "\n";
  text += options.trace.empty() ? "routes: synthetic\n" : "routes: prompts synthetic, generated tokens from " + options.trace + "\n";
  return text;
}

std::vector<Line> lines_of(const Outcome& outcome) {
  const CheckTotals& rows = outcome.rows;
  const std::int64_t naive_bad = rows.naive_wrong + rows.naive_stale + rows.naive_overflowed + rows.naive_zero;
  return {
      {"", "routecap", "naive"},
      {"requests", grouped(outcome.requests), grouped(outcome.requests)},
      {"rows checked", grouped(rows.rows_checked), grouped(rows.rows_checked)},
      {"wrong rows", grouped(rows.rows_wrong), grouped(naive_bad)},
      {"  polluted", "", grouped(rows.naive_wrong)},
      {"  stale", "", grouped(rows.naive_stale)},
      {"  overflowed", "", grouped(rows.naive_overflowed)},
      {"  zero", "", grouped(rows.naive_zero)},
      {"rows rightly missing", grouped(rows.rows_missing), "cannot say"},
      {"draft captures suppressed", grouped(outcome.draft_captures_suppressed), "0"},
      {"rejected rows dropped", grouped(outcome.rejected_rows_dropped), "0"},
      {"prefix rows reused", grouped(outcome.prefix_rows_reused), ""},
      {"outputs finalized late or out of order", grouped(outcome.outputs_out_of_order), ""},
      {"bytes per slot", grouped(outcome.bytes_per_slot), grouped(outcome.naive_bytes_per_slot)},
      {"share of time spent capturing", decimals(100 * outcome.capture_share, 1) + " %", ""},
  };
}

}  // namespace

ProgressBar::ProgressBar(std::int64_t total, bool wanted) : total_(total), is_shown_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(std::int64_t done) {
  if (!is_shown_ || done == std::exchange(last_, done)) return;
  const int filled = static_cast<int>(done * kBarWidth / total_);
  std::fprintf(stderr, "\r[%.*s%*s] %lld of %lld requests", filled, "########################################", kBarWidth - filled, "",
               static_cast<long long>(done), static_cast<long long>(total_));
}

std::string table(const Outcome& outcome, const Engine& engine, const Options& options) {
  std::string text = heading(engine, options) + "\n";
  std::array<char, 128> row{};
  for (const Line& line : lines_of(outcome)) {
    std::snprintf(row.data(), row.size(), "%-40s%14s%14s", line.label.c_str(), line.ours.c_str(), line.naive.c_str());
    std::string shown = row.data();
    shown.erase(shown.find_last_not_of(' ') + 1);
    text += shown + "\n";
  }
  text.append("\n").append(grouped(outcome.forwards)).append(" steps; ");
  text.append(grouped(outcome.retractions)).append(" retractions with recompute, ");
  text.append(grouped(outcome.swaps)).append(" swaps to the host pool, ");
  text.append(grouped(outcome.rows_copied)).append(" rows copied between slots, ");
  text.append(grouped(outcome.outputs_lost)).append(" outputs lost;\n");
  text.append(grouped(outcome.rows.cells_missing)).append(" cells of the last layer rightly missing in rows that are there. Capturing took ");
  text.append(decimals(outcome.capture_milliseconds, 2)).append(" ms per step and\nrank; the model is a hash function that costs next to nothing, ");
  text.append("so the share is larger here than beside any real one.\n");
  if (!outcome.rows.first_wrong.empty()) text += "\nfirst wrong row: " + outcome.rows.first_wrong + "\n";
  return text;
}

std::string json(const Outcome& outcome) {
  const CheckTotals& rows = outcome.rows;
  JsonObject naive;
  naive.add("rows_wrong", std::to_string(rows.naive_wrong));
  naive.add("rows_stale", std::to_string(rows.naive_stale));
  naive.add("rows_overflowed", std::to_string(rows.naive_overflowed));
  naive.add("rows_zero", std::to_string(rows.naive_zero));
  JsonObject object;
  object.add("requests", std::to_string(outcome.requests));
  object.add("rows_checked", std::to_string(rows.rows_checked));
  object.add("rows_wrong", std::to_string(rows.rows_wrong));
  object.add("rows_missing", std::to_string(rows.rows_missing));
  object.add("draft_captures_suppressed", std::to_string(outcome.draft_captures_suppressed));
  object.add("rejected_rows_dropped", std::to_string(outcome.rejected_rows_dropped));
  object.add("prefix_rows_reused", std::to_string(outcome.prefix_rows_reused));
  object.add("outputs_out_of_order", std::to_string(outcome.outputs_out_of_order));
  object.add("bytes_per_slot", std::to_string(outcome.bytes_per_slot));
  object.add("capture_share", decimals(outcome.capture_share, 6));
  object.add("naive", naive.text());
  return object.text() + "\n";
}

}  // namespace engine
