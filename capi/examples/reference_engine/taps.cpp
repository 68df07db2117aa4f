// SPDX-License-Identifier: Apache-2.0
#include "taps.h"

#include "accelerator.h"
#include "support.h"

namespace engine {
namespace {

/// Longest wait for a staging block in thread mode. Every forward is accepted before the next one ends, so the wait ends by itself; a real
/// engine would rather see BUSY than stand still.
constexpr std::int64_t kBusyTimeout = 10'000'000'000;

rcap_capturer_config capturer_config(const ModelShape& shape, const EngineConfig& engine) {
  rcap_capturer_config config = make(rcap_capturer_config_init);
  config.num_experts = shape.num_experts;
  config.top_k = shape.top_k;
  config.num_fused_shared_experts = shape.fused_shared_experts;
  config.weights_dtype = engine.weights ? RCAP_DTYPE_BFLOAT16 : RCAP_DTYPE_NONE;
  config.weights_kind = RCAP_WEIGHTS_RENORMALIZED;
  // FULL also refuses an expert named twice in a row: a sign of a kernel bug or of a wrong id map. BASIC is cheaper.
  config.check_level = RCAP_CHECK_FULL;
  // These limits decide the device rows, multiplied by dp_size because every rank's tokens pass through the buffer (R13).
  config.chunked_prefill_size = engine.chunked_prefill_size;
  config.max_running_requests = engine.max_running_requests;
  config.num_verify_tokens = engine.num_verify_tokens;
  config.max_graph_tokens = engine.max_graph_tokens();
  config.dp_size = engine.dp_size;
  config.attn_tp_size = engine.attn_tp_size;
  // The host pool is one more range of slots. Only pages that are used cost memory.
  config.num_slots = engine.num_slots();
  config.reserved_slots = engine.reserved_slots;
  config.pipeline_depth = static_cast<std::int32_t>(engine.pipeline_depth);
  if (engine.finalize == FinalizeMode::kThread) {
    config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
    config.busy_policy = RCAP_BUSY_WAIT;
    config.busy_timeout_ns = kBusyTimeout;
  }
  return config;
}

}  // namespace

void Taps::call(rcap_tap* tap, const TopK& topk, std::int64_t first, std::int64_t rows, std::span<const std::int32_t> row_ids) const {
  rcap_capture_layout layout = make(rcap_capture_layout_init);
  layout.ids_dtype = RCAP_DTYPE_INT32;
  layout.weights_dtype = RCAP_DTYPE_BFLOAT16;
  layout.memory = RCAP_MEMORY_DEVICE;
  layout.columns = topk.columns;
  layout.tokens = rows;
  layout.first_row = first;
  const std::size_t skipped = static_cast<std::size_t>(first) * static_cast<std::size_t>(topk.columns);
  const DeviceArray ids(accelerator_, topk.ids.subspan(skipped));
  const DeviceArray weights(accelerator_, topk.weights.empty() ? topk.weights : topk.weights.subspan(skipped));
  const DeviceArray where(accelerator_, row_ids);
  rcap_error error = make(rcap_error_init);
  require(rcap_tap_capture(tap, &layout, ids.data(), ids.bytes(), weights.data(), weights.bytes(), where.data(), count(row_ids), nullptr, &error),
          error);
}

Taps::Taps(const ModelShape& shape, const EngineConfig& engine) : accelerator_(engine.accelerator), plan_(make(rcap_capturer_plan_init)) {
  const rcap_capturer_config config = capturer_config(shape, engine);
  const std::vector<std::int32_t>& layers = shape.moe_layers;
  rcap_error error = make(rcap_error_init);

  // The plan allocates nothing: an engine asks for it before it divides the accelerator's memory between weights, KV and everything else.
  require(rcap_capturer_plan_get(&config, layers.data(), count(layers), &plan_, &error), error);

  rcap_capturer* capturer = nullptr;
  require(rcap_capturer_create(&config, layers.data(), count(layers), accelerator_ == nullptr ? nullptr : accelerator_->backend(), &capturer, &error),
          error);
  capturer_.reset(capturer);

  rcap_model* target = nullptr;
  require(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, &error), error);
  for (const std::int32_t layer : layers) {
    rcap_tap_options options = make(rcap_tap_options_init);
    // Prefill runs the last layer only where logits are wanted: its cells have a validity of their own.
    if (layer == layers.back()) options.flags = RCAP_TAP_PARTIAL;
    rcap_tap* tap = nullptr;
    require(rcap_model_add_tap(target, layer, &options, nullptr, 0, &tap, &error), error);
    target_.push_back(tap);
  }

  // The draft gets a tap as well, before its kernels or graphs are built: the gate travels with the tap (R19), so no code path of the draft has
  // to remember that it must not capture.
  rcap_model* draft = nullptr;
  require(rcap_capturer_add_model(capturer, RCAP_ROLE_DRAFT, "draft", &draft, &error), error);
  require(rcap_model_add_tap(draft, shape.draft_layer, nullptr, nullptr, 0, &draft_, &error), error);

  require(rcap_capturer_seal(capturer, &error), error);
}

void Taps::capture(std::int64_t column, const TopK& topk) const { call(at(target_, column), topk, 0, topk.rows()); }

void Taps::capture_halves(std::int64_t column, const TopK& topk) const {
  const std::int64_t half = topk.rows() / 2;
  call(at(target_, column), topk, 0, half);
  call(at(target_, column), topk, half, topk.rows() - half);
}

void Taps::capture_rows(std::int64_t column, const TopK& topk, std::span<const std::int32_t> row_ids) const {
  if (row_ids.empty()) return;  // no request of any rank samples in this forward
  call(at(target_, column), topk, 0, topk.rows(), row_ids);
}

void Taps::capture_draft(const TopK& topk) const { call(draft_, topk, 0, topk.rows()); }

void Taps::discard_forward() const {
  rcap_error error = make(rcap_error_init);
  require(rcap_capturer_discard_forward(capturer_.get(), nullptr, &error), error);
}

}  // namespace engine
