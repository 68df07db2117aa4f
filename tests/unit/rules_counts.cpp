// SPDX-License-Identifier: Apache-2.0
// R27: every layer counts the rows that it captured.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

TEST_CASE("R27: a layer that captured fewer than the forward's rows spoils all of them, named with both numbers") {
  struct Case {
    const char* what;
    Seeds rows;  // of the middle layer
    std::int64_t first_row;
    std::int64_t captured;
  };
  for (const Case& c : std::vector<Case>{{"none", {}, 0, 0},
                                         {"all but the last", {1, 2}, 0, 2},
                                         {"all but the first", {2, 3}, 1, 2},
                                         {"as many, elsewhere", {1, 2, 3}, 1, 2},
                                         {"as many, far away", {1, 2, 3}, 30, 0}}) {
    CAPTURE(std::string(c.what));
    Rig rig;
    rig.store({7, 8, 9}, {10, 11, 12});
    CHECK(rig.capture(0, {1, 2, 3}) == RCAP_STATUS_OK);
    CHECK(rig.capture(1, c.rows, c.first_row) == RCAP_STATUS_OK);
    CHECK(rig.capture(2, {1, 2, 3}) == RCAP_STATUS_OK);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .slots = {10, 11, 12}}));
    CHECK(rig.show({10, 11, 12}) == "- - -");  // missing, not what was there
    CHECK(summary.rows_stored == 0);
    CHECK(summary.rows_bad == 3);
    CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_INCOMPLETE);
    CHECK(summary.first_bad_layer == 5);
    CHECK(summary.first_bad_row == 0);
    CHECK(summary.first_bad_slot == 10);
    CHECK(summary.layers_bad == 1);
    CHECK(summary.first_bad_layer_number == 5);
    CHECK(summary.layer_rows_captured == c.captured);
    CHECK(summary.layer_rows_expected == 3);
  }
}

TEST_CASE("R27: several bad layers are counted, and the first is named") {
  Rig rig;
  CHECK(rig.capture(1, {1, 2}) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {10, 11}}));
  CHECK(summary.layers_bad == 2);
  CHECK(summary.first_bad_layer_number == 3);
  CHECK(summary.layer_rows_captured == 0);
  CHECK(summary.layer_rows_expected == 2);
}

TEST_CASE("R27: rows are counted inside [first_row, first_row + tokens): what other ranks' rows did does not matter") {
  Setup setup;
  setup.config.dp_size = 2;
  Rig rig(setup);
  rig.capture_all({1, 2, 3}, 5);
  CHECK(rig.capture(1, {50, 51, 52}, 0) == RCAP_STATUS_OK);
  CHECK(rig.capture(1, {50, 51}, 8) == RCAP_STATUS_OK);
  CHECK(rig.capture(1, {50, 51}, 8) == RCAP_STATUS_OK);  // twice, but outside
  const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .first_row = 5, .slots = {10, 11, 12}}));
  CHECK(summary.rows_stored == 3);
  CHECK(summary.layers_bad == 0);
  CHECK(rig.show({10, 11, 12}) == "1 2 3");
}

TEST_CASE("R27: a row captured twice by a layer is a fault and spoils all rows of the forward") {
  Rig rig;
  rig.store({7}, {12});
  rig.capture_all({1, 2, 3});
  CHECK(rig.capture(2, {3}, 2) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .slots = {10, 11, 12}}));
  CHECK(summary.rows_bad == 3);
  CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
  CHECK(summary.first_bad_layer == 9);
  CHECK(summary.layers_bad == 1);
  CHECK(summary.first_bad_layer_number == 9);
  CHECK(rig.show({10, 11, 12}) == "- - -");
}

TEST_CASE("R27: too few in one layer and twice in another: the first fault of the list is named") {
  Rig rig;
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture(0, {2}, 1) == RCAP_STATUS_OK);  // layer 3: row 1 twice
  CHECK(rig.capture(1, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1}) == RCAP_STATUS_OK);  // layer 9: row 1 never
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {10, 11}}));
  CHECK(summary.layers_bad == 2);
  CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_INCOMPLETE);
  CHECK(summary.first_bad_layer == 9);
  CHECK(summary.first_bad_layer_number == 3);
}

