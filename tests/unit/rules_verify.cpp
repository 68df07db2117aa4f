// SPDX-License-Identifier: Apache-2.0
// R21: what a verify forward commits.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "unit/verify_scene.h"

using namespace routecap_test;

TEST_CASE("R21: a verify forward commits a+1 rows a request; rejected rows leave no trace") {
  Rig rig(verifying());
  rig.capture_all(kRows);
  // One draft of the first request was accepted, none of the second.
  const rcap_summary summary = rig.settle(rig.end({.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {20, 21, 30}, .rows = {0, 1, 4}}));
  CHECK(summary.entries == 3);
  CHECK(summary.rows_stored == 3);
  CHECK(summary.rows_rejected == 5);
  CHECK(rig.show(kLocations) == "1 2 - - 5 - - -");
  CHECK(rig.stats().rows_rejected == 5);
  for (const std::int64_t rejected : {22, 23, 31, 32, 33}) CHECK(rig.info(rejected).sequence == 0);
}

TEST_CASE("R21: rejected rows leave no trace in slots reused later, nor over rows that were there") {
  Rig rig(verifying());
  rig.store({90, 91}, {22, 32});
  rig.capture_all(kRows);
  const Output verify = rig.end({.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {20, 21, 30}, .rows = {0, 1, 4}});
  const Output reuse = rig.forward({60, 61}, {23, 31});
  rig.settle(reuse);
  rig.settle(verify);
  CHECK(rig.show(kLocations) == "1 2 90 60 5 61 91 -");
}

TEST_CASE("R21: acceptance by an index [requests, steps+1] with -1 holes and cache locations [requests * draft], as an engine has them") {
  for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
    for (const std::int32_t dtype : {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64}) {
      CAPTURE(memory);
      CAPTURE(dtype);
      Rig rig(verifying());
      rig.capture_all(kRows);
      // Linear: the accepted rows of a request stand in its first locations. Three steps, so that an index row has three entries; locations
      // have four a request: the strides differ.
      const Forward forward = {.tokens = 8,
                               .acceptance = RCAP_ACCEPT_GIVEN,
                               .slots = kLocations,
                               .rows = {0, 1, 2, 4, -1, -1},
                               .groups = 2,
                               .group_width = 3,
                               .slots_group_stride = 4,
                               .rows_group_stride = 3,
                               .slots_memory = memory,
                               .rows_memory = memory,
                               .slots_dtype = dtype,
                               .rows_dtype = dtype};
      const rcap_summary summary = rig.settle(rig.end(forward));
      CHECK(summary.entries == 4);
      CHECK(summary.rows_stored == 4);
      CHECK(summary.rows_rejected == 4);
      CHECK(rig.show(kLocations) == "1 2 3 - 5 - - -");
    }
  }
}

TEST_CASE("R21: tree verification commits by the accepted path, which is no prefix of the rows") {
  Rig rig(verifying());
  // Each request verifies a tree of four nodes; the path of the first is root, node 2; of the second root, node 1, node 3.
  rig.capture_all(kRows);
  const Forward forward = {.tokens = 8,
                           .acceptance = RCAP_ACCEPT_GIVEN,
                           .slots = kLocations,
                           .rows = {0, 2, -1, 4, 5, 7},
                           .groups = 2,
                           .group_width = 3,
                           .slots_group_stride = 4,
                           .rows_group_stride = 3};
  rig.settle(rig.end(forward));
  CHECK(rig.show(kLocations) == "1 3 - - 5 6 8 -");
}

TEST_CASE("R21: what stands in the gaps between groups is not read") {
  Rig rig(verifying());
  rig.capture_all(kRows);
  constexpr std::int64_t kGap = 1'000'000'000;  // out of any range
  const Forward forward = {.tokens = 8,
                           .acceptance = RCAP_ACCEPT_GIVEN,
                           .slots = {20, 21, kGap, kGap, kGap, 30, 31},
                           .rows = {0, 2, kGap, 4, 5},
                           .groups = 2,
                           .group_width = 2,
                           .slots_group_stride = 5,
                           .rows_group_stride = 3};
  CHECK(rig.settle(rig.end(forward)).rows_stored == 4);
  CHECK(rig.show({20, 21, 30, 31}) == "1 3 5 6");
}

