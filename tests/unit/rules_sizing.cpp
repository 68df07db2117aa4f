// SPDX-License-Identifier: Apache-2.0
// R13, R14: how many rows the device buffer has, and that nothing goes past it.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/device.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

struct Terms {
  std::int64_t chunked, forward, running, verify, graph, dp, tp;
};

rcap_capturer_config config_of(const Terms& t) {
  Setup setup;
  setup.config.chunked_prefill_size = t.chunked;
  setup.config.max_forward_tokens = t.forward;
  setup.config.max_running_requests = t.running;
  setup.config.num_verify_tokens = t.verify;
  setup.config.max_graph_tokens = t.graph;
  setup.config.dp_size = t.dp;
  setup.config.attn_tp_size = t.tp;
  return setup.config;
}

const std::vector<std::int32_t> kLayers = {3, 5, 9};

std::int32_t plan_of(const rcap_capturer_config& config, rcap_capturer_plan& plan, rcap_error* error,
                     const std::vector<std::int32_t>& layers = kLayers) {
  plan = make<rcap_capturer_plan>();
  return rcap_capturer_plan_get(&config, layers.data(), static_cast<std::int64_t>(layers.size()), &plan, error);
}

}  // namespace

TEST_CASE("R13: device rows are the largest term, rounded up to attention-TP, times DP; the plan says which term decided") {
  struct Case {
    Terms terms;
    std::int64_t rows;
    std::int32_t term;
  };
  const std::vector<Case> cases = {
      // chunked, forward, running, verify, graph, dp, tp
      {{8192, 0, 256, 0, 0, 1, 1}, 8192, RCAP_TERM_PREFILL},
      {{8192, 0, 256, 4, 512, 1, 1}, 8192, RCAP_TERM_PREFILL},
      {{8192, 0, 256, 4, 512, 8, 1}, 65536, RCAP_TERM_PREFILL},
      {{0, 16384, 256, 4, 512, 1, 1}, 16384, RCAP_TERM_PREFILL},
      {{0, 16384, 256, 4, 512, 4, 1}, 65536, RCAP_TERM_PREFILL},
      {{1, 0, 1, 0, 0, 1, 1}, 1, RCAP_TERM_PREFILL},
      {{512, 0, 1024, 0, 0, 1, 1}, 1024, RCAP_TERM_RUNNING},  // verify 0 counts as 1
      {{512, 0, 1024, 1, 0, 1, 1}, 1024, RCAP_TERM_RUNNING},
      {{512, 0, 1024, 5, 0, 1, 1}, 5120, RCAP_TERM_RUNNING},
      {{512, 0, 1024, 5, 0, 4, 1}, 20480, RCAP_TERM_RUNNING},
      {{0, 512, 1024, 5, 0, 4, 1}, 20480, RCAP_TERM_RUNNING},
      {{512, 0, 128, 4, 1024, 1, 1}, 1024, RCAP_TERM_GRAPH},
      {{512, 0, 128, 4, 1024, 2, 1}, 2048, RCAP_TERM_GRAPH},
      {{512, 0, 1, 0, 513, 2, 2}, 1028, RCAP_TERM_GRAPH},  // 513 -> 514, then * 2
      {{100, 0, 1, 0, 0, 1, 8}, 104, RCAP_TERM_PREFILL},
      {{100, 0, 1, 0, 0, 3, 8}, 312, RCAP_TERM_PREFILL},  // rounded before, not after, the product
      {{96, 0, 1, 0, 0, 3, 8}, 288, RCAP_TERM_PREFILL},
      {{1, 0, 7, 3, 0, 5, 4}, 120, RCAP_TERM_RUNNING},  // 21 -> 24, * 5
      {{1, 0, 1, 0, 0, 1, 6}, 6, RCAP_TERM_PREFILL},
  };
  for (const Case& c : cases) {
    CAPTURE(c.terms.chunked);
    CAPTURE(c.terms.running);
    CAPTURE(c.terms.verify);
    CAPTURE(c.terms.graph);
    CAPTURE(c.terms.dp);
    CAPTURE(c.terms.tp);
    rcap_capturer_plan plan;
    REQUIRE(plan_of(config_of(c.terms), plan, nullptr) == RCAP_STATUS_OK);
    CHECK(plan.device_rows == c.rows);
    CHECK(plan.rows_term == c.term);
  }
}

