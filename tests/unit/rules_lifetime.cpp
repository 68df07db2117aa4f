// SPDX-License-Identifier: Apache-2.0
// R34, R35: what outlives what, and that capturers know nothing of each other.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

void check_closed(const Output& output) {
  Error error;
  auto summary = make<rcap_summary>();
  CHECK(name(rcap_output_finalize(output.get(), &summary, error)) == "RCAP_STATUS_CLOSED");
  CHECK(name(rcap_output_finalize(output.get(), nullptr, error)) == "RCAP_STATUS_CLOSED");
  CHECK(name(rcap_output_copy_to_host(output.get(), nullptr, error)) == "RCAP_STATUS_CLOSED");
  CHECK(name(rcap_output_ready(output.get(), error)) == "RCAP_STATUS_CLOSED");
  CHECK(name(rcap_output_wait(output.get(), 1'000'000'000, error)) == "RCAP_STATUS_CLOSED");
  CHECK(rcap_output_sequence(output.get(), error) == RCAP_STATUS_CLOSED);
  CHECK(name(Rig::try_accept(output, {.rows = {0}, .slots = {1}}, error)) == "RCAP_STATUS_CLOSED");
  void* data = nullptr;
  std::int64_t bytes = 0;
  CHECK(name(rcap_output_device_rows(output.get(), &data, &bytes, error)) == "RCAP_STATUS_CLOSED");
  CHECK_FALSE(error.text().empty());
}

}  // namespace

TEST_CASE("R34: destroying a capturer with outputs in flight is safe: every call on them but destroy answers CLOSED") {
  for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
    CAPTURE(mode);
    Setup setup;
    setup.config.finalize_mode = mode;
    std::vector<Output> outputs;
    {
      Rig rig(setup);
      outputs.push_back(rig.forward({1}, {10}));
      outputs.push_back(rig.forward_later({2}));
      if (mode == RCAP_FINALIZE_CALLER) {
        outputs.push_back(rig.forward({3}, {12}));
        CHECK(rcap_output_copy_to_host(outputs.back().get(), nullptr, nullptr) == RCAP_STATUS_OK);
      }
      outputs.push_back(rig.forward({4}, {13}));
      rig.settle(outputs.back());  // settled ones answer CLOSED as well
    }
    for (const Output& output : outputs) check_closed(output);
  }
}

TEST_CASE("R34: many capturers destroyed before their outputs, in every order of destruction") {
  for (const bool outputs_forward : {false, true}) {
    std::vector<Output> outputs;
    for (int round = 0; round < 20; ++round) {
      Rig rig;
      outputs.push_back(rig.forward({1}, {10}));
      rig.copy({10}, {11});  // a copy that waits dies with it
      outputs.push_back(rig.forward_later({2}, {10}));
    }
    if (outputs_forward) {
      for (Output& output : outputs) output.reset();
    }
  }
}

TEST_CASE("R34: records live on") {
  std::vector<std::int32_t> expected;
  Record record;
  {
    Rig rig;
    rig.store({1, 2}, {10, 11});
    expected = rig.expected(2);
    auto layout = make<rcap_read_layout>();
    layout.tokens = 3;
    const std::int64_t slots[2] = {10, 11};
    rcap_record* handle = nullptr;
    REQUIRE(rcap_capturer_read(rig.get(), &layout, slots, sizeof slots, nullptr, 0, &handle, nullptr) == RCAP_STATUS_OK);
    record.reset(handle);
  }
  const void* data = nullptr;
  std::int64_t bytes = 0;
  REQUIRE(rcap_record_ids(record.get(), &data, &bytes, nullptr) == RCAP_STATUS_OK);
  REQUIRE(bytes == 2 * 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(static_cast<const std::uint8_t*>(data)[12 + i] == expected[i]);
  rcap_record* slice = nullptr;
  REQUIRE(rcap_record_slice(record.get(), 1, 2, &slice, nullptr) == RCAP_STATUS_OK);
  rcap_record_destroy(slice);
}

TEST_CASE("R34: a backend is kept alive by its capturers") {
  rcap_backend* handle = nullptr;
  REQUIRE(rcap_backend_open("host", nullptr, &handle, nullptr) == RCAP_STATUS_OK);
  auto info = make<rcap_backend_info>();
  CHECK(rcap_backend_describe(handle, &info, nullptr) == RCAP_STATUS_OK);
  CHECK(std::string(info.name) == "host");
  CHECK(info.host_memory == 1);
  CHECK(info.threads == 1);
  CHECK(std::string(info.description).size() > 3);
  Setup setup;
  rcap_capturer* capturer = nullptr;
  REQUIRE(rcap_capturer_create(&setup.config, setup.layer_ids.data(), 3, handle, &capturer, nullptr) == RCAP_STATUS_OK);
  const Capturer owner(capturer);
  rcap_backend_destroy(handle);
  rcap_model* target = nullptr;
  REQUIRE(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, nullptr) == RCAP_STATUS_OK);
  std::vector<rcap_tap*> taps(3);
  for (std::size_t i = 0; i < 3; ++i)
    REQUIRE(rcap_model_add_tap(target, setup.layer_ids[i], nullptr, nullptr, 0, &taps[i], nullptr) == RCAP_STATUS_OK);
  REQUIRE(rcap_capturer_seal(capturer, nullptr) == RCAP_STATUS_OK);
  const std::vector<std::int32_t> ids = {9, 8, 7, 6};
  auto capture = make<rcap_capture_layout>();
  capture.columns = 4;
  capture.tokens = 1;
  for (rcap_tap* tap : taps) REQUIRE(rcap_tap_capture(tap, &capture, ids.data(), 16, nullptr, 0, nullptr, 0, nullptr, nullptr) == RCAP_STATUS_OK);
}

TEST_CASE("R35: any number of capturers live in one process, fully independent") {
  Setup wide;
  wide.config.num_experts = 1000;
  wide.config.top_k = 2;
  wide.config.num_slots = 32;
  wide.layer_ids = {8};
  wide.drafts = {{8}};
  Rig first;
  Rig second(wide);
  Rig third;
  const Output mine = first.forward({1}, {10});
  second.store({2}, {10});
  third.store({3}, {10});
  CHECK(first.sequence(mine) == 1);
  CHECK(second.last_sequence() == 1);
  CHECK(second.capture_with(second.draft_tap(0, 0), 8, {5}) == RCAP_STATUS_OK);
  third.release_all();
  CHECK(first.show({10}) == "-");
  CHECK(second.show({10}) == "2");
  CHECK(third.show({10}) == "-");
  first.settle(mine);
  CHECK(first.show({10}) == "1");
  CHECK(first.stats().suppressed == 0);
  CHECK(second.stats().suppressed == 1);
  CHECK(third.last_sequence() == 2);
  // One more in between changes nothing, nor does its end.
  {
    Rig fourth;
    fourth.store({4}, {10});
  }
  CHECK(first.show({10}) == "1");
  std::vector<std::pair<rcap_capturer*, Capturer>> many;
  for (int i = 0; i < 200; ++i) {
    const Setup setup;
    rcap_capturer* handle = nullptr;
    REQUIRE(rcap_capturer_create(&setup.config, setup.layer_ids.data(), 3, nullptr, &handle, nullptr) == RCAP_STATUS_OK);
    many.emplace_back(handle, Capturer(handle));
  }
}

TEST_CASE("R35: a tap, a model and an output belong to their capturer alone") {
  Rig first;
  Rig second;
  // The second capturer's forward has no capture of the first's taps.
  first.capture_all({1});
  CHECK(second.settle(second.end({.tokens = 1, .slots = {10}})).rows_bad == 1);
  CHECK(first.settle(first.end({.tokens = 1, .slots = {10}})).rows_stored == 1);
  // Tap numbers are a capturer's own.
  CHECK(rcap_tap_id(first.tap(0), nullptr) == rcap_tap_id(second.tap(0), nullptr));
  rcap_tap* found = nullptr;
  CHECK(rcap_capturer_tap(second.get(), 0, &found, nullptr) == RCAP_STATUS_OK);
  CHECK(found == second.tap(0));
}

TEST_CASE("destroy(NULL) does nothing, for every kind of handle") {
  rcap_backend_destroy(nullptr);
  rcap_capturer_destroy(nullptr);
  rcap_output_destroy(nullptr);
  rcap_record_destroy(nullptr);
}
