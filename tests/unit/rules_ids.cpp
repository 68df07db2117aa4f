// SPDX-License-Identifier: Apache-2.0
// R22 - R26: what an id is, and in which column it stands.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/device.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

/// Hands one layer's ids [tokens, columns] over as they are.
std::int32_t capture_ids(rcap_tap* tap, const std::vector<std::int64_t>& ids, std::int32_t columns, std::int32_t dtype = RCAP_DTYPE_INT64,
                         rcap_error* error = nullptr) {
  auto layout = make<rcap_capture_layout>();
  layout.ids_dtype = dtype;
  layout.columns = columns;
  layout.tokens = static_cast<std::int64_t>(ids.size()) / columns;
  const auto bytes = packed(ids, dtype);
  return rcap_tap_capture(tap, &layout, bytes.data(), static_cast<std::int64_t>(bytes.size()), nullptr, 0, nullptr, 0, nullptr, error);
}

/// A capturer of one layer (number 7) with a physical -> logical map.
struct Mapped {
  std::vector<std::int64_t> map;
  std::int32_t map_dtype;
  Placed placed;  // must not move: the tap keeps its address
  Capturer capturer;
  rcap_tap* tap = nullptr;

  Mapped(std::vector<std::int64_t> entries, std::int32_t dtype, std::int32_t experts = 8, std::int32_t check = RCAP_CHECK_BASIC,
         std::int32_t memory = RCAP_MEMORY_HOST)
      : map(std::move(entries)), map_dtype(dtype), placed(packed(map, dtype), memory) {
    Setup setup;
    setup.config.num_experts = experts;
    setup.config.top_k = 2;
    setup.config.check_level = check;
    const std::int32_t layer = 7;
    rcap_capturer* handle = nullptr;
    REQUIRE(rcap_capturer_create(&setup.config, &layer, 1, setup.backend, &handle, nullptr) == RCAP_STATUS_OK);
    capturer.reset(handle);
    rcap_model* target = nullptr;
    REQUIRE(rcap_capturer_add_model(handle, RCAP_ROLE_TARGET, "target", &target, nullptr) == RCAP_STATUS_OK);
    auto options = make<rcap_tap_options>();
    options.id_map_dtype = dtype;
    options.id_map_memory = memory;
    REQUIRE(rcap_model_add_tap(target, 7, &options, placed.data(), placed.bytes(), &tap, nullptr) == RCAP_STATUS_OK);
    REQUIRE(rcap_capturer_seal(handle, nullptr) == RCAP_STATUS_OK);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  void set(std::size_t physical, std::int64_t logical) {
    map[physical] = logical;
    placed.rewrite(packed(map, map_dtype).data());
  }

  rcap_summary store(const std::vector<std::int64_t>& physical, std::int32_t dtype, const Slots& slots) {
    REQUIRE(capture_ids(tap, physical, 2, dtype) == RCAP_STATUS_OK);
    auto layout = make<rcap_forward_layout>();
    layout.tokens = static_cast<std::int64_t>(slots.size());
    rcap_output* output = nullptr;
    REQUIRE(rcap_capturer_end_forward(capturer.get(), &layout, slots.data(), static_cast<std::int64_t>(slots.size() * 8), nullptr, 0, nullptr, 0,
                                      nullptr, &output, nullptr) == RCAP_STATUS_OK);
    const Output owner(output);
    REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
    REQUIRE(rcap_output_wait(output, 20'000'000'000, nullptr) == RCAP_STATUS_OK);
    auto summary = make<rcap_summary>();
    REQUIRE(rcap_output_finalize(output, &summary, nullptr) == RCAP_STATUS_OK);
    return summary;
  }

  /// The two ids of a slot, or nothing where it is missing.
  [[nodiscard]] std::vector<int> ids(std::int64_t slot) const {
    auto layout = make<rcap_read_layout>();
    layout.tokens = 2;
    std::uint8_t ids[2] = {0, 0};
    std::uint8_t validity = 0;
    REQUIRE(rcap_capturer_read_into(capturer.get(), &layout, &slot, 8, nullptr, 0, ids, 2, nullptr, 0, &validity, 1, nullptr, nullptr) ==
            RCAP_STATUS_OK);
    return (validity & 1) != 0 ? std::vector<int>{ids[0], ids[1]} : std::vector<int>{};
  }
};

using Pair = std::vector<int>;

}  // namespace

TEST_CASE("R22: physical ids become logical ones through the map in force at that forward, whatever the dtypes") {
  const std::vector<std::int64_t> map = {5, 3, 7, 0, 1, 2, 6, 4, 5, 0};  // ten physical experts, two of them replicas
  for (const std::int32_t map_dtype : {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64}) {
    for (const std::int32_t ids_dtype : {RCAP_DTYPE_INT64, RCAP_DTYPE_INT32, RCAP_DTYPE_INT16, RCAP_DTYPE_UINT16, RCAP_DTYPE_UINT8}) {
      for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
        CAPTURE(map_dtype);
        CAPTURE(ids_dtype);
        CAPTURE(memory);
        Mapped rig(map, map_dtype, 8, RCAP_CHECK_BASIC, memory);
        CHECK(rig.store({0, 9, 8, 2, 7, 3}, ids_dtype, {1, 2, 3}).rows_stored == 3);
        CHECK(rig.ids(1) == Pair{5, 0});
        CHECK(rig.ids(2) == Pair{5, 7});
        CHECK(rig.ids(3) == Pair{4, 0});
      }
    }
  }
}

TEST_CASE("R22: a map updated in place counts from the next forward on; a later rebalance never changes recorded rows") {
  for (const std::int32_t dtype : {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64}) {
    Mapped rig({0, 1, 2, 3, 4, 5, 6, 7}, dtype);
    rig.store({1, 2}, RCAP_DTYPE_INT32, {10});
    CHECK(rig.ids(10) == Pair{1, 2});
    rig.set(1, 6);
    rig.set(2, 5);
    CHECK(rig.ids(10) == Pair{1, 2});
    rig.store({1, 2}, RCAP_DTYPE_INT32, {11});
    CHECK(rig.ids(10) == Pair{1, 2});
    CHECK(rig.ids(11) == Pair{6, 5});
  }
}

TEST_CASE("R22: the map is read at the capture, not at the end of the forward or at finalize") {
  Mapped rig({0, 1, 2, 3}, RCAP_DTYPE_INT64);
  REQUIRE(capture_ids(rig.tap, {1, 2}, 2) == RCAP_STATUS_OK);
  rig.set(1, 7);
  auto layout = make<rcap_forward_layout>();
  layout.tokens = 1;
  const std::int64_t slot = 4;
  rcap_output* output = nullptr;
  REQUIRE(rcap_capturer_end_forward(rig.capturer.get(), &layout, &slot, 8, nullptr, 0, nullptr, 0, nullptr, &output, nullptr) == RCAP_STATUS_OK);
  const Output owner(output);
  rig.set(2, 7);
  REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
  REQUIRE(rcap_output_wait(output, 20'000'000'000, nullptr) == RCAP_STATUS_OK);
  REQUIRE(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rig.ids(4) == Pair{1, 2});
}

TEST_CASE("R22: a physical id outside the map, and a map entry outside [0, E), make the row missing and are named") {
  struct Case {
    const char* what;
    std::vector<std::int64_t> physical;
    bool bad;
  };
  const std::vector<std::int64_t> map = {0, 1, -1, 8, 1'000'000, 7};
  for (const std::int32_t dtype : {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64}) {
    for (const Case& c : std::vector<Case>{{"good", {0, 5}, false},
                                           {"past the map", {0, 6}, true},
                                           {"negative", {-1, 0}, true},
                                           {"entry -1", {2, 0}, true},
                                           {"entry E", {0, 3}, true},
                                           {"entry far out", {4, 1}, true}}) {
      CAPTURE(std::string(c.what));
      Mapped rig(map, dtype);
      std::vector<std::int64_t> physical = {1, 0};
      physical.insert(physical.end(), c.physical.begin(), c.physical.end());
      const rcap_summary summary = rig.store(physical, RCAP_DTYPE_INT32, {20, 21});
      CHECK(rig.ids(20) == Pair{1, 0});
      CHECK(summary.rows_bad == (c.bad ? 1 : 0));
      CHECK(summary.first_bad_fault == (c.bad ? RCAP_FAULT_ID_OUT_OF_RANGE : RCAP_FAULT_NONE));
      CHECK(summary.first_bad_layer == (c.bad ? 7 : -1));
      CHECK(summary.first_bad_row == (c.bad ? 1 : -1));
      CHECK(summary.first_bad_slot == (c.bad ? 21 : -1));
      CHECK(rig.ids(21).empty() == c.bad);
    }
  }
}

TEST_CASE("R22: an id map that contradicts itself is refused at add_tap") {
  Setup setup;
  setup.seal = false;
  setup.layer_ids = {3};
  rcap_capturer* handle = nullptr;
  REQUIRE(rcap_capturer_create(&setup.config, setup.layer_ids.data(), 1, nullptr, &handle, nullptr) == RCAP_STATUS_OK);
  const Capturer owner(handle);
  rcap_model* target = nullptr;
  REQUIRE(rcap_capturer_add_model(handle, RCAP_ROLE_TARGET, "target", &target, nullptr) == RCAP_STATUS_OK);
  const std::vector<std::int64_t> map(8, 0);
  struct Case {
    const char* what;
    std::int32_t dtype;
    std::int32_t memory;
    const void* data;
    std::int64_t bytes;
  };
  for (const Case& c : std::vector<Case>{{"not whole entries", RCAP_DTYPE_INT64, RCAP_MEMORY_HOST, map.data(), 12},
                                         {"negative bytes", RCAP_DTYPE_INT64, RCAP_MEMORY_HOST, map.data(), -8},
                                         {"dtype without a map", RCAP_DTYPE_INT64, RCAP_MEMORY_HOST, nullptr, 0},
                                         {"map without a dtype", RCAP_DTYPE_NONE, RCAP_MEMORY_HOST, map.data(), 64},
                                         {"unknown dtype", 42, RCAP_MEMORY_HOST, map.data(), 64},
                                         {"unknown memory", RCAP_DTYPE_INT64, 2, map.data(), 64},
                                         {"empty map", RCAP_DTYPE_INT64, RCAP_MEMORY_HOST, map.data(), 0}}) {
    CAPTURE(std::string(c.what));
    auto options = make<rcap_tap_options>();
    options.id_map_dtype = c.dtype;
    options.id_map_memory = c.memory;
    rcap_tap* tap = nullptr;
    Error error;
    CHECK(rcap_model_add_tap(target, 3, &options, c.data, c.bytes, &tap, error) != RCAP_STATUS_OK);
    CHECK(tap == nullptr);
    CHECK_FALSE(error.text().empty());
  }
  rcap_tap* tap = nullptr;
  CHECK(rcap_model_add_tap(target, 3, nullptr, nullptr, 0, &tap, nullptr) == RCAP_STATUS_OK);
}

TEST_CASE("R22: only ids of stored rows count: padded, rejected and uncommitted rows may hold any bits") {
  Rig rig;
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<std::int64_t> ids;
    for (const std::int64_t seed : {1, -1, 3, -1}) {
      const auto good = rig.router().ids(seed, rig.setup().layer_ids[column]);
      if (seed < 0) {
        ids.insert(ids.end(), {-1, INT64_MIN, INT64_MAX, 64});
      } else {
        ids.insert(ids.end(), good.begin(), good.end());
      }
    }
    REQUIRE(capture_ids(rig.tap(column), ids, 4) == RCAP_STATUS_OK);
  }
  const rcap_summary summary = rig.settle(rig.end({.tokens = 4, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {0, 2}}));
  CHECK(summary.rows_bad == 0);
  CHECK(summary.rows_stored == 2);
  CHECK(summary.first_bad_fault == RCAP_FAULT_NONE);
  const Rows rows = rig.read({.slots = {10, 11}});
  CHECK(rows.row(0) == rig.expected(1));
  CHECK(rows.row(1) == rig.expected(3));
}

TEST_CASE("R22: an id outside [0, E) makes that row missing, names row and layer, and its neighbours are stored") {
  struct Case {
    std::int32_t dtype;
    std::int64_t id;
  };
  const std::vector<Case> cases = {{RCAP_DTYPE_INT64, 64},        {RCAP_DTYPE_INT64, -1},     {RCAP_DTYPE_INT64, std::int64_t{1} << 32},
                                   {RCAP_DTYPE_INT64, INT64_MIN}, {RCAP_DTYPE_INT64, 256},    {RCAP_DTYPE_INT32, 64},
                                   {RCAP_DTYPE_INT32, -1},        {RCAP_DTYPE_INT32, 256},    {RCAP_DTYPE_INT32, INT32_MIN},
                                   {RCAP_DTYPE_INT16, -1},        {RCAP_DTYPE_INT16, 64},     {RCAP_DTYPE_INT16, 256},
                                   {RCAP_DTYPE_UINT16, 64},       {RCAP_DTYPE_UINT16, 65535}, {RCAP_DTYPE_UINT8, 64},
                                   {RCAP_DTYPE_UINT8, 255}};
  for (const Case& c : cases) {
    CAPTURE(c.dtype);
    CAPTURE(c.id);
    Rig rig;
    rig.store({7, 8, 9}, {10, 11, 12});
    for (std::size_t column = 0; column < 3; ++column) {
      std::vector<std::int64_t> ids;
      for (const std::int64_t seed : {1, 2, 3}) {
        const auto row = rig.router().ids(seed, rig.setup().layer_ids[column]);
        ids.insert(ids.end(), row.begin(), row.end());
      }
      if (column == 1) ids[6] = c.id;  // row 1, third expert, layer number 5
      REQUIRE(capture_ids(rig.tap(column), ids, 4, c.dtype) == RCAP_STATUS_OK);
    }
    const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .slots = {10, 11, 12}}));
    CHECK(summary.rows_bad == 1);
    CHECK(summary.rows_stored == 2);
    CHECK(summary.first_bad_fault == RCAP_FAULT_ID_OUT_OF_RANGE);
    CHECK(summary.first_bad_layer == 5);
    CHECK(summary.first_bad_row == 1);
    CHECK(summary.first_bad_slot == 11);
    CHECK(summary.layers_bad == 0);
    const Rows rows = rig.read({.slots = {10, 11, 12}});
    CHECK(rows.row(0) == rig.expected(1));
    CHECK_FALSE(rows.valid(1));
    CHECK(rows.row(2) == rig.expected(3));
  }
}

