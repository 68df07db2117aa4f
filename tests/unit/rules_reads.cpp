// SPDX-License-Identifier: Apache-2.0
// R36: what a read waits for, and what it does not; read_into and its buffers.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

std::string after(const Rig& rig, const Slots& slots, std::int64_t sequence) {
  return rig.words(rig.read({.slots = slots, .after_sequence = sequence}));
}

}  // namespace

TEST_CASE("R36: a read never finalizes") {
  Rig rig;
  const Output output = rig.forward({1}, {10});
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
  for (int i = 0; i < 3; ++i) CHECK(after(rig, {10}, 1) == "NOT_READY(1)");
  CHECK(rig.stats().finalized == 0);
  CHECK(rig.stats().in_flight == 1);
  rig.settle(output);
  CHECK(after(rig, {10}, 1) == "1");
}

TEST_CASE("R36: a read waits for forwards up to the sequence it names that may change its slots, and for none later") {
  Rig rig;
  const Output first = rig.forward({1}, {10});
  const Output second = rig.forward({2}, {11});
  const Output third = rig.forward({3}, {10});
  CHECK(after(rig, {10}, 0) == "-");
  CHECK(after(rig, {10}, 1) == "NOT_READY(1)");
  CHECK(after(rig, {11}, 1) == "-");
  CHECK(after(rig, {11}, 2) == "NOT_READY(2)");
  CHECK(after(rig, {10}, 2) == "NOT_READY(1)");
  CHECK(after(rig, {10, 11}, 3) == "NOT_READY(1)");  // the lowest that is lacking
  CHECK(after(rig, {12}, 3) == "-");
  rig.settle(first);
  CHECK(after(rig, {10}, 2) == "1");
  CHECK(after(rig, {10, 11}, 2) == "NOT_READY(2)");
  CHECK(after(rig, {10}, 3) == "NOT_READY(3)");
  rig.settle(third);
  CHECK(after(rig, {10}, 3) == "3");
  CHECK(after(rig, {10, 11}, 3) == "NOT_READY(2)");
  rig.settle(second);
  CHECK(after(rig, {10, 11}, 3) == "3 2");
}

TEST_CASE("R36: a request's row on its way to another slot of the forward is not waited for") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  const Output output = rig.forward({3}, {12});
  CHECK(after(rig, {10, 11}, 2) == "1 2");
  CHECK(rig.words(rig.read({.slots = {10, 11, 12}, .tokens = 3, .after_sequence = 2})) == "1 2");  // its slot is not among the rows returned
  CHECK(rig.words(rig.read({.slots = {12, 10, 11}, .start = 1, .after_sequence = 2})) == "1 2");
  CHECK(after(rig, {10, 11, 12}, 2) == "NOT_READY(2)");
  rig.settle(output);
}

TEST_CASE("R36: with INCLUDE_LAST a read waits for the last row's slot too") {
  Rig rig;
  rig.store({1}, {10});
  const Output output = rig.forward({2}, {11});
  const auto with_last = [&](std::int64_t sequence) {
    return rig.words(rig.read({.slots = {10, 11}, .tokens = 2, .flags = RCAP_READ_INCLUDE_LAST, .after_sequence = sequence}));
  };
  CHECK(with_last(1) == "1");
  CHECK(with_last(2) == "NOT_READY(2)");
  rig.settle(output);
  CHECK(with_last(2) == "1 2");
}

TEST_CASE("R36: forwards whose slots are not known yet may change any slot; those given with LATER only these") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  const Output unknown = rig.forward_later({3});
  CHECK(after(rig, {10}, 2) == "NOT_READY(2)");
  CHECK(after(rig, {10}, 1) == "1");
  Rig::accept(unknown, {.rows = {0}, .slots = {11}});
  CHECK(after(rig, {10}, 2) == "1");
  CHECK(after(rig, {11}, 2) == "NOT_READY(2)");
  rig.settle(unknown);
  const Output known = rig.forward_later({4, 5}, {11, 12});
  CHECK(after(rig, {10}, 3) == "1");
  CHECK(after(rig, {11}, 3) == "NOT_READY(3)");
  Rig::accept(known, {.rows = {0}});
  CHECK(after(rig, {12}, 3) == "-");
  rig.settle(known);
  CHECK(after(rig, {10, 11, 12}, 3) == "1 4 -");
  rig.capture_all({6});
  const Output device = rig.end({.tokens = 1, .slots = {20}, .slots_memory = RCAP_MEMORY_DEVICE});
  CHECK(after(rig, {10}, 4) == "NOT_READY(4)");
  rig.settle(device);
  CHECK(after(rig, {10, 20}, 4) == "1 6");
}

TEST_CASE("R36: holes and reserved slots of a forward make nobody wait") {
  Setup setup;
  setup.config.reserved_slots = 1;
  Rig rig(setup);
  rig.capture_all({1, 2, 3});
  const Output output = rig.end({.tokens = 3, .slots = {10, -1, 0}});
  CHECK(after(rig, {11, 0, -1}, 1) == "- - -");
  CHECK(after(rig, {10}, 1) == "NOT_READY(1)");
  rig.settle(output);
}

