// SPDX-License-Identifier: Apache-2.0
#include "router_tap.h"

#include <charconv>
#include <cstring>
#include <utility>

namespace llama_demo {

RouterTap::RouterTap(const Library& library, Config config) : library_(library), config_(std::move(config)), topk_prefix_("ffn_moe_topk-") {
  if (config_.layers.size() < 2) throw EngineError("a model with fewer than 2 MoE layers: its rows cannot be told from pruned ones");
  if (!config_.weights_tensor.empty()) weights_prefix_ = config_.weights_tensor + "-";
  column_by_layer_.assign(static_cast<std::size_t>(config_.layers.back()) + 1, -1);
  for (std::size_t column = 0; column < config_.layers.size(); ++column) {
    column_by_layer_[static_cast<std::size_t>(config_.layers[column])] = static_cast<std::int64_t>(column);
  }
}

bool RouterTap::on_eval(ggml_tensor* tensor, bool ask, void* self) {
  auto& tap = *static_cast<RouterTap*>(self);
  // The engine asks about some thousand nodes a forward, and nearly all of them end here: top-k ids are a view, and weights are looked for behind
  // them only.
  if (ask && tensor->op != GGML_OP_VIEW && tap.topk_ == nullptr) return false;
  try {
    if (ask) return tap.ask(tensor);
    tap.take(tensor);
    return true;
  } catch (...) {
    tap.failure_ = std::current_exception();
  }
  // Where it had asked, this makes the engine leave the rest of the graph; `end` tells why.
  return false;
}

void RouterTap::begin(const Batch& batch) {
  batch_ = &batch;
  topk_ = nullptr;
  first_row_ = 0;
  rows_ = 0;
  next_column_ = 0;
  failure_ = nullptr;
}

void RouterTap::end() {
  const Batch* batch = std::exchange(batch_, nullptr);
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (next_column_ % config_.layers.size() != 0 || first_row_ + rows_ != batch->tokens()) {
    throw EngineError("the engine routed " + std::to_string(first_row_ + rows_) + " of " + std::to_string(batch->tokens()) +
                      " rows, and stopped behind " + std::to_string(next_column_) + " of " + std::to_string(config_.layers.size()) + " layers");
  }
}

std::int64_t RouterTap::column_of(const char* name, const std::string& prefix) const {
  if (std::strncmp(name, prefix.c_str(), prefix.size()) != 0) return -1;
  std::uint32_t layer = 0;
  const char* digits = name + prefix.size();
  const char* end = digits + std::strlen(digits);
  const auto [stop, error] = std::from_chars(digits, end, layer);
  if (error != std::errc() || stop != end || layer >= column_by_layer_.size()) return -1;
  return column_by_layer_[layer];
}

bool RouterTap::ask(const ggml_tensor* tensor) {
  if (failure_ != nullptr) return false;
  const std::int64_t column = tensor->op == GGML_OP_VIEW ? column_of(tensor->name, topk_prefix_) : -1;
  if (column >= 0) {
    if (batch_ == nullptr) {
      ++asked_while_closed_;
      return false;
    }
    const bool is_wanted = config_.wants(static_cast<std::size_t>(column));
    if (weights_prefix_.empty()) return is_wanted;
    // The ids live until the experts have run, which is behind the weights: one stop serves both.
    topk_ = is_wanted ? tensor : nullptr;
    return false;
  }
  return topk_ != nullptr && !weights_prefix_.empty() && column_of(tensor->name, weights_prefix_) >= 0;
}

void RouterTap::take(const ggml_tensor* tensor) {
  RoutedRows routed;
  if (weights_prefix_.empty()) {
    routed.topk = tensor;
  } else {
    routed.topk = std::exchange(topk_, nullptr);
    routed.weights = tensor;
  }
  const std::int64_t column = column_of(routed.topk->name, topk_prefix_);
  if (routed.topk->type != GGML_TYPE_I32 || column < 0) throw EngineError(std::string(routed.topk->name) + " is no top-k of int32");
  routed.column = static_cast<std::size_t>(column);
  routed.layer = config_.layers[routed.column];
  routed.rows = routed.topk->ne[1];
  place(routed);
  config_.take(routed);
}

void RouterTap::place(RoutedRows& routed) {
  const std::size_t layers = config_.layers.size();
  if (routed.column != next_column_ % layers) {
    throw EngineError("layer " + std::to_string(routed.layer) + " came where layer " + std::to_string(config_.layers[next_column_ % layers]) +
                      " was expected");
  }
  if (routed.column == 0) {
    first_row_ += rows_;
    rows_ = routed.rows;
    next_column_ = 0;
    ++micro_batches_;
  }
  ++next_column_;
  routed.first_row = first_row_;
  if (first_row_ + rows_ > batch_->tokens()) {
    throw EngineError("the engine routed " + std::to_string(first_row_ + rows_) + " rows of a batch of " + std::to_string(batch_->tokens()));
  }
  const bool is_pruned = config_.prunes_last_layer && next_column_ == layers;
  if (is_pruned) {
    row_ids_.clear();
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (batch_->wants_logits(static_cast<std::int32_t>(first_row_ + row))) row_ids_.push_back(static_cast<std::int32_t>(row));
    }
    routed.row_ids = &row_ids_;
    rows_pruned_ += rows_ - routed.rows;
  }
  const auto expected = is_pruned ? static_cast<std::int64_t>(row_ids_.size()) : rows_;
  if (routed.rows != expected) {
    throw EngineError("layer " + std::to_string(routed.layer) + " routed " + std::to_string(routed.rows) + " rows and not " +
                      std::to_string(expected));
  }
}

}  // namespace llama_demo
