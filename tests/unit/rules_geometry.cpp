// SPDX-License-Identifier: Apache-2.0
// R15, R16, R17: padding, the place of a rank's rows, and what is stored.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

/// Ids that no router of 64 experts gives.
void capture_garbage(Rig& rig, std::int64_t first_row, std::int64_t tokens) {
  const std::vector<std::int32_t> ids(static_cast<std::size_t>(tokens * 4), -1);
  for (std::size_t column = 0; column < 3; ++column) {
    auto layout = make<rcap_capture_layout>();
    layout.columns = 4;
    layout.tokens = tokens;
    layout.first_row = first_row;
    REQUIRE(rcap_tap_capture(rig.tap(column), &layout, ids.data(), static_cast<std::int64_t>(ids.size() * 4), nullptr, 0, nullptr, 0, nullptr,
                             nullptr) == RCAP_STATUS_OK);
  }
}

struct Place {
  std::int32_t status;
  std::int64_t first_row, tokens;
};

Place rows_of(std::int32_t kind, const std::vector<std::int64_t>& per_rank, std::int64_t dp_rank, std::int64_t tp_size = 1, std::int64_t tp_rank = 0,
              std::int64_t padded = 0, rcap_error* error = nullptr) {
  Place place{0, -99, -99};
  place.status = rcap_layout_rows(kind, per_rank.data(), static_cast<std::int64_t>(per_rank.size()), dp_rank, tp_size, tp_rank, padded,
                                  &place.first_row, &place.tokens, error);
  return place;
}

}  // namespace

TEST_CASE("R15: padded rows of a graph batch never reach the store, whatever ids they hold") {
  Setup setup;
  setup.config.reserved_slots = 1;
  setup.config.check_level = RCAP_CHECK_FULL;
  Rig rig(setup);
  SUBCASE("the forward has the real rows only; the graph wrote more") {
    rig.capture_all({1, 2, 3});
    capture_garbage(rig, 3, 5);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .slots = {10, 11, 12}}));
    CHECK(summary.entries == 3);
    CHECK(summary.rows_stored == 3);
    CHECK(summary.layers_bad == 0);
  }
  SUBCASE("padding points at the reserved slot, many times") {
    rig.capture_all({1, 2, 3});
    capture_garbage(rig, 3, 5);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 8, .slots = {10, 11, 12, 0, 0, 0, 0, 0}}));
    CHECK(summary.entries == 8);
    CHECK(summary.rows_stored == 3);
    CHECK(summary.rows_reserved == 5);
    CHECK(summary.rows_bad == 0);
    CHECK(rig.stats().rows_reserved == 5);
  }
  SUBCASE("padding points at the reserved slot from device memory") {
    rig.capture_all({1, 2, 3});
    capture_garbage(rig, 3, 5);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 8, .slots = {10, 11, 12, 0, 0, 0, 0, 0}, .slots_memory = RCAP_MEMORY_DEVICE}));
    CHECK(summary.rows_stored == 3);
    CHECK(summary.rows_reserved == 5);
    CHECK(summary.rows_bad == 0);
    CHECK(summary.first_bad_fault == RCAP_FAULT_NONE);
  }
  SUBCASE("padding is a hole") {
    rig.capture_all({1, 2, 3});
    capture_garbage(rig, 3, 2);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 5, .slots = {10, 11, 12, -1, -1}}));
    CHECK(summary.entries == 3);
    CHECK(summary.rows_stored == 3);
  }
  CHECK(rig.show({10, 11, 12, 0}) == "1 2 3 -");
}

TEST_CASE("R15: any other slot named twice in one forward is a fault") {
  Setup setup;
  setup.config.reserved_slots = 2;
  Rig rig(setup);
  rig.capture_all({1, 2, 3, 4});
  Error error;
  Output output;
  CHECK(name(rig.try_end({.tokens = 4, .slots = {0, 2, 1, 2}}, output, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(error.text().find('2') != std::string::npos);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 4, .slots = {0, 1, 0, 2}}));
  CHECK(summary.rows_reserved == 3);
  CHECK(summary.rows_stored == 1);
}

TEST_CASE("R15: a row named for a reserved slot may be named again for a real one") {
  Setup setup;
  setup.config.reserved_slots = 1;
  Rig rig(setup);
  rig.capture_all({1, 2});
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 0, 0, 11}, .rows = {0, 0, 7, 1}}));
  CHECK(summary.rows_stored == 2);
  CHECK(summary.rows_reserved == 2);
  CHECK(rig.show({10, 11}) == "1 2");
}

