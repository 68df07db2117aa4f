// SPDX-License-Identifier: Apache-2.0
//
// The oracle has to find what is wrong, and nothing else: each test spoils one thing in a record that is right.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "checker.h"
#include "support.h"

namespace {

using engine::at;
using engine::Checker;
using engine::ExpectedRow;
using engine::ModelShape;
using engine::Presence;
using engine::RecordBytes;

constexpr std::int64_t kLayers = 3;
constexpr std::int64_t kTopK = 2;

ModelShape small_model() {
  ModelShape shape;
  shape.name = "small";
  shape.total_layers = 5;
  shape.moe_layers = {1, 2, 4};
  shape.num_experts = 200;
  shape.top_k = kTopK;
  shape.draft_layer = 1;
  return shape;
}

void set_bit(std::vector<std::uint8_t>& bitmap, std::int64_t index) { at(bitmap, index / 8) |= static_cast<std::uint8_t>(1 << (index % 8)); }
void flip_bit(std::vector<std::uint8_t>& bitmap, std::int64_t index) { at(bitmap, index / 8) ^= static_cast<std::uint8_t>(1 << (index % 8)); }

/// Four rows: whole, without its last layer, missing, whole.
struct Case {
  ModelShape shape = small_model();
  engine::Router router{shape, nullptr};
  std::vector<ExpectedRow> expected = four_rows();
  bool weights = true;
  RecordBytes record = right_record();

  static std::vector<ExpectedRow> four_rows() {
    std::vector<ExpectedRow> rows;
    rows.push_back({{11, -1}, Presence::kRow, 1});
    rows.push_back({{22, -1}, Presence::kPrunedRow, 2});
    rows.push_back({{33, -1}, Presence::kMissing, 3});
    rows.push_back({{44, -1}, Presence::kRow, 4});
    return rows;
  }

  [[nodiscard]] RecordBytes right_record() const {
    RecordBytes right;
    right.rows = engine::count(expected);
    const auto cells = static_cast<std::size_t>(right.rows * kLayers);
    right.ids.assign(cells * kTopK, 0xff);
    right.weights.assign(cells * kTopK, 0xffff);
    right.row_validity.assign(1, 0);
    right.cell_validity.assign((cells + 7) / 8, 0);
    std::vector<std::int32_t> ids(kTopK);
    for (std::int64_t row = 0; row < right.rows; ++row) {
      const ExpectedRow& wanted = at(expected, row);
      if (wanted.presence == Presence::kMissing) continue;
      set_bit(right.row_validity, row);
      for (std::int64_t column = 0; column < kLayers; ++column) {
        if (wanted.presence == Presence::kPrunedRow && column + 1 == kLayers) continue;
        const std::int64_t cell = row * kLayers + column;
        set_bit(right.cell_validity, cell);
        router.route(wanted.source, static_cast<std::int32_t>(column), ids);
        for (std::int64_t k = 0; k < kTopK; ++k) at(right.ids, cell * kTopK + k) = static_cast<std::uint8_t>(at(ids, k));
        router.weigh(wanted.source, static_cast<std::int32_t>(column),
                     std::span(right.weights).subspan(static_cast<std::size_t>(cell * kTopK), kTopK));
      }
    }
    return right;
  }

  [[nodiscard]] engine::CheckTotals check() const {
    Checker checker(shape, router, weights);
    checker.check(7, expected, record);
    return checker.totals();
  }
};

std::int64_t id_index(std::int64_t row, std::int64_t column, std::int64_t k) { return (row * kLayers + column) * kTopK + k; }

}  // namespace

TEST_CASE("a right record has no wrong row, and its missing rows and cells are counted") {
  const Case sample;
  const engine::CheckTotals totals = sample.check();
  CHECK(totals.rows_checked == 4);
  CHECK(totals.rows_wrong == 0);
  CHECK(totals.rows_missing == 1);
  CHECK(totals.cells_missing == 1);
  CHECK(totals.first_wrong.empty());
}

