// SPDX-License-Identifier: Apache-2.0
//
// The oracle: compares what a request read, row by row and cell by cell, with what its tokens say it must be, and counts what the naive
// capturer would have answered instead.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model.h"
#include "naive.h"
#include "presence.h"
#include "router.h"

namespace engine {

/// A record as it was read: the bytes that go to a client.
struct RecordBytes {
  std::int64_t rows = 0;
  std::vector<std::uint8_t> ids;            // [rows, L, K]; both models have at most 256 experts, so an id is a byte (R28)
  std::vector<std::uint16_t> weights;       // [rows, L, K] bfloat16 bits, empty where none are kept
  std::vector<std::uint8_t> row_validity;   // bit i of byte i / 8
  std::vector<std::uint8_t> cell_validity;  // bit row * L + column
};

/// What row i of a request must be.
struct ExpectedRow {
  RowSource source;
  Presence presence = Presence::kMissing;
  std::int64_t slot = -1;  // where its KV is, -1 = nowhere
};

struct CheckTotals {
  std::int64_t rows_checked = 0;
  std::int64_t rows_wrong = 0;
  std::int64_t rows_missing = 0;   // rightly
  std::int64_t cells_missing = 0;  // rightly, in rows that are there
  std::int64_t naive_wrong = 0;
  std::int64_t naive_stale = 0;
  std::int64_t naive_overflowed = 0;
  std::int64_t naive_zero = 0;
  std::string first_wrong;  // in words, empty = none
};

class Checker {
 public:
  Checker(const ModelShape& shape, const Router& router, bool weights);

  /// Each wrong row counts once; a record of another length is wrong in every row.
  void check(std::int64_t request, std::span<const ExpectedRow> expected, const RecordBytes& record);

  /// A row of the naive capturer is *overflowed* if its forward's row lay behind the buffer, *zero* if it is all zeros in place of a row or of
  /// a missing one, *stale* if it is another token's row, and *wrong* if it is this token's row with something else in it. Cells that must be
  /// missing are not held against it.
  void compare_naive(std::span<const ExpectedRow> expected, const NaiveCapturer& naive);

  [[nodiscard]] const CheckTotals& totals() const { return totals_; }

 private:
  /// Empty if the row is right, else what is wrong with it.
  [[nodiscard]] std::string fault_of_row(const ExpectedRow& expected, const RecordBytes& record, std::int64_t row);
  [[nodiscard]] bool is_cell_right(const RowSource* source, const RecordBytes& record, std::int64_t row, std::int32_t column);

  const ModelShape& shape_;
  const Router& router_;
  bool weights_;
  std::vector<std::int32_t> ids_;           // K, scratch
  std::vector<std::uint16_t> weight_bits_;  // K, scratch
  CheckTotals totals_;
};

}  // namespace engine
