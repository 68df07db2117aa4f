// SPDX-License-Identifier: Apache-2.0
#include "wire/shape.h"

#include <numeric>
#include <utility>

#include "support/checked.h"
#include "support/dtype.h"

namespace routecap::wire {
namespace {

/// The bytes' number if they have it, else the hint's.
template <class Number>
Number settle(const char* form, const char* hint, Number found, Number hinted, Number lowest) {
  if (found < lowest && hinted < lowest) fail_missing_hint(form, hint);
  if (found < lowest) return hinted;
  if (hinted >= lowest) check_agrees(form, hint, hinted, found);
  return found;
}

std::vector<std::int32_t> settle_layers(const char* form, Facts& facts, const DecodeHints& hints, std::int64_t input_bytes) {
  const auto hinted = static_cast<std::int32_t>(hints.layer_ids.empty() ? static_cast<std::size_t>(hints.num_layers) : hints.layer_ids.size());
  if (!facts.layer_ids.empty()) facts.num_layers = static_cast<std::int32_t>(facts.layer_ids.size());
  const std::int32_t layers = settle(form, "num_layers (or layer_ids)", facts.num_layers, hinted, 1);
  check_allocation(form, "layer map", std::int64_t{layers} * 8, input_bytes);
  if (!facts.layer_ids.empty()) {
    for (std::size_t column = 0; column < hints.layer_ids.size(); ++column) {
      if (hints.layer_ids[column] != facts.layer_ids[column]) {
        fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: hint layer_ids[%zu] is %d, the bytes have layer %d", form, column, hints.layer_ids[column],
             facts.layer_ids[column]);
      }
    }
    return std::move(facts.layer_ids);
  }
  std::vector<std::int32_t> ids(static_cast<std::size_t>(layers));
  if (hints.layer_ids.empty()) {
    std::iota(ids.begin(), ids.end(), 0);
  } else {
    ids.assign(hints.layer_ids.begin(), hints.layer_ids.end());
  }
  return ids;
}

}  // namespace

void fail_missing_hint(const char* form, const char* hint) {
  fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: these bytes do not carry it, the hint %s is needed", form, hint);
}

void check_agrees(const char* form, const char* hint, std::int64_t hinted, std::int64_t found) {
  if (hinted != found) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: hint %s is %" PRId64 ", the bytes have %" PRId64, form, hint, hinted, found);
  }
}

void check_no_turn(const char* form, const DecodeHints& hints) {
  if (hints.turn != -1) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: hint turn is %" PRId64 ", this form has no turns", form, hints.turn);
}

void check_allocation(const char* form, const char* what, std::int64_t needed, std::int64_t input_bytes) {
  // input_bytes is the size of something in memory: the product cannot overflow.
  if (needed / kAllocationFactor > input_bytes + kAllocationSlack / kAllocationFactor) {
    fail(RCAP_STATUS_OUT_OF_RANGE,
         "%s: the %s would take %" PRId64 " bytes, too many for %" PRId64 " bytes of input (%" PRId64
         " times and 1 MiB) without the hints rows, layers and top_k",
         form, what, needed, input_bytes, kAllocationFactor);
  }
}

std::int64_t record_bytes(const RecordGeometry& geometry) {
  const std::int64_t row_bytes =
      checked_add(checked_add(geometry.row_ids_bytes(), geometry.row_weights_bytes(), "bytes of a row"), geometry.layers() / 8 + 2, "bytes of a row");
  return checked_multiply(geometry.rows, row_bytes, "bytes of a record");
}

bool size_is_hinted(const DecodeHints& hints) { return hints.rows >= 0 && hints.top_k > 0 && (hints.num_layers > 0 || !hints.layer_ids.empty()); }

void set_shape(Facts& facts, const char* form, std::int64_t rows, std::int64_t layers, std::int64_t top_k) {
  if (rows < 0 || layers < 1 || layers > INT32_MAX || top_k < 1 || top_k > INT32_MAX) {
    fail(RCAP_STATUS_CORRUPT, "%s: shape (%" PRId64 ", %" PRId64 ", %" PRId64 ") is not rows >= 0, layers >= 1, top_k >= 1", form, rows, layers,
         top_k);
  }
  facts.rows = rows;
  facts.num_layers = static_cast<std::int32_t>(layers);
  facts.top_k = static_cast<std::int32_t>(top_k);
}

RecordGeometry resolve(const char* form, Facts facts, const DecodeHints& hints, std::int64_t input_bytes) {
  RecordGeometry geometry;
  geometry.start = settle<std::int64_t>(form, "start", facts.start, hints.start, 0);
  geometry.rows = settle<std::int64_t>(form, "rows", facts.rows, hints.rows, 0);
  geometry.num_experts = settle(form, "num_experts", facts.num_experts, hints.num_experts, 1);
  geometry.top_k = settle(form, "top_k", facts.top_k, hints.top_k, 1);
  if (geometry.top_k > geometry.num_experts) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: top_k is %d, num_experts is %d", form, geometry.top_k, geometry.num_experts);
  }
  if (geometry.rows > INT64_MAX - geometry.start) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "%s: start %" PRId64 " and %" PRId64 " rows exceed %" PRId64, form, geometry.start, geometry.rows, INT64_MAX);
  }
  geometry.layer_ids = settle_layers(form, facts, hints, input_bytes);
  geometry.layer_flags = std::move(facts.layer_flags);
  geometry.layer_flags.resize(geometry.layer_ids.size(), 0);
  geometry.has_cells = geometry.any_partial();
  geometry.ids_dtype = ids_dtype_for(geometry.num_experts);
  geometry.weights_dtype = facts.weights_dtype;
  geometry.weights_kind = facts.weights_kind;
  const std::int64_t bytes = record_bytes(geometry);
  if (!size_is_hinted(hints)) check_allocation(form, "record", bytes, input_bytes);
  return geometry;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.ends_with('\n')) text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
  return text;
}

}  // namespace routecap::wire