TEST_CASE("R15: a slot or row named twice from device memory makes every slot involved missing") {
  Rig rig;
  rig.store({7, 8, 9, 6}, {10, 11, 12, 13});
  rig.capture_all({1, 2, 3, 4});
  SUBCASE("slots") {
    const rcap_summary summary = rig.settle(rig.end({.tokens = 4, .slots = {10, 11, 10, 13}, .slots_memory = RCAP_MEMORY_DEVICE}));
    CHECK(summary.rows_bad == 2);
    CHECK(rig.show({10, 11, 12, 13}) == "- 2 9 4");
  }
  SUBCASE("rows") {
    const rcap_summary summary = rig.settle(
        rig.end({.tokens = 4, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11, 12, 13}, .rows = {3, 0, 3, 3}, .rows_memory = RCAP_MEMORY_DEVICE}));
    CHECK(summary.rows_bad == 3);
    CHECK(rig.show({10, 11, 12, 13}) == "- 1 - -");
  }
  SUBCASE("a row twice, once with a slot out of range") {
    const rcap_summary summary = rig.settle(rig.end({.tokens = 4,
                                                     .acceptance = RCAP_ACCEPT_GIVEN,
                                                     .slots = {10, 999},
                                                     .rows = {3, 3},
                                                     .slots_memory = RCAP_MEMORY_DEVICE,
                                                     .rows_memory = RCAP_MEMORY_DEVICE}));
    CHECK(summary.rows_bad == 2);
    CHECK(summary.first_bad_fault == RCAP_FAULT_ROW_REPEATED);
    CHECK(summary.first_bad_slot == 10);
    CHECK(rig.show({10}) == "-");
  }
  SUBCASE("a slot twice, once with a row out of range") {
    const rcap_summary summary = rig.settle(rig.end({.tokens = 4,
                                                     .acceptance = RCAP_ACCEPT_GIVEN,
                                                     .slots = {10, 10},
                                                     .rows = {3, 40},
                                                     .slots_memory = RCAP_MEMORY_DEVICE,
                                                     .rows_memory = RCAP_MEMORY_DEVICE}));
    CHECK(summary.rows_bad == 2);
    CHECK(summary.first_bad_fault == RCAP_FAULT_SLOT_REPEATED);
    CHECK(rig.show({10}) == "-");
  }
  SUBCASE("a hole's row or slot counts for nothing") {
    const rcap_summary summary = rig.settle(rig.end({.tokens = 4,
                                                     .acceptance = RCAP_ACCEPT_GIVEN,
                                                     .slots = {10, -1, 10, 11},
                                                     .rows = {3, 3, -1, 2},
                                                     .slots_memory = RCAP_MEMORY_DEVICE,
                                                     .rows_memory = RCAP_MEMORY_DEVICE}));
    CHECK(summary.entries == 2);
    CHECK(summary.rows_bad == 0);
    CHECK(rig.show({10, 11}) == "4 3");
  }
}

TEST_CASE("R15: a hole's row or slot counts for nothing in host memory either") {
  Rig rig;
  rig.capture_all({1, 2, 3, 4});
  const rcap_summary summary =
      rig.settle(rig.end({.tokens = 4, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, -1, 10, -1, 11}, .rows = {3, 3, -1, 900, 2}}));
  CHECK(summary.entries == 2);
  CHECK(summary.rows_rejected == 2);
  CHECK(rig.show({10, 11}) == "4 3");
}

TEST_CASE("R15: reserved slots always read as missing, and releasing one does nothing") {
  Setup setup;
  setup.config.reserved_slots = 3;
  Rig rig(setup);
  rig.store({1, 2}, {0, 3});
  CHECK(rig.show({0, 1, 2, 3}) == "- - - 2");
  CHECK(rig.info(0).valid == 0);
  CHECK(rig.info(0).reserved_slot == 1);
  CHECK(rig.info(0).sequence == 0);
  CHECK(rig.info(3).reserved_slot == 0);
  rig.release({0, 1});
  CHECK(rig.info(0).sequence == 0);
  CHECK(rig.show({0, 1, 2, 3}) == "- - - 2");
}

