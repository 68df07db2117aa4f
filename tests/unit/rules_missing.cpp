// SPDX-License-Identifier: Apache-2.0
// R7, R8, R11: missing is not zero.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

Setup one_expert_a_token(std::int32_t num_experts) {
  Setup setup;
  setup.config.num_experts = num_experts;
  setup.config.top_k = 1;
  return setup;
}

/// Captures the same id for every layer of one row and stores it.
void store_id(Rig& rig, std::int32_t id, std::int64_t slot) {
  for (std::size_t column = 0; column < 3; ++column) {
    auto layout = make<rcap_capture_layout>();
    layout.columns = 1;
    layout.tokens = 1;
    REQUIRE(rcap_tap_capture(rig.tap(column), &layout, &id, sizeof id, nullptr, 0, nullptr, 0, nullptr, nullptr) == RCAP_STATUS_OK);
  }
  rig.settle(rig.end({.tokens = 1, .slots = {slot}}));
}

bool all_ff(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xFF}; });
}

}  // namespace

TEST_CASE("R7: zero is a legal expert id and is not missing") {
  Rig rig(one_expert_a_token(256));
  store_id(rig, 0, 5);
  const Rows rows = rig.read({.slots = {5, 6}});
  CHECK(rows.valid(0));
  CHECK(rows.row(0) == std::vector<std::int32_t>{0, 0, 0});
  CHECK_FALSE(rows.valid(1));
}

TEST_CASE("R7: with E = 256 in uint8 there is no spare value: id 255 is valid, and validity stands beside the bytes") {
  Rig rig(one_expert_a_token(256));
  store_id(rig, 255, 5);
  const Rows rows = rig.read({.slots = {5, 6}});
  CHECK(rows.info.ids_dtype == RCAP_DTYPE_UINT8);
  CHECK(rows.row(0) == std::vector<std::int32_t>{255, 255, 255});
  CHECK(rows.row_bytes(0) == rows.row_bytes(1));
  CHECK(rows.valid(0));
  CHECK_FALSE(rows.valid(1));
}

TEST_CASE("R7: a row nobody captured reads as missing, with 0xFF in every byte of ids and weights") {
  for (const std::int32_t experts : {64, 512, 70000}) {
    CAPTURE(experts);
    Setup setup;
    setup.config.num_experts = experts;
    setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
    Rig rig(setup);
    rig.store({7}, {1});
    const Rows rows = rig.read({.slots = {0, 1, 2, 127, -1}});
    CHECK(rig.words(rows) == "- 7 - - -");
    for (const std::int64_t i : {0, 2, 3, 4}) {
      CHECK(all_ff(rows.row_bytes(i)));
      CHECK(all_ff(rows.weight_bytes(i)));
    }
    CHECK(rows.info.rows == 5);
    CHECK(rows.info.rows_valid == 1);
  }
}

TEST_CASE("R7: a layer that ran on only some rows has validity of its own, cell by cell") {
  Setup setup;
  setup.layer_ids = {3, 5, 9, 12};
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0, RCAP_TAP_PARTIAL};
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT16;
  Rig rig(setup);
  const Seeds seeds = {1, 2, 3, 4, 5};
  CHECK(rig.capture(0, seeds) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {5, 2}, {4, 1}) == RCAP_STATUS_OK);  // in any order
  CHECK(rig.capture(2, seeds) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(3, {5}, {4}) == RCAP_STATUS_OK);  // only the tail, before the last layer
  const rcap_summary summary = rig.settle(rig.end({.tokens = 5, .slots = {10, 11, 12, 13, 14}}));
  CHECK(summary.rows_stored == 5);
  CHECK(summary.layers_bad == 0);
  const Rows rows = rig.read({.slots = {10, 11, 12, 13, 14, 15}});
  CHECK(rig.words(rows) == "1[1010] 2[1110] 3[1010] 4[1010] 5 -");
  CHECK(rows.info.cell_validity_bytes == 3);  // ceil(6 * 4 / 8)
  CHECK(rows.record_info.has_cell_validity == 1);
  CHECK(rows.layer_flags == std::vector<std::int32_t>{0, RCAP_TAP_PARTIAL, 0, RCAP_TAP_PARTIAL});
}

TEST_CASE("R7: a partial layer may run on no row, or on all of them without row_ids") {
  Setup setup;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 2, .slots = {10, 11}})).rows_stored == 2);
  CHECK(rig.show({10, 11}) == "1[101] 2[101]");
  rig.store({3, 4}, {12, 13});
  CHECK(rig.show({12, 13}) == "3 4");
}

