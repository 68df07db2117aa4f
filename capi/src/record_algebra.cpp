// SPDX-License-Identifier: Apache-2.0
#include "record/algebra.h"

#include <routecap/routecap.h>

#include "arguments.h"
#include "guard.h"
#include "record/compare.h"
#include "support/checked.h"

using namespace routecap;
using namespace routecap::capi;

namespace {

const Record& named_record(const rcap_record* handle, const char* name) { return live<Record>(handle, name); }

/// Runs `make`, which returns a record, and hands the handle out.
template <class Make>
rcap_status hand_out(rcap_record** record, rcap_error* err, Make&& make, const char* function = __builtin_FUNCTION()) noexcept {
  return guard(
      err,
      [&] {
        require(record, "record");
        *record = reinterpret_cast<rcap_record*>(make().release());
      },
      function);
}

DealtRows dealt_rows(const Record& record, const int64_t* positions, int64_t count, const char* name) {
  const std::int64_t rows = record.geometry().rows;
  if (count != (positions == nullptr ? 0 : rows)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_count is %" PRId64 "%s, the record has %" PRId64 " rows", name, count,
         positions == nullptr ? " with null" : "", rows);
  }
  return {record, {positions, static_cast<std::size_t>(count)}};
}

}  // namespace

extern "C" {

rcap_status rcap_record_append(const rcap_record* self, const rcap_record* next, int32_t overlap, rcap_record** record, rcap_error* err) noexcept {
  return hand_out(record, err, [&] { return append(named_record(self, "self"), named_record(next, "next"), overlap); });
}

rcap_status rcap_record_merge(const rcap_record* self, const rcap_record* decode, int64_t boundary, rcap_record** record, rcap_error* err) noexcept {
  return hand_out(record, err, [&] { return merge(named_record(self, "self"), named_record(decode, "decode"), boundary); });
}

rcap_status rcap_record_truncate(const rcap_record* self, int64_t tokens, int32_t flags, rcap_record** record, rcap_error* err) noexcept {
  return hand_out(record, err, [&] { return truncate(named_record(self, "self"), tokens, flags); });
}

rcap_status rcap_record_stack(const rcap_record* self, const rcap_record* other, rcap_record** record, rcap_error* err) noexcept {
  return hand_out(record, err, [&] { return stack(named_record(self, "self"), named_record(other, "other")); });
}

rcap_status rcap_record_interleave(const rcap_record* self, const int64_t* positions, int64_t positions_count, const rcap_record* other,
                                   const int64_t* other_positions, int64_t other_positions_count, rcap_record** record, rcap_error* err) noexcept {
  return hand_out(record, err, [&] {
    const DealtRows first = dealt_rows(named_record(self, "self"), positions, positions_count, "positions");
    return interleave(first, dealt_rows(named_record(other, "other"), other_positions, other_positions_count, "other_positions"));
  });
}

rcap_status rcap_record_to_full_axis(const rcap_record* self, int32_t num_layers, int32_t fill, int32_t fill_id, rcap_record** record,
                                     rcap_error* err) noexcept {
  return hand_out(record, err, [&] { return to_full_axis(named_record(self, "self"), num_layers, {fill, fill_id}); });
}

rcap_status rcap_record_to_compact(const rcap_record* self, const int32_t* layer_ids, int64_t layer_ids_count, rcap_record** record,
                                   rcap_error* err) noexcept {
  return hand_out(record, err, [&] {
    const Record& whole = named_record(self, "self");
    require(layer_ids, "layer_ids");
    require_range("layer_ids_count", layer_ids_count, 1, whole.geometry().layers());
    return to_compact(whole, {layer_ids, static_cast<std::size_t>(layer_ids_count)});
  });
}

rcap_status rcap_record_compare(const rcap_record* self, const rcap_record* other, rcap_compare_report* report, int64_t* by_layer,
                                int64_t by_layer_count, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& first = named_record(self, "self");
    const Record& second = named_record(other, "other");
    require_out(report, "report");
    if (by_layer == nullptr && by_layer_count != 0)
      fail(RCAP_STATUS_INVALID_ARGUMENT, "by_layer is null, by_layer_count is %" PRId64, by_layer_count);
    if (by_layer != nullptr) require_range("by_layer_count", by_layer_count, first.geometry().layers(), INT64_MAX);
    const Comparison result = compare(first, second);
    sized_out(report, result.report);
    if (by_layer != nullptr) std::copy(result.by_layer.begin(), result.by_layer.end(), by_layer);
  });
}

}  // extern "C"