TEST_CASE("R16: the four layouts place a rank's rows") {
  const std::vector<std::int64_t> uneven = {5, 0, 7, 3};
  struct Case {
    const char* what;
    std::int32_t kind;
    std::int64_t dp_rank, tp_size, tp_rank, padded;
    std::int64_t first_row, tokens;
  };
  const std::vector<Case> cases = {
      {"local", RCAP_ROWS_LOCAL, 0, 1, 0, 0, 0, 5},
      {"local, another rank", RCAP_ROWS_LOCAL, 2, 1, 0, 0, 0, 7},
      {"local, idle", RCAP_ROWS_LOCAL, 1, 1, 0, 0, 0, 0},
      {"concatenated first", RCAP_ROWS_CONCATENATED, 0, 1, 0, 0, 0, 5},
      {"concatenated idle", RCAP_ROWS_CONCATENATED, 1, 1, 0, 0, 5, 0},
      {"concatenated", RCAP_ROWS_CONCATENATED, 2, 1, 0, 0, 5, 7},
      {"concatenated last", RCAP_ROWS_CONCATENATED, 3, 1, 0, 0, 12, 3},
      {"concatenated, shares aligned to 4", RCAP_ROWS_CONCATENATED, 2, 4, 0, 0, 8, 7},
      {"concatenated, shares aligned to 4, last", RCAP_ROWS_CONCATENATED, 3, 4, 0, 0, 16, 3},
      {"padded first", RCAP_ROWS_PADDED, 0, 1, 0, 8, 0, 5},
      {"padded idle", RCAP_ROWS_PADDED, 1, 1, 0, 8, 8, 0},
      {"padded last", RCAP_ROWS_PADDED, 3, 1, 0, 8, 24, 3},
      {"padded exactly", RCAP_ROWS_PADDED, 2, 1, 0, 7, 14, 7},
      {"shard 0 of 4 of 7 tokens", RCAP_ROWS_SHARDED, 2, 4, 0, 0, 0, 2},
      {"shard 2 of 4 of 7 tokens", RCAP_ROWS_SHARDED, 2, 4, 2, 0, 0, 2},
      {"short last shard", RCAP_ROWS_SHARDED, 2, 4, 3, 0, 0, 1},
      {"shard of 5 tokens over 4: 2 2 1 0", RCAP_ROWS_SHARDED, 0, 4, 2, 0, 0, 1},
      {"empty last shard", RCAP_ROWS_SHARDED, 0, 4, 3, 0, 0, 0},
      {"shard of an idle rank", RCAP_ROWS_SHARDED, 1, 4, 1, 0, 0, 0},
      {"one shard", RCAP_ROWS_SHARDED, 2, 1, 0, 0, 0, 7},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    const Place place = rows_of(c.kind, uneven, c.dp_rank, c.tp_size, c.tp_rank, c.padded);
    CHECK(name(place.status) == "RCAP_STATUS_OK");
    CHECK(place.first_row == c.first_row);
    CHECK(place.tokens == c.tokens);
  }
}

TEST_CASE("R16: a layout outside its ranges is refused, naming the numbers, with nothing written") {
  const std::vector<std::int64_t> tokens = {5, 9};
  struct Case {
    const char* what;
    std::int32_t kind;
    std::vector<std::int64_t> per_rank;
    std::int64_t dp_rank, tp_size, tp_rank, padded;
    std::int32_t status;
  };
  const std::vector<Case> cases = {
      {"unknown kind", 4, tokens, 0, 1, 0, 0, RCAP_STATUS_INVALID_ARGUMENT},
      {"negative kind", -1, tokens, 0, 1, 0, 0, RCAP_STATUS_INVALID_ARGUMENT},
      {"rank past the last", RCAP_ROWS_LOCAL, tokens, 2, 1, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"negative rank", RCAP_ROWS_LOCAL, tokens, -1, 1, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"negative tokens", RCAP_ROWS_CONCATENATED, {5, -1}, 0, 1, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"attention-TP 0", RCAP_ROWS_CONCATENATED, tokens, 0, 0, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"attention-TP rank past the last", RCAP_ROWS_SHARDED, tokens, 0, 4, 4, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"negative attention-TP rank", RCAP_ROWS_SHARDED, tokens, 0, 4, -1, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"padding smaller than a rank's tokens", RCAP_ROWS_PADDED, tokens, 0, 1, 0, 8, RCAP_STATUS_OUT_OF_RANGE},
      {"overflowing sum", RCAP_ROWS_CONCATENATED, {INT64_MAX, 1, 1}, 2, 1, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"overflowing with this rank's share", RCAP_ROWS_CONCATENATED, {INT64_MAX, 0, 7}, 2, 1, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"overflowing behind this rank", RCAP_ROWS_CONCATENATED, {1, INT64_MAX}, 0, 1, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"attention-TP too large to round up to", RCAP_ROWS_CONCATENATED, {1, 7}, 1, INT64_MAX, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"overflowing alignment", RCAP_ROWS_CONCATENATED, {INT64_MAX, 1}, 1, 8, 0, 0, RCAP_STATUS_OUT_OF_RANGE},
      {"overflowing product", RCAP_ROWS_PADDED, {1, 1, 1}, 2, 1, 0, INT64_MAX, RCAP_STATUS_OUT_OF_RANGE},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    Error error;
    const Place place = rows_of(c.kind, c.per_rank, c.dp_rank, c.tp_size, c.tp_rank, c.padded, error);
    CHECK(name(place.status) == name(c.status));
    CHECK_FALSE(error.text().empty());
    CHECK(place.first_row == -99);
    CHECK(place.tokens == -99);
  }
}