TEST_CASE("R13: overflow, zero and negative terms are errors of plan and create alike, naming the field") {
  struct Case {
    Terms terms;
    const char* field;
  };
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  const std::vector<Case> cases = {
      {{0, 0, 1, 0, 0, 1, 1}, "chunked_prefill_size"},  // neither
      {{64, 64, 1, 0, 0, 1, 1}, "max_forward_tokens"},  // both
      {{-1, 0, 1, 0, 0, 1, 1}, "chunked_prefill_size"},
      {{0, -5, 1, 0, 0, 1, 1}, "max_forward_tokens"},
      {{64, 0, 0, 0, 0, 1, 1}, "max_running_requests"},
      {{64, 0, -3, 0, 0, 1, 1}, "max_running_requests"},
      {{64, 0, 1, -1, 0, 1, 1}, "num_verify_tokens"},
      {{64, 0, 1, 0, -1, 1, 1}, "max_graph_tokens"},
      {{64, 0, 1, 0, 0, 0, 1}, "dp_size"},
      {{64, 0, 1, 0, 0, -8, 1}, "dp_size"},
      {{64, 0, 1, 0, 0, 1, 0}, "attn_tp_size"},
      {{64, 0, 1, 0, 0, 1, -2}, "attn_tp_size"},
      {{64, 0, kBig, kBig, 0, 1, 1}, "max_running_requests"},
      {{kBig, 0, 1, 0, 0, kBig, 1}, "dp_size"},
      {{INT64_MAX, 0, 1, 0, 0, 1, 2}, ""},
      {{INT64_MAX, 0, 1, 0, 0, 1, 1}, ""},  // rows would do; bytes do not
      {{64, 0, 1, 0, INT64_MAX - 1, 1, 1}, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.field));
    CAPTURE(c.terms.chunked);
    CAPTURE(c.terms.running);
    const rcap_capturer_config config = config_of(c.terms);
    Error error;
    rcap_capturer_plan plan;
    const std::int32_t planned = plan_of(config, plan, error);
    CHECK((planned == RCAP_STATUS_INVALID_ARGUMENT || planned == RCAP_STATUS_OUT_OF_RANGE));
    CHECK(error.text().find(c.field) != std::string::npos);
    CHECK_FALSE(error.text().empty());
    Error again;
    rcap_capturer* capturer = nullptr;
    CHECK(rcap_capturer_create(&config, kLayers.data(), 3, nullptr, &capturer, again) == planned);
    CHECK(capturer == nullptr);
    CHECK(again.text() == error.text());
  }
}