TEST_CASE("R7: without partial layers there is no cell bitmap") {
  Rig rig;
  rig.store({1}, {10});
  const Rows rows = rig.read({.slots = {10}});
  CHECK(rows.info.cell_validity_bytes == 0);
  CHECK(rows.cell_validity.empty());
  CHECK(rows.record_info.has_cell_validity == 0);
}

TEST_CASE("R7: a partial cell of an earlier tenant is gone when the slot is written again") {
  Setup setup;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  rig.store({3}, {12});
  CHECK(rig.show({12}) == "3");
  CHECK(rig.capture(0, {4}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {4}) == RCAP_STATUS_OK);
  rig.settle(rig.end({.tokens = 1, .slots = {12}}));
  CHECK(rig.show({12}) == "4[101]");
}

TEST_CASE("R7: cell bits go on past 64 layers") {
  Setup setup;
  setup.layer_ids.clear();
  for (std::int32_t layer = 0; layer < 131; ++layer) setup.layer_ids.push_back(2 * layer);
  setup.tap_flags.assign(131, 0);
  for (const std::size_t column : {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{128}, std::size_t{130}})
    setup.tap_flags[column] = RCAP_TAP_PARTIAL;
  Rig rig(setup);
  const Seeds seeds = {1, 2, 3};
  for (std::size_t column = 0; column < 131; ++column) {
    if (setup.tap_flags[column] == 0) {
      REQUIRE(rig.capture(column, seeds) == RCAP_STATUS_OK);
    } else {
      const auto only = static_cast<std::int32_t>(column % 3);
      REQUIRE(rig.capture_rows(column, {seeds[static_cast<std::size_t>(only)]}, {only}) == RCAP_STATUS_OK);
    }
  }
  rig.settle(rig.end({.tokens = 3, .slots = {1, 2, 3}}));
  const Rows rows = rig.read({.slots = {1, 2, 3}});
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int32_t column = 0; column < 131; ++column) {
      CAPTURE(row);
      CAPTURE(column);
      const bool expected = setup.tap_flags[static_cast<std::size_t>(column)] == 0 || column % 3 == row;
      REQUIRE(rows.cell(row, column) == expected);
      const auto ids = rig.router().ids(row + 1, 2 * column);
      REQUIRE(rows.ids_of(row, column) == (expected ? ids : std::vector<std::int32_t>(4, 255)));
    }
  }
}

TEST_CASE("R7: a forward that is not finalized hides nothing: its slots show what they had until it settles") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  const Output output = rig.forward({3, 4}, {11, 12});
  CHECK(rig.show({10, 11, 12}) == "1 2 -");
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rig.show({10, 11, 12}) == "1 2 -");
  rig.settle(output);
  CHECK(rig.show({10, 11, 12}) == "1 3 4");
}

TEST_CASE("R7: a slot reused without a release shows the old tenant until then; a read that names the last sequence never does") {
  Rig rig;
  rig.store({1}, {10});
  const Output output = rig.forward({2}, {10});
  CHECK(rig.show({10}) == "1");
  const Read mine = {.slots = {10}, .after_sequence = rig.sequence(output)};
  CHECK(rig.words(rig.read(mine)) == "NOT_READY(2)");
  rig.settle(output);
  CHECK(rig.words(rig.read(mine)) == "2");
}

TEST_CASE("R7: released before its reuse, a slot shows nothing until the new row is there") {
  Rig rig;
  rig.store({1}, {10});
  rig.release({10});
  const Output output = rig.forward({2}, {10});
  CHECK(rig.show({10}) == "-");
  rig.settle(output);
  CHECK(rig.show({10}) == "2");
}

TEST_CASE("R8: a released slot reads as missing until it is written again") {
  Rig rig;
  rig.store({1, 2, 3}, {10, 11, 12});
  rig.release({11});
  CHECK(rig.show({10, 11, 12}) == "1 - 3");
  const rcap_slot_info info = rig.info(11);
  CHECK(info.valid == 0);
  CHECK(info.sequence == 2);
  CHECK(info.row_sequence == 0);
  rig.release({11});
  CHECK(rig.show({10, 11, 12}) == "1 - 3");
  rig.store({4}, {11});
  CHECK(rig.show({10, 11, 12}) == "1 4 3");
}

