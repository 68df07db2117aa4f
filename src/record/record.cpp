// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <new>
#include <utility>

#include "support/checked.h"
#include "support/dtype.h"

namespace routecap {
namespace {

std::size_t as_size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Index of the first of `count` ids that is outside [0, num_experts), -1 without one.
template <class Id>
std::int64_t first_bad(const std::byte* ids, std::int64_t count, std::int64_t num_experts) {
  // As bits a negative id is a large one. Compared in their own width, so that a vector holds as many as fit.
  const auto last = static_cast<Id>(num_experts - 1);
  const auto bad = [&](std::int64_t i) {
    Id id;
    std::memcpy(&id, ids + i * std::int64_t{sizeof id}, sizeof id);
    return id > last;
  };
  bool any = false;
  for (std::int64_t i = 0; i < count; ++i) any |= bad(i);  // without a branch: one comparison after the other becomes vector code
  for (std::int64_t i = 0; any && i < count; ++i) {
    if (bad(i)) return i;
  }
  return -1;
}

std::int64_t first_bad(const RecordGeometry& geometry, const std::byte* ids, std::int64_t count) {
  switch (dtype_bytes(geometry.ids_dtype)) {
    case 1: return first_bad<std::uint8_t>(ids, count, geometry.num_experts);
    case 2: return first_bad<std::uint16_t>(ids, count, geometry.num_experts);
    default: return first_bad<std::uint32_t>(ids, count, geometry.num_experts);
  }
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

std::int64_t cell_bits(const RecordGeometry& geometry) { return checked_multiply(geometry.rows, geometry.layers(), "cells of a record"); }

}  // namespace

Bytes::Bytes(std::int64_t bytes) : bytes_(bytes) {
  try {
    words_ = std::make_unique_for_overwrite<std::uint64_t[]>(as_size(bytes / 8 + 1));
  } catch (const std::bad_alloc&) {
    fail(RCAP_STATUS_OUT_OF_MEMORY, "an array of a record: %" PRId64 " bytes cannot be had", bytes);
  }
}

Bytes Bytes::cleared(std::int64_t bytes) {
  Bytes made(bytes);
  std::memset(made.data(), 0, as_size(bytes));
  return made;
}

bool operator==(const Bytes& a, const Bytes& b) {
  return a.bytes_ == b.bytes_ && (a.bytes_ == 0 || std::memcmp(a.data(), b.data(), as_size(a.bytes_)) == 0);
}

Record::Record(RecordGeometry geometry)
    : geometry_(std::move(geometry)),
      ids_(checked_multiply(geometry_.rows, geometry_.row_ids_bytes(), "bytes of a record's ids")),
      weights_(checked_multiply(geometry_.rows, geometry_.row_weights_bytes(), "bytes of a record's weights")),
      row_validity_(Bytes::cleared(ceil_divide(geometry_.rows, 8))),
      cell_validity_(Bytes::cleared(geometry_.has_cells ? ceil_divide(cell_bits(geometry_), 8) : 0)) {}

std::unique_ptr<Record> Record::from_arrays(RecordGeometry geometry, std::int64_t weight_version, const void* ids, const void* weights,
                                            const std::uint8_t* validity) {
  auto record = std::make_unique<Record>(std::move(geometry));
  const std::int64_t rows = record->geometry_.rows;
  if (ids != nullptr) std::memcpy(record->ids_.data(), ids, as_size(record->ids_.size()));
  if (weights != nullptr) std::memcpy(record->weights_.data(), weights, as_size(record->weights_.size()));
  const std::int64_t cells = record->geometry_.has_cells ? cell_bits(record->geometry_) : 0;
  if (validity == nullptr) {
    bits::set_range(record->row_validity_.data(), 0, rows);
    bits::set_range(record->cell_validity_.data(), 0, cells);
  } else {
    const auto* given = reinterpret_cast<const std::byte*>(validity);
    bits::copy(given, 0, rows, record->row_validity_.data(), 0);
    bits::copy(given + ceil_divide(rows, 8), 0, cells, record->cell_validity_.data(), 0);
  }
  record->settle_validity();
  record->check_ids();
  record->fill_missing();
  record->set_versions(std::vector<std::int64_t>(as_size(rows), weight_version));
  return record;
}

std::optional<BadId> Record::find_bad_id() const {
  const std::int32_t id_bytes = dtype_bytes(geometry_.ids_dtype);
  if (id_bytes < 4 && geometry_.num_experts == std::int32_t{1} << (8 * id_bytes)) return std::nullopt;  // every pattern is an id
  const std::int64_t per_row = geometry_.layers() * geometry_.top_k;
  for (std::int64_t row = 0; row < geometry_.rows; ++row) {
    if (!row_valid(row)) continue;
    const std::byte* ids = ids_.data() + row * per_row * id_bytes;
    const std::int64_t first = first_bad(geometry_, ids, per_row);
    if (first < 0) continue;
    // Under a clear bit of a cell any bytes may stand.
    for (std::int64_t column = first / geometry_.top_k; column < geometry_.layers(); ++column) {
      if (!cell_valid(row, column)) continue;
      const std::byte* cell = ids + column * geometry_.cell_ids_bytes();
      const std::int64_t k = first_bad(geometry_, cell, geometry_.top_k);
      if (k >= 0) return BadId{row, geometry_.layer_ids[as_size(column)], load_id(cell + k * id_bytes, id_bytes)};
    }
  }
  return std::nullopt;
}

void Record::check_ids() const {
  const std::optional<BadId> bad = find_bad_id();
  if (!bad) return;
  fail(RCAP_STATUS_OUT_OF_RANGE, "ids: row %" PRId64 ", layer %d has id %" PRId64 ", num_experts is %d", bad->row, bad->layer, bad->id,
       geometry_.num_experts);
}

void Record::canonicalize() {
  settle_validity();
  fill_missing();
}

void Record::settle_validity() {
  const std::int64_t rows = geometry_.rows;
  const std::int64_t layers = geometry_.layers();
  bits::clear_range(row_validity_.data(), rows, row_validity_.size() * 8 - rows);
  if (!geometry_.has_cells) return;
  bits::clear_range(cell_validity_.data(), rows * layers, cell_validity_.size() * 8 - rows * layers);
  const bool all_partial = geometry_.all_partial();
  bool needed = geometry_.any_partial();
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!row_valid(row)) {
      bits::clear_range(cell_validity_.data(), row * layers, layers);
      continue;
    }
    const std::int64_t valid = bits::count_set(cell_validity_.data(), row * layers, layers);
    if (valid == 0 && !all_partial) bits::clear(row_validity_.data(), row);
    needed = needed || (valid > 0 && valid < layers);
  }
  if (needed) return;
  geometry_.has_cells = false;
  cell_validity_ = Bytes(0);
}

