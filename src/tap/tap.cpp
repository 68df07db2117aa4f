// SPDX-License-Identifier: Apache-2.0
#include "tap/tap.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"

namespace routecap {
namespace {

/// Bytes that `tokens` rows of `row_bytes`, `stride` apart, reach over; the last row needs no stride behind it. -1 where that overflows.
std::int64_t reach_of(std::int64_t tokens, std::int64_t stride, std::int64_t row_bytes) {
  std::int64_t reach = 0;
  if (tokens == 0) return 0;
  const bool overflow = __builtin_mul_overflow(tokens - 1, stride, &reach) || __builtin_add_overflow(reach, row_bytes, &reach);
  return overflow ? -1 : reach;
}

/// Checks one of the two arrays of a capture and returns its row stride in bytes.
std::int64_t checked_stride(const char* name, RawArray array, std::int64_t stride, std::int64_t row_bytes, std::int64_t tokens) {
  if (stride < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_row_stride is %" PRId64 ", it must not be negative", name, stride);
  const std::int64_t step = stride == 0 ? row_bytes : stride;
  if (step < row_bytes)
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_row_stride is %" PRId64 ", smaller than a row's %" PRId64 " bytes", name, step, row_bytes);
  if (tokens > 0 && array.data == nullptr) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, the layout has %" PRId64 " tokens", name, tokens);
  const std::int64_t reach = reach_of(tokens, step, row_bytes);
  if (reach < 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_row_stride is %" PRId64 ", %" PRId64 " tokens at it reach past %" PRId64 " bytes", name, step, tokens,
         INT64_MAX);
  }
  if (array.bytes < reach) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_bytes is %" PRId64 ", %" PRId64 " tokens at a row stride of %" PRId64 " bytes need %" PRId64, name,
         array.bytes, tokens, step, reach);
  }
  return step;
}

std::int32_t checked_ids_bytes(std::int32_t dtype) {
  require_dtype("ids_dtype", dtype, kIdDtypes);
  return dtype_bytes(dtype);
}

}  // namespace

void Tap::open(const Geometry& geometry, const rows::RowShape& shape, const rows::CacheView& cache, Backend& backend) {
  job_.shape = shape;
  job_.cache = cache;
  job_.layer = column_;
  job_.num_experts = geometry.config().num_experts;
  job_.weights_dtype = geometry.config().weights_dtype;
  job_.id_map = id_map_.data;
  job_.id_map_dtype = id_map_.dtype;
  job_.id_map_entries = id_map_.entries;
  job_.id_map_memory = id_map_.memory;
  fused_columns_ = geometry.config().num_fused_shared_experts;
  if (partial()) row_seen_.resize(static_cast<std::size_t>(cache.device_rows));
  backend_ = &backend;
}

void Tap::check_row_ids(const rcap_capture_layout& layout, const CaptureArguments& arguments) {
  if (!partial()) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "row_ids is given (%" PRId64 " rows), layer %d has no PARTIAL tap", arguments.row_ids_count, layer_number_);
  }
  if (arguments.row_ids_count != layout.tokens) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "row_ids_count is %" PRId64 ", the layout has %" PRId64 " tokens", arguments.row_ids_count, layout.tokens);
  }
  if (layout.memory != RCAP_MEMORY_HOST) return;
  if (++row_epoch_ == 0) {
    std::fill(row_seen_.begin(), row_seen_.end(), 0U);
    row_epoch_ = 1;
  }
  const std::int64_t rows = job_.cache.device_rows - layout.first_row;
  for (std::int64_t i = 0; i < layout.tokens; ++i) {
    std::int32_t row = 0;
    std::memcpy(&row, reinterpret_cast<const std::byte*>(arguments.row_ids) + i * 4, sizeof row);
    if (row < 0 || row >= rows) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "row_ids[%" PRId64 "] is %d, %s (first_row %" PRId64 " of %" PRId64 " device rows)", i, row,
           Allowed(0, rows - 1).text(), layout.first_row, job_.cache.device_rows);
    }
    std::uint32_t& seen = row_seen_[static_cast<std::size_t>(layout.first_row + row)];
    if (seen == row_epoch_) fail(RCAP_STATUS_INVALID_ARGUMENT, "row_ids[%" PRId64 "] is %d, named twice in one capture", i, row);
    seen = row_epoch_;
  }
}

void Tap::capture(const rcap_capture_layout& layout, const CaptureArguments& arguments, void* stream) {
  rows::CaptureJob job = job_;
  const std::int32_t id_bytes = checked_ids_bytes(layout.ids_dtype);
  require_choice("memory", layout.memory, kMemories);
  // R23: behind the K routed columns a fused kernel leaves its shared experts.
  if (layout.columns != job.shape.top_k && layout.columns != job.shape.top_k + fused_columns_) {
    if (fused_columns_ == 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "columns is %d, allowed is top_k %d", layout.columns, job.shape.top_k);
    fail(RCAP_STATUS_INVALID_ARGUMENT, "columns is %d, allowed are top_k %d or with fused shared experts %d", layout.columns, job.shape.top_k,
         job.shape.top_k + fused_columns_);
  }
  if (layout.tokens < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "tokens is %" PRId64 ", it must not be negative", layout.tokens);
  if (layout.first_row < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "first_row is %" PRId64 ", it must not be negative", layout.first_row);
  const std::int64_t device_rows = job.cache.device_rows;
  // R14: refused whole, never clamped. Rows of a row_ids list are checked one by one.
  const bool beyond = layout.first_row > device_rows || (arguments.row_ids == nullptr && layout.tokens > device_rows - layout.first_row);
  if (beyond || layout.tokens > device_rows) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "first_row %" PRId64 " + tokens %" PRId64 " exceeds the %" PRId64 " device rows (layer %d)", layout.first_row,
         layout.tokens, device_rows, layer_number_);
  }
  job.ids_stride = checked_stride("ids", arguments.ids, layout.ids_row_stride, std::int64_t{layout.columns} * id_bytes, layout.tokens);
  if (job.shape.weight_bytes > 0 && layout.tokens > 0) {
    if (arguments.weights.data == nullptr) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "weights is null, the capturer keeps weights of dtype %s", dtype_name(job.weights_dtype));  // R29
    }
    if (layout.weights_dtype != RCAP_DTYPE_FLOAT32 && layout.weights_dtype != job.weights_dtype) {
      const Status status = is_weights_dtype(layout.weights_dtype) ? RCAP_STATUS_UNSUPPORTED : RCAP_STATUS_INVALID_ARGUMENT;
      fail(status, "weights_dtype is %s (%d), the capturer keeps %s and converts only from FLOAT32", dtype_name(layout.weights_dtype),
           layout.weights_dtype, dtype_name(job.weights_dtype));
    }
    job.weights = arguments.weights.data;
    job.weights_dtype_in = layout.weights_dtype;
    job.weights_stride = checked_stride("weights", arguments.weights, layout.weights_row_stride,
                                        std::int64_t{layout.columns} * dtype_bytes(layout.weights_dtype), layout.tokens);
  }
  if (arguments.row_ids != nullptr) {
    check_row_ids(layout, arguments);
  } else if (arguments.row_ids_count != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "row_ids is null, row_ids_count is %" PRId64, arguments.row_ids_count);
  }
  if (layout.tokens == 0) return;
  job.ids = arguments.ids.data;
  job.ids_dtype = layout.ids_dtype;
  job.memory = layout.memory;
  job.tokens = layout.tokens;
  job.first_row = layout.first_row;
  job.row_ids = arguments.row_ids;
  backend_->capture(job, stream);
}

}  // namespace routecap
