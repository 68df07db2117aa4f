// SPDX-License-Identifier: Apache-2.0
// Reading through both read functions at once, and telling what was read.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "support/floats.h"
#include "support/rig.h"

namespace routecap_test {
namespace {

constexpr std::byte kCanary{0xA5};
constexpr std::byte kMissing{0xFF};

void must(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

std::vector<std::byte> bytes_of(const void* data, std::int64_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return {begin, begin + bytes};
}

void fill_from_record(const rcap_record* record, Rows& rows) {
  const void* data = nullptr;
  std::int64_t bytes = 0;
  const auto ok = [](std::int32_t status) { must(status == RCAP_STATUS_OK, "an accessor of a record failed"); };
  ok(rcap_record_info_get(record, &rows.record_info, nullptr));
  ok(rcap_record_ids(record, &data, &bytes, nullptr));
  rows.ids = bytes_of(data, bytes);
  must(data != nullptr && reinterpret_cast<std::uintptr_t>(data) % 8 == 0, "ids of a record are 8-byte aligned and never null");
  ok(rcap_record_weights(record, &data, &bytes, nullptr));
  rows.weights = bytes_of(data, bytes);
  must(data != nullptr, "weights of a record are never null");
  ok(rcap_record_row_validity(record, &data, &bytes, nullptr));
  rows.row_validity = bytes_of(data, bytes);
  ok(rcap_record_cell_validity(record, &data, &bytes, nullptr));
  rows.cell_validity = bytes_of(data, bytes);
  const std::int32_t* numbers = nullptr;
  ok(rcap_record_layer_ids(record, &numbers, &bytes, nullptr));
  rows.layer_ids.assign(numbers, numbers + bytes);
  ok(rcap_record_layer_flags(record, &numbers, &bytes, nullptr));
  rows.layer_flags.assign(numbers, numbers + bytes);
  const std::int64_t* starts = nullptr;
  const std::int64_t* versions = nullptr;
  ok(rcap_record_version_spans(record, &starts, &versions, &bytes, nullptr));
  for (std::int64_t i = 0; i < bytes; ++i) rows.spans.emplace_back(starts[i], versions[i]);
  must(rows.record_info.version_spans == bytes, "record_info counts the version spans");
}

}  // namespace

bool Rows::valid(std::int64_t row) const { return bit(row_validity, row); }

bool Rows::cell(std::int64_t row, std::int32_t column) const {
  return cell_validity.empty() ? valid(row) : bit(cell_validity, row * info.num_layers + column);
}

std::vector<std::int32_t> Rows::ids_of(std::int64_t row, std::int32_t column) const {
  std::vector<std::int32_t> result;
  const std::int64_t size = size_of(info.ids_dtype);
  for (std::int32_t k = 0; k < info.top_k; ++k) {
    const std::int64_t at = ((row * info.num_layers + column) * info.top_k + k) * size;
    std::uint32_t value = 0;
    std::memcpy(&value, ids.data() + at, static_cast<std::size_t>(size));
    result.push_back(static_cast<std::int32_t>(value));
  }
  return result;
}

std::vector<std::int32_t> Rows::row(std::int64_t row) const {
  std::vector<std::int32_t> result;
  for (std::int32_t column = 0; column < info.num_layers; ++column) {
    const auto ids_here = ids_of(row, column);
    result.insert(result.end(), ids_here.begin(), ids_here.end());
  }
  return result;
}

std::vector<std::byte> Rows::row_bytes(std::int64_t row) const {
  const std::int64_t size = info.num_layers * info.top_k * size_of(info.ids_dtype);
  return bytes_of(ids.data() + row * size, size);
}

std::vector<std::byte> Rows::weight_bytes(std::int64_t row) const {
  const std::int64_t size = info.num_layers * info.top_k * size_of(info.weights_dtype);
  return bytes_of(weights.data() + row * size, size);
}

Rows Rig::read(const Read& read) const {
  auto layout = make<rcap_read_layout>();
  layout.slots_dtype = read.slots_dtype;
  layout.unit = read.unit;
  layout.flags = read.flags;
  layout.tokens = read.tokens < 0 ? static_cast<std::int64_t>(read.slots.size()) + 1 : read.tokens;
  layout.start = read.start;
  layout.after_sequence = read.after_sequence;
  layout.timeout_ns = read.timeout_ns;
  const auto slots = packed(read.slots, read.slots_dtype);
  const auto slots_bytes = static_cast<std::int64_t>(slots.size());
  const std::int64_t* tags = read.tags.empty() ? nullptr : read.tags.data();
  const auto tags_count = static_cast<std::int64_t>(read.tags.size());

  Rows rows;
  Error error;
  rcap_record* handle = nullptr;
  rows.status = rcap_capturer_read(get(), &layout, slots.data(), slots_bytes, tags, tags_count, &handle, error);
  rows.detail = error.detail();
  rows.text = error.text();
  const Record record(handle);
  must(error.code() == rows.status, "the error's code is the status");
  must((rows.status == RCAP_STATUS_OK) == (record != nullptr), "a read gives a record exactly when it answers OK");

  const std::int64_t cells = std::clamp<std::int64_t>(layout.tokens, 0, 16384) * layers() * top_k();
  std::vector<std::byte> ids(static_cast<std::size_t>(cells * 4 + 64), kCanary);
  std::vector<std::byte> weights(ids.size(), kCanary);
  std::vector<std::byte> validity(static_cast<std::size_t>(cells + 64), kCanary);
  const auto into = [&](rcap_read_info* info, rcap_error* err) {
    return rcap_capturer_read_into(get(), &layout, slots.data(), slots_bytes, tags, tags_count, ids.data(), static_cast<std::int64_t>(ids.size()),
                                   weights.data(), static_cast<std::int64_t>(weights.size()), validity.data(),
                                   static_cast<std::int64_t>(validity.size()), info, err);
  };
  Error again;
  const std::int32_t status = into(&rows.info, again);
  must(status == rows.status, "read and read_into answer alike");
  must(again.detail() == rows.detail && again.text() == rows.text, "read and read_into explain alike");
  const auto untouched = [](const std::vector<std::byte>& buffer, std::int64_t from) {
    return std::all_of(buffer.begin() + from, buffer.end(), [](std::byte b) { return b == kCanary; });
  };
  if (status != RCAP_STATUS_OK) {
    must(status == RCAP_STATUS_NOT_READY || (untouched(ids, 0) && untouched(weights, 0) && untouched(validity, 0)), "a refused read writes nothing");
    return rows;
  }
  fill_from_record(record.get(), rows);
  const rcap_read_info& info = rows.info;
  must(info.ids_bytes == static_cast<std::int64_t>(rows.ids.size()) && std::equal(rows.ids.begin(), rows.ids.end(), ids.begin()), "ids differ");
  must(info.weights_bytes == static_cast<std::int64_t>(rows.weights.size()) && std::equal(rows.weights.begin(), rows.weights.end(), weights.begin()),
       "weights differ");
  must(info.row_validity_bytes == static_cast<std::int64_t>(rows.row_validity.size()) &&
           std::equal(rows.row_validity.begin(), rows.row_validity.end(), validity.begin()),
       "row validity differs");
  must(info.cell_validity_bytes == static_cast<std::int64_t>(rows.cell_validity.size()) &&
           std::equal(rows.cell_validity.begin(), rows.cell_validity.end(), validity.begin() + info.row_validity_bytes),
       "cell validity differs");
  must(untouched(ids, info.ids_bytes) && untouched(weights, info.weights_bytes) &&
           untouched(validity, info.row_validity_bytes + info.cell_validity_bytes),
       "read_into wrote behind what it needs");
  const rcap_record_info& other = rows.record_info;
  must(info.start == other.start && info.rows == other.rows && info.rows_valid == other.rows_valid && info.num_layers == other.num_layers &&
           info.top_k == other.top_k && info.ids_dtype == other.ids_dtype && info.weights_dtype == other.weights_dtype,
       "read_info and record_info differ");
  must(info.num_layers == layers() && info.top_k == top_k() && other.num_experts == setup_.config.num_experts, "the answer states its shape");
  std::int64_t valid = 0;
  for (std::int64_t i = 0; i < info.rows; ++i) valid += rows.valid(i) ? 1 : 0;
  must(valid == info.rows_valid, "rows_valid counts the validity bits");
  return rows;
}

std::string Rig::words(const Rows& rows) const {
  if (rows.status == RCAP_STATUS_NOT_READY) return "NOT_READY(" + std::to_string(rows.detail) + ")";
  if (rows.status != RCAP_STATUS_OK) return name(rows.status);
  std::string result;
  for (std::int64_t i = 0; i < rows.info.rows; ++i) {
    if (i > 0) result += ' ';
    std::string cells;
    for (std::int32_t column = 0; column < layers(); ++column) cells += rows.cell(i, column) ? '1' : '0';
    const auto id_bytes = rows.row_bytes(i);
    const auto weight_bytes = rows.weight_bytes(i);
    const auto cell_is = [&](std::int32_t column, const auto& predicate) {
      const auto part = [&](const std::vector<std::byte>& bytes) {
        const auto size = static_cast<std::int64_t>(bytes.size()) / layers();
        return std::all_of(bytes.begin() + column * size, bytes.begin() + (column + 1) * size, predicate);
      };
      return part(id_bytes) && part(weight_bytes);
    };
    for (std::int32_t column = 0; column < layers(); ++column) {
      must(rows.cell(i, column) || cell_is(column, [](std::byte b) { return b == kMissing; }), "bytes under a clear bit are 0xFF (R7)");
      must(rows.valid(i) || !rows.cell(i, column), "cells of an invalid row are clear");
    }
    if (!rows.valid(i)) {
      result += '-';
      continue;
    }
    std::string word = "?";
    for (const auto& [row, seed] : seed_of_) {
      bool same = true;
      for (std::int32_t column = 0; column < layers() && same; ++column) {
        if (!rows.cell(i, column)) continue;
        const auto here = rows.ids_of(i, column);
        same = std::equal(here.begin(), here.end(), row.begin() + column * top_k());
        if (same && rows.info.weights_dtype != RCAP_DTYPE_NONE) {
          const auto expected = router_.weights(seed, setup_.layer_ids[static_cast<std::size_t>(column)]);
          for (std::int32_t k = 0; k < top_k() && same; ++k) {
            const auto at = static_cast<std::size_t>(column * top_k() + k);
            std::uint32_t bits = 0;
            const auto size = static_cast<std::size_t>(size_of(rows.info.weights_dtype));
            std::memcpy(&bits, weight_bytes.data() + at * size, size);
            const float weight = expected[static_cast<std::size_t>(k)];
            const double kept = rows.info.weights_dtype == RCAP_DTYPE_FLOAT32   ? static_cast<double>(float32_of(bits))
                                : rows.info.weights_dtype == RCAP_DTYPE_FLOAT16 ? float16_value(static_cast<std::uint16_t>(bits))
                                                                                : bfloat16_value(static_cast<std::uint16_t>(bits));
            same = kept == static_cast<double>(weight);
          }
        }
      }
      if (same) {
        word = std::to_string(seed);
        break;
      }
    }
    if (cells.find('0') != std::string::npos) word += "[" + cells + "]";
    result += word;
  }
  return result;
}

}  // namespace routecap_test