void Record::fill_missing() {
  const std::int64_t row_ids = geometry_.row_ids_bytes();
  const std::int64_t row_weights = geometry_.row_weights_bytes();
  const std::int64_t cell_ids = geometry_.cell_ids_bytes();
  const std::int64_t cell_weights = geometry_.cell_weights_bytes();
  for (std::int64_t row = 0; row < geometry_.rows; ++row) {
    std::byte* ids = ids_.data() + row * row_ids;
    std::byte* weights = weights_.data() + row * row_weights;
    if (!row_valid(row)) {
      std::memset(ids, 0xFF, as_size(row_ids));
      std::memset(weights, 0xFF, as_size(row_weights));
      continue;
    }
    if (!geometry_.has_cells || bits::count_set(cell_validity_.data(), row * geometry_.layers(), geometry_.layers()) == geometry_.layers()) continue;
    for (std::int64_t column = 0; column < geometry_.layers(); ++column) {
      if (cell_valid(row, column)) continue;
      std::memset(ids + column * cell_ids, 0xFF, as_size(cell_ids));
      std::memset(weights + column * cell_weights, 0xFF, as_size(cell_weights));
    }
  }
}

void Record::copy_rows(const Record& source, std::int64_t source_row, std::int64_t count, std::int64_t row) {
  const std::int64_t ids = geometry_.row_ids_bytes();
  const std::int64_t weights = geometry_.row_weights_bytes();
  const std::int64_t layers = geometry_.layers();
  std::memcpy(ids_.data() + row * ids, source.ids_.data() + source_row * ids, as_size(count * ids));
  std::memcpy(weights_.data() + row * weights, source.weights_.data() + source_row * weights, as_size(count * weights));
  bits::copy(source.row_validity_.data(), source_row, count, row_validity_.data(), row);
  if (!geometry_.has_cells) return;
  if (source.geometry_.has_cells) {
    bits::copy(source.cell_validity_.data(), source_row * layers, count * layers, cell_validity_.data(), row * layers);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (source.row_valid(source_row + i)) bits::set_range(cell_validity_.data(), (row + i) * layers, layers);
  }
}

void Record::copy_cells(const Record& source, std::int64_t source_row, std::int64_t source_column, std::int64_t count, std::int64_t row,
                        std::int64_t column) {
  const std::int64_t ids = geometry_.cell_ids_bytes();
  const std::int64_t weights = geometry_.cell_weights_bytes();
  const std::int64_t from = source_row * source.geometry_.layers() + source_column;
  const std::int64_t to = row * geometry_.layers() + column;
  std::memcpy(ids_.data() + to * ids, source.ids_.data() + from * ids, as_size(count * ids));
  std::memcpy(weights_.data() + to * weights, source.weights_.data() + from * weights, as_size(count * weights));
  if (source.geometry_.has_cells) {
    bits::copy(source.cell_validity_.data(), from, count, cell_validity_.data(), to);
  } else if (source.row_valid(source_row)) {
    bits::set_range(cell_validity_.data(), to, count);
  }
}

std::vector<std::int64_t> Record::row_versions() const {
  std::vector<std::int64_t> versions(as_size(geometry_.rows));
  for (std::size_t run = 0; run < spans_.starts.size(); ++run) {
    const std::int64_t end = run + 1 < spans_.starts.size() ? spans_.starts[run + 1] : geometry_.end();
    std::fill(versions.begin() + (spans_.starts[run] - geometry_.start), versions.begin() + (end - geometry_.start), spans_.versions[run]);
  }
  return versions;
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
  const std::int64_t behind = geometry_.end();
  if (start < begin || start > behind || end < start || end > behind) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "slice [%" PRId64 ", %" PRId64 "), the record has the positions [%" PRId64 ", %" PRId64 ")", start, end, begin,
         behind);
  }
  RecordGeometry geometry = geometry_;
  geometry.start = start;
  geometry.rows = end - start;
  auto part = std::make_unique<Record>(std::move(geometry));
  part->copy_rows(*this, start - begin, end - start, 0);
  part->canonicalize();
  // A run counts where it has a valid row in the slice: a missing row took its version from a row that may lie outside.
  const std::vector<std::int64_t> versions = row_versions();
  part->set_versions(std::span(versions).subspan(as_size(start - begin), as_size(end - start)));
  return part;
}

}  // namespace routecap
