// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <routecap/routecap.h>

#include "arguments.h"
#include "guard.h"
#include "support/checked.h"
#include "support/dtype.h"

using namespace routecap;
using namespace routecap::capi;

namespace {

RecordGeometry checked_geometry(const rcap_record_layout& layout, const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* layer_flags,
                                int64_t layer_flags_count) {
  const auto in_range = [](const char* name, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
    if (value < lowest || value > highest) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%s is %" PRId64 ", allowed are %" PRId64 " .. %" PRId64, name, value, lowest, highest);
    }
  };
  in_range("start", layout.start, 0, INT64_MAX);
  in_range("rows", layout.rows, 0, INT64_MAX - layout.start);
  in_range("num_experts", layout.num_experts, 1, INT32_MAX);
  in_range("top_k", layout.top_k, 1, layout.num_experts);
  if (layout.weights_dtype != RCAP_DTYPE_NONE && !is_weights_dtype(layout.weights_dtype)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "weights_dtype is %d, allowed are NONE, FLOAT16, BFLOAT16 and FLOAT32 (0, 6, 7, 8)", layout.weights_dtype);
  }
  if (layout.weights_kind < 0 || layout.weights_kind > RCAP_WEIGHTS_SCALED) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "weights_kind is %d, known values are 0 .. %d", layout.weights_kind, RCAP_WEIGHTS_SCALED);
  }
  in_range("layer_ids_count", layer_ids_count, 1, INT32_MAX);
  require(layer_ids, "layer_ids");
  if (layer_flags != nullptr && layer_flags_count != layer_ids_count) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_flags_count is %" PRId64 ", layer_ids_count is %" PRId64, layer_flags_count, layer_ids_count);
  }
  if (layer_flags == nullptr && layer_flags_count != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_flags is null, layer_flags_count is %" PRId64, layer_flags_count);
  }
  RecordGeometry geometry{layout.start,
                          layout.rows,
                          layout.num_experts,
                          layout.top_k,
                          ids_dtype_for(layout.num_experts),
                          layout.weights_dtype,
                          layout.weights_kind,
                          false,
                          {},
                          {}};
  geometry.layer_ids.assign(layer_ids, layer_ids + layer_ids_count);
  geometry.layer_flags.assign(static_cast<std::size_t>(layer_ids_count), 0);
  constexpr std::int32_t kKnown = RCAP_TAP_HASH_ROUTED | RCAP_TAP_UNORDERED | RCAP_TAP_PARTIAL;
  for (std::size_t column = 0; column < geometry.layer_ids.size(); ++column) {
    if (layer_ids[column] < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "layer_ids[%zu] is %d, it must not be negative", column, layer_ids[column]);
    if (column > 0 && layer_ids[column] <= layer_ids[column - 1]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids[%zu] is %d after %d, layers must ascend and stand once", column, layer_ids[column],
           layer_ids[column - 1]);
    }
    if (layer_flags == nullptr) continue;
    if ((layer_flags[column] & ~kKnown) != 0)
      fail(RCAP_STATUS_UNSUPPORTED, "layer_flags[%zu] is %d, known bits are %d", column, layer_flags[column], kKnown);
    geometry.layer_flags[column] = layer_flags[column];
    geometry.has_cells = geometry.has_cells || (layer_flags[column] & RCAP_TAP_PARTIAL) != 0;
  }
  return geometry;
}

void check_bytes(const char* name, const void* data, std::int64_t bytes, std::int64_t needed) {
  if (bytes != needed || (needed > 0 && data == nullptr)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_bytes is %" PRId64 "%s, the layout makes it %" PRId64, name, bytes, data == nullptr ? " (null)" : "",
         needed);
  }
}

/// One borrowed array of a record.
rcap_status borrow(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err, const Bytes& (Record::*part)() const) noexcept {
  return guard(err, [&] {
    const Record& record = live_record(self);
    require(data, "data");
    require(bytes, "bytes");
    const Bytes& array = (record.*part)();
    *data = array.data();
    *bytes = array.size();
  });
}

}  // namespace