TEST_CASE("everything that can be wrong with a row makes that row wrong, once, and is named") {
  struct Spoiler {
    const char* what;
    void (*spoil)(RecordBytes&);
    const char* first_wrong;
  };
  const Spoiler spoilers[] = {
      {"an id", [](RecordBytes& record) { at(record.ids, id_index(3, 1, 1)) ^= 1; }, "token 3: layer 2 holds other experts"},
      {"the order of ids", [](RecordBytes& record) { std::swap(at(record.ids, id_index(0, 0, 0)), at(record.ids, id_index(0, 0, 1))); },
       "token 0: layer 1 holds other experts"},
      {"ids of another token",
       [](RecordBytes& record) {
         for (std::int64_t i = 0; i < kLayers * kTopK; ++i) at(record.ids, id_index(0, 0, i)) = at(record.ids, id_index(3, 0, i));
       },
       "token 0: layer 1 holds other experts"},
      {"zeros", [](RecordBytes& record) { at(record.ids, id_index(3, 2, 0)) = at(record.ids, id_index(3, 2, 1)) = 0; },
       "token 3: layer 4 holds other experts"},
      {"a weight", [](RecordBytes& record) { at(record.weights, id_index(0, 2, 1)) ^= 1; }, "token 0: layer 4 holds other experts"},
      {"a row said to be missing", [](RecordBytes& record) { flip_bit(record.row_validity, 0); }, "token 0: missing, and was captured"},
      {"a missing row said to be there", [](RecordBytes& record) { flip_bit(record.row_validity, 2); }, "token 2: there, and must be missing"},
      {"a cell said to be missing", [](RecordBytes& record) { flip_bit(record.cell_validity, 3 * kLayers); },
       "token 3: layer 1 missing, and was captured"},
      {"a pruned cell said to be there", [](RecordBytes& record) { flip_bit(record.cell_validity, 1 * kLayers + 2); },
       "token 1: layer 4 there, and must be missing"},
      {"a missing row's cell said to be there", [](RecordBytes& record) { flip_bit(record.cell_validity, 2 * kLayers); },
       "token 2: layer 1 there, and must be missing"},
      {"a missing row's bytes", [](RecordBytes& record) { at(record.ids, id_index(2, 1, 0)) = 0; },
       "token 2: layer 2 is missing, and its bytes are not 0xFF"},
      {"a missing cell's bytes", [](RecordBytes& record) { at(record.ids, id_index(1, 2, 1)) = 3; },
       "token 1: layer 4 is missing, and its bytes are not 0xFF"},
      {"a missing cell's weight", [](RecordBytes& record) { at(record.weights, id_index(1, 2, 1)) = 0; },
       "token 1: layer 4 is missing, and its bytes are not 0xFF"},
  };
  for (const Spoiler& spoiler : spoilers) {
    CAPTURE(spoiler.what);
    Case sample;
    spoiler.spoil(sample.record);
    const engine::CheckTotals totals = sample.check();
    CHECK(totals.rows_wrong == 1);
    CHECK(totals.rows_checked == 4);
    CHECK(totals.first_wrong == std::string("request 7, ") + spoiler.first_wrong);
  }
}

TEST_CASE("a record of another length is wrong in every row") {
  Case shorter;
  shorter.expected.push_back({{55, -1}, Presence::kRow, 5});
  CHECK(shorter.check().rows_wrong == 5);
  CHECK(shorter.check().first_wrong == "request 7, 4 rows, expected 5");

  Case longer;
  longer.expected.pop_back();
  CHECK(longer.check().rows_wrong == 4);
}

