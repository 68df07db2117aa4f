// SPDX-License-Identifier: Apache-2.0
#include "checker.h"

#include <algorithm>

#include "support.h"

namespace engine {
namespace {

bool bit(std::span<const std::uint8_t> bitmap, std::int64_t index) { return (at(bitmap, index / 8) >> (index % 8) & 1) != 0; }

std::size_t bitmap_bytes(std::int64_t bits) { return static_cast<std::size_t>((bits + 7) / 8); }

}  // namespace

Checker::Checker(const ModelShape& shape, const Router& router, bool weights)
    : shape_(shape), router_(router), weights_(weights), ids_(static_cast<std::size_t>(shape.top_k)), weight_bits_(ids_.size()) {}

void Checker::check(std::int64_t request, std::span<const ExpectedRow> expected, const RecordBytes& record) {
  totals_.rows_checked += count(expected);
  const auto blame = [&](std::int64_t rows, const std::string& why) {
    totals_.rows_wrong += rows;
    if (totals_.first_wrong.empty()) totals_.first_wrong = "request " + std::to_string(request) + ", " + why;
  };
  const std::int64_t cells = record.rows * shape_.num_layers();
  const auto ids = static_cast<std::size_t>(cells * shape_.top_k);
  if (record.rows != count(expected)) {
    blame(std::max(record.rows, count(expected)), std::to_string(record.rows) + " rows, expected " + std::to_string(expected.size()));
    return;
  }
  if (record.ids.size() != ids || record.weights.size() != (weights_ ? ids : 0) || record.row_validity.size() != bitmap_bytes(record.rows) ||
      record.cell_validity.size() != bitmap_bytes(cells)) {
    blame(std::max<std::int64_t>(1, record.rows), "arrays that do not fit its rows");
    return;
  }
  for (std::int64_t row = 0; row < record.rows; ++row) {
    const std::string fault = fault_of_row(at(expected, row), record, row);
    if (!fault.empty()) blame(1, "token " + std::to_string(row) + ": " + fault);
  }
}

std::string Checker::fault_of_row(const ExpectedRow& expected, const RecordBytes& record, std::int64_t row) {
  const bool is_present = expected.presence != Presence::kMissing;
  if (bit(record.row_validity, row) != is_present) return is_present ? "missing, and was captured" : "there, and must be missing";
  if (!is_present) ++totals_.rows_missing;
  for (std::int32_t column = 0; column < shape_.num_layers(); ++column) {
    const bool is_pruned = expected.presence == Presence::kPrunedRow && column + 1 == shape_.num_layers();
    const bool has_cell = is_present && !is_pruned;
    const std::string layer = "layer " + std::to_string(at(shape_.moe_layers, column));
    if (bit(record.cell_validity, row * shape_.num_layers() + column) != has_cell) {
      return layer + (has_cell ? " missing, and was captured" : " there, and must be missing");
    }
    if (!is_cell_right(has_cell ? &expected.source : nullptr, record, row, column)) {
      return layer + (has_cell ? " holds other experts" : " is missing, and its bytes are not 0xFF");
    }
    if (is_pruned) ++totals_.cells_missing;
  }
  return {};
}

bool Checker::is_cell_right(const RowSource* source, const RecordBytes& record, std::int64_t row, std::int32_t column) {
  const auto first = static_cast<std::size_t>((row * shape_.num_layers() + column) * shape_.top_k);
  const auto width = static_cast<std::size_t>(shape_.top_k);
  const auto ids = std::span(record.ids).subspan(first, width);
  const auto weights = weights_ ? std::span(record.weights).subspan(first, width) : std::span<const std::uint16_t>();
  if (source == nullptr) {
    return std::ranges::all_of(ids, [](std::uint8_t id) { return id == 0xff; }) &&
           std::ranges::all_of(weights, [](std::uint16_t weight) { return weight == 0xffff; });
  }
  router_.route(*source, column, ids_);
  if (!std::ranges::equal(ids, ids_)) return false;
  if (!weights_) return true;
  router_.weigh(*source, column, weight_bits_);
  return std::ranges::equal(weights, weight_bits_);
}

void Checker::compare_naive(std::span<const ExpectedRow> expected, const NaiveCapturer& naive) {
  for (const ExpectedRow& row : expected) {
    if (row.slot < 0) continue;  // a token without KV: nobody would have asked it
    bool is_zero = true;
    bool is_right = row.presence != Presence::kMissing;
    for (std::int32_t column = 0; column < shape_.num_layers(); ++column) {
      const auto answer = naive.ids(row.slot, at(shape_.moe_layers, column));
      is_zero = is_zero && std::ranges::all_of(answer, [](std::int32_t id) { return id == 0; });
      const bool is_pruned = row.presence == Presence::kPrunedRow && column + 1 == shape_.num_layers();
      if (!is_right || is_pruned) continue;
      router_.route(row.source, column, ids_);
      is_right = std::ranges::equal(answer, ids_);
    }
    if (is_right) continue;
    if (naive.note(row.slot).cut_off) {
      ++totals_.naive_overflowed;
    } else if (is_zero) {
      ++totals_.naive_zero;
    } else if (naive.note(row.slot).written != row.source.prefix || row.presence == Presence::kMissing) {
      ++totals_.naive_stale;
    } else {
      ++totals_.naive_wrong;
    }
  }
}

}  // namespace engine