TEST_CASE("R13: the plan tells what a capturer keeps, before anything is allocated") {
  Setup setup;
  setup.config.num_experts = 256;
  setup.config.top_k = 8;
  setup.config.num_slots = 200'000;
  setup.config.chunked_prefill_size = 8192;
  setup.config.pipeline_depth = 2;
  std::vector<std::int32_t> layers;
  for (std::int32_t layer = 3; layer < 61; ++layer) layers.push_back(layer);
  rcap_capturer_plan plan;
  REQUIRE(plan_of(setup.config, plan, nullptr, layers) == RCAP_STATUS_OK);
  CHECK(plan.num_layers == 58);
  CHECK(plan.ids_dtype == RCAP_DTYPE_UINT8);
  CHECK(plan.slot_ids_bytes == 464);
  CHECK(plan.slot_payload_bytes == 464);
  CHECK(plan.slot_bytes == 472);  // the ids and a stamp
  CHECK(plan.store_bytes >= 200'000 * 472);
  CHECK(plan.store_bytes <= 200'000 * (472 + 16) + 16 * 4096);
  CHECK(plan.device_bytes >= 8192 * 464 * 3);  // cache and two blocks
  CHECK(plan.pinned_bytes >= 8192 * 464 * 2);

  setup.config.weights_dtype = RCAP_DTYPE_BFLOAT16;
  setup.config.tags = 1;
  rcap_capturer_plan more;
  REQUIRE(plan_of(setup.config, more, nullptr, layers) == RCAP_STATUS_OK);
  CHECK(more.slot_ids_bytes == 464);
  CHECK(more.slot_payload_bytes == 464 + 928);
  CHECK(more.slot_bytes == 464 + 928 + 16);
  CHECK(more.device_bytes > plan.device_bytes);

  setup.config.num_slots = 0;
  REQUIRE(plan_of(setup.config, more, nullptr, layers) == RCAP_STATUS_OK);
  CHECK(more.store_bytes == 0);

  setup.config.num_experts = 257;
  setup.config.top_k = 1;
  setup.config.tags = 0;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  REQUIRE(plan_of(setup.config, more, nullptr, kLayers) == RCAP_STATUS_OK);
  CHECK(more.slot_ids_bytes == 6);           // 3 * 1 * uint16
  CHECK(more.slot_payload_bytes == 8 + 16);  // each padded to 8 bytes
  CHECK(more.slot_bytes == 8 + 8 + 16);
}

TEST_CASE("R14: a capture up to the last device row is taken, one past it is refused with the numbers before a byte is written") {
  Setup setup;
  setup.config.chunked_prefill_size = 10;
  setup.config.max_running_requests = 1;
  Rig rig(setup);
  struct Case {
    std::int64_t first_row, tokens;
    bool fits;
  };
  const std::vector<Case> cases = {{0, 10, true}, {9, 1, true},   {10, 0, true},  {0, 11, false},        {10, 1, false},
                                   {5, 6, false}, {11, 0, false}, {-1, 1, false}, {INT64_MAX, 1, false}, {INT64_MIN, 1, false}};
  for (const Case& c : cases) {
    CAPTURE(c.first_row);
    CAPTURE(c.tokens);
    const Seeds seeds(static_cast<std::size_t>(c.tokens), 1);
    Error error;
    const std::int32_t status = rig.capture(0, seeds, c.first_row, error);
    CHECK(name(status) == (c.fits ? "RCAP_STATUS_OK" : "RCAP_STATUS_OUT_OF_RANGE"));
    if (c.fits) {
      rig.discard();
      continue;
    }
    CHECK(error.text().find(std::to_string(c.first_row)) != std::string::npos);
    // Nothing was written: the first layer has captured no row of a forward that ends now.
    CHECK(rig.capture(1, {1}) == RCAP_STATUS_OK);
    CHECK(rig.capture(2, {1}) == RCAP_STATUS_OK);
    const rcap_summary summary = rig.settle(rig.end({.tokens = 1, .slots = {3}}));
    CHECK(summary.rows_bad == 1);
    CHECK(summary.first_bad_layer_number == 3);
    CHECK(summary.layer_rows_captured == 0);
  }
}

TEST_CASE("R14: a forward may have any number of tokens up to the device rows") {
  Setup setup;
  setup.config.chunked_prefill_size = 10;
  setup.config.max_running_requests = 1;
  Rig rig(setup);
  for (std::int64_t tokens = 0; tokens <= 10; ++tokens) {
    CAPTURE(tokens);
    Seeds seeds;
    Slots slots;
    std::string expected;
    for (std::int64_t i = 0; i < tokens; ++i) {
      seeds.push_back(100 * tokens + i);
      slots.push_back(20 + i);
      expected += (i == 0 ? "" : " ") + std::to_string(100 * tokens + i);
    }
    CHECK(rig.store(seeds, slots).rows_stored == tokens);
    CHECK(rig.show(slots) == expected);
  }
  struct Case {
    std::int64_t first_row, tokens;
  };
  for (const Case& c : std::vector<Case>{{0, 11}, {10, 1}, {-1, 1}, {0, -1}, {4, 7}, {11, 0}, {INT64_MAX, 2}, {2, INT64_MAX}}) {
    CAPTURE(c.first_row);
    CAPTURE(c.tokens);
    Error error;
    Output output;
    Slots slots;
    for (std::int64_t i = 0; i < c.tokens && i < 20; ++i) slots.push_back(3 + i);
    CHECK(name(rig.try_end({.tokens = c.tokens, .first_row = c.first_row, .slots = slots}, output, error)) == "RCAP_STATUS_OUT_OF_RANGE");
    CHECK_FALSE(error.text().empty());
  }
  CHECK(rig.last_sequence() == 11);
}

TEST_CASE("R14: what the host knows refuses the whole call before a byte is written, and the call may be repeated") {
  struct Case {
    const char* what;
    Forward forward;
    std::int32_t status;
    const char* number;
  };
  const std::vector<Case> cases = {
      {"slot past the last", {.tokens = 3, .slots = {10, 128, 12}}, RCAP_STATUS_OUT_OF_RANGE, "128"},
      {"slot below -1", {.tokens = 3, .slots = {10, 11, -2}}, RCAP_STATUS_OUT_OF_RANGE, "-2"},
      {"slot twice", {.tokens = 3, .slots = {10, 11, 10}}, RCAP_STATUS_INVALID_ARGUMENT, "10"},
      {"row past the last", {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {0, 3}}, RCAP_STATUS_OUT_OF_RANGE, "3"},
      {"row below -1", {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {0, -7}}, RCAP_STATUS_OUT_OF_RANGE, "-7"},
      {"row twice", {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {2, 2}}, RCAP_STATUS_INVALID_ARGUMENT, "2"},
      {"host slot bad beside device rows",
       {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 500}, .rows = {0, 1}, .rows_memory = RCAP_MEMORY_DEVICE},
       RCAP_STATUS_OUT_OF_RANGE,
       "500"},
      {"host row bad beside device slots",
       {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {0, 9}, .slots_memory = RCAP_MEMORY_DEVICE},
       RCAP_STATUS_OUT_OF_RANGE,
       "9"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    Rig rig;
    rig.store({7, 8, 9}, {10, 11, 12});
    rig.capture_all({1, 2, 3});
    Error error;
    Output output;
    CHECK(name(rig.try_end(c.forward, output, error)) == name(c.status));
    CHECK(error.text().find(c.number) != std::string::npos);
    CHECK(rig.show({10, 11, 12}) == "7 8 9");
    CHECK(rig.stats().forwards == 1);
    CHECK(rig.last_sequence() == 1);
    CHECK(rig.stats().in_flight == 0);
    CHECK(rig.settle(rig.end({.tokens = 3, .slots = {10, 11, 12}})).rows_stored == 3);  // captures stayed
    CHECK(rig.show({10, 11, 12}) == "1 2 3");
  }
}

TEST_CASE("R14: what only the device knows is found at finalize: that row is missing, counted and named, its neighbours are stored") {
  struct Case {
    const char* what;
    Forward forward;
    const char* shown;  // of slots 10, 11, 12
    std::int64_t bad, stored;
    std::int32_t fault;
    std::int64_t row, slot;
  };
  constexpr std::int32_t kDevice = RCAP_MEMORY_DEVICE;
  const std::vector<Case> cases = {
      {"slot past the last", {.tokens = 3, .slots = {10, 128, 12}, .slots_memory = kDevice}, "1 8 3", 1, 2, RCAP_FAULT_SLOT_OUT_OF_RANGE, 1, 128},
      {"slot below -1", {.tokens = 3, .slots = {-2, 11, 12}, .slots_memory = kDevice}, "7 2 3", 1, 2, RCAP_FAULT_SLOT_OUT_OF_RANGE, 0, -2},
      {"hole", {.tokens = 3, .slots = {-1, 11, 12}, .slots_memory = kDevice}, "7 2 3", 0, 2, RCAP_FAULT_NONE, -1, -1},
      {"slot twice", {.tokens = 3, .slots = {10, 11, 10}, .slots_memory = kDevice}, "- 2 9", 2, 1, RCAP_FAULT_SLOT_REPEATED, 0, 10},
      {"row past the last",
       {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11, 12}, .rows = {0, 3, 2}, .rows_memory = kDevice},
       "1 - 3",
       1,
       2,
       RCAP_FAULT_ROW_OUT_OF_RANGE,
       3,
       11},
      {"row below -1",
       {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11, 12}, .rows = {0, -9, 2}, .slots_memory = kDevice, .rows_memory = kDevice},
       "1 - 3",
       1,
       2,
       RCAP_FAULT_ROW_OUT_OF_RANGE,
       -9,
       11},
      {"row twice",
       {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11, 12}, .rows = {0, 2, 2}, .rows_memory = kDevice},
       "1 - -",
       2,
       1,
       RCAP_FAULT_ROW_REPEATED,
       2,
       11},
      {"all bad", {.tokens = 3, .slots = {128, 129, -3}, .slots_memory = kDevice}, "7 8 9", 3, 0, RCAP_FAULT_SLOT_OUT_OF_RANGE, 0, 128},
      {"a repeated slot and a slot out of range: the first entry is named",
       {.tokens = 3, .slots = {11, 777, 11}, .slots_memory = kDevice},
       "7 - 9",
       3,
       0,
       RCAP_FAULT_SLOT_REPEATED,
       0,
       11},
      {"one entry with both faults: the first in the list is named",
       {.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 300, 12}, .rows = {0, 5, 2}, .slots_memory = kDevice, .rows_memory = kDevice},
       "1 8 3",
       1,
       2,
       RCAP_FAULT_SLOT_OUT_OF_RANGE,
       5,
       300},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    Rig rig;
    rig.store({7, 8, 9}, {10, 11, 12});
    rig.capture_all({1, 2, 3});
    const Output output = rig.end(c.forward);
    const rcap_summary summary = rig.settle(output);
    CHECK(rig.show({10, 11, 12}) == c.shown);
    CHECK(summary.rows_bad == c.bad);
    CHECK(summary.rows_stored == c.stored);
    CHECK(summary.first_bad_fault == c.fault);
    CHECK(summary.first_bad_row == c.row);
    CHECK(summary.first_bad_slot == c.slot);
    CHECK(summary.first_bad_layer == -1);
    CHECK(summary.layers_bad == 0);
    CHECK(rig.stats().rows_bad == c.bad);
    CHECK(rig.stats().in_flight == 0);  // bad rows or not, the block is free
    CHECK(rig.stats().finalized == 2);
  }
}