TEST_CASE("R36: releases and copies are there when their call returns; their numbers may be named") {
  Rig rig;
  rig.store({1}, {10});
  rig.release({10});
  CHECK(after(rig, {10}, 2) == "-");
  rig.store({2}, {10});
  rig.copy({10}, {11});
  CHECK(after(rig, {10, 11}, 4) == "2 2");
  CHECK(after(rig, {10, 11}, 5) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(after(rig, {10, 11}, -1) == "RCAP_STATUS_INVALID_ARGUMENT");
}

TEST_CASE("R36: a forward that something newer has outdated cannot change the slot any more: nobody waits for it there") {
  SUBCASE("a release") {
    Rig rig;
    const Output output = rig.forward({1, 2}, {10, 11});
    rig.release({10});
    CHECK(after(rig, {10}, 0) == "-");
    CHECK(after(rig, {10}, 2) == "-");
    CHECK(after(rig, {10, 11}, 2) == "NOT_READY(1)");
    rig.settle(output);
    CHECK(after(rig, {10, 11}, 2) == "- 2");
  }
  SUBCASE("a release of all") {
    Rig rig;
    const Output output = rig.forward({1}, {10});
    rig.release_all();
    CHECK(after(rig, {10}, 2) == "-");
    rig.settle(output);
    CHECK(after(rig, {10}, 2) == "-");
  }
  SUBCASE("a newer forward that is settled") {
    Rig rig;
    const Output older = rig.forward({1}, {10});
    rig.store({2}, {10});
    CHECK(after(rig, {10}, 2) == "2");
    rig.settle(older);
    CHECK(after(rig, {10}, 2) == "2");
  }
}

TEST_CASE("R36: a read waits as long as it was told, then says what it lacks") {
  Rig rig;
  const Output output = rig.forward({1}, {10});
  const auto begin = std::chrono::steady_clock::now();
  auto layout = make<rcap_read_layout>();
  layout.tokens = 2;
  layout.after_sequence = 1;
  layout.timeout_ns = 30'000'000;
  const std::int64_t slot = 10;
  rcap_record* record = nullptr;
  Error error;
  CHECK(name(rcap_capturer_read(rig.get(), &layout, &slot, 8, nullptr, 0, &record, error)) == "RCAP_STATUS_NOT_READY");
  CHECK(error.detail() == 1);
  CHECK(record == nullptr);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30));
  rig.settle(output);
  CHECK(rig.words(rig.read({.slots = {10}, .after_sequence = 1, .timeout_ns = INT64_MAX})) == "1");
}

