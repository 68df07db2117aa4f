// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace llama_demo {
namespace {

std::string decimals(double value, const char* format) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Members in the order in which they are added; keys and values need no escapes here.
class JsonObject {
 public:
  void add(std::string_view key, std::string_view value) { text_.append(text_.size() > 1 ? ", \"" : "\"").append(key).append("\": ").append(value); }
  void add(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  void add(std::string_view key, double value) { add(key, decimals(value, "%.6g")); }
  void quote(std::string_view key, std::string_view value) { add(key, "\"" + std::string(value) + "\""); }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string heading(const std::string& engine, const ModelShape& shape) {
  return "llama.cpp " + engine + ", " + shape.architecture() + ": " + std::to_string(shape.moe_layers().size()) + " MoE layers of " +
         std::to_string(shape.layers) + ", top " + std::to_string(shape.top_k) + " of " + std::to_string(shape.num_experts) + " experts, width " +
         std::to_string(shape.embedding) + "\n\n";
}

void line(std::string& text, const std::string& label, const std::string& value) {
  std::array<char, 160> row{};
  std::snprintf(row.data(), row.size(), "%-58s%20s\n", label.c_str(), value.c_str());
  text += row.data();
}
void line(std::string& text, const std::string& label, std::int64_t value) { line(text, label, std::to_string(value)); }

std::string words(const Ratio& ratio) {
  return decimals(ratio.median, "%.4f") + " [" + decimals(ratio.low, "%.4f") + ", " + decimals(ratio.high, "%.4f") + "]";
}

std::string list(const Ratio& ratio) {
  std::string text("[");
  return text.append(decimals(ratio.median, "%.6g"))
             .append(", ")
             .append(decimals(ratio.low, "%.6g"))
             .append(", ")
             .append(decimals(ratio.high, "%.6g")) +
         "]";
}

}  // namespace

bool Outcome::is_right() const {
  return reference.cells_wrong == 0 && reference.cells_missing_wrong == 0 && reference.weights_wrong == 0 && reference.first_wrong.empty() &&
         server.warm_up_captured == 0 && server.rows_left_after_removal == 0 && server.naive_gated_wrong == 0 && !draft_can_be_allowed;
}

std::string table(const Outcome& outcome) {
  const ServerTotals& server = outcome.server;
  const ReferenceTotals& reference = outcome.reference;
  std::string text = heading(outcome.engine, outcome.shape);
  line(text, "requests served, of these given up", std::to_string(reference.requests) + ", " + std::to_string(server.given_up));
  line(text, "forwards, micro-batches", std::to_string(server.steps) + ", " + std::to_string(server.micro_batches));
  line(text, "forwards with prompts beside decodes", server.mixed_steps);
  line(text, "prompts read in several chunks", server.prompts_in_chunks);
  line(text, "rows taken over with a sequence copy, generated ones",
       std::to_string(server.prefix_rows_copied) + ", " + std::to_string(server.generated_rows_copied));
  line(text, "draft tokens accepted, rejected", std::to_string(server.drafts_accepted) + ", " + std::to_string(server.drafts_rejected));
  line(text, "requests forwarded past their end", server.forwarded_past_the_end);
  line(text, "sequences removed, rows left of them",
       std::to_string(server.sequences_removed) + ", " + std::to_string(server.rows_left_after_removal));
  line(text, "routers seen in the warm-up, captured", std::to_string(server.warm_up_asked) + ", " + std::to_string(server.warm_up_captured));
  text += "\n";
  line(text, "rows compared with the plain run", reference.rows);
  line(text, "cells (row and layer) compared", reference.cells);
  line(text, "  wrong", reference.cells_wrong);
  line(text, "  another expert of the same score", reference.cells_level);
  line(text, "  with other weights", reference.weights_wrong);
  line(text, "cells missing because the engine pruned them", reference.cells_missing);
  line(text, "  missing or present against that", reference.cells_missing_wrong);
  if (outcome.has_draft) {
    text += "\n";
    line(text, "draft captures denied and counted", outcome.draft_captures_suppressed);
    line(text, "opening the draft's gate", outcome.draft_can_be_allowed ? "taken" : "refused");
    line(text, "rows that a naive capturer has wrong, gate closed", server.naive_gated_wrong);
    line(text, "rows that a naive capturer has wrong, gate forced open", server.naive_open_wrong);
  }
  if (!reference.first_wrong.empty()) text += "\nfirst wrong: " + reference.first_wrong + "\n";
  return text;
}

std::string json(const Outcome& outcome) {
  const ServerTotals& server = outcome.server;
  const ReferenceTotals& reference = outcome.reference;
  JsonObject object;
  object.quote("engine", outcome.engine);
  object.quote("family", outcome.shape.architecture());
  object.add("layers", static_cast<std::int64_t>(outcome.shape.moe_layers().size()));
  object.add("experts", std::int64_t{outcome.shape.num_experts});
  object.add("top_k", std::int64_t{outcome.shape.top_k});
  object.add("requests", reference.requests);
  object.add("given_up", server.given_up);
  object.add("forwards", server.steps);
  object.add("micro_batches", server.micro_batches);
  object.add("mixed_forwards", server.mixed_steps);
  object.add("prompts_in_chunks", server.prompts_in_chunks);
  object.add("prefix_rows_copied", server.prefix_rows_copied);
  object.add("generated_rows_copied", server.generated_rows_copied);
  object.add("drafts_accepted", server.drafts_accepted);
  object.add("drafts_rejected", server.drafts_rejected);
  object.add("forwarded_past_the_end", server.forwarded_past_the_end);
  object.add("sequences_removed", server.sequences_removed);
  object.add("rows_left_after_removal", server.rows_left_after_removal);
  object.add("rows_pruned", server.rows_pruned);
  object.add("rows_stored", outcome.rows_stored);
  object.add("warm_up_asked", server.warm_up_asked);
  object.add("warm_up_captured", server.warm_up_captured);
  object.add("rows_compared", reference.rows);
  object.add("cells_compared", reference.cells);
  object.add("cells_wrong", reference.cells_wrong);
  object.add("cells_level", reference.cells_level);
  object.add("cells_missing", reference.cells_missing);
  object.add("cells_missing_wrong", reference.cells_missing_wrong);
  object.add("weights_wrong", reference.weights_wrong);
  object.add("largest_weight_difference", reference.largest_weight);
  object.add("draft_captures_suppressed", outcome.draft_captures_suppressed);
  object.add("draft_can_be_allowed", std::int64_t{outcome.draft_can_be_allowed ? 1 : 0});
  object.add("naive_rows", server.naive_rows);
  object.add("naive_gated_wrong", server.naive_gated_wrong);
  object.add("naive_open_wrong", server.naive_open_wrong);
  return object.text() + "\n";
}

std::string table(const std::string& engine, const ModelShape& shape, const std::vector<BenchResult>& results) {
  std::string text = heading(engine, shape);
  for (const BenchResult& result : results) {
    line(text, "batch " + std::to_string(result.config.batch) + ": tokens per second, without capture", decimals(result.tokens_per_second, "%.1f"));
    line(text, "  microseconds a step", decimals(result.step_microseconds, "%.1f"));
    const auto part = [&](const char* label, const Ratio& ratio, double microseconds) {
      line(text, label, words(ratio));
      if (microseconds > -1e9) line(text, "    microseconds a step", decimals(microseconds, "%.1f"));
    };
    part("  speed of a callback that wants nothing", result.asked, result.asked_microseconds);
    part("  speed of stopping behind every router (engine)", result.split, result.split_microseconds);
    part("  speed with routecap, of that (ours)", result.ours, result.ours_microseconds);
    part("  speed with capture, of the speed without", result.capture, -2e9);
  }
  text += "\nMedians over rounds of each turn's fastest step, [95 % interval]; processor time of the one thread that computes.\n";
  return text;
}

std::string json(const std::string& engine, const ModelShape& shape, const std::vector<BenchResult>& results) {
  std::string text = "[";
  for (const BenchResult& result : results) {
    JsonObject object;
    object.quote("engine", engine);
    object.quote("family", shape.architecture());
    object.add("layers", static_cast<std::int64_t>(shape.moe_layers().size()));
    object.add("width", std::int64_t{shape.embedding});
    object.add("batch", std::int64_t{result.config.batch});
    object.add("rounds", std::int64_t{result.config.rounds});
    object.add("tokens_per_second", result.tokens_per_second);
    object.add("step_microseconds", result.step_microseconds);
    object.add("asked", list(result.asked));
    object.add("split", list(result.split));
    object.add("ours", list(result.ours));
    object.add("capture", list(result.capture));
    object.add("asked_microseconds", result.asked_microseconds);
    object.add("split_microseconds", result.split_microseconds);
    object.add("ours_microseconds", result.ours_microseconds);
    text += (text.size() > 1 ? ",\n " : "") + object.text();
  }
  return text + "]\n";
}

}  // namespace llama_demo
