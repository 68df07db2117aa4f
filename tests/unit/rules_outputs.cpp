// SPDX-License-Identifier: Apache-2.0
// R30 - R33: outputs between the device and the store.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/device.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

Setup of_depth(std::int32_t depth) {
  Setup setup;
  setup.config.pipeline_depth = depth;
  return setup;
}

bool same(const rcap_summary& a, const rcap_summary& b) {
  return a.sequence == b.sequence && a.step == b.step && a.entries == b.entries && a.rows_stored == b.rows_stored && a.rows_bad == b.rows_bad &&
         a.rows_outdated == b.rows_outdated && a.rows_reserved == b.rows_reserved && a.rows_rejected == b.rows_rejected &&
         a.first_bad_fault == b.first_bad_fault && a.first_bad_layer == b.first_bad_layer && a.first_bad_row == b.first_bad_row &&
         a.first_bad_slot == b.first_bad_slot && a.layers_bad == b.layers_bad && a.first_bad_layer_number == b.first_bad_layer_number &&
         a.layer_rows_captured == b.layer_rows_captured && a.layer_rows_expected == b.layer_rows_expected && a.rows_stray == b.rows_stray &&
         a.first_stray_layer == b.first_stray_layer;
}

}  // namespace

TEST_CASE("R30: after end_forward the next forward may overwrite the device buffer at once") {
  Rig rig;
  const Output first = rig.forward({1, 2, 3}, {10, 11, 12});
  rig.capture_all({4, 5, 6, 7});
  CHECK(rcap_output_copy_to_host(first.get(), nullptr, nullptr) == RCAP_STATUS_OK);
  const Output second = rig.end({.tokens = 4, .slots = {20, 21, 22, 23}});
  rig.capture_all({8});
  rig.settle(second);
  rig.settle(first);
  CHECK(rig.show({10, 11, 12, 20, 21, 22, 23}) == "1 2 3 4 5 6 7");
}

TEST_CASE("R30: the caller's arrays are read before the call returns") {
  Rig rig;
  rig.capture_all({1, 2});
  auto layout = make<rcap_forward_layout>();
  layout.tokens = 2;
  layout.acceptance = RCAP_ACCEPT_GIVEN;
  std::vector<std::int64_t> slots = {10, 11};
  std::vector<std::int64_t> rows = {1, 0};
  rcap_output* handle = nullptr;
  REQUIRE(rcap_capturer_end_forward(rig.get(), &layout, slots.data(), 16, rows.data(), 16, nullptr, 0, nullptr, &handle, nullptr) == RCAP_STATUS_OK);
  const Output output(handle);
  slots = {50, 51};
  rows = {7, 7};
  layout = make<rcap_forward_layout>();
  rig.settle(output);
  CHECK(rig.show({10, 11, 50, 51}) == "2 1 - -");
}

TEST_CASE("R31: before copy_to_host, ready is 0, finalize is NOT_READY and wait times out; nothing is corrupted, a later call succeeds") {
  Rig rig;
  const Output output = rig.forward({1}, {10});
  Error error;
  CHECK(rcap_output_ready(output.get(), error) == 0);
  auto summary = make<rcap_summary>();
  CHECK(name(rcap_output_finalize(output.get(), &summary, error)) == "RCAP_STATUS_NOT_READY");
  CHECK(error.code() == RCAP_STATUS_NOT_READY);
  CHECK(error.text().empty());
  CHECK(name(rcap_output_wait(output.get(), 0, error)) == "RCAP_STATUS_TIMEOUT");
  CHECK(name(rcap_output_wait(output.get(), 2'000'000, error)) == "RCAP_STATUS_TIMEOUT");
  CHECK(error.text().empty());
  CHECK(rig.show({10}) == "-");
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, error) == RCAP_STATUS_OK);
  CHECK(rcap_output_wait(output.get(), 20'000'000'000, error) == RCAP_STATUS_OK);
  CHECK(rcap_output_ready(output.get(), error) == 1);
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, error) == RCAP_STATUS_OK);  // a second call does nothing
  CHECK(rcap_output_finalize(output.get(), &summary, error) == RCAP_STATUS_OK);
  CHECK(summary.rows_stored == 1);
  CHECK(rig.show({10}) == "1");
}

