// SPDX-License-Identifier: Apache-2.0
#include "config/geometry.h"

#include <algorithm>
#include <array>
#include <cinttypes>

#include "config/shape.h"
#include "config/sizing.h"
#include "config/staging_layout.h"
#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"

namespace routecap {
namespace {

constexpr std::array<Choice, 2> kCheckLevels{{{RCAP_CHECK_BASIC, "BASIC"}, {RCAP_CHECK_FULL, "FULL"}}};
constexpr std::array<Choice, 2> kFinalizeModes{{{RCAP_FINALIZE_CALLER, "CALLER"}, {RCAP_FINALIZE_OWN_THREAD, "OWN_THREAD"}}};
constexpr std::array<Choice, 2> kBusyPolicies{{{RCAP_BUSY_REFUSE, "REFUSE"}, {RCAP_BUSY_WAIT, "WAIT"}}};
constexpr std::array<Choice, 2> kSwitch{{{0, "off"}, {1, "on"}}};

void check_policies(const rcap_capturer_config& config) {
  require_choice("check_level", config.check_level, kCheckLevels);
  require_choice("finalize_mode", config.finalize_mode, kFinalizeModes);
  require_choice("busy_policy", config.busy_policy, kBusyPolicies);
  require_choice("tags", config.tags, kSwitch);
  require_range("pipeline_depth", config.pipeline_depth, 1, 4096);
  if (config.busy_timeout_ns < 0)
    fail(RCAP_STATUS_INVALID_ARGUMENT, "busy_timeout_ns is %" PRId64 ", it must not be negative", config.busy_timeout_ns);
  // R32: only a thread that finalizes by itself can end such a wait.
  if (config.busy_policy == RCAP_BUSY_WAIT && config.finalize_mode != RCAP_FINALIZE_OWN_THREAD) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "busy_policy WAIT needs finalize_mode OWN_THREAD, finalize_mode is CALLER: nobody would end the wait");
  }
}

// A slot shares a 64-bit word with an epoch in the sets that look for repeated slots.
constexpr std::int64_t kMostSlots = std::int64_t{1} << 40;

void check_slots(const rcap_capturer_config& config) {
  require_range("num_slots", config.num_slots, 0, kMostSlots);
  require_range("page_size", config.page_size, 1, INT64_MAX);
  if (config.num_slots % config.page_size != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "num_slots is %" PRId64 ", not a multiple of page_size %" PRId64, config.num_slots, config.page_size);
  }
  require_range("reserved_slots", config.reserved_slots, 0, config.num_slots);
}

}  // namespace

Geometry Geometry::checked(const rcap_capturer_config& config, std::span<const std::int32_t> layer_ids) {
  check_experts(config.num_experts, config.top_k);
  require_range("num_fused_shared_experts", config.num_fused_shared_experts, 0, INT32_MAX - config.top_k);
  check_weights(config.weights_dtype, config.weights_kind);
  check_policies(config);
  check_slots(config);
  check_layer_list(layer_ids);
  Geometry geometry;
  geometry.config_ = config;
  geometry.layer_ids_.assign(layer_ids.begin(), layer_ids.end());
  geometry.device_rows_ = size_device_rows(config);
  geometry.ids_dtype_ = ids_dtype_for(config.num_experts);
  // Computing every product once here is the check that none of them overflows later.
  static_cast<void>(geometry.plan());
  return geometry;
}

std::int32_t Geometry::column_of(std::int32_t layer_number) const {
  const auto found = std::lower_bound(layer_ids_.begin(), layer_ids_.end(), layer_number);
  return found != layer_ids_.end() && *found == layer_number ? static_cast<std::int32_t>(found - layer_ids_.begin()) : -1;
}

rows::RowShape Geometry::row_shape(bool partial) const {
  rows::RowShape shape;
  shape.layers = layers();
  shape.top_k = config_.top_k;
  shape.id_bytes = dtype_bytes(ids_dtype_);
  shape.weight_bytes = dtype_bytes(config_.weights_dtype);
  shape.cell_words = partial ? static_cast<std::int32_t>(ceil_divide(shape.layers, 64)) : 0;
  const std::int64_t cells = checked_multiply(shape.layers, shape.top_k, "layers * top_k");
  shape.ids_bytes = checked_multiply(cells, shape.id_bytes, "bytes of a row's ids");
  shape.weights_bytes = checked_multiply(cells, shape.weight_bytes, "bytes of a row's weights");
  shape.weights_offset = checked_align_up(shape.ids_bytes, 8, "bytes of a row's ids");
  shape.cells_offset = checked_add(shape.weights_offset, checked_align_up(shape.weights_bytes, 8, "bytes of a row's weights"), "bytes of a row");
  shape.payload_bytes = checked_add(shape.cells_offset, 8 * std::int64_t{shape.cell_words}, "bytes of a row");
  return shape;
}

rcap_capturer_plan Geometry::plan() const {
  const rows::RowShape shape = row_shape(false);
  rcap_capturer_plan plan{};
  plan.struct_size = static_cast<std::int64_t>(sizeof plan);
  plan.device_rows = device_rows_.rows;
  plan.rows_term = device_rows_.term;
  plan.ids_dtype = ids_dtype_;
  plan.num_layers = layers();
  const std::int64_t staging =
      checked_multiply(config_.pipeline_depth, StagingLayout::block_bytes(shape, device_rows_.rows), "pipeline_depth * bytes of a staging block");
  plan.device_bytes = checked_add(cache_bytes(shape, device_rows_.rows), staging, "bytes on the device");
  plan.pinned_bytes = staging;
  plan.slot_ids_bytes = shape.ids_bytes;
  plan.slot_payload_bytes = shape.payload_bytes;
  plan.slot_bytes = checked_add(shape.payload_bytes, tags() ? 16 : 8, "bytes of a slot");
  const std::int64_t with_extension = checked_add(plan.slot_bytes, static_cast<std::int64_t>(sizeof(rows::SlotExtension)), "bytes of a slot");
  static_cast<void>(checked_multiply(config_.num_slots, with_extension, "num_slots * bytes of a slot"));
  plan.store_bytes = config_.num_slots * plan.slot_bytes;
  return plan;
}

}  // namespace routecap
