// SPDX-License-Identifier: Apache-2.0
// The exact lines of refusals that a newcomer meets first: names beside numbers, and a range only where there is one.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

/// Text of a call that must be refused.
std::string text_of(const std::function<std::int32_t(rcap_error*)>& call) {
  Error error;
  const std::int32_t status = call(error);
  CHECK(status < 0);
  CHECK(error.code() == status);
  return error.text();
}

std::string capture_text(const Setup& setup, const std::function<void(rcap_capture_layout&)>& spoil) {
  Rig rig(setup);
  auto layout = make<rcap_capture_layout>();
  layout.columns = 4;
  layout.tokens = 2;
  spoil(layout);
  const std::vector<std::int32_t> ids(8, 1);
  return text_of([&](rcap_error* error) { return rcap_tap_capture(rig.tap(0), &layout, ids.data(), 32, nullptr, 0, nullptr, 0, nullptr, error); });
}

std::string create_text(const std::function<void(rcap_capturer_config&)>& spoil) {
  Setup setup;
  spoil(setup.config);
  rcap_capturer* capturer = nullptr;
  return text_of([&](rcap_error* error) { return rcap_capturer_create(&setup.config, setup.layer_ids.data(), 3, nullptr, &capturer, error); });
}

std::string end_text(const Setup& setup, const Forward& forward) {
  Rig rig(setup);
  Output output;
  return text_of([&](rcap_error* error) { return rig.try_end(forward, output, error); });
}

Setup without_slots() {
  Setup setup;
  setup.config.num_slots = 0;
  return setup;
}

}  // namespace

TEST_CASE("error texts: values of enumerations are named") {
  CHECK(capture_text(Setup(), [](auto& l) { l.ids_dtype = RCAP_DTYPE_FLOAT32; }) ==
        "ids_dtype is FLOAT32 (8), allowed are UINT8 (1), UINT16 (2), INT16 (3), INT32 (4) and INT64 (5)");
  CHECK(capture_text(Setup(), [](auto& l) { l.ids_dtype = 99; }) ==
        "ids_dtype is 99, allowed are UINT8 (1), UINT16 (2), INT16 (3), INT32 (4) and INT64 (5)");
  CHECK(capture_text(Setup(), [](auto& l) { l.memory = 2; }) == "memory is 2, allowed are HOST (0) and DEVICE (1)");
  Setup weights;
  weights.config.weights_dtype = RCAP_DTYPE_BFLOAT16;
  CHECK(capture_text(weights, [](auto&) {}) == "weights is null, the capturer keeps weights of dtype BFLOAT16");
  CHECK(create_text([](auto& c) { c.weights_dtype = RCAP_DTYPE_INT32; }) ==
        "weights_dtype is INT32 (4), allowed are NONE (0), FLOAT16 (6), BFLOAT16 (7) and FLOAT32 (8)");
  CHECK(create_text([](auto& c) { c.check_level = 2; }) == "check_level is 2, allowed are BASIC (0) and FULL (1)");
  CHECK(create_text([](auto& c) { c.busy_policy = RCAP_BUSY_WAIT; }) ==
        "busy_policy WAIT needs finalize_mode OWN_THREAD, finalize_mode is CALLER: nobody would end the wait");
  CHECK(end_text(Setup(), {.tokens = 1, .acceptance = 3, .slots = {20}}) == "acceptance is 3, allowed are ALL (0), GIVEN (1) and LATER (2)");
  CHECK(end_text(Setup(), {.tokens = 1, .slots = {20}, .rows = {0}}) == "rows is given (8 bytes), acceptance is ALL and only GIVEN takes them");
  Rig rig;
  const Output output = rig.forward({1}, {20});
  CHECK(text_of([&](rcap_error* error) { return Rig::try_accept(output, {.rows = {0}}, error); }) ==
        "forward 1 has acceptance ALL, only a LATER one is accepted");
}

TEST_CASE("error texts: flags are named with their bits") {
  Setup setup;
  setup.seal = false;
  Rig rig(setup);
  auto options = make<rcap_tap_options>();
  options.flags = 8;
  rcap_tap* tap = nullptr;
  CHECK(text_of([&](rcap_error* error) { return rcap_model_add_tap(rig.target(), 3, &options, nullptr, 0, &tap, error); }) ==
        "flags is 8, known bits are HASH_ROUTED (1), UNORDERED (2) and PARTIAL (4)");
}

TEST_CASE("error texts: where nothing is allowed no range is given") {
  CHECK(end_text(without_slots(), {.tokens = 1, .slots = {5}}) == "slots entry 0 is 5, only -1 is allowed (num_slots is 0)");
  CHECK(end_text(Setup(), {.tokens = 1, .slots = {128}}) == "slots entry 0 is 128, allowed are -1 .. 127 (num_slots is 128)");
  CHECK(end_text(Setup(), {.tokens = 0, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {5}, .rows = {0}}) ==
        "rows entry 0 is 0, only -1 is allowed (the forward has 0 tokens)");
  Rig rig(without_slots());
  CHECK(text_of([&](rcap_error* error) { return rig.try_release({0}, error); }) == "slots entry 0 is slot 0, none is allowed (num_slots is 0)");
  CHECK(text_of([&](rcap_error* error) {
          auto info = make<rcap_slot_info>();
          return rcap_capturer_slot_info_get(rig.get(), 0, &info, error);
        }) == "slot is 0, none is allowed (num_slots is 0)");
  CHECK(rig.read({.slots = {3}}).text == "slots entry 0 is slot 3, only -1 is allowed (num_slots is 0)");
  CHECK(create_text([](auto& c) { c.num_experts = 1, c.top_k = 2; }) == "top_k is 2, only 1 is allowed");
}

TEST_CASE("error texts: a list given by count is told by count") {
  CHECK(end_text(Setup(), {.tokens = 1, .slots = {20}, .tags = {7, 7}}) == "tags is given (tags_count 2), the capturer keeps none");
}

TEST_CASE("error texts: a wrong struct_size is told with what would do") {
  Setup setup;
  setup.config.struct_size = 9;
  rcap_capturer* capturer = nullptr;
  CHECK(text_of([&](rcap_error* error) { return rcap_capturer_create(&setup.config, setup.layer_ids.data(), 3, nullptr, &capturer, error); }) ==
        "config->struct_size is 9, it must be a multiple of 8 in 8 .. 65536; this library's struct has " + std::to_string(sizeof setup.config) +
            " bytes (use the init function)");
  const Rig rig;
  auto stats = make<rcap_capturer_stats>();
  stats.struct_size = 8;
  CHECK(text_of([&](rcap_error* error) { return rcap_capturer_stats_get(rig.get(), &stats, error); }) ==
        "stats->struct_size is 8, allowed are 16 .. 65536; this library's struct has " + std::to_string(sizeof stats) +
            " bytes (use the init function)");
}

TEST_CASE("error texts: a product that overflows is told with its factors' names") {
  const auto rows = std::int64_t{1} << 58;
  const std::string number = std::to_string(rows);
  CHECK(create_text([&](auto& c) { c.chunked_prefill_size = rows; }) ==
        "a staging block for " + number + " device rows of 16 bytes, with their lists, exceeds 9223372036854775807 bytes");
  // A row takes 16 bytes, 4 of faults, and 8 each of slot, row and tag; a block 48 for the counts of three layers.
  CHECK(create_text([](auto& c) { c.chunked_prefill_size = std::int64_t{1} << 52, c.pipeline_depth = 4096; }) ==
        "pipeline_depth * bytes of a staging block: 4096 * 234187180623265840 exceeds 9223372036854775807");
}