TEST_CASE("R22: the first bad row in commit order is named by its row in the forward, not by its place among the entries") {
  Rig rig;
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<std::int64_t> ids;
    for (std::int64_t row = 0; row < 4; ++row) {
      const bool bad = (row == 1 && column == 2) || (row == 3 && column == 0);
      ids.insert(ids.end(), {1, 2, 3, bad ? 99 : 4});
    }
    REQUIRE(capture_ids(rig.tap(column), ids, 4) == RCAP_STATUS_OK);
  }
  const rcap_summary summary = rig.settle(rig.end({.tokens = 4, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11, 12}, .rows = {2, 1, 3}}));
  CHECK(summary.rows_bad == 2);
  CHECK(summary.rows_stored == 1);
  CHECK(summary.first_bad_fault == RCAP_FAULT_ID_OUT_OF_RANGE);
  CHECK(summary.first_bad_row == 1);
  CHECK(summary.first_bad_slot == 11);
  CHECK(summary.first_bad_layer == 9);
}

TEST_CASE("R22: evidence of a bad id does not outlive its forward") {
  Rig rig;
  for (std::size_t column = 0; column < 3; ++column) REQUIRE(capture_ids(rig.tap(column), {-1, 1, 2, 3}, 4) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 1, .slots = {10}})).rows_bad == 1);
  CHECK(rig.store({5}, {10}).rows_stored == 1);
  CHECK(rig.show({10}) == "5");
  for (std::size_t column = 0; column < 3; ++column) REQUIRE(capture_ids(rig.tap(column), {-1, 1, 2, 3}, 4) == RCAP_STATUS_OK);
  rig.discard();
  CHECK(rig.store({6}, {10}).rows_stored == 1);
}

