// SPDX-License-Identifier: Apache-2.0
#include "case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/dtype.h"

namespace wire_test {
namespace {

using routecap::Bytes;
using routecap::RecordGeometry;

std::int64_t load_id(const Record& record, std::int64_t element) {
  const std::int32_t bytes = routecap::dtype_bytes(record.geometry().ids_dtype);
  std::int32_t id = 0;
  std::memcpy(&id, record.ids().data() + element * bytes, static_cast<std::size_t>(bytes));
  return id;
}

void store_id(Record& record, std::int64_t element, std::int64_t id) {
  const std::int32_t bytes = routecap::dtype_bytes(record.geometry().ids_dtype);
  const auto value = static_cast<std::int32_t>(id);
  std::memcpy(record.ids().data() + element * bytes, &value, static_cast<std::size_t>(bytes));
}

/// Weights that every form can hold exactly: no NaN, whose bits text does not keep.
void store_weight(Record& record, std::int64_t element, std::mt19937_64& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (record.geometry().weights_dtype == RCAP_DTYPE_FLOAT32) {
    const std::uint32_t value = (bits & 0x7F800000U) == 0x7F800000U ? 0x3F800000U : bits;
    std::memcpy(record.weights().data() + element * 4, &value, sizeof value);
    return;
  }
  const std::uint32_t exponent = record.geometry().weights_dtype == RCAP_DTYPE_FLOAT16 ? 0x7C00U : 0x7F80U;
  const auto value = static_cast<std::uint16_t>((bits & exponent) == exponent ? 0x3C00U : bits & 0xFFFFU);
  std::memcpy(record.weights().data() + element * 2, &value, sizeof value);
}

rcap_record* handle(const Record& record) { return reinterpret_cast<rcap_record*>(const_cast<Record*>(&record)); }

RecordPtr without_weights(const Record& record, std::int32_t fill_id) {
  RecordGeometry geometry = record.geometry();
  geometry.weights_dtype = RCAP_DTYPE_NONE;
  geometry.weights_kind = RCAP_WEIGHTS_AS_ROUTED;
  std::fill(geometry.layer_flags.begin(), geometry.layer_flags.end(), 0);
  geometry.has_cells = true;
  auto view = std::make_unique<Record>(geometry);
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    bool some = false;
    for (std::int64_t column = 0; column < geometry.layers(); ++column) {
      const std::int64_t cell = row * geometry.layers() + column;
      const bool valid = record.cell_valid(row, column);
      if (!valid && fill_id < 0) continue;
      some = true;
      routecap::bits::set(view->cell_validity().data(), cell);
      for (std::int64_t k = 0; k < geometry.top_k; ++k) {
        const std::int64_t element = cell * geometry.top_k + k;
        store_id(*view, element, valid ? load_id(record, element) : (fill_id + k) % geometry.num_experts);
      }
    }
    if (some) routecap::bits::set(view->row_validity().data(), row);
  }
  view->canonicalize();
  view->set_versions(std::vector<std::int64_t>(static_cast<std::size_t>(geometry.rows), 0));
  return view;
}

}  // namespace

RecordPtr make_record(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RecordGeometry geometry;
  geometry.start = shape.start;
  geometry.rows = shape.rows;
  geometry.num_experts = shape.num_experts;
  geometry.top_k = shape.top_k;
  geometry.weights_dtype = shape.weights_dtype;
  geometry.weights_kind = shape.weights_kind;
  geometry.layer_ids = shape.layer_ids;
  geometry.layer_flags = shape.layer_flags;
  geometry = RecordGeometry::checked(geometry);
  geometry.has_cells = geometry.has_cells || shape.holes == Holes::kCells;
  auto record = std::make_unique<Record>(geometry);
  const std::int64_t layers = geometry.layers();
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const bool valid = shape.holes == Holes::kNone || random() % 3 != 0;
    if (!valid) continue;
    routecap::bits::set(record->row_validity().data(), row);
    for (std::int64_t cell = row * layers; geometry.has_cells && cell < (row + 1) * layers; ++cell) {
      if (shape.holes != Holes::kCells || random() % 4 != 0) routecap::bits::set(record->cell_validity().data(), cell);
    }
  }
  std::vector<std::int32_t> ids(static_cast<std::size_t>(shape.top_k));
  for (std::int64_t cell = 0; cell < shape.rows * layers; ++cell) {
    // Distinct ids: a stride that is prime to no E is no matter, the first is random and the last of [0, E) comes first of all.
    const auto first =
        cell == 0 ? std::int64_t{shape.num_experts} - 1 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape.num_experts));
    for (std::int64_t k = 0; k < shape.top_k; ++k) {
      store_id(*record, cell * shape.top_k + k, (first + k) % shape.num_experts);
      if (shape.weights_dtype != RCAP_DTYPE_NONE) store_weight(*record, cell * shape.top_k + k, random);
    }
  }
  record->canonicalize();
  std::vector<std::int64_t> versions(static_cast<std::size_t>(shape.rows));
  for (std::int64_t row = 0; row < shape.rows; ++row)
    versions[static_cast<std::size_t>(row)] = shape.versions == 1 ? 7 : 7 + row / 2 % shape.versions;
  record->set_versions(versions);
  return record;
}

