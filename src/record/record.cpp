// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <bit>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "support/checked.h"
#include "support/dtype.h"

namespace routecap {
namespace {

std::size_t as_size(std::int64_t value) { return static_cast<std::size_t>(value); }

void set_bit(Bytes& bits, std::int64_t index) { bits.data()[index / 8] |= std::byte{1} << (index % 8); }

/// Copies `count` bits from `from` to the front of an all-clear bitmap.
void copy_bits(const Bytes& source, std::int64_t from, std::int64_t count, Bytes& target) {
  if (from % 8 == 0) {
    std::memcpy(target.data(), source.data() + from / 8, as_size(ceil_divide(count, 8)));
  } else {
    for (std::int64_t i = 0; i < ceil_divide(count, 8); ++i) {
      const std::int64_t at = from / 8 + i;
      const unsigned low = static_cast<unsigned>(source.data()[at]) >> (from % 8);
      const unsigned high = at + 1 < source.size() ? static_cast<unsigned>(source.data()[at + 1]) << (8 - from % 8) : 0U;
      target.data()[i] = static_cast<std::byte>(low | high);
    }
  }
  // Bits behind the last are clear: equal records are equal bytes.
  if (count % 8 != 0) target.data()[count / 8] &= static_cast<std::byte>((1U << (count % 8)) - 1U);
}

std::int64_t load_id(const std::byte* at, std::int32_t bytes) {
  if (bytes == 1) return static_cast<std::int64_t>(*at);
  if (bytes == 2) {
    std::uint16_t id = 0;
    std::memcpy(&id, at, sizeof id);
    return id;
  }
  std::int32_t id = 0;
  std::memcpy(&id, at, sizeof id);
  return id;
}

}  // namespace

std::int64_t RecordGeometry::row_ids_bytes() const {
  return checked_multiply(checked_multiply(layers(), top_k, "layers * top_k"), dtype_bytes(ids_dtype), "bytes of a row's ids");
}

std::int64_t RecordGeometry::row_weights_bytes() const {
  return checked_multiply(checked_multiply(layers(), top_k, "layers * top_k"), dtype_bytes(weights_dtype), "bytes of a row's weights");
}

Bytes::Bytes(std::int64_t bytes) : words_(as_size(bytes / 8 + 1)), bytes_(bytes) {}

Record::Record(RecordGeometry geometry)
    : geometry_(std::move(geometry)),
      ids_(checked_multiply(geometry_.rows, geometry_.row_ids_bytes(), "bytes of a record's ids")),
      weights_(checked_multiply(geometry_.rows, geometry_.row_weights_bytes(), "bytes of a record's weights")),
      row_validity_(ceil_divide(geometry_.rows, 8)),
      cell_validity_(geometry_.has_cells ? ceil_divide(checked_multiply(geometry_.rows, geometry_.layers(), "cells of a record"), 8) : 0) {}

std::unique_ptr<Record> Record::from_arrays(RecordGeometry geometry, std::int64_t weight_version, const void* ids, const void* weights,
                                            const std::uint8_t* validity) {
  auto record = std::make_unique<Record>(std::move(geometry));
  const RecordGeometry& shape = record->geometry_;
  if (ids != nullptr) std::memcpy(record->ids_.data(), ids, as_size(record->ids_.size()));
  if (weights != nullptr) std::memcpy(record->weights_.data(), weights, as_size(record->weights_.size()));
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const bool row_valid = validity == nullptr || (validity[row / 8] >> (row % 8) & 1) != 0;
    if (!row_valid) continue;
    set_bit(record->row_validity_, row);
    for (std::int64_t column = 0; shape.has_cells && column < shape.layers(); ++column) {
      const std::int64_t cell = row * shape.layers() + column;
      const std::uint8_t* cells = validity == nullptr ? nullptr : validity + ceil_divide(shape.rows, 8);
      if (cells == nullptr || (cells[cell / 8] >> (cell % 8) & 1) != 0) set_bit(record->cell_validity_, cell);
    }
  }
  const std::int32_t id_bytes = dtype_bytes(shape.ids_dtype);
  for (std::int64_t cell = 0; cell < shape.rows * shape.layers(); ++cell) {
    const std::int64_t row = cell / shape.layers();
    const std::int64_t column = cell % shape.layers();
    if (!record->cell_valid(row, column)) continue;
    for (std::int64_t k = 0; k < shape.top_k; ++k) {
      const std::int64_t id = load_id(record->ids_.data() + (cell * shape.top_k + k) * id_bytes, id_bytes);
      if (id < 0 || id >= shape.num_experts) {
        fail(RCAP_STATUS_OUT_OF_RANGE, "ids: row %" PRId64 ", layer %d has id %" PRId64 ", num_experts is %d", row, shape.layer_ids[as_size(column)],
             id, shape.num_experts);
      }
    }
  }
  record->fill_missing();
  if (record->rows_valid() > 0) record->spans_ = {{shape.start}, {weight_version}};
  return record;
}

