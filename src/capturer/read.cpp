// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>

#include "capturer/capturer.h"
#include "capturer/read_request.h"
#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"

namespace routecap {
namespace {

std::int64_t raw_number(const rows::SlotList& list, std::int64_t index) {
  if (list.element_bytes == 4) {
    std::int32_t number = 0;
    std::memcpy(&number, static_cast<const std::byte*>(list.data) + index * 4, sizeof number);
    return number;
  }
  std::int64_t number = 0;
  std::memcpy(&number, static_cast<const std::byte*>(list.data) + index * 8, sizeof number);
  return number;
}

void check_numbers(const rcap_read_layout& layout) {
  require_dtype("slots_dtype", layout.slots_dtype, kListDtypes);
  require_choice("unit", layout.unit, kSlotUnits);
  require_flags("flags", layout.flags, kReadFlags);
  if (layout.tokens < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "tokens is %" PRId64 ", it must not be negative", layout.tokens);
  if (layout.start < 0 || layout.start > layout.tokens) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "start is %" PRId64 ", allowed are 0 .. tokens %" PRId64, layout.start, layout.tokens);  // R3
  }
  if (layout.timeout_ns < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "timeout_ns is %" PRId64 ", it must not be negative", layout.timeout_ns);
}

}  // namespace

ReadRequest Capturer::checked_read(const rcap_read_layout& layout, RawArray slots, RawArray tags) const {
  check_numbers(layout);
  if (layout.after_sequence < 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "after_sequence is %" PRId64 ", numbers count from 1, 0 names none", layout.after_sequence);
  }
  const Sequence last = last_sequence_.load(std::memory_order_acquire);
  if (layout.after_sequence > last) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "after_sequence is %" PRId64 ", the last number given is %" PRId64, layout.after_sequence, last);
  }
  const std::int32_t element = dtype_bytes(layout.slots_dtype);
  if (slots.bytes < 0 || slots.bytes % element != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "slots_bytes is %" PRId64 ", not a whole number of %d-byte elements", slots.bytes, element);
  }
  if (slots.data == nullptr && slots.bytes != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "slots is null, slots_bytes is %" PRId64, slots.bytes);
  ReadRequest request;
  const std::int64_t page_size = layout.unit == RCAP_UNIT_PAGE ? geometry_.config().page_size : 1;
  request.slots = {slots.data, element, page_size, slots.bytes / element, layout.start};
  request.start = layout.start;
  request.after = layout.after_sequence;
  request.timeout_ns = layout.timeout_ns;
  const std::int64_t rows = std::max<std::int64_t>(layout.tokens - 1, 0);  // R1
  if (request.slots.count < ceil_divide(rows, page_size)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "slots has %" PRId64 " elements, %" PRId64 " tokens need %" PRId64, request.slots.count, layout.tokens,
         ceil_divide(rows, page_size));
  }
  // R2: the last token's row is asked for, its slot is given, and it is not -1: then it depends on the store whether there is one more row.
  request.end = rows;
  if ((layout.flags & RCAP_READ_INCLUDE_LAST) != 0 && layout.tokens > 0 && request.slots.count > (layout.tokens - 1) / page_size) {
    request.end = layout.tokens;
    request.last_is_optional = true;
  }
  if (tags.data != nullptr || tags.bytes != 0) {
    if (!geometry_.tags()) fail(RCAP_STATUS_INVALID_ARGUMENT, "tags is given (tags_count %" PRId64 "), the capturer keeps none", tags.bytes / 8);
    if (tags.data == nullptr || tags.bytes / 8 < request.end) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "tags_count is %" PRId64 "%s, %" PRId64 " rows are compared", tags.bytes / 8,
           tags.data == nullptr ? " (null)" : "", request.end);
    }
    request.tags = static_cast<const std::int64_t*>(tags.data);
  }
  if (request.rows() == 0) return request;
  const std::int64_t units = limits_.num_slots / page_size;
  for (std::int64_t i = request.start / page_size; i <= (request.end - 1) / page_size; ++i) {
    const std::int64_t number = raw_number(request.slots, i);
    if (number < -1 || number >= units) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "slots entry %" PRId64 " is %s %" PRId64 ", %s (num_slots is %" PRId64 ")", i,
           layout.unit == RCAP_UNIT_PAGE ? "page" : "slot", number, Allowed(-1, units - 1).text(), limits_.num_slots);
    }
  }
  return request;
}