RecordPtr foreign_view(const Record& record) { return without_weights(record, -1); }
RecordPtr filled_view(const Record& record, std::int32_t fill_id) { return without_weights(record, fill_id); }

std::string difference(const Record& a, const Record& b) {
  const RecordGeometry& left = a.geometry();
  const RecordGeometry& right = b.geometry();
  const auto numbers = [](const char* name, std::int64_t x, std::int64_t y) {
    return std::string(name) + " " + std::to_string(x) + " and " + std::to_string(y);
  };
  if (left.start != right.start) return numbers("start", left.start, right.start);
  if (left.rows != right.rows) return numbers("rows", left.rows, right.rows);
  if (left.num_experts != right.num_experts) return numbers("num_experts", left.num_experts, right.num_experts);
  if (left.top_k != right.top_k) return numbers("top_k", left.top_k, right.top_k);
  if (left.ids_dtype != right.ids_dtype) return numbers("ids_dtype", left.ids_dtype, right.ids_dtype);
  if (left.weights_dtype != right.weights_dtype) return numbers("weights_dtype", left.weights_dtype, right.weights_dtype);
  if (left.weights_kind != right.weights_kind) return numbers("weights_kind", left.weights_kind, right.weights_kind);
  if (left.has_cells != right.has_cells) return numbers("has_cells", left.has_cells ? 1 : 0, right.has_cells ? 1 : 0);
  if (left.layer_ids != right.layer_ids) return "layer_ids";
  if (left.layer_flags != right.layer_flags) return "layer_flags";
  if (!(a.row_validity() == b.row_validity())) return "row validity";
  if (!(a.cell_validity() == b.cell_validity())) return "cell validity";
  if (!(a.ids() == b.ids())) return "ids";
  if (!(a.weights() == b.weights())) return "weights";
  if (!(a.spans() == b.spans())) return "version spans";
  return {};
}

rcap_encode_options options() {
  rcap_encode_options made;
  rcap_encode_options_init(&made, sizeof made);
  return made;
}

rcap_decode_hints hints() {
  rcap_decode_hints made;
  rcap_decode_hints_init(&made, sizeof made);
  return made;
}

rcap_decode_hints hints_of(const Record& record) {
  rcap_decode_hints made = hints();
  made.start = record.geometry().start;
  made.rows = record.geometry().rows;
  made.num_experts = record.geometry().num_experts;
  made.top_k = record.geometry().top_k;
  made.num_layers = static_cast<std::int32_t>(record.geometry().layers());
  return made;
}

Encoded encode(const Record& record, std::int32_t format, const rcap_encode_options& options) {
  Encoded made;
  rcap_error error{};
  error.struct_size = sizeof error;
  std::int64_t needed = -1;
  made.status = rcap_record_encode(handle(record), format, &options, nullptr, 0, &needed, &error);
  made.text = error.text;
  if (made.status != RCAP_STATUS_OK) return made;
  constexpr std::byte kGuard{0xA5};
  made.bytes.assign(static_cast<std::size_t>(needed) + 8, kGuard);
  std::int64_t written = -1;
  if (needed > 0) {
    CHECK(rcap_record_encode(handle(record), format, &options, made.bytes.data(), needed - 1, &written, &error) == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(written == needed);
    CHECK(made.bytes[static_cast<std::size_t>(needed) - 1] == kGuard);
  }
  made.status = rcap_record_encode(handle(record), format, &options, made.bytes.data(), needed, &written, &error);
  made.text = error.text;
  CHECK(written == needed);
  CHECK(std::all_of(made.bytes.begin() + needed, made.bytes.end(), [](std::byte byte) { return byte == kGuard; }));
  made.bytes.resize(static_cast<std::size_t>(needed));
  return made;
}

DecodedRecord decode(std::int32_t format, const Text& bytes, const rcap_decode_hints& hints, const std::vector<std::int32_t>& layer_ids) {
  const std::unique_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  DecodedRecord made;
  rcap_error error{};
  error.struct_size = sizeof error;
  rcap_record* record = nullptr;
  made.status =
      rcap_record_decode(format, copy.get(), static_cast<std::int64_t>(bytes.size()), &hints, layer_ids.empty() ? nullptr : layer_ids.data(),
                         static_cast<std::int64_t>(layer_ids.size()), &record, &made.consumed, &error);
  made.text = error.text;
  made.record.reset(reinterpret_cast<Record*>(record));
  CHECK((made.record != nullptr) == (made.status == RCAP_STATUS_OK));
  return made;
}

Text text_of(std::string_view characters) {
  const auto* bytes = reinterpret_cast<const std::byte*>(characters.data());
  return {bytes, bytes + characters.size()};
}

std::string string_of(const Text& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace wire_test