TEST_CASE("R31: finalize on a settled output gives the same answer again") {
  Rig rig;
  rig.capture_all({1, 2, 3});
  const Output output = rig.end({.tokens = 3, .slots = {10, 10, 11}, .step = 44, .slots_memory = RCAP_MEMORY_DEVICE});
  const rcap_summary first = rig.settle(output);
  CHECK(first.rows_bad == 2);
  rig.store({5}, {11});
  rig.release({10});
  auto again = make<rcap_summary>();
  CHECK(rcap_output_finalize(output.get(), &again, nullptr) == RCAP_STATUS_OK);
  CHECK(same(first, again));
  CHECK(rcap_output_finalize(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_output_ready(output.get(), nullptr) == 1);
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rig.show({10, 11}) == "- 5");
  CHECK(rig.stats().finalized == 2);
  CHECK(rig.stats().rows_stored == 2);
}

TEST_CASE("R32: when all staging buffers are in flight end_forward says BUSY, and the device cache stays intact for the same call") {
  for (const std::int32_t depth : {1, 2, 5}) {
    CAPTURE(depth);
    Rig rig(of_depth(depth));
    std::vector<Output> outputs;
    for (std::int64_t i = 0; i < depth; ++i) outputs.push_back(rig.forward({100 + i}, {10 + i}));
    rig.capture_all({1, 2});
    Output output;
    Error error;
    for (int attempt = 0; attempt < 3; ++attempt) {
      CHECK(name(rig.try_end({.tokens = 2, .slots = {30, 31}}, output, error)) == "RCAP_STATUS_BUSY");
      CHECK(error.text().empty());
    }
    CHECK(rig.last_sequence() == depth);  // takes no number
    CHECK(rig.stats().busy == 3);
    CHECK(rig.stats().in_flight == depth);
    rig.settle(outputs.front());
    CHECK(rig.settle(rig.end({.tokens = 2, .slots = {30, 31}})).rows_stored == 2);  // and keeps the counts
    CHECK(rig.show({10, 30, 31}) == "100 1 2");
    for (std::size_t i = 1; i < outputs.size(); ++i) rig.settle(outputs[i]);
    for (std::int64_t i = 0; i < depth; ++i) CHECK(rig.show({10 + i}) == std::to_string(100 + i));
  }
}

TEST_CASE("R32: argument errors are told before BUSY") {
  Rig rig(of_depth(1));
  const Output output = rig.forward({1}, {10});
  Output refused;
  CHECK(name(rig.try_end({.tokens = 1, .slots = {1000}}, refused)) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(rig.stats().busy == 0);
}

TEST_CASE("R32: a block is free when its output settles; a settled output that is still held costs none") {
  Rig rig(of_depth(1));
  std::vector<Output> held;
  for (std::int64_t i = 0; i < 6; ++i) {
    held.push_back(rig.forward({i + 1}, {i}));
    rig.settle(held.back());
  }
  CHECK(rig.stats().in_flight == 0);
  CHECK(rig.show({0, 1, 2, 3, 4, 5}) == "1 2 3 4 5 6");
}

TEST_CASE("R32: a dropped output's block is free when its copy is over, copied or not") {
  for (const bool copied : {false, true}) {
    Rig rig(of_depth(1));
    for (std::int64_t i = 0; i < 4; ++i) {
      Output output = rig.forward({i + 1}, {i});
      if (copied) CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
      output.reset();
      rig.settle_drops();
    }
    CHECK(rig.stats().in_flight == 0);
    CHECK(rig.stats().dropped == 4);
    CHECK(rig.store({9}, {0}).rows_stored == 1);
  }
}

TEST_CASE("R32: every refused end_forward keeps the captures") {
  Rig rig;
  rig.capture_all({1, 2});
  Output output;
  CHECK(rig.try_end({.tokens = 65, .slots = {}}, output) != RCAP_STATUS_OK);
  CHECK(rig.try_end({.tokens = 2, .slots = {10}}, output) != RCAP_STATUS_OK);
  CHECK(rig.try_end({.tokens = 2, .acceptance = 9, .slots = {10, 11}}, output) != RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 2, .slots = {10, 11}})).rows_stored == 2);
}

TEST_CASE("R33: dropping an output without finalizing is legal, counted, and leaves its rows missing, not stale") {
  for (const bool copied : {false, true}) {
    CAPTURE(copied);
    Rig rig;
    rig.store({1, 2}, {10, 11});
    Output output = rig.forward({3, 4}, {11, 12});
    if (copied) CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
    output.reset();
    CHECK(rig.show({10, 11, 12}) == "1 - -");
    CHECK(rig.stats().dropped == 1);
    CHECK(rig.stats().finalized == 1);
    rig.settle_drops();
    CHECK(rig.stats().in_flight == 0);
    CHECK(rig.info(11).valid == 0);
    CHECK(rig.info(11).sequence == 2);
  }
}

