// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <string>

#include "support.h"

namespace llama_demo {
namespace {

using engine::bytes_of;
using engine::count;
using engine::make;
using engine::require;

/// Bytes between two rows of the weights, which stand as [1, K, rows] or as [K, rows].
std::size_t row_stride(const ggml_tensor* tensor, std::int64_t rows) { return tensor->ne[2] == rows ? tensor->nb[2] : tensor->nb[1]; }

}  // namespace

std::vector<std::int64_t> SlotMap::slots(std::int64_t sequence, std::int64_t first, std::int64_t end) const {
  std::vector<std::int64_t> list;
  list.reserve(static_cast<std::size_t>(end - first));
  for (std::int64_t position = first; position < end; ++position) list.push_back(slot(sequence, position));
  return list;
}

Capture::Capture(const Library& library, const ModelShape& target, const ModelShape* draft, const Config& config)
    : library_(library), target_(target), weights_(config.weights), layout_(make(rcap_capture_layout_init)) {
  rcap_capturer_config capturer_config = make(rcap_capturer_config_init);
  capturer_config.num_experts = target.num_experts;
  capturer_config.top_k = target.top_k;
  capturer_config.weights_dtype = weights_ ? RCAP_DTYPE_FLOAT32 : RCAP_DTYPE_NONE;
  capturer_config.weights_kind = target.family == Family::kQwen3Moe ? RCAP_WEIGHTS_RENORMALIZED : RCAP_WEIGHTS_SCALED;
  capturer_config.check_level = RCAP_CHECK_FULL;
  capturer_config.chunked_prefill_size = config.batch_tokens;
  capturer_config.max_running_requests = config.sequences;
  capturer_config.num_verify_tokens = config.verify_tokens;
  capturer_config.num_slots = config.num_slots;

  const std::vector<std::int32_t> layers = target.moe_layers();
  rcap_error error = make(rcap_error_init);
  rcap_capturer* capturer = nullptr;
  require(rcap_capturer_create(&capturer_config, layers.data(), count(layers), nullptr, &capturer, &error), error);
  capturer_.reset(capturer);

  rcap_model* model = nullptr;
  require(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &model, &error), error);
  for (const std::int32_t layer : layers) {
    rcap_tap_options options = make(rcap_tap_options_init);
    // Its rows are those whose logits are wanted: cells have a validity of their own there (R7).
    if (config.prunes_last_layer && layer == layers.back()) options.flags = RCAP_TAP_PARTIAL;
    rcap_tap* tap = nullptr;
    require(rcap_model_add_tap(model, layer, &options, nullptr, 0, &tap, &error), error);
    taps_.push_back(tap);
  }
  if (draft != nullptr) {
    rcap_model* draft_model = nullptr;
    require(rcap_capturer_add_model(capturer, RCAP_ROLE_DRAFT, "draft", &draft_model, &error), error);
    for (const std::int32_t layer : draft->moe_layers()) {
      rcap_tap* tap = nullptr;
      require(rcap_model_add_tap(draft_model, layer, nullptr, nullptr, 0, &tap, &error), error);
      draft_taps_.push_back(tap);
    }
    draft_can_be_allowed_ = rcap_model_set_capture(draft_model, RCAP_CAPTURE_ALLOW, nullptr) == RCAP_STATUS_OK;
  }
  require(rcap_capturer_seal(capturer, &error), error);

  layout_.ids_dtype = RCAP_DTYPE_INT32;
  layout_.weights_dtype = weights_ ? RCAP_DTYPE_FLOAT32 : RCAP_DTYPE_NONE;
  layout_.columns = target.top_k;
  ids_.resize(static_cast<std::size_t>(config.batch_tokens * target.top_k));
  if (weights_) row_weights_.resize(ids_.size());
}

