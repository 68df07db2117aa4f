// SPDX-License-Identifier: Apache-2.0
#include "record_view.h"

#include <bit>
#include <cmath>
#include <limits>

namespace routecap::cli {
namespace {

double float_of_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::int64_t dtype_bytes(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return 1;
    case RCAP_DTYPE_UINT16: return 2;
    default: return 4;
  }
}

/// Runs of rows for which `wanted` holds, as token positions.
template <class Wanted>
std::vector<Range> runs(const RecordView& view, const Wanted& wanted) {
  std::vector<Range> found;
  for (std::int64_t row = 0; row < view.rows(); ++row) {
    if (!wanted(row)) continue;
    const std::int64_t position = view.start() + row;
    if (!found.empty() && found.back().end == position) {
      ++found.back().end;
    } else {
      found.push_back({position, position + 1});
    }
  }
  return found;
}

}  // namespace

RecordView::RecordView(const rcap_record* record) : record_(record), info_(make(rcap_record_info_init)) {
  require([&](rcap_error* error) { return rcap_record_info_get(record, &info_, error); });
  const std::int32_t* numbers = nullptr;
  std::int64_t count = 0;
  require([&](rcap_error* error) { return rcap_record_layer_ids(record, &numbers, &count, error); });
  layer_ids_ = {numbers, static_cast<std::size_t>(count)};
  require([&](rcap_error* error) { return rcap_record_layer_flags(record, &numbers, &count, error); });
  layer_flags_ = {numbers, static_cast<std::size_t>(count)};
  require([&](rcap_error* error) { return rcap_record_ids(record, &ids_, &ids_bytes_, error); });
  require([&](rcap_error* error) { return rcap_record_weights(record, &weights_, &weights_bytes_, error); });
  const void* bitmap = nullptr;
  std::int64_t bytes = 0;
  require([&](rcap_error* error) { return rcap_record_row_validity(record, &bitmap, &bytes, error); });
  row_validity_ = static_cast<const std::uint8_t*>(bitmap);
  require([&](rcap_error* error) { return rcap_record_cell_validity(record, &bitmap, &bytes, error); });
  cell_validity_ = info_.has_cell_validity != 0 ? static_cast<const std::uint8_t*>(bitmap) : nullptr;
}

double RecordView::weight(std::int64_t row, std::int64_t column, std::int64_t rank) const {
  const std::int64_t at = (row * columns() + column) * top_k() + rank;
  if (info_.weights_dtype == RCAP_DTYPE_FLOAT32) return static_cast<const float*>(weights_)[at];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(weights_)[at];
  if (info_.weights_dtype == RCAP_DTYPE_BFLOAT16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  return float_of_half(bits);
}

std::string_view RecordView::cell_bytes(std::int64_t row, std::int64_t column, std::int64_t columns_taken) const {
  const std::int64_t cell = top_k() * dtype_bytes(info_.ids_dtype);
  return {static_cast<const char*>(ids_) + (row * columns() + column) * cell, static_cast<std::size_t>(columns_taken * cell)};
}

std::vector<VersionSpan> RecordView::version_spans() const {
  const std::int64_t* starts = nullptr;
  const std::int64_t* versions = nullptr;
  std::int64_t count = 0;
  require([&](rcap_error* error) { return rcap_record_version_spans(record_, &starts, &versions, &count, error); });
  std::vector<VersionSpan> spans;
  for (std::int64_t i = 0; i < count; ++i) {
    spans.push_back({starts[i], i + 1 < count ? starts[i + 1] : positions().end, versions[i]});
  }
  return spans;
}

std::vector<Range> RecordView::missing_rows() const {
  return runs(*this, [this](std::int64_t row) { return !row_valid(row); });
}

std::vector<Range> RecordView::missing_cells(std::int64_t column) const {
  return runs(*this, [this, column](std::int64_t row) { return row_valid(row) && !cell_valid(row, column); });
}

}  // namespace routecap::cli