TEST_CASE("R33: a dropped row settles as missing at its own number: newer ones stay") {
  Rig rig;
  Output old = rig.forward({1, 2}, {10, 11});
  rig.store({3}, {11});
  old.reset();
  CHECK(rig.show({10, 11}) == "- 3");
}

TEST_CASE("R33: a drop settles slots that only the device knows as well") {
  Rig rig;
  rig.store({1, 2, 3}, {10, 11, 12});
  rig.capture_all({4, 5});
  Output output = rig.end({.tokens = 2, .slots = {11, 300}, .slots_memory = RCAP_MEMORY_DEVICE});
  output.reset();
  rig.settle_drops();
  CHECK(rig.show({10, 11, 12}) == "1 - 3");
}

TEST_CASE("R33: a forward never accepted touches no slot") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  Output unknown = rig.forward_later({3});
  Output known = rig.forward_later({4}, {10});
  unknown.reset();
  known.reset();
  CHECK(rig.show({10, 11}) == "1 2");
  CHECK(rig.stats().dropped == 2);
  CHECK(rig.info(10).sequence == 1);
}

TEST_CASE("R33: an accepted one that is dropped touches the accepted slots alone") {
  Rig rig;
  rig.store({1, 2, 3}, {10, 11, 12});
  Output output = rig.forward_later({4, 5, 6}, {10, 11, 12});
  Rig::accept(output, {.rows = {0, 2}});
  output.reset();
  CHECK(rig.show({10, 11, 12}) == "- 2 -");
}

TEST_CASE("R33: after a drop, a read that waits for it is answered") {
  Rig rig;
  Output output = rig.forward({1}, {10});
  const Read read = {.slots = {10}, .after_sequence = 1};
  CHECK(rig.words(rig.read(read)) == "NOT_READY(1)");
  output.reset();
  CHECK(rig.words(rig.read(read)) == "-");
}

TEST_CASE("R33: bad rows settle as missing at their own number: older rows are gone, newer ones stay") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  CHECK(rig.capture(0, {3, 4}) == RCAP_STATUS_OK);
  const Output bad = rig.end({.tokens = 2, .slots = {10, 11}});
  rig.store({5}, {11});
  CHECK(rig.settle(bad).rows_bad == 2);
  CHECK(rig.show({10, 11}) == "- 5");
}

TEST_CASE("R33: destroying nothing does nothing; a settled output is no drop") {
  rcap_output_destroy(nullptr);
  Rig rig;
  Output output = rig.forward({1}, {10});
  rig.settle(output);
  output.reset();
  CHECK(rig.show({10}) == "1");
  CHECK(rig.stats().dropped == 0);
}

TEST_CASE("device rows: with ALL and GIVEN row i is commit entry i, with LATER forward row i; ids and weights are padded to 8 bytes") {
  Setup setup;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  setup.layer_ids = {4};
  setup.config.top_k = 3;
  Rig rig(setup);
  auto plan = make<rcap_capturer_plan>();
  REQUIRE(rcap_capturer_plan_get(&setup.config, setup.layer_ids.data(), 1, &plan, nullptr) == RCAP_STATUS_OK);
  REQUIRE(plan.slot_payload_bytes == 8 + 16);
  const auto staged = [&](const Output& output, std::int64_t row) {
    void* data = nullptr;
    std::int64_t bytes = 0;
    REQUIRE(rcap_output_device_rows(output.get(), &data, &bytes, nullptr) == RCAP_STATUS_OK);
    REQUIRE(bytes >= (row + 1) * plan.slot_payload_bytes);
    const std::vector<std::byte> rows = bytes_on_device(data, bytes);
    const auto* at = reinterpret_cast<const std::uint8_t*>(rows.data()) + row * plan.slot_payload_bytes;
    return std::vector<std::int32_t>{at[0], at[1], at[2]};
  };
  rig.capture_all({1, 2, 3});
  const Output given = rig.end({.tokens = 3, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {10, 11}, .rows = {2, 0}});
  CHECK(staged(given, 0) == rig.expected(3));
  CHECK(staged(given, 1) == rig.expected(1));
  const Output all = rig.forward({4, 5}, {20, 21});
  CHECK(staged(all, 1) == rig.expected(5));
  const Output later = rig.forward_later({6, 7, 8});
  CHECK(staged(later, 2) == rig.expected(8));
  rig.settle(given);
  void* data = nullptr;
  std::int64_t bytes = 0;
  CHECK(name(rcap_output_device_rows(given.get(), &data, &bytes, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  rig.settle(all);
}