rcap_read_info Capturer::info_for(const ReadRequest& request, std::int64_t rows) const {
  const rows::RowShape& shape = stages_->shape;
  rcap_read_info info{};
  info.struct_size = static_cast<std::int64_t>(sizeof info);
  info.start = request.start;
  info.rows = rows;
  info.num_layers = shape.layers;
  info.top_k = shape.top_k;
  info.ids_dtype = geometry_.ids_dtype();
  info.weights_dtype = geometry_.config().weights_dtype;
  info.ids_bytes = checked_multiply(rows, shape.ids_bytes, "bytes of the ids");
  info.weights_bytes = checked_multiply(rows, shape.weights_bytes, "bytes of the weights");
  info.row_validity_bytes = ceil_divide(rows, 8);
  info.cell_validity_bytes = has_partial_ ? ceil_divide(checked_multiply(rows, shape.layers, "cells"), 8) : 0;
  return info;
}

/// The first unsettled forward up to the named sequence that may change one of the rows' slots (R36), or 0.
Sequence Capturer::lacking_forward(const ReadRequest& request, std::int64_t end) const {
  if (request.after == 0) return 0;
  const SlotStore& store = stages_->store;
  Sequence lacking = 0;
  for (const auto& block : stages_->ring.blocks()) {
    const Sequence until = lacking == 0 ? request.after : lacking - 1;
    const Sequence found = block->pending.find(until, [&](Sequence sequence, auto&& may_write) {
      for (std::int64_t token = request.start; token < end; ++token) {
        const std::int64_t slot = request.slots.at(token);
        if (slot >= 0 && may_write(slot) && store.open_to(slot, sequence)) return true;
      }
      return false;
    });
    if (found != 0) lacking = found;
  }
  return lacking;
}

/// For a slot that waits for a copy: the forward that the copy waits for, or 0 where it has just been done.
Sequence Capturer::lacking_copy(std::int64_t slot) {
  const std::lock_guard<std::mutex> lock(settle_mutex_);
  const Stamp stamp = stages_->store.stamp(slot);
  if (!stamp.pending() || stamp.sequence() <= stages_->store.floor()) return 0;
  return stages_->copies.lacking(slot, stamp.sequence(),
                                 [this](std::int64_t from, Sequence before, Sequence above) { return may_change(from, before, above); });
}

/// Whether the row of one token is there for this reader, and the stamp that says so.
Capturer::RowState Capturer::row_state(const ReadRequest& request, std::int64_t token) const {
  const std::int64_t slot = request.slots.at(token);
  if (slot < 0) return {};
  const SlotRow row = stages_->store.load(slot, nullptr);
  const bool other_tag = request.tags != nullptr && request.tags[token] != row.tag;  // R8
  return {slot, row.stamp, row.valid && !other_tag, row.stamp.pending() && row.stamp.sequence() == row.decided};
}

rows::GatherJob Capturer::gather_job(const ReadRequest& request) const {
  rows::GatherJob job;
  job.shape = stages_->shape;
  job.store = stages_->store.view();
  job.reserved_slots = limits_.reserved_slots;
  job.floor = stages_->store.floor();
  job.tags = request.tags == nullptr ? nullptr : request.tags + request.start;
  return job;
}

Answer Capturer::try_gather(const ReadRequest& request, GatherRows gather) {
  reap_orphans();
  for (;;) {
    const Sequence lacking = lacking_forward(request, request.end);
    if (lacking != 0) return {RCAP_STATUS_NOT_READY, lacking};
    std::int64_t rows = request.rows();
    // R2: looked at before the others, since the number of rows decides where the bitmaps end.
    RowState last;
    if (request.last_is_optional && rows > 0) {
      last = row_state(request, request.end - 1);
      if (!last.valid && !last.pending) --rows;
    }
    const std::int64_t pending_row = gather(rows);
    if (pending_row >= 0) {
      const Sequence copy = lacking_copy(request.slots.at(request.start + pending_row));
      if (copy != 0) return {RCAP_STATUS_NOT_READY, copy};
      continue;  // done meanwhile
    }
    // Lost between the look and the read: then there is one row less, not a missing last one.
    if (last.valid && row_state(request, request.end - 1).stamp != last.stamp) continue;
    return {};
  }
}