TEST_CASE("R16: a rank takes its rows where it says, never by counting: concatenated and padded buffers of all ranks") {
  Setup setup;
  setup.config.chunked_prefill_size = 16;
  setup.config.dp_size = 4;
  for (const std::int32_t kind : {RCAP_ROWS_CONCATENATED, RCAP_ROWS_PADDED}) {
    const std::vector<std::int64_t> per_rank = {5, 0, 7, 3};
    // Every rank runs the same kernels over all ranks' tokens, and stores its own.
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      CAPTURE(kind);
      CAPTURE(rank);
      Rig rig(setup);
      for (std::int64_t other = 0; other < 4; ++other) {
        const Place place = rows_of(kind, per_rank, other, 4, 0, 16);
        Seeds seeds;
        for (std::int64_t i = 0; i < place.tokens; ++i) seeds.push_back(100 * other + i + 1);
        rig.capture_all(seeds, place.first_row);
      }
      const Place mine = rows_of(kind, per_rank, rank, 4, 0, 16);
      Slots slots;
      std::string expected;
      for (std::int64_t i = 0; i < mine.tokens; ++i) {
        slots.push_back(40 + i);
        expected += (i == 0 ? "" : " ") + std::to_string(100 * rank + i + 1);
      }
      const rcap_summary summary = rig.settle(rig.end({.tokens = mine.tokens, .first_row = mine.first_row, .slots = slots}));
      CHECK(summary.rows_stored == per_rank[static_cast<std::size_t>(rank)]);
      CHECK(summary.layers_bad == 0);
      CHECK(rig.show(slots) == expected);
    }
  }
}

TEST_CASE("R16: shards: every attention-TP rank's slots name its own rows only") {
  const std::vector<std::int64_t> per_rank = {7};
  const Slots slots = {10, 11, 12, 13, 14, 15, 16};
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    Rig rig;
    const Place place = rows_of(RCAP_ROWS_SHARDED, per_rank, 0, 4, rank);
    const std::int64_t from = rank * 2;
    Seeds seeds;
    Slots mine;
    for (std::int64_t i = 0; i < place.tokens; ++i) {
      seeds.push_back(from + i + 1);
      mine.push_back(slots[static_cast<std::size_t>(from + i)]);
    }
    rig.store(seeds, mine);
    const std::vector<std::string> expected = {"1 2 - - - - -", "- - 3 4 - - -", "- - - - 5 6 -", "- - - - - - 7"};
    CHECK(rig.show(slots) == expected[static_cast<std::size_t>(rank)]);
  }
}

TEST_CASE("R16: an idle rank is legal, needs no capture, and takes a number and a block like any other") {
  Setup setup;
  setup.config.pipeline_depth = 2;
  Rig rig(setup);
  const Output idle = rig.end({.tokens = 0});
  CHECK(rig.sequence(idle) == 1);
  CHECK(rig.stats().in_flight == 1);
  const Output second = rig.end({.tokens = 0, .acceptance = RCAP_ACCEPT_LATER});
  CHECK(rig.sequence(second) == 2);
  Output refused;
  CHECK(name(rig.try_end({.tokens = 0}, refused)) == "RCAP_STATUS_BUSY");
  const rcap_summary summary = rig.settle(idle);
  CHECK(summary.entries == 0);
  CHECK(summary.rows_stored == 0);
  CHECK(summary.layers_bad == 0);
  CHECK(summary.first_bad_fault == RCAP_FAULT_NONE);
  CHECK(rig.sequence(rig.end({.tokens = 0, .acceptance = RCAP_ACCEPT_GIVEN})) == 3);
  Rig::accept(second, {});
  rig.settle(second);
}

TEST_CASE("R17: every committed row is stored whoever asked, and results are keyed by slots, never by position in the batch") {
  Rig rig;
  rig.store({1, 2, 3, 4, 5, 6}, {50, 20, 51, 21, 30, 52});  // three requests' tokens, interleaved
  CHECK(rig.show({50, 51, 52}) == "1 3 6");
  CHECK(rig.show({20, 21}) == "2 4");
  CHECK(rig.show({30}) == "5");
}

TEST_CASE("R17: an engine may commit fewer rows") {
  Rig rig;
  rig.capture_all({1, 2, 3, 4});
  const rcap_summary summary = rig.settle(rig.end({.tokens = 4, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {3, 1}}));
  CHECK(summary.entries == 2);
  CHECK(summary.rows_rejected == 2);
  CHECK(rig.show({10, 11}) == "4 2");
  CHECK(rig.stats().rows_stored == 2);
}