TEST_CASE("R27: as many rows as expected, but one of them twice, is not enough") {
  Rig rig;
  rig.capture_all({1, 2});
  rig.discard();
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture(1, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture(1, {1}) == RCAP_STATUS_OK);  // row 0 again instead of row 1
  CHECK(rig.capture(2, {1, 2}) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {10, 11}}));
  CHECK(summary.rows_bad == 2);
  CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_INCOMPLETE);
  CHECK(summary.first_bad_layer == 5);
  CHECK(summary.layer_rows_captured == 1);
}

TEST_CASE("R27: half-batches are row ranges of one forward") {
  Rig rig;
  CHECK(rig.capture(0, {1, 2}, 0) == RCAP_STATUS_OK);
  CHECK(rig.capture(1, {1, 2}, 0) == RCAP_STATUS_OK);
  CHECK(rig.capture(0, {3, 4, 5}, 2) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2}, 0) == RCAP_STATUS_OK);
  CHECK(rig.capture(1, {3, 4, 5}, 2) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {3, 4, 5}, 2) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 5, .slots = {10, 11, 12, 13, 14}})).rows_stored == 5);
  CHECK(rig.show({10, 11, 12, 13, 14}) == "1 2 3 4 5");
}

TEST_CASE("R27: a layer may have captured more rows than the forward has, behind or before it") {
  Rig rig;
  rig.capture_all({1, 2, 3, 4, 5});
  CHECK(rig.settle(rig.end({.tokens = 2, .first_row = 1, .slots = {10, 11}})).rows_stored == 2);
  CHECK(rig.show({10, 11}) == "2 3");
}

TEST_CASE("R27: counts are spent by end_forward: the next forward starts afresh") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {12, 13}}));  // nothing captured since
  CHECK(summary.rows_bad == 2);
  CHECK(summary.layers_bad == 3);
  CHECK(rig.show({10, 11, 12, 13}) == "1 2 - -");
}

TEST_CASE("R27: warm-ups, dummy batches and aborted forwards are discarded explicitly and leave no count behind") {
  Rig rig;
  rig.capture_all({91, 92, 93});
  rig.discard();
  CHECK(rig.stats().discarded_forwards == 1);
  CHECK(rig.last_sequence() == 0);
  CHECK(rig.store({1, 2, 3}, {10, 11, 12}).rows_stored == 3);
  CHECK(rig.show({10, 11, 12}) == "1 2 3");
  CHECK(rig.capture(0, {91}) == RCAP_STATUS_OK);  // aborted after its first layer
  rig.discard();
  CHECK(rig.store({4}, {10}).rows_stored == 1);
  rig.discard();  // nothing captured: harmless
  CHECK(rig.stats().discarded_forwards == 3);
}

TEST_CASE("R27: captures of an abandoned forward count for the next one until discarded") {
  Rig rig;
  rig.capture_all({91, 92});  // never ended, never discarded
  rig.capture_all({1, 2});
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {10, 11}}));
  CHECK(summary.rows_bad == 2);
  CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
  CHECK(summary.layers_bad == 3);
}

TEST_CASE("R27: a forward that stores no row needs no capture and has no fault") {
  Setup setup;
  setup.config.reserved_slots = 2;
  Rig rig(setup);
  struct Case {
    const char* what;
    Forward forward;
  };
  for (const Case& c : std::vector<Case>{{"holes only", {.tokens = 2, .slots = {-1, -1}}},
                                         {"reserved slots only", {.tokens = 3, .slots = {0, 1, 0}}},
                                         {"nothing accepted", {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {5}, .rows = {-1}}},
                                         {"no entries", {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN}}}) {
    CAPTURE(std::string(c.what));
    const rcap_summary summary = rig.settle(rig.end(c.forward));
    CHECK(summary.rows_bad == 0);
    CHECK(summary.rows_stored == 0);
    CHECK(summary.layers_bad == 0);
    CHECK(summary.first_bad_fault == RCAP_FAULT_NONE);
    CHECK(summary.first_bad_layer_number == -1);
  }
}