TEST_CASE("R8: release_all releases every slot at once") {
  Rig rig;
  rig.store({1, 2, 3}, {0, 64, 127});
  rig.release_all();
  CHECK(rig.show({0, 64, 127}) == "- - -");
  CHECK(rig.info(64).valid == 0);
  CHECK(rig.info(64).sequence == 2);
  rig.store({4}, {64});
  CHECK(rig.show({0, 64, 127}) == "- 4 -");
  CHECK(rig.info(64).valid == 1);
  CHECK(rig.info(64).row_sequence == 3);
}

TEST_CASE("R8: a release is not needed where a new write comes first") {
  Rig rig;
  rig.store({1}, {10});
  rig.store({2}, {10});
  CHECK(rig.show({10}) == "2");
}

TEST_CASE("R8: pages are released slot by slot of the page") {
  Setup setup;
  setup.config.page_size = 16;
  Rig rig(setup);
  rig.store({1, 2, 3, 4}, {15, 16, 31, 32});
  CHECK(rig.try_release({1}, nullptr, RCAP_UNIT_PAGE) == RCAP_STATUS_OK);
  CHECK(rig.show({15, 16, 31, 32}) == "1 - - 4");
  CHECK(rig.stats().slots_released >= 1);
}

TEST_CASE("R8: slots to release may lie in device memory") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  CHECK(rig.try_release({10}, nullptr, RCAP_UNIT_SLOT, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  CHECK(rig.show({10, 11}) == "- 2");
}

TEST_CASE("R8: a row whose stored tag differs from the reader's is missing") {
  Setup setup;
  setup.config.tags = 1;
  Rig rig(setup);
  rig.store({1, 2, 3}, {10, 11, 12});
  const auto shown = [&](const std::vector<std::int64_t>& tags) { return rig.words(rig.read({.slots = {10, 11, 12}, .tags = tags})); };
  CHECK(shown({}) == "1 2 3");  // no tags given: nothing to compare
  CHECK(shown({Rig::tag(1), Rig::tag(2), Rig::tag(3)}) == "1 2 3");
  CHECK(shown({Rig::tag(1), Rig::tag(9), Rig::tag(3)}) == "1 - 3");
  CHECK(shown({0, -1, INT64_MIN}) == "- - -");
  CHECK(rig.info(11).tag == Rig::tag(2));
  // Tags go with tokens, not with rows of the answer.
  const Read tail = {.slots = {10, 11, 12}, .start = 1, .tags = {0, Rig::tag(2), Rig::tag(2)}};
  CHECK(rig.words(rig.read(tail)) == "2 -");
}

TEST_CASE("R8: tags have all 64 bits, come in a forward's row order, and a mismatching last row does not exist") {
  Setup setup;
  setup.config.tags = 1;
  Rig rig(setup);
  rig.capture_all({1, 2, 3});
  rig.settle(rig.end({.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {2, 0}, .tags = {INT64_MIN, 5, INT64_MAX}}));
  CHECK(rig.info(10).tag == INT64_MAX);
  CHECK(rig.info(11).tag == INT64_MIN);
  const auto with_last = [&](std::int64_t last_tag) {
    return rig.words(rig.read({.slots = {10, 11}, .tokens = 2, .flags = RCAP_READ_INCLUDE_LAST, .tags = {INT64_MAX, last_tag}}));
  };
  CHECK(with_last(INT64_MIN) == "3 1");
  CHECK(with_last(5) == "3");
}

TEST_CASE("R8: weights under a tag mismatch are 0xFF too") {
  Setup setup;
  setup.config.tags = 1;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT16;
  Rig rig(setup);
  rig.store({1}, {10});
  const Rows rows = rig.read({.slots = {10}, .tags = {4}});
  CHECK(rig.words(rows) == "-");
  CHECK(all_ff(rows.weight_bytes(0)));
}

TEST_CASE("R11: a prefix-cache hit shows the rows recorded when that KV was computed, absent ones visibly missing") {
  Rig rig;
  rig.store({1, 2, 3, 4}, {10, 11, 12, 13});  // request A
  rig.store({5, 6}, {20, 21});                // request B shares A's first three tokens
  CHECK(rig.show({10, 11, 12, 20, 21}) == "1 2 3 5 6");
  rig.release({11});  // that part of the prefix was evicted
  CHECK(rig.show({10, 11, 12, 20, 21}) == "1 - 3 5 6");
  const Rows rows = rig.read({.slots = {10, 30, 12, 20, 21}});  // KV that arrived without a forward
  CHECK(rig.words(rows) == "1 - 3 5 6");
  CHECK(rows.info.rows_valid == 4);
}