TEST_CASE("R14: a bad entry settles its slot at the forward's number; a newer row stays") {
  Rig rig;
  rig.capture_all({1, 2});
  const Output bad = rig.end({.tokens = 2, .slots = {10, 10}, .slots_memory = RCAP_MEMORY_DEVICE});
  rig.store({3}, {10});
  CHECK(rig.settle(bad).rows_bad == 2);
  CHECK(rig.show({10}) == "3");
}

TEST_CASE("R14: slots past num_slots are nowhere accepted, and a capturer without a store captures and stages") {
  Setup setup;
  setup.config.num_slots = 0;
  Rig rig(setup);
  rig.capture_all({1, 2});
  const Output output = rig.end({.tokens = 2});
  void* data = nullptr;
  std::int64_t bytes = 0;
  REQUIRE(rcap_output_device_rows(output.get(), &data, &bytes, nullptr) == RCAP_STATUS_OK);
  REQUIRE(bytes == 2 * 16);  // 3 * 4 ids, padded to 8 bytes
  const std::vector<std::byte> rows = bytes_on_device(data, bytes);
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto expected = rig.expected(row + 1);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::to_integer<std::int32_t>(rows[static_cast<std::size_t>(row) * 16 + i]) == expected[i]);
    }
  }
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.rows_stored == 0);
  CHECK(summary.rows_bad == 0);
  CHECK(rig.show({0}) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(rig.show({-1}) == "-");
  CHECK(rig.try_release({0}) == RCAP_STATUS_OUT_OF_RANGE);
}