TEST_CASE("R27: a partial layer needs no row, but none of them twice") {
  Setup setup;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {2}, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {1}, {0}) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 2, .slots = {10, 11}})).rows_stored == 2);
  CHECK(rig.show({10, 11}) == "1 2");
  CHECK(rig.capture(0, {3, 4}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {3, 4}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {4}, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {4}, {1}) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {12, 13}}));
  CHECK(summary.rows_stored == 1);
  CHECK(summary.rows_bad == 1);
  CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
  CHECK(summary.first_bad_layer == 5);
  CHECK(summary.first_bad_row == 1);
  CHECK(summary.first_bad_slot == 13);
  CHECK(summary.layers_bad == 1);
  CHECK(summary.first_bad_layer_number == 5);
  CHECK(rig.show({12, 13}) == "3[101] -");
}

TEST_CASE("R27: row_ids count from first_row; host-known ones past the buffer or twice are refused before anything is written") {
  Setup setup;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  CHECK(rig.capture(0, {1, 2, 3}, 10) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2, 3}, 10) == RCAP_STATUS_OK);
  struct Case {
    const char* what;
    std::vector<std::int32_t> row_ids;
    std::int32_t status;
    const char* number;
  };
  for (const Case& c : std::vector<Case>{{"past the buffer", {0, 54}, RCAP_STATUS_OUT_OF_RANGE, "54"},
                                         {"negative", {-1, 0}, RCAP_STATUS_OUT_OF_RANGE, "-1"},
                                         {"twice", {2, 2}, RCAP_STATUS_INVALID_ARGUMENT, "2"},
                                         {"fewer than tokens", {2}, RCAP_STATUS_INVALID_ARGUMENT, "1"},
                                         {"more than tokens", {0, 1, 2}, RCAP_STATUS_INVALID_ARGUMENT, "3"}}) {
    CAPTURE(std::string(c.what));
    Error error;
    CHECK(name(rig.capture_rows(1, {1, 2}, c.row_ids, 10, RCAP_MEMORY_HOST, error)) == name(c.status));
    CHECK(error.text().find("row_ids") != std::string::npos);
    CHECK(error.text().find(c.number) != std::string::npos);
  }
  CHECK(rig.capture_rows(1, {3}, {2}, 10) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 3, .first_row = 10, .slots = {20, 21, 22}})).rows_stored == 3);
  CHECK(rig.show({20, 21, 22}) == "1[101] 2[101] 3");
}

namespace {

/// Layers 3, 5 and 9; 5 and 9 are partial. 64 device rows.
Setup two_partial_layers() {
  Setup setup;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, RCAP_TAP_PARTIAL};
  return setup;
}

}  // namespace