TEST_CASE("R36: pages: token i stands in page i / page_size of the list") {
  Setup setup;
  setup.config.page_size = 4;
  Rig rig(setup);
  rig.store({1, 2, 3, 4, 5, 6}, {20, 21, 22, 23, 8, 9});  // pages 5 and 2
  CHECK(rig.words(rig.read({.slots = {5, 2}, .tokens = 7, .unit = RCAP_UNIT_PAGE})) == "1 2 3 4 5 6");
  CHECK(rig.words(rig.read({.slots = {5, 2}, .tokens = 9, .start = 3, .unit = RCAP_UNIT_PAGE})) == "4 5 6 - -");
  CHECK(rig.words(rig.read({.slots = {5, -1}, .tokens = 7, .unit = RCAP_UNIT_PAGE})) == "1 2 3 4 - -");
  CHECK(rig.words(rig.read({.slots = {5}, .tokens = 5, .unit = RCAP_UNIT_PAGE})) == "1 2 3 4");
  CHECK(rig.words(rig.read({.slots = {5}, .tokens = 6, .unit = RCAP_UNIT_PAGE})) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(rig.words(rig.read({.slots = {5}, .tokens = 5, .flags = RCAP_READ_INCLUDE_LAST, .unit = RCAP_UNIT_PAGE})) == "1 2 3 4");
  CHECK(rig.words(rig.read({.slots = {5, 2}, .tokens = 6, .flags = RCAP_READ_INCLUDE_LAST, .unit = RCAP_UNIT_PAGE})) == "1 2 3 4 5 6");
  CHECK(rig.words(rig.read({.slots = {5, 32}, .tokens = 7, .unit = RCAP_UNIT_PAGE})) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(rig.words(rig.read({.slots = {5, 32}, .tokens = 5, .unit = RCAP_UNIT_PAGE})) == "1 2 3 4");
}

TEST_CASE("R36: read_into tells what it needs, refuses what is too small with nothing else written, and takes what is larger") {
  Setup setup;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT16;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  rig.store({1, 2}, {10, 11});
  auto layout = make<rcap_read_layout>();
  layout.tokens = 3;
  const std::int64_t slots[3] = {10, 11, 12};
  auto info = make<rcap_read_info>();
  Error error;
  const auto into = [&](void* ids, std::int64_t ids_bytes, void* weights, std::int64_t weights_bytes, void* validity, std::int64_t validity_bytes) {
    return rcap_capturer_read_into(rig.get(), &layout, slots, sizeof slots, nullptr, 0, ids, ids_bytes, weights, weights_bytes, validity,
                                   validity_bytes, &info, error);
  };
  CHECK(into(nullptr, 0, nullptr, 0, nullptr, 0) == RCAP_STATUS_OK);
  CHECK(info.start == 0);
  CHECK(info.rows == 2);
  CHECK(info.ids_bytes == 2 * 3 * 4);
  CHECK(info.weights_bytes == 2 * 3 * 4 * 2);
  CHECK(info.row_validity_bytes == 1);
  CHECK(info.cell_validity_bytes == 1);
  layout.flags = RCAP_READ_INCLUDE_LAST;
  CHECK(into(nullptr, 0, nullptr, 0, nullptr, 0) == RCAP_STATUS_OK);
  CHECK(info.rows == 3);
  CHECK(info.ids_bytes == 3 * 3 * 4);
  layout.flags = 0;

  std::vector<unsigned char> ids(24, 0xA5);
  std::vector<unsigned char> weights(48, 0xA5);
  std::vector<unsigned char> validity(2, 0xA5);
  struct Case {
    std::int64_t ids, weights, validity;
  };
  for (const Case& c : std::vector<Case>{{23, 48, 2}, {24, 47, 2}, {24, 48, 1}, {0, 48, 2}}) {
    CAPTURE(c.ids);
    CAPTURE(c.weights);
    CAPTURE(c.validity);
    info = make<rcap_read_info>();
    CHECK(name(into(ids.data(), c.ids, weights.data(), c.weights, validity.data(), c.validity)) == "RCAP_STATUS_OUT_OF_RANGE");
    CHECK_FALSE(error.text().empty());
    CHECK(info.ids_bytes == 24);
    CHECK(info.weights_bytes == 48);
    CHECK(ids == std::vector<unsigned char>(24, 0xA5));
    CHECK(weights == std::vector<unsigned char>(48, 0xA5));
    CHECK(validity == std::vector<unsigned char>(2, 0xA5));
  }
  CHECK(into(ids.data(), 24, nullptr, 0, nullptr, 0) == RCAP_STATUS_OK);  // the rest is not wanted
  const auto expected = rig.expected(1);
  for (std::size_t i = 0; i < 12; ++i) CHECK(ids[i] == expected[i]);
  CHECK(into(ids.data(), 24, weights.data(), 48, validity.data(), 2) == RCAP_STATUS_OK);
  CHECK(validity[0] == 0x03);
  CHECK(validity[1] == 0x3F);
}

TEST_CASE("weight versions: every run of rows with one version is a span; missing rows belong to the run before them") {
  Rig rig;
  const auto store = [&](std::int64_t version, const Seeds& seeds, const Slots& slots) {
    rig.capture_all(seeds);
    rig.settle(rig.end({.tokens = static_cast<std::int64_t>(seeds.size()), .slots = slots, .weight_version = version}));
  };
  store(7, {1, 2}, {10, 11});
  store(9, {3}, {12});
  store(0, {4}, {13});
  store(-5, {5}, {14});
  using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;
  struct Case {
    Slots slots;
    std::int64_t start;
    Spans spans;
    std::int64_t min, max;
  };
  for (const Case& c : std::vector<Case>{{{10, 11, 12}, 0, {{0, 7}, {2, 9}}, 7, 9},
                                         {{12, 10, 12}, 0, {{0, 9}, {1, 7}, {2, 9}}, 7, 9},
                                         {{50, 10, 51, 11, 12, 52}, 0, {{0, 7}, {4, 9}}, 7, 9},
                                         {{10, 50, 12}, 0, {{0, 7}, {2, 9}}, 7, 9},
                                         {{10, 11, 12}, 1, {{1, 7}, {2, 9}}, 7, 9},
                                         {{10, 11, 12}, 2, {{2, 9}}, 9, 9},
                                         {{13, 14, 10}, 0, {{0, 0}, {1, -5}, {2, 7}}, -5, 7},
                                         {{13}, 0, {{0, 0}}, 0, 0},
                                         {{50, 51}, 0, {}, 0, 0},
                                         {{10}, 1, {}, 0, 0}}) {
    CAPTURE(c.slots.size());
    CAPTURE(c.start);
    const Rows rows = rig.read({.slots = c.slots, .start = c.start});
    CHECK(rows.spans == c.spans);
    CHECK(rows.info.weight_version_min == c.min);
    CHECK(rows.info.weight_version_max == c.max);
  }
  CHECK(rig.info(12).weight_version == 9);
  CHECK(rig.info(14).weight_version == -5);
  CHECK(rig.info(50).weight_version == 0);
  store(3, {6}, {12});
  CHECK(rig.info(12).weight_version == 3);
  store(0, {7}, {12});
  CHECK(rig.info(12).weight_version == 0);
  CHECK(rig.read({.slots = {12}}).spans == Spans{{0, 0}});
}