TEST_CASE("R21: groups with ALL: cache locations wider than the rows used") {
  Rig rig(verifying());
  rig.capture_all({1, 2, 3, 4});
  rig.settle(rig.end({.tokens = 4, .slots = {20, 21, -1, 30, 31}, .groups = 2, .group_width = 2, .slots_group_stride = 3}));
  CHECK(rig.show({20, 21, 30, 31}) == "1 2 3 4");
}

TEST_CASE("R21: group shapes that contradict themselves are refused") {
  Rig rig(verifying());
  rig.capture_all(kRows);
  struct Case {
    const char* what;
    Forward forward;
    std::int32_t status;
  };
  const std::vector<Case> cases = {
      {"slots stride below the width",
       {.tokens = 8,
        .acceptance = RCAP_ACCEPT_GIVEN,
        .slots = kLocations,
        .rows = {0, 1, 2, 4, 5, 6},
        .groups = 2,
        .group_width = 3,
        .slots_group_stride = 2},
       RCAP_STATUS_INVALID_ARGUMENT},
      {"rows stride below the width",
       {.tokens = 8,
        .acceptance = RCAP_ACCEPT_GIVEN,
        .slots = kLocations,
        .rows = {0, 1, 2, 4, 5, 6},
        .groups = 2,
        .group_width = 3,
        .rows_group_stride = 1},
       RCAP_STATUS_INVALID_ARGUMENT},
      {"slots too short for the last group",
       {.tokens = 8,
        .acceptance = RCAP_ACCEPT_GIVEN,
        .slots = {20, 21, 22, 23, 30, 31},
        .rows = {0, 1, 2, 4, 5, 6},
        .groups = 2,
        .group_width = 3,
        .slots_group_stride = 4},
       RCAP_STATUS_INVALID_ARGUMENT},
      {"rows too short",
       {.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = kLocations, .rows = {0, 1, 2, 4, 5}, .groups = 2, .group_width = 3},
       RCAP_STATUS_INVALID_ARGUMENT},
      {"groups * width is not tokens with ALL", {.tokens = 8, .slots = kLocations, .groups = 2, .group_width = 3}, RCAP_STATUS_INVALID_ARGUMENT},
      {"negative groups",
       {.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = kLocations, .rows = {0}, .groups = -1, .group_width = 1},
       RCAP_STATUS_OUT_OF_RANGE},
      {"negative width",
       {.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = kLocations, .rows = {0}, .groups = 1, .group_width = -1},
       RCAP_STATUS_OUT_OF_RANGE},
      {"overflowing product",
       {.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = kLocations, .rows = {0}, .groups = INT64_MAX / 2, .group_width = 4},
       RCAP_STATUS_OUT_OF_RANGE},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    Error error;
    Output output;
    const std::int32_t status = rig.try_end(c.forward, output, error);
    CHECK(name(status) == name(c.status));
    CHECK_FALSE(error.text().empty());
  }
  CHECK(rig.last_sequence() == 0);
  // One group: its stride is never used.
  CHECK(rig.settle(rig.end({.tokens = 8, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {20}, .rows = {3}, .groups = 1, .group_width = 1})).rows_stored ==
        1);
  CHECK(rig.show({20}) == "4");
}

TEST_CASE("R21: rows count from the forward's first row, with GIVEN and with LATER") {
  Setup setup = verifying();
  setup.config.dp_size = 2;
  Rig rig(setup);
  rig.capture_all({90, 91, 92, 93, 94}, 0);  // another rank's
  rig.capture_all({1, 2, 3, 4}, 5);
  const Output given = rig.end({.tokens = 4, .first_row = 5, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {3, 0}});
  rig.capture_all({5, 6, 7, 8}, 40);
  const Output later = rig.end({.tokens = 4, .first_row = 40, .acceptance = RCAP_ACCEPT_LATER});
  Rig::accept(later, {.rows = {1, 2}, .slots = {12, 13}});
  rig.settle(later);
  rig.settle(given);
  CHECK(rig.show({10, 11, 12, 13}) == "4 1 6 7");
}