extern "C" {

rcap_status rcap_record_create(const rcap_record_layout* layout, const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* layer_flags,
                               int64_t layer_flags_count, const void* ids, int64_t ids_bytes, const void* weights, int64_t weights_bytes,
                               const void* validity, int64_t validity_bytes, rcap_record** record, rcap_error* err) noexcept {
  return guard(err, [&] {
    const rcap_record_layout checked = sized_in(layout, "layout");
    require(record, "record");
    RecordGeometry geometry = checked_geometry(checked, layer_ids, layer_ids_count, layer_flags, layer_flags_count);
    check_bytes("ids", ids, ids_bytes, checked_multiply(checked.rows, geometry.row_ids_bytes(), "bytes of the ids"));
    check_bytes("weights", weights, weights_bytes, checked_multiply(checked.rows, geometry.row_weights_bytes(), "bytes of the weights"));
    if (validity != nullptr || validity_bytes != 0) {
      const std::int64_t cells = geometry.has_cells ? ceil_divide(checked_multiply(checked.rows, geometry.layers(), "cells"), 8) : 0;
      check_bytes("validity", validity, validity_bytes, ceil_divide(checked.rows, 8) + cells);
    }
    auto made = Record::from_arrays(std::move(geometry), checked.weight_version, ids, weights, static_cast<const std::uint8_t*>(validity));
    *record = reinterpret_cast<rcap_record*>(made.release());
  });
}

void rcap_record_destroy(rcap_record* self) noexcept {
  guard(nullptr, [&] {
    if (self != nullptr) delete &live_record(self);
  });
}

rcap_status rcap_record_info_get(const rcap_record* self, rcap_record_info* info, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& record = live_record(self);
    require_out(info, "info");
    const RecordGeometry& geometry = record.geometry();
    rcap_record_info made{};
    made.start = geometry.start;
    made.rows = geometry.rows;
    made.rows_valid = record.rows_valid();
    made.num_layers = static_cast<std::int32_t>(geometry.layers());
    made.top_k = geometry.top_k;
    made.num_experts = geometry.num_experts;
    made.ids_dtype = geometry.ids_dtype;
    made.weights_dtype = geometry.weights_dtype;
    made.weights_kind = geometry.weights_kind;
    made.has_cell_validity = geometry.has_cells ? 1 : 0;
    made.version_spans = static_cast<std::int64_t>(record.spans().starts.size());
    sized_out(info, made);
  });
}

rcap_status rcap_record_ids(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err) noexcept {
  return borrow(self, data, bytes, err, &Record::ids);
}

rcap_status rcap_record_weights(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err) noexcept {
  return borrow(self, data, bytes, err, &Record::weights);
}

rcap_status rcap_record_row_validity(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err) noexcept {
  return borrow(self, data, bytes, err, &Record::row_validity);
}

rcap_status rcap_record_cell_validity(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err) noexcept {
  return borrow(self, data, bytes, err, &Record::cell_validity);
}

rcap_status rcap_record_layer_ids(const rcap_record* self, const int32_t** data, int64_t* count, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& record = live_record(self);
    require(data, "data");
    require(count, "count");
    *data = record.geometry().layer_ids.data();
    *count = record.geometry().layers();
  });
}

rcap_status rcap_record_layer_flags(const rcap_record* self, const int32_t** data, int64_t* count, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& record = live_record(self);
    require(data, "data");
    require(count, "count");
    *data = record.geometry().layer_flags.data();
    *count = record.geometry().layers();
  });
}

rcap_status rcap_record_version_spans(const rcap_record* self, const int64_t** starts, const int64_t** versions, int64_t* count,
                                      rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& record = live_record(self);
    require(starts, "starts");
    require(versions, "versions");
    require(count, "count");
    *starts = record.spans().starts.data();
    *versions = record.spans().versions.data();
    *count = static_cast<std::int64_t>(record.spans().starts.size());
  });
}

rcap_status rcap_record_slice(const rcap_record* self, int64_t start, int64_t end, rcap_record** record, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& whole = live_record(self);
    require(record, "record");
    *record = reinterpret_cast<rcap_record*>(whole.slice(start, end).release());
  });
}

}  // extern "C"