TEST_CASE("R23: columns of fused shared experts are dropped, and K excludes them") {
  Setup setup;
  setup.config.num_fused_shared_experts = 2;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  setup.config.check_level = RCAP_CHECK_FULL;
  Rig rig(setup);
  rig.store({1, 2}, {10, 11});  // the rig hands K + 2 columns over, ids E and E + 1 in the last two
  const Rows rows = rig.read({.slots = {10, 11}});
  CHECK(rows.info.top_k == 4);
  CHECK(rig.words(rows) == "1 2");
}

TEST_CASE("R23: a kernel without the shared columns hands K of them; any other number is refused") {
  Setup setup;
  setup.config.num_fused_shared_experts = 2;
  Rig rig(setup);
  for (std::size_t column = 0; column < 3; ++column) {
    const auto ids = rig.router().ids(1, setup.layer_ids[column]);
    CHECK(capture_ids(rig.tap(column), {ids.begin(), ids.end()}, 4) == RCAP_STATUS_OK);
  }
  rig.settle(rig.end({.tokens = 1, .slots = {10}}));
  CHECK(rig.read({.slots = {10}}).row(0) == rig.expected(1));
  for (const std::int32_t columns : {0, 1, 3, 5, 7, -4}) {
    CAPTURE(columns);
    Error error;
    auto layout = make<rcap_capture_layout>();
    layout.columns = columns;
    layout.tokens = 1;
    const std::vector<std::int32_t> ids(8, 0);
    CHECK(rcap_tap_capture(rig.tap(0), &layout, ids.data(), 32, nullptr, 0, nullptr, 0, nullptr, error) != RCAP_STATUS_OK);
    CHECK(error.text().find("columns") != std::string::npos);
    CHECK(error.text().find(std::to_string(columns)) != std::string::npos);
  }
}