TEST_CASE("R21: slots that only the device knows with LATER: any slot may be written, and the accept names rows alone") {
  for (const std::int32_t rows_memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
    CAPTURE(rows_memory);
    Rig rig(verifying());
    rig.store({9}, {40});
    rig.capture_all({1, 2, 3, 4});
    const Output output = rig.end({.tokens = 4, .acceptance = RCAP_ACCEPT_LATER, .slots = {20, -1, 500, 23}, .slots_memory = RCAP_MEMORY_DEVICE});
    CHECK(rig.words(rig.read({.slots = {40}, .after_sequence = 2})) == "NOT_READY(2)");
    Rig::accept(output, {.rows = {3, 1, 2}, .rows_memory = rows_memory});
    const rcap_summary summary = rig.settle(output);
    CHECK(summary.entries == 2);  // row 1 has no slot: a hole
    CHECK(summary.rows_stored == 1);
    CHECK(summary.first_bad_fault == RCAP_FAULT_SLOT_OUT_OF_RANGE);
    CHECK(summary.first_bad_row == 2);
    CHECK(summary.first_bad_slot == 500);
    CHECK(rig.show({20, 23, 40}) == "- 4 9");
  }
}

TEST_CASE("R21: bad rows of a device-known accept are found at finalize, the others are stored") {
  Rig rig(verifying());
  rig.store({91, 92, 93}, {10, 11, 12});
  const Output output = rig.forward_later({1, 2, 3, 4});
  Rig::accept(output, {.rows = {0, 7, 2, 2, -4}, .slots = {10, 11, 12, 13, 14}, .rows_memory = RCAP_MEMORY_DEVICE});
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.rows_stored == 1);
  CHECK(summary.rows_bad == 4);
  CHECK(summary.first_bad_fault == RCAP_FAULT_ROW_OUT_OF_RANGE);
  CHECK(summary.first_bad_row == 7);
  CHECK(summary.first_bad_slot == 11);
  CHECK(summary.rows_rejected == 2);
  CHECK(rig.show({10, 11, 12, 13, 14}) == "1 - - - -");
}

TEST_CASE("R21: tags, weights and partial cells follow their row through any order of acceptance") {
  for (const bool later : {false, true}) {
    for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
      CAPTURE(later);
      CAPTURE(memory);
      Setup setup = verifying();
      setup.config.tags = 1;
      setup.config.weights_dtype = RCAP_DTYPE_BFLOAT16;
      setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
      Rig rig(setup);
      const Seeds seeds = {1, 2, 3, 4};
      CHECK(rig.capture(0, seeds) == RCAP_STATUS_OK);
      CHECK(rig.capture_rows(1, {3, 4}, {2, 3}) == RCAP_STATUS_OK);
      CHECK(rig.capture(2, seeds) == RCAP_STATUS_OK);
      Forward forward = {.tokens = 4, .acceptance = later ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_GIVEN, .tags = {101, 102, 103, 104}};
      forward.tags_memory = memory;
      if (!later) {
        forward.slots = {30, 31, 32};
        forward.rows = {3, 0, 2};
      }
      const Output output = rig.end(forward);
      if (later) Rig::accept(output, {.rows = {3, 0, 2}, .slots = {30, 31, 32}});
      rig.settle(output);
      CHECK(rig.show({30, 31, 32}) == "4 1[101] 3");
      CHECK(rig.info(30).tag == 104);
      CHECK(rig.info(31).tag == 101);
      CHECK(rig.info(32).tag == 103);
      CHECK(rig.words(rig.read({.slots = {30, 31, 32}, .tags = {104, 102, 103}})) == "4 - 3");
    }
  }
}
