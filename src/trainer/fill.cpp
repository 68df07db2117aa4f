// SPDX-License-Identifier: Apache-2.0
#include "trainer/fill.h"

#include <array>
#include <cinttypes>
#include <cstring>
#include <limits>

#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"
#include "trainer/axis_order.h"
#include "trainer/layers.h"

namespace routecap {
namespace {

constexpr std::array<Choice, 2> kPaddings{{{RCAP_PADDING_SPREAD, "SPREAD"}, {RCAP_PADDING_VALUE, "VALUE"}}};

/// Smallest and largest number of an id dtype.
struct Range {
  std::int64_t lowest;
  std::int64_t highest;
};

template <class Id>
constexpr Range range_of() {
  return {std::numeric_limits<Id>::min(), std::numeric_limits<Id>::max()};
}

Range range_of_dtype(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return range_of<std::uint8_t>();
    case RCAP_DTYPE_UINT16: return range_of<std::uint16_t>();
    case RCAP_DTYPE_INT16: return range_of<std::int16_t>();
    case RCAP_DTYPE_INT32: return range_of<std::int32_t>();
    default: return range_of<std::int64_t>();
  }
}

void check_values(const rcap_fill_layout& layout, std::int32_t num_experts) {
  require_dtype("layout->dtype", layout.dtype, kIdDtypes);
  require_choice("layout->padding", layout.padding, kPaddings);
  const Range range = range_of_dtype(layout.dtype);
  if (num_experts - 1 > range.highest) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "layout->dtype is %s (%d), the record's ids reach to %d, it holds %" PRId64, dtype_name(layout.dtype),
         layout.dtype, num_experts - 1, range.highest);
  }
  if (layout.padding == RCAP_PADDING_VALUE) {
    require_range("layout->fill_value", layout.fill_value, range.lowest, range.highest);
  } else if (layout.fill_value != 0) {
    fail(RCAP_STATUS_UNSUPPORTED, "layout->fill_value is %d, SPREAD has no use for it", layout.fill_value);
  }
}

void check_rows(const Record& record, const rcap_fill_layout& layout, const std::int64_t* positions) {
  require_range("layout->start", layout.start, 0, INT64_MAX);
  require_range("layout->tokens", layout.tokens, 0, INT64_MAX);
  require_range("layout->length", layout.length, 0, INT64_MAX);
  require_range("layout->first_fill", layout.first_fill, 0, INT64_MAX);
  static_cast<void>(checked_add(layout.start, layout.tokens, "layout->start + layout->tokens"));
  const RecordGeometry& geometry = record.geometry();
  if (geometry.rows > 0 && geometry.end() > layout.length) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "the record has the positions [%" PRId64 ", %" PRId64 "), layout->length is %" PRId64, geometry.start,
         geometry.end(), layout.length);
  }
  if (positions == nullptr) return;
  if (layout.start != 0) fail(RCAP_STATUS_UNSUPPORTED, "layout->start is %" PRId64 ", with positions it must be 0", layout.start);
  for (std::int64_t row = 0; row < layout.tokens; ++row) {
    if (positions[row] < -1) fail(RCAP_STATUS_OUT_OF_RANGE, "positions[%" PRId64 "] is %" PRId64 ", allowed are -1 and above", row, positions[row]);
  }
}

template <class Number>
void store(std::byte* numbers, std::int64_t index, Number value) {
  std::memcpy(numbers + index * std::int64_t{sizeof value}, &value, sizeof value);
}

void store_mask(std::byte* mask, std::int64_t index, bool given) {
  if (mask != nullptr) mask[index] = given ? std::byte{1} : std::byte{0};
}

}  // namespace

SpreadIds::SpreadIds(std::int32_t num_experts, std::int32_t top_k) : num_experts_(num_experts) {
  for (std::int64_t column = 0; column < top_k; ++column) firsts_.push_back(static_cast<std::int32_t>(column * num_experts / top_k));
}