TEST_CASE("R24: column order is the kernel's order: nothing is sorted") {
  Rig rig;
  const std::vector<std::int64_t> ids = {63, 0, 41, 7};
  for (std::size_t column = 0; column < 3; ++column) REQUIRE(capture_ids(rig.tap(column), ids, 4) == RCAP_STATUS_OK);
  rig.settle(rig.end({.tokens = 1, .slots = {10}}));
  const Rows rows = rig.read({.slots = {10}});
  for (std::int32_t column = 0; column < 3; ++column) CHECK(rows.ids_of(0, column) == std::vector<std::int32_t>{63, 0, 41, 7});
}

TEST_CASE("R24, R26: what a source says of its layer travels with the record: unordered, hash-routed, partial") {
  Setup setup;
  setup.tap_flags = {RCAP_TAP_UNORDERED, RCAP_TAP_HASH_ROUTED | RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  rig.store({1}, {10});
  const Rows rows = rig.read({.slots = {10}});
  CHECK(rows.layer_flags == std::vector<std::int32_t>{RCAP_TAP_UNORDERED, RCAP_TAP_HASH_ROUTED | RCAP_TAP_PARTIAL, 0});
}

TEST_CASE("R25: an id twice in one layer of a row makes it missing under FULL, named with row and layer, and is stored under BASIC") {
  for (const std::int32_t level : {RCAP_CHECK_BASIC, RCAP_CHECK_FULL}) {
    CAPTURE(level);
    Setup setup;
    setup.config.check_level = level;
    Rig rig(setup);
    for (std::size_t column = 0; column < 3; ++column) {
      REQUIRE(capture_ids(rig.tap(column), {1, 2, 3, 4, 5, 6, column == 2 ? 5 : 7, 8, 9, 10, 11, 12}, 4) == RCAP_STATUS_OK);
    }
    const rcap_summary summary = rig.settle(rig.end({.tokens = 3, .slots = {10, 11, 12}}));
    const Rows rows = rig.read({.slots = {10, 11, 12}});
    CHECK(rows.ids_of(0, 2) == std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(rows.ids_of(2, 2) == std::vector<std::int32_t>{9, 10, 11, 12});
    if (level == RCAP_CHECK_BASIC) {
      CHECK(summary.rows_stored == 3);
      CHECK(rows.ids_of(1, 2) == std::vector<std::int32_t>{5, 6, 5, 8});
      continue;
    }
    CHECK(summary.rows_bad == 1);
    CHECK(summary.first_bad_fault == RCAP_FAULT_ID_REPEATED);
    CHECK(summary.first_bad_layer == 9);
    CHECK(summary.first_bad_row == 1);
    CHECK(summary.first_bad_slot == 11);
    CHECK_FALSE(rows.valid(1));
  }
}

TEST_CASE("R25: the same id in two layers, or in two rows, is no duplicate; many columns are checked all") {
  Setup setup;
  setup.config.check_level = RCAP_CHECK_FULL;
  setup.config.num_experts = 300;
  setup.config.top_k = 22;
  Rig rig(setup);
  CHECK(rig.store({1, 1, 1}, {10, 11, 12}).rows_stored == 3);
  CHECK(rig.show({10, 11, 12}) == "1 1 1");
  for (const std::size_t twice : {std::size_t{1}, std::size_t{10}, std::size_t{21}}) {
    CAPTURE(twice);
    for (std::size_t column = 0; column < 3; ++column) {
      auto ids = rig.router().ids(2, setup.layer_ids[column]);
      if (column == 0) ids[twice] = ids[0];
      REQUIRE(capture_ids(rig.tap(column), {ids.begin(), ids.end()}, 22) == RCAP_STATUS_OK);
    }
    CHECK(rig.settle(rig.end({.tokens = 1, .slots = {13}})).first_bad_fault == RCAP_FAULT_ID_REPEATED);
  }
}

TEST_CASE("R25: two physical experts of one logical one are a duplicate under FULL") {
  Mapped rig({0, 1, 2, 0}, RCAP_DTYPE_INT32, 8, RCAP_CHECK_FULL);
  const rcap_summary summary = rig.store({0, 3, 0, 1}, RCAP_DTYPE_INT32, {10, 11});
  CHECK(summary.rows_bad == 1);
  CHECK(summary.first_bad_fault == RCAP_FAULT_ID_REPEATED);
  CHECK(summary.first_bad_layer == 7);
  CHECK(rig.ids(10).empty());
  CHECK(rig.ids(11) == Pair{0, 1});
}

TEST_CASE("R25: cells that a partial layer did not capture are no duplicates") {
  Setup setup;
  setup.config.check_level = RCAP_CHECK_FULL;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {2}, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 2, .slots = {10, 11}})).rows_stored == 2);
  CHECK(rig.show({10, 11}) == "1[101] 2");
}

TEST_CASE("R26: columns are the captured layers, ascending, with the model's layer numbers; dense layers have none") {
  Setup setup;
  setup.layer_ids = {1, 4, 61, 70000};
  Rig rig(setup);
  for (const std::size_t column : {std::size_t{3}, std::size_t{0}, std::size_t{2}, std::size_t{1}}) {
    CHECK(rig.capture(column, {1}) == RCAP_STATUS_OK);  // in any order
  }
  rig.settle(rig.end({.tokens = 1, .slots = {10}}));
  const Rows rows = rig.read({.slots = {10}});
  CHECK(rows.layer_ids == setup.layer_ids);
  CHECK(rows.info.num_layers == 4);
  CHECK(rig.words(rows) == "1");
}