void Record::fill_missing() {
  const std::int64_t cells = geometry_.rows * geometry_.layers();
  const std::int64_t ids_cell = std::int64_t{geometry_.top_k} * dtype_bytes(geometry_.ids_dtype);
  const std::int64_t weights_cell = std::int64_t{geometry_.top_k} * dtype_bytes(geometry_.weights_dtype);
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    if (cell_valid(cell / geometry_.layers(), cell % geometry_.layers())) continue;
    std::memset(ids_.data() + cell * ids_cell, 0xFF, as_size(ids_cell));
    if (weights_cell > 0) std::memset(weights_.data() + cell * weights_cell, 0xFF, as_size(weights_cell));
  }
}

std::int64_t Record::rows_valid() const {
  std::int64_t valid = 0;
  for (std::int64_t i = 0; i < row_validity_.size(); ++i) valid += std::popcount(static_cast<unsigned>(row_validity_.data()[i]));
  return valid;
}

void Record::set_versions(std::span<const std::int64_t> versions) {
  for (std::int64_t row = 0; row < geometry_.rows; ++row) {
    const std::int64_t version = versions[as_size(row)];
    if (!row_valid(row) || (!spans_.versions.empty() && spans_.versions.back() == version)) continue;
    spans_.starts.push_back(geometry_.start + (spans_.starts.empty() ? 0 : row));
    spans_.versions.push_back(version);
  }
}

std::unique_ptr<Record> Record::slice(std::int64_t start, std::int64_t end) const {
  const std::int64_t begin = geometry_.start;
  const std::int64_t behind = begin + geometry_.rows;
  if (start < begin || start > behind || end < start || end > behind) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "slice [%" PRId64 ", %" PRId64 "), the record has the positions [%" PRId64 ", %" PRId64 ")", start, end, begin,
         behind);
  }
  RecordGeometry geometry = geometry_;
  geometry.start = start;
  geometry.rows = end - start;
  const std::int64_t first = start - begin;
  auto part = std::make_unique<Record>(std::move(geometry));
  std::memcpy(part->ids_.data(), ids_.data() + first * geometry_.row_ids_bytes(), as_size(part->ids_.size()));
  std::memcpy(part->weights_.data(), weights_.data() + first * geometry_.row_weights_bytes(), as_size(part->weights_.size()));
  copy_bits(row_validity_, first, end - start, part->row_validity_);
  if (geometry_.has_cells) copy_bits(cell_validity_, first * geometry_.layers(), (end - start) * geometry_.layers(), part->cell_validity_);
  // A run counts where it has a valid row in the slice: a missing row took its version from a row that may lie outside.
  for (std::size_t run = 0; run < spans_.starts.size(); ++run) {
    const std::int64_t run_end = run + 1 < spans_.starts.size() ? spans_.starts[run + 1] : behind;
    std::int64_t position = std::max(spans_.starts[run], start);
    while (position < std::min(run_end, end) && !row_valid(position - begin)) ++position;
    if (position >= std::min(run_end, end)) continue;
    part->spans_.starts.push_back(part->spans_.starts.empty() ? start : position);
    part->spans_.versions.push_back(spans_.versions[run]);
  }
  return part;
}

}  // namespace routecap