TEST_CASE("R14: device-known row_ids outside the buffer are counted, their first layer is named, and every row is stored") {
  Rig rig(two_partial_layers());
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(2, {7, 1, 7}, {62, 0, -1}, 2, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {5, 2, 6}, {64, 1, -3}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {8}, {INT32_MAX}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {20, 21}}));
  CHECK(summary.rows_stored == 2);
  CHECK(summary.rows_bad == 0);
  CHECK(summary.layers_bad == 0);
  CHECK(summary.first_bad_fault == RCAP_FAULT_NONE);
  CHECK(summary.rows_stray == 5);
  CHECK(summary.first_stray_layer == 5);
  CHECK(rig.stats().rows_stray == 5);
  CHECK(rig.show({20, 21}) == "1[100] 2[110]");
  // Counted once: the next forward starts afresh, and so does one after a discard.
  CHECK(rig.store({3, 4}, {22, 23}).rows_stray == 0);
  CHECK(rig.capture_rows(2, {9}, {-1}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  rig.discard();
  const rcap_summary after = rig.store({3, 4}, {22, 23});
  CHECK(after.rows_stray == 0);
  CHECK(after.first_stray_layer == -1);
  CHECK(rig.stats().rows_stray == 5);
}

TEST_CASE("R14: stray row_ids are told whatever is stored, and nothing is told of a dropped forward") {
  Rig rig(two_partial_layers());
  const auto stray = [&] { CHECK(rig.capture_rows(2, {9}, {-1}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK); };
  stray();
  CHECK(rig.settle(rig.end({})).rows_stray == 1);  // a forward of 0 tokens
  stray();
  const rcap_summary none = rig.settle(rig.end({.tokens = 2, .slots = {-1, -1}}));
  CHECK(none.rows_stray == 1);
  CHECK(none.first_stray_layer == 9);
  CHECK(none.entries == 0);
  stray();
  Output later = rig.forward_later({1, 2}, {10, 11});
  Rig::accept(later, {.rows = {1}});
  CHECK(rig.settle(later).rows_stray == 1);
  stray();
  rig.end({});  // dropped
  CHECK(rig.stats().rows_stray == 3);
}

TEST_CASE("R14: a row that device-known row_ids name twice is missing, counted and named; its neighbours are stored") {
  struct Case {
    const char* what;
    std::int32_t acceptance;
    Slots slots;
    Slots rows;
    std::int64_t bad_row;
    std::int64_t bad_slot;
    const char* shown;  // of slots 20, 21, 22
  };
  for (const Case& c : std::vector<Case>{
           {"every row", RCAP_ACCEPT_ALL, {20, 21, 22}, {}, 1, 21, "1[101] - 3[101]"},
           {"named rows", RCAP_ACCEPT_GIVEN, {22, 20}, {1, 2}, 1, 22, "3[101] 8 -"},
           {"the row is not committed", RCAP_ACCEPT_GIVEN, {22, 20}, {0, 2}, -1, -1, "3[101] 8 1[101]"},
       }) {
    CAPTURE(std::string(c.what));
    Setup setup;
    setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
    Rig rig(setup);
    rig.store({7, 8, 9}, {20, 21, 22});
    CHECK(rig.capture(0, {1, 2, 3}) == RCAP_STATUS_OK);
    CHECK(rig.capture(2, {1, 2, 3}) == RCAP_STATUS_OK);
    CHECK(rig.capture_rows(1, {2, 2}, {1, 1}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .acceptance = c.acceptance, .slots = c.slots, .rows = c.rows}));
    CHECK(summary.rows_bad == (c.bad_row < 0 ? 0 : 1));
    CHECK(summary.rows_stored == std::ssize(c.slots) - summary.rows_bad);
    CHECK(summary.first_bad_fault == (c.bad_row < 0 ? RCAP_FAULT_NONE : RCAP_FAULT_LAYER_REPEATED));
    CHECK(summary.first_bad_layer == (c.bad_row < 0 ? -1 : 5));
    CHECK(summary.first_bad_row == c.bad_row);
    CHECK(summary.first_bad_slot == c.bad_slot);
    CHECK(summary.rows_stray == 0);
    CHECK(summary.layers_bad == 1);  // the layer did capture a row twice
    CHECK(summary.first_bad_layer_number == 5);
    CHECK(rig.show({20, 21, 22}) == c.shown);
  }
}

TEST_CASE("R14: a row of a LATER forward that a partial layer captured twice is bad wherever its slot comes from") {
  for (const bool slots_at_accept : {false, true}) {
    for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
      CAPTURE(slots_at_accept);
      CAPTURE(memory);
      Rig rig(two_partial_layers());
      CHECK(rig.capture(0, {1, 2, 3}) == RCAP_STATUS_OK);
      CHECK(rig.capture_rows(2, {3, 3, 1}, {2, 2, 0}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
      Forward forward{.tokens = 3, .acceptance = RCAP_ACCEPT_LATER};
      if (!slots_at_accept) forward.slots = {20, 21, 22};
      Output output = rig.end(forward);
      Accept accept{.rows = {2, 0}, .rows_memory = memory};
      if (slots_at_accept) accept.slots = {22, 20};
      Rig::accept(output, accept);
      const rcap_summary summary = rig.settle(output);
      CHECK(summary.rows_stored == 1);
      CHECK(summary.rows_bad == 1);
      CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
      CHECK(summary.first_bad_layer == 9);
      CHECK(summary.first_bad_row == 2);
      CHECK(summary.first_bad_slot == 22);
      CHECK(rig.show({20, 22}) == "1[101] -");
    }
  }
}

TEST_CASE("R27: of layers that captured a row twice the first is named, a whole layer's or a partial one's") {
  struct Case {
    const char* what;
    std::vector<std::int32_t> flags;
    std::int32_t layer;  // named for the row that the partial layer captured twice
    std::int64_t stored;
  };
  for (const Case& c : std::vector<Case>{{"the partial layer comes first", {RCAP_TAP_PARTIAL, 0, 0}, 3, 0},
                                         {"the whole layer comes first", {0, 0, RCAP_TAP_PARTIAL}, 5, 0},
                                         {"two partial layers", {0, RCAP_TAP_PARTIAL, RCAP_TAP_PARTIAL}, 5, 1}}) {
    CAPTURE(std::string(c.what));
    Setup setup;
    setup.tap_flags = c.flags;
    Rig rig(setup);
    const std::size_t partial = c.flags[0] != 0 ? 0 : 2;
    for (std::size_t column = 0; column < 3; ++column) {
      if (column == partial) continue;
      CHECK(rig.capture(column, {1, 2}) == RCAP_STATUS_OK);
    }
    CHECK(rig.capture_rows(1, {1}, {0}, 0, RCAP_MEMORY_DEVICE) == (c.flags[1] != 0 ? RCAP_STATUS_OK : RCAP_STATUS_INVALID_ARGUMENT));
    if (c.flags[1] == 0) CHECK(rig.capture(1, {1, 2}) == RCAP_STATUS_OK);
    CHECK(rig.capture_rows(partial, {1, 1}, {0, 0}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {20, 21}}));
    CHECK(summary.rows_stored == c.stored);
    CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
    CHECK(summary.first_bad_layer == c.layer);
    CHECK(summary.first_bad_row == 0);
    CHECK(summary.layers_bad == 2);
  }
}

TEST_CASE("R22: a row that a partial layer captured twice and that holds a bad id is named for the first fault, LAYER_REPEATED") {
  Rig rig(two_partial_layers());
  const std::vector<std::int32_t> ids = {64, 1, 2, 3, 1, 2, 3, 64};  // E = 64, K = 4
  auto layout = make<rcap_capture_layout>();
  layout.columns = 4;
  layout.tokens = 2;
  CHECK(rcap_tap_capture(rig.tap(0), &layout, ids.data(), std::ssize(ids) * 4, nullptr, 0, nullptr, 0, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(2, {1, 1}, {0, 0}, 0, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {20, 21}}));
  CHECK(summary.rows_bad == 2);
  CHECK(summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
  CHECK(summary.first_bad_layer == 9);
  CHECK(summary.first_bad_row == 0);
}

TEST_CASE("R27: row_ids on a tap that is not partial are refused") {
  Rig rig;
  Error error;
  CHECK(name(rig.capture_rows(0, {1}, {0}, 0, RCAP_MEMORY_HOST, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(error.text().find("row_ids") != std::string::npos);
}

TEST_CASE("R27: counts are kept until the rows are: LATER and dropped forwards spend them at end_forward too") {
  Rig rig;
  Output later = rig.forward_later({1, 2}, {10, 11});
  CHECK(rig.store({3, 4}, {20, 21}).rows_stored == 2);
  Rig::accept(later, {.rows = {0, 1}});
  CHECK(rig.settle(later).rows_stored == 2);
  CHECK(rig.show({10, 11, 20, 21}) == "1 2 3 4");
}