TEST_CASE("arrays that do not fit the rows are wrong") {
  Case without_weights;
  without_weights.record.weights.clear();
  CHECK(without_weights.check().rows_wrong == 4);

  Case with_unwanted_weights;
  with_unwanted_weights.weights = false;
  CHECK(with_unwanted_weights.check().rows_wrong == 4);
  with_unwanted_weights.record.weights.clear();
  CHECK(with_unwanted_weights.check().rows_wrong == 0);

  Case without_cells;
  without_cells.record.cell_validity.clear();
  CHECK(without_cells.check().rows_wrong == 4);
}

namespace {

/// One rank whose naive capturer has room for four rows.
struct NaiveCase {
  ModelShape shape = small_model();
  engine::Router router{shape, nullptr};
  engine::EngineConfig config = small_config();
  engine::NaiveCapturer naive{shape, config};
  std::vector<std::int32_t> ids;

  static engine::EngineConfig small_config() {
    engine::EngineConfig config;
    config.chunked_prefill_size = 4;
    config.max_running_requests = 1;
    config.device_slots = 16;
    config.host_slots = 0;
    return config;
  }

  /// The layers' routers, for rows from 0.
  void capture(const std::vector<engine::RowSource>& rows) {
    for (std::int32_t column = 0; column < kLayers; ++column) capture_layer(at(shape.moe_layers, column), column, rows);
  }
  void capture_layer(std::int32_t layer, std::int32_t column, const std::vector<engine::RowSource>& rows) {
    ids.resize(rows.size() * kTopK);
    for (std::size_t i = 0; i < rows.size(); ++i) router.route(rows[i], column, std::span(ids).subspan(i * kTopK, kTopK));
    engine::TopK topk;
    topk.ids = ids;
    topk.columns = kTopK;
    naive.capture(layer, topk);
  }
  [[nodiscard]] engine::CheckTotals compare(const std::vector<ExpectedRow>& expected) const {
    Checker checker(shape, router, false);
    checker.compare_naive(expected, naive);
    return checker.totals();
  }
};

}  // namespace

TEST_CASE("a naive row that is right counts nowhere") {
  NaiveCase sample;
  sample.capture({{11, -1}, {22, -1}});
  sample.naive.finalize(sample.naive.stage(0, std::vector<engine::RowSource>{{11, -1}, {22, -1}}, std::vector<std::int64_t>{5, 6}));
  const engine::CheckTotals totals = sample.compare({{{11, -1}, Presence::kRow, 5}, {{22, -1}, Presence::kPrunedRow, 6}});
  CHECK(totals.naive_wrong + totals.naive_stale + totals.naive_overflowed + totals.naive_zero == 0);
}

TEST_CASE("naive rows are told apart: polluted by a draft, stale, cut off, zero") {
  NaiveCase sample;
  const std::vector<engine::RowSource> rows = {{11, -1}, {22, -1}, {33, -1}, {44, -1}, {55, -1}};
  sample.capture(rows);
  sample.capture_layer(sample.shape.draft_layer, 0, {{99, -1}});  // the draft's layer has a target's number
  sample.naive.finalize(sample.naive.stage(0, rows, std::vector<std::int64_t>{1, 2, 3, 4, 5}));

  const engine::CheckTotals totals = sample.compare({
      {{11, -1}, Presence::kRow, 1},       // polluted
      {{66, -1}, Presence::kRow, 2},       // slot 2 has a new tenant whose row never came
      {{33, -1}, Presence::kMissing, 3},   // released: nothing may be shown
      {{44, -1}, Presence::kRow, 4},       // right
      {{55, -1}, Presence::kRow, 5},       // the fifth row of four
      {{77, -1}, Presence::kRow, 6},       // never written
      {{88, -1}, Presence::kMissing, 7},   // never written and rightly so: zeros all the same
      {{89, -1}, Presence::kMissing, -1},  // no KV: not asked
  });
  CHECK(totals.naive_wrong == 1);
  CHECK(totals.naive_stale == 2);
  CHECK(totals.naive_overflowed == 1);
  CHECK(totals.naive_zero == 2);
}
