// SPDX-License-Identifier: Apache-2.0
#include "property/expected.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/floats.h"

namespace routecap_test::property {
namespace {

void set_bit(Bytes& bitmap, std::int64_t index) { bitmap[static_cast<std::size_t>(index / 8)] |= static_cast<std::byte>(1 << (index % 8)); }

std::int64_t padded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

/// One row's ids and weights, cells nobody captured as 0xFF; `cells` receives by column whether they were captured.
void append_cells(const Geometry& geometry, const Row* row, Bytes& ids, Bytes& weights) {
  for (std::size_t column = 0; column < geometry.layers(); ++column) {
    const bool captured = row != nullptr && row->cells[column].has_value();
    for (std::size_t k = 0; k < static_cast<std::size_t>(geometry.top_k); ++k) {
      append(ids, captured ? row->cells[column]->ids[k] : -1, ids_dtype(geometry.experts));
      if (geometry.weights_dtype == RCAP_DTYPE_NONE) continue;
      append(weights, captured ? static_cast<std::int64_t>(row->cells[column]->weights[k]) : -1, geometry.weights_dtype);
    }
  }
}

}  // namespace

std::int32_t ids_dtype(std::int64_t experts) {
  if (experts <= 256) return RCAP_DTYPE_UINT8;
  return experts <= 65536 ? RCAP_DTYPE_UINT16 : RCAP_DTYPE_INT32;
}

std::int64_t bytes_of(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return 1;
    case RCAP_DTYPE_UINT16:
    case RCAP_DTYPE_INT16:
    case RCAP_DTYPE_FLOAT16:
    case RCAP_DTYPE_BFLOAT16: return 2;
    case RCAP_DTYPE_INT32:
    case RCAP_DTYPE_FLOAT32: return 4;
    case RCAP_DTYPE_INT64: return 8;
    default: return 0;
  }
}

void append(Bytes& bytes, std::int64_t value, std::int32_t dtype) {
  const auto bits = static_cast<std::uint64_t>(value);
  for (std::int64_t i = 0; i < bytes_of(dtype); ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

std::uint32_t weight_bits(std::uint32_t float32_bits, std::int32_t dtype) {
  const float value = float32_of(float32_bits);
  if (dtype == RCAP_DTYPE_FLOAT16) return std::isnan(value) ? 0x7E00U : nearest_float16(value);
  if (dtype == RCAP_DTYPE_BFLOAT16) return std::isnan(value) ? 0x7FC0U : nearest_bfloat16(value);
  return float32_bits;
}

ExpectedRecord expected_record(const Geometry& geometry, std::int64_t start, const std::vector<RowPointer>& rows) {
  ExpectedRecord record;
  record.start = start;
  record.rows = static_cast<std::int64_t>(rows.size());
  record.row_validity.resize((rows.size() + 7) / 8);
  if (geometry.any_partial()) record.cell_validity.resize((rows.size() * geometry.layers() + 7) / 8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row* row = rows[i].get();
    append_cells(geometry, row, record.ids, record.weights);
    if (row == nullptr) continue;
    set_bit(record.row_validity, static_cast<std::int64_t>(i));
    for (std::size_t column = 0; column < geometry.layers() && !record.cell_validity.empty(); ++column) {
      if (row->cells[column]) set_bit(record.cell_validity, static_cast<std::int64_t>(i * geometry.layers() + column));
    }
    const std::int64_t version = row->weight_version;
    record.version_min = record.rows_valid == 0 ? version : std::min(record.version_min, version);
    record.version_max = record.rows_valid == 0 ? version : std::max(record.version_max, version);
    ++record.rows_valid;
    if (record.spans.empty()) {
      record.spans.emplace_back(start, version);
    } else if (record.spans.back().second != version) {
      record.spans.emplace_back(start + static_cast<std::int64_t>(i), version);
    }
  }
  return record;
}

Bytes expected_payload(const Geometry& geometry, const Row& row) {
  Bytes ids;
  Bytes weights;
  append_cells(geometry, &row, ids, weights);
  ids.resize(static_cast<std::size_t>(padded(static_cast<std::int64_t>(ids.size()))));
  weights.resize(static_cast<std::size_t>(padded(static_cast<std::int64_t>(weights.size()))));
  ids.insert(ids.end(), weights.begin(), weights.end());
  if (geometry.any_partial()) {
    Bytes bits((geometry.layers() + 63) / 64 * 8);
    for (std::size_t column = 0; column < geometry.layers(); ++column) {
      if (row.cells[column]) set_bit(bits, static_cast<std::int64_t>(column));
    }
    ids.insert(ids.end(), bits.begin(), bits.end());
  }
  return ids;
}

bool same_payload(const Geometry& geometry, const Row& row, const std::byte* payload) {
  const Bytes expected = expected_payload(geometry, row);
  const std::int64_t id_size = bytes_of(ids_dtype(geometry.experts));
  const std::int64_t weight_size = bytes_of(geometry.weights_dtype);
  const std::int64_t weights_at = padded(static_cast<std::int64_t>(geometry.layers()) * geometry.top_k * id_size);
  for (std::size_t column = 0; column < geometry.layers(); ++column) {
    if (!row.cells[column]) continue;
    const auto cell = static_cast<std::int64_t>(column) * geometry.top_k;
    const auto same = [&](std::int64_t at, std::int64_t bytes) {
      return std::memcmp(payload + at, expected.data() + at, static_cast<std::size_t>(bytes)) == 0;
    };
    if (!same(cell * id_size, geometry.top_k * id_size)) return false;
    if (weight_size != 0 && !same(weights_at + cell * weight_size, geometry.top_k * weight_size)) return false;
  }
  if (!geometry.any_partial()) return true;
  const auto bits_bytes = static_cast<std::int64_t>((geometry.layers() + 63) / 64 * 8);
  const auto bits_at = static_cast<std::int64_t>(expected.size()) - bits_bytes;
  return std::memcmp(payload + bits_at, expected.data() + bits_at, static_cast<std::size_t>(bits_bytes)) == 0;
}

std::string difference(const Bytes& expected, const void* data, std::int64_t bytes) {
  if (bytes != static_cast<std::int64_t>(expected.size())) return std::to_string(bytes) + " bytes, not " + std::to_string(expected.size());
  const auto* given = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (given[i] == expected[i]) continue;
    return "byte " + std::to_string(i) + " is " + std::to_string(static_cast<int>(given[i])) + ", not " +
           std::to_string(static_cast<int>(expected[i]));
  }
  return {};
}

}  // namespace routecap_test::property