void Capture::take(const RoutedRows& routed) {
  const std::int64_t top_k = target_.top_k;
  taken_ = routed.rows * top_k;
  if (routed.topk->ne[0] != top_k || taken_ > count(ids_)) {
    throw EngineError(std::string(routed.topk->name) + " has " + std::to_string(routed.topk->ne[0]) + " columns and " + std::to_string(routed.rows) +
                      " rows");
  }
  if (routed.rows == 0) return;  // nobody wants logits in this micro-batch
  const std::size_t width = static_cast<std::size_t>(top_k) * sizeof(std::int32_t);
  const auto rows = static_cast<std::size_t>(routed.rows);
  // Rows of the view are a whole argsort apart, 4 * E bytes; the accessor takes the first K ids of each, from wherever the backend computed them.
  library_.ggml_backend_tensor_get_2d(routed.topk, ids_.data(), 0, width, rows, routed.topk->nb[1], width);
  if (routed.weights != nullptr) {
    if (routed.weights->type != GGML_TYPE_F32 || library_.ggml_nelements(routed.weights) != taken_) {
      throw EngineError(std::string(routed.weights->name) + " is not float32 of " + std::to_string(taken_) + " values");
    }
    library_.ggml_backend_tensor_get_2d(routed.weights, row_weights_.data(), 0, width, rows, row_stride(routed.weights, routed.rows), width);
  }

  layout_.tokens = routed.rows;
  layout_.first_row = routed.first_row;
  const std::int64_t bytes = taken_ * static_cast<std::int64_t>(sizeof(std::int32_t));
  const bool has_row_ids = routed.row_ids != nullptr;
  rcap_error error = make(rcap_error_init);
  require(rcap_tap_capture(taps_[routed.column], &layout_, ids_.data(), bytes, weights_ ? row_weights_.data() : nullptr, weights_ ? bytes : 0,
                           has_row_ids ? routed.row_ids->data() : nullptr, has_row_ids ? count(*routed.row_ids) : 0, nullptr, &error),
          error);
}

void Capture::take_draft(std::size_t column) const {
  rcap_error error = make(rcap_error_init);
  require(rcap_tap_capture(draft_taps_[column], &layout_, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, &error), error);
}

bool Capture::is_draft_enabled() const {
  rcap_error error = make(rcap_error_init);
  const std::int32_t is_enabled = rcap_tap_is_enabled(draft_taps_.front(), &error);
  require(is_enabled, error);
  return is_enabled != 0;
}

std::int64_t Capture::end_forward(std::int64_t tokens, std::span<const std::int64_t> rows, std::span<const std::int64_t> slots) {
  rcap_forward_layout layout = make(rcap_forward_layout_init);
  layout.tokens = tokens;
  layout.acceptance = RCAP_ACCEPT_GIVEN;
  rcap_error error = make(rcap_error_init);
  rcap_output* started = nullptr;
  require(rcap_capturer_end_forward(capturer_.get(), &layout, slots.data(), bytes_of(slots), rows.data(), bytes_of(rows), nullptr, 0, nullptr,
                                    &started, &error),
          error);
  const engine::OutputHandle output(started);
  // On the host the copy is done when the call returns. With a device it would be looked at later, behind the next forward.
  require(rcap_output_copy_to_host(started, nullptr, &error), error);
  rcap_summary summary = make(rcap_summary_init);
  require(rcap_output_finalize(started, &summary, &error), error);
  if (summary.rows_stored != count(rows)) {
    throw EngineError("routecap stored " + std::to_string(summary.rows_stored) + " of " + std::to_string(rows.size()) + " rows: fault " +
                      std::to_string(summary.first_bad_fault) + " in row " + std::to_string(summary.first_bad_row) + ", layer " +
                      std::to_string(summary.first_bad_layer));
  }
  return summary.sequence;
}

void Capture::discard_forward() {
  rcap_error error = make(rcap_error_init);
  require(rcap_capturer_discard_forward(capturer_.get(), nullptr, &error), error);
}

void Capture::release(std::span<const std::int64_t> slots) {
  const rcap_slots_layout layout = make(rcap_slots_layout_init);
  rcap_error error = make(rcap_error_init);
  require(rcap_capturer_release_slots(capturer_.get(), &layout, slots.data(), bytes_of(slots), nullptr, &error), error);
}

void Capture::copy(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  const rcap_slots_layout layout = make(rcap_slots_layout_init);
  rcap_error error = make(rcap_error_init);
  require(rcap_capturer_copy_slots(capturer_.get(), &layout, from.data(), bytes_of(from), to.data(), bytes_of(to), nullptr, &error), error);
}

engine::RecordHandle Capture::read(std::span<const std::int64_t> slots, std::int64_t tokens, std::int64_t after) const {
  rcap_read_layout layout = make(rcap_read_layout_init);
  layout.tokens = tokens;
  layout.after_sequence = after;
  rcap_error error = make(rcap_error_init);
  rcap_record* record = nullptr;
  require(rcap_capturer_read(capturer_.get(), &layout, slots.data(), bytes_of(slots), nullptr, 0, &record, &error), error);
  return engine::RecordHandle(record);
}

rcap_capturer_stats Capture::stats() const {
  rcap_capturer_stats stats = make(rcap_capturer_stats_init);
  rcap_error error = make(rcap_error_init);
  require(rcap_capturer_stats_get(capturer_.get(), &stats, &error), error);
  return stats;
}

bool Capture::holds_row(std::int64_t slot) const {
  rcap_slot_info info = make(rcap_slot_info_init);
  rcap_error error = make(rcap_error_init);
  require(rcap_capturer_slot_info_get(capturer_.get(), slot, &info, &error), error);
  return info.valid != 0;
}

}  // namespace llama_demo