Answer Capturer::try_read(const ReadRequest& request, const ReadTarget& target, rcap_read_info& info) {
  return try_gather(request, [&](std::int64_t rows) {
    info = info_for(request, rows);
    rows::GatherJob job = gather_job(request);
    job.rows = rows;
    job.ids = target.ids;
    job.weights = target.weights;
    job.row_validity = target.row_validity;
    job.cell_validity = target.cells_follow_rows && has_partial_ ? target.row_validity + info.row_validity_bytes : target.cell_validity;
    job.versions = target.versions;
    const rows::GatherResult result = rows > 0 ? rows::gather(job, request.slots, stages_->crew) : rows::GatherResult{};
    info.rows_valid = result.valid;
    info.weight_version_min = result.version_min;
    info.weight_version_max = result.version_max;
    return result.pending_row;
  });
}

Answer Capturer::until_ready(const ReadRequest& request, FunctionRef<Answer()> attempt) {
  Answer answer = attempt();
  if (answer.status != RCAP_STATUS_NOT_READY || request.timeout_ns == 0) return answer;
  wait_until(deadline_after(request.timeout_ns), [&] {
    answer = attempt();
    return answer.status != RCAP_STATUS_NOT_READY;
  });
  return answer;
}

Answer Capturer::read_rows(const ReadRequest& request, const ReadTarget& target, rcap_read_info& info) {
  return until_ready(request, [&] { return try_read(request, target, info); });
}

RecordGeometry Capturer::record_geometry(const ReadRequest& request, std::int64_t rows) const {
  const rcap_capturer_config& config = geometry_.config();
  return {request.start,       rows,         config.num_experts,    config.top_k, geometry_.ids_dtype(), config.weights_dtype,
          config.weights_kind, has_partial_, geometry_.layer_ids(), layer_flags_};
}

Answer Capturer::read(const rcap_read_layout& layout, RawArray slots, RawArray tags, std::unique_ptr<Record>& record) {
  require_sealed();
  const ReadRequest request = checked_read(layout, slots, tags);
  auto made = std::make_unique<Record>(record_geometry(request, request.rows()));
  std::vector<std::int64_t> versions(static_cast<std::size_t>(request.rows()));
  ReadTarget target;
  target.ids = made->ids().data();
  if (geometry_.config().weights_dtype != RCAP_DTYPE_NONE) target.weights = made->weights().data();
  target.row_validity = reinterpret_cast<std::uint8_t*>(made->row_validity().data());
  if (has_partial_) target.cell_validity = reinterpret_cast<std::uint8_t*>(made->cell_validity().data());
  target.versions = versions.data();
  rcap_read_info info{};
  const Answer answer = read_rows(request, target, info);
  if (answer.status != RCAP_STATUS_OK) return answer;
  made->set_versions(versions);
  if (info.rows < request.rows()) made = made->slice(request.start, request.start + info.rows);
  record = std::move(made);
  return {};
}

Answer Capturer::read_into(const rcap_read_layout& layout, RawArray slots, RawArray tags, RawArray ids, RawArray weights, RawArray validity,
                           rcap_read_info& info, bool& info_valid) {
  require_sealed();
  const ReadRequest request = checked_read(layout, slots, tags);
  const rcap_read_info needs = info_for(request, request.rows());
  info = needs;
  info_valid = true;
  const auto is_null = [](const RawArray& array) { return array.data == nullptr && array.bytes == 0; };
  if (is_null(ids) && is_null(weights) && is_null(validity)) return {};
  const bool keeps_weights = geometry_.config().weights_dtype != RCAP_DTYPE_NONE;
  const auto check = [](const char* name, const RawArray& array, std::int64_t needed) {
    if (array.data == nullptr && array.bytes != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, %s_bytes is %" PRId64, name, name, array.bytes);
    if (array.data != nullptr && array.bytes < needed) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%s_bytes is %" PRId64 ", needed are %" PRId64, name, array.bytes, needed);
    }
  };
  if (ids.data == nullptr && request.rows() > 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "ids is null, %" PRId64 " rows are asked for", request.rows());
  check("ids", ids, needs.ids_bytes);
  check("weights", weights, needs.weights_bytes);
  check("validity", validity, needs.row_validity_bytes + needs.cell_validity_bytes);
  ReadTarget target;
  target.ids = static_cast<std::byte*>(const_cast<void*>(ids.data));
  if (keeps_weights) target.weights = static_cast<std::byte*>(const_cast<void*>(weights.data));
  target.row_validity = static_cast<std::uint8_t*>(const_cast<void*>(validity.data));
  target.cells_follow_rows = target.row_validity != nullptr;
  return read_rows(request, target, info);
}

}  // namespace routecap