DenseFill::DenseFill(const Record& record, const rcap_fill_layout& layout, std::span<const std::int32_t> layer_ids, const std::int64_t* positions)
    : record_(record), layout_(layout), positions_(positions), spread_(record.geometry().num_experts, record.geometry().top_k) {
  const RecordGeometry& geometry = record.geometry();
  check_axis_order("layout->order", layout.order);
  check_values(layout, geometry.num_experts);
  check_rows(record, layout, positions);
  columns_ = find_columns(geometry.layer_ids, layer_ids.empty() ? geometry.layer_ids : layer_ids, "layer_ids");
  next_number_.assign(columns_.size(), static_cast<std::int32_t>(layout.first_fill % geometry.num_experts));
  cells_ = checked_multiply(layout.tokens, static_cast<std::int64_t>(columns_.size()), "tokens * layers");
  ids_bytes_ = checked_multiply(checked_multiply(cells_, geometry.top_k, "ids of all cells"), dtype_bytes(layout.dtype), "bytes of all ids");
}

std::int64_t DenseFill::write(std::byte* ids, std::byte* row_mask, std::byte* cell_mask) {
  switch (dtype_bytes(record_.geometry().ids_dtype)) {
    case 1: return write_from<std::uint8_t>(ids, row_mask, cell_mask);
    case 2: return write_from<std::uint16_t>(ids, row_mask, cell_mask);
    default: return write_from<std::int32_t>(ids, row_mask, cell_mask);
  }
}

template <class Source>
std::int64_t DenseFill::write_from(std::byte* ids, std::byte* row_mask, std::byte* cell_mask) {
  switch (layout_.dtype) {
    case RCAP_DTYPE_UINT8: return write_as<Source, std::uint8_t>(ids, row_mask, cell_mask);
    case RCAP_DTYPE_UINT16: return write_as<Source, std::uint16_t>(ids, row_mask, cell_mask);
    case RCAP_DTYPE_INT16: return write_as<Source, std::int16_t>(ids, row_mask, cell_mask);
    case RCAP_DTYPE_INT32: return write_as<Source, std::int32_t>(ids, row_mask, cell_mask);
    default: return write_as<Source, std::int64_t>(ids, row_mask, cell_mask);
  }
}

template <class Source, class Target>
std::int64_t DenseFill::write_as(std::byte* ids, std::byte* row_mask, std::byte* cell_mask) {
  const RecordGeometry& geometry = record_.geometry();
  const auto top_k = static_cast<std::size_t>(geometry.top_k);
  const AxisStrides strides = axis_strides(layout_.order, layout_.tokens, static_cast<std::int64_t>(columns_.size()));
  std::int64_t filled = 0;
  for (std::int64_t row = 0; row < layout_.tokens; ++row) {
    const std::int64_t source = source_row(row);
    bool whole = true;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::int64_t cell = strides.cell(row, static_cast<std::int64_t>(column));
      std::byte* to = ids + cell * geometry.top_k * std::int64_t{sizeof(Target)};
      const bool given = source >= 0 && record_.cell_valid(source, columns_[column]);
      if (given) {
        const std::byte* from =
            record_.ids().data() + (source * geometry.layers() + columns_[column]) * geometry.top_k * std::int64_t{sizeof(Source)};
        for (std::size_t k = 0; k < top_k; ++k) {
          Source id;
          std::memcpy(&id, from + k * sizeof id, sizeof id);
          store(to, static_cast<std::int64_t>(k), static_cast<Target>(id));
        }
      } else if (layout_.padding == RCAP_PADDING_VALUE) {
        for (std::size_t k = 0; k < top_k; ++k) store(to, static_cast<std::int64_t>(k), static_cast<Target>(layout_.fill_value));
      } else {
        // Numbered by what was filled, not by where: holes at regular distances would make the same experts hot again and again (R42).
        std::int32_t& number = next_number_[column];
        for (std::size_t k = 0; k < top_k; ++k) store(to, static_cast<std::int64_t>(k), static_cast<Target>(spread_.id(number, k)));
        number = spread_.following(number);
      }
      store_mask(cell_mask, cell, given);
      whole = whole && given;
    }
    store_mask(row_mask, row, whole);
    filled += whole ? 0 : 1;
  }
  return filled;
}

std::int64_t DenseFill::source_row(std::int64_t row) const {
  const RecordGeometry& geometry = record_.geometry();
  const std::int64_t position = positions_ == nullptr ? layout_.start + row : positions_[row];
  if (position < geometry.start || position >= geometry.end()) return -1;
  const std::int64_t source = position - geometry.start;
  return record_.row_valid(source) ? source : -1;
}

}  // namespace routecap
