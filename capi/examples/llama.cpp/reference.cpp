// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <span>
#include <utility>

#include "context.h"
#include "support.h"

namespace llama_demo {
namespace {

using engine::at;
using engine::count;

std::string list(std::span<const std::int32_t> experts) {
  std::string text;
  for (const std::int32_t expert : experts) {
    if (!text.empty()) text += ' ';
    text += std::to_string(expert);
  }
  return text;
}

llama_context_params plain_params(const Library& library, std::int32_t positions) {
  return context_params(library, {.sequences = 1, .cells = positions, .batch_tokens = positions, .micro_batch_tokens = positions, .tap = nullptr});
}

}  // namespace

Reference::Reference(const Library& library, const ModelShape& shape, llama_model* model, std::int32_t positions)
    : library_(library),
      shape_(shape),
      layers_(shape.moe_layers()),
      context_([&] {
        llama_context_params params = plain_params(library, positions);
        params.cb_eval = on_eval;
        params.cb_eval_user_data = this;
        return library.make_context(model, params);
      }()),
      batch_(library, positions) {}

bool Reference::on_eval(ggml_tensor* tensor, bool ask, void* self) {
  auto& reference = *static_cast<Reference*>(self);
  if (reference.served_ == nullptr || reference.failure_ != nullptr) return false;
  const std::string name = tensor->name;
  const auto of_layer = [&](const char* prefix) {
    return name == std::string(prefix) + "-" + std::to_string(at(reference.layers_, static_cast<std::int64_t>(reference.column_)));
  };
  const bool is_topk = of_layer("ffn_moe_topk");
  const bool is_weights = !is_topk && reference.view_->has_weights() && of_layer(reference.shape_.weights_tensor());
  if (ask) return is_topk || is_weights;
  try {
    if (is_topk) reference.compare(tensor);
    if (is_weights) reference.compare_weights(tensor);
    const bool is_done = is_weights || !reference.view_->has_weights();
    if (is_done && reference.column_ + 1 < reference.layers_.size()) ++reference.column_;
    return true;
  } catch (...) {
    reference.failure_ = std::current_exception();
    return false;
  }
}

void Reference::check(const Served& served) {
  const RecordView view(served.record.get());
  served_ = &served;
  view_ = &view;
  column_ = 0;
  const auto rows = count(served.tokens) - 1;
  ++totals_.requests;
  totals_.rows += rows;
  if (view.info().start != 0 || view.info().rows != rows || view.info().num_layers != count(layers_) || view.info().top_k != shape_.top_k) {
    wrong(0, 0, "the record has " + std::to_string(view.info().rows) + " rows of " + std::to_string(view.info().num_layers) + " layers");
  } else {
    check_presence();
    batch_.clear();
    for (std::int64_t position = 0; position < rows; ++position) {
      batch_.add(at(served.tokens, position), static_cast<llama_pos>(position), 0, true);
    }
    const std::int64_t before = totals_.cells + totals_.cells_missing;
    batch_.decode(context_.get());
    library_.llama_memory_clear(library_.llama_get_memory(context_.get()), true);
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (totals_.cells + totals_.cells_missing - before != rows * count(layers_))
      throw EngineError("the plain run did not route every row in every layer");
  }
  served_ = nullptr;
  view_ = nullptr;
}

// A cell is missing where the engine had pruned the row from its last layer, and nowhere else.
void Reference::check_presence() {
  for (std::int64_t row = 0; row < view_->info().rows; ++row) {
    for (std::int64_t column = 0; column < count(layers_); ++column) {
      const bool is_pruned = column + 1 == count(layers_) && at(served_->has_last_layer, row) == 0;
      if (view_->has_cell(row, column) != is_pruned) continue;
      ++totals_.cells_missing_wrong;
      wrong(row, column, is_pruned ? "is there, and the engine never computed it" : "is missing");
    }
  }
}

void Reference::compare(ggml_tensor* topk) {
  const std::int64_t top_k = shape_.top_k;
  const std::int64_t experts = shape_.num_experts;
  const std::int64_t rows = topk->ne[1];
  // The view as it is: what the argsort sorted behind the first K is read as well, and left alone.
  const ggml_tensor* sorted = topk->src[0];
  const ggml_tensor* scores = sorted->src[0];
  if (sorted->ne[0] != experts || scores->ne[0] != experts || scores->ne[1] != rows || rows != view_->info().rows) {
    throw EngineError(std::string(topk->name) + " is not the top of an argsort over " + std::to_string(experts) + " experts");
  }
  ids_.resize(static_cast<std::size_t>(rows * experts));
  scores_.resize(ids_.size());
  library_.ggml_backend_tensor_get(sorted, ids_.data(), 0, ids_.size() * sizeof(std::int32_t));
  library_.ggml_backend_tensor_get(scores, scores_.data(), 0, scores_.size() * sizeof(float));

  chosen_.resize(static_cast<std::size_t>(top_k));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto column = static_cast<std::int64_t>(column_);
    if (!view_->has_cell(row, column)) {
      ++totals_.cells_missing;
      continue;
    }
    ++totals_.cells;
    const std::span own = std::span(ids_).subspan(static_cast<std::size_t>(row * experts), static_cast<std::size_t>(experts));
    for (std::int64_t k = 0; k < top_k; ++k) at(chosen_, k) = view_->id(row, column, k);
    if (std::ranges::equal(chosen_, own.first(chosen_.size()))) continue;
    const std::span row_scores = std::span(scores_).subspan(static_cast<std::size_t>(row * experts), static_cast<std::size_t>(experts));
    if (const auto apart = level_difference(chosen_, row_scores, own)) {
      ++totals_.cells_level;
      totals_.largest_level = std::max(totals_.largest_level, *apart);
      const std::size_t width = chosen_.size() * sizeof(std::int32_t);
      library_.ggml_backend_tensor_set_2d(topk, chosen_.data(), static_cast<std::size_t>(row) * topk->nb[1], width, 1, width, width);
    } else {
      ++totals_.cells_wrong;
      wrong(row, column, "holds " + list(chosen_) + ", and the plain run chose " + list(own.first(chosen_.size())));
    }
  }
}

void Reference::compare_weights(const ggml_tensor* weights) {
  const std::int64_t rows = view_->info().rows;
  const std::int64_t top_k = shape_.top_k;
  weights_.resize(static_cast<std::size_t>(rows * top_k));
  if (library_.ggml_nelements(weights) != rows * top_k) throw EngineError(std::string(weights->name) + " has not one weight for each expert");
  library_.ggml_backend_tensor_get(weights, weights_.data(), 0, weights_.size() * sizeof(float));
  const auto column = static_cast<std::int64_t>(column_);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!view_->has_cell(row, column)) continue;
    for (std::int64_t k = 0; k < top_k; ++k) {
      const double apart =
          relative_difference(static_cast<double>(view_->weight(row, column, k)), static_cast<double>(at(weights_, row * top_k + k)));
      totals_.largest_weight = std::max(totals_.largest_weight, apart);
      if (apart <= kLevel) continue;
      ++totals_.weights_wrong;
      wrong(row, column, "holds other weights");
      break;
    }
  }
}

void Reference::wrong(std::int64_t row, std::int64_t column, const std::string& what) {
  if (!totals_.first_wrong.empty()) return;
  totals_.first_wrong = "request " + std::to_string(served_->request) + ", token " + std::to_string(row) + ": layer " +
                        std::to_string(at(layers_, column)) + " " + what;
}

}  // namespace llama_demo
