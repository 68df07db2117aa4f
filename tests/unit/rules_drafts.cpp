// SPDX-License-Identifier: Apache-2.0
// R18, R19, R20: a draft never writes a target column.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

/// A target with one fused shared expert, and an MTP draft whose only layer has the number of the target's second one.
Setup with_colliding_draft() {
  Setup setup;
  setup.config.num_fused_shared_experts = 1;
  setup.drafts = {{5}};
  return setup;
}

/// A capturer before its seal, to be put together by hand.
struct Unsealed {
  Capturer capturer;
  explicit Unsealed(const Setup& setup = Setup()) {
    rcap_capturer* handle = nullptr;
    REQUIRE(rcap_capturer_create(&setup.config, setup.layer_ids.data(), static_cast<std::int64_t>(setup.layer_ids.size()), nullptr, &handle,
                                 nullptr) == RCAP_STATUS_OK);
    capturer.reset(handle);
  }
  rcap_model* add(std::int32_t role, std::int32_t expected = RCAP_STATUS_OK, rcap_error* error = nullptr) {
    rcap_model* model = nullptr;
    CHECK(name(rcap_capturer_add_model(capturer.get(), role, "some model", &model, error)) == name(expected));
    CHECK((model != nullptr) == (expected == RCAP_STATUS_OK));
    return model;
  }
  std::string seal(rcap_error* error = nullptr) { return name(rcap_capturer_seal(capturer.get(), error)); }
};

std::string add_tap(rcap_model* model, std::int32_t layer, rcap_error* error = nullptr, rcap_tap** tap = nullptr) {
  rcap_tap* handle = nullptr;
  const std::int32_t status = rcap_model_add_tap(model, layer, nullptr, nullptr, 0, &handle, error);
  CHECK((handle != nullptr) == (status == RCAP_STATUS_OK));
  if (tap != nullptr) *tap = handle;
  return name(status);
}

}  // namespace

TEST_CASE("R18: a draft with the target's layer number writes nothing through any of three call paths, and each call is counted") {
  Rig rig(with_colliding_draft());
  rcap_tap* const draft = rig.draft_tap(0, 0);
  rig.capture_all({1, 2});
  const auto draft_ids = [&](std::int32_t columns) {
    std::vector<std::int32_t> ids;
    for (const std::int64_t seed : {901, 902}) {
      auto row = rig.router().ids(seed, 5);
      row.resize(static_cast<std::size_t>(columns), 64);
      ids.insert(ids.end(), row.begin(), row.end());
    }
    return ids;
  };
  const auto draft_capture = [&](rcap_tap* tap, std::int32_t columns) {
    auto layout = make<rcap_capture_layout>();
    layout.columns = columns;
    layout.tokens = 2;
    const auto ids = draft_ids(columns);
    return rcap_tap_capture(tap, &layout, ids.data(), static_cast<std::int64_t>(ids.size() * 4), nullptr, 0, nullptr, 0, nullptr, nullptr);
  };
  SUBCASE("normal: the draft's own tap, the top-k of the router") { CHECK(draft_capture(draft, 4) == RCAP_STATUS_OK); }
  SUBCASE("fused: routed and shared columns in one call") { CHECK(draft_capture(draft, 5) == RCAP_STATUS_OK); }
  SUBCASE("bypass: a path that rebuilds its configuration and looks the tap up by its number") {
    const std::int32_t id = rcap_tap_id(draft, nullptr);
    rcap_tap* found = nullptr;
    REQUIRE(rcap_capturer_tap(rig.get(), id, &found, nullptr) == RCAP_STATUS_OK);
    CHECK(found == draft);
    CHECK(rcap_tap_is_enabled(found, nullptr) == 0);
    CHECK(draft_capture(found, 4) == RCAP_STATUS_OK);
  }
  CHECK(rig.stats().suppressed == 1);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 2, .slots = {10, 11}}));
  CHECK(summary.layers_bad == 0);  // the target's layer has captured each row once, not twice
  CHECK(summary.rows_stored == 2);
  CHECK(rig.show({10, 11}) == "1 2");
}

TEST_CASE("R18: a draft before, between and after the target's captures changes no byte and no count") {
  Setup setup = with_colliding_draft();
  setup.drafts = {{3, 5, 9}, {5}};
  Rig rig(setup);
  const auto drafts = [&](std::int64_t rows) {
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(rig.capture_with(rig.draft_tap(0, i), setup.layer_ids[i], Seeds(static_cast<std::size_t>(rows), 77)) == RCAP_STATUS_OK);
    }
    CHECK(rig.capture_with(rig.draft_tap(1, 0), 5, Seeds(static_cast<std::size_t>(rows), 78)) == RCAP_STATUS_OK);
  };
  drafts(3);
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  drafts(2);
  CHECK(rig.capture(1, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2}) == RCAP_STATUS_OK);
  drafts(1);
  CHECK(rig.settle(rig.end({.tokens = 2, .slots = {10, 11}})).rows_stored == 2);
  CHECK(rig.show({10, 11}) == "1 2");
  CHECK(rig.stats().suppressed == 12);
}

TEST_CASE("R18: denial goes by the model's handle: the same number on the target's tap is written") {
  Rig rig(with_colliding_draft());
  CHECK(rcap_tap_is_enabled(rig.tap(1), nullptr) == 1);
  CHECK(rcap_tap_is_enabled(rig.draft_tap(0, 0), nullptr) == 0);
  rig.store({1}, {10});
  CHECK(rig.stats().suppressed == 0);
  CHECK(rig.show({10}) == "1");
}

TEST_CASE("R18: a draft alone leaves a forward without its rows") {
  Rig rig(with_colliding_draft());
  CHECK(rig.capture(0, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture_with(rig.draft_tap(0, 0), 5, {1}) == RCAP_STATUS_OK);
  const rcap_summary summary = rig.settle(rig.end({.tokens = 1, .slots = {10}}));
  CHECK(summary.rows_bad == 1);
  CHECK(summary.first_bad_layer_number == 5);
  CHECK(summary.layer_rows_captured == 0);
  CHECK(rig.show({10}) == "-");
}

TEST_CASE("R18: a denied capture's arguments are not looked at") {
  Rig rig(with_colliding_draft());
  rcap_tap* const draft = rig.draft_tap(0, 0);
  Error error;
  CHECK(rcap_tap_capture(draft, nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, error) == RCAP_STATUS_OK);
  auto layout = make<rcap_capture_layout>();
  layout.ids_dtype = 99;
  layout.memory = 17;
  layout.columns = -4;
  layout.tokens = INT64_MAX;
  layout.first_row = INT64_MIN;
  layout.ids_row_stride = -1;
  CHECK(rcap_tap_capture(draft, &layout, nullptr, -5, nullptr, -6, nullptr, -7, nullptr, error) == RCAP_STATUS_OK);
  layout.struct_size = 3;
  CHECK(rcap_tap_capture(draft, &layout, &layout, 1, nullptr, 0, nullptr, 0, nullptr, error) == RCAP_STATUS_OK);
  CHECK(error.text().empty());
  CHECK(rig.stats().suppressed == 3);
}

TEST_CASE("R19: the gate travels with the tap: its number finds the same tap with the same gate") {
  Setup setup = with_colliding_draft();
  setup.drafts = {{5, 3}, {5}};
  Rig rig(setup);
  std::vector<rcap_tap*> all;
  for (std::size_t i = 0; i < 3; ++i) all.push_back(rig.tap(i));
  all.push_back(rig.draft_tap(0, 0));
  all.push_back(rig.draft_tap(0, 1));
  all.push_back(rig.draft_tap(1, 0));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(rcap_tap_id(all[i], nullptr) == static_cast<std::int32_t>(i));  // they count in the order they were added
    rcap_tap* found = nullptr;
    CHECK(rcap_capturer_tap(rig.get(), static_cast<std::int32_t>(i), &found, nullptr) == RCAP_STATUS_OK);
    CHECK(found == all[i]);
    CHECK(rcap_tap_is_enabled(found, nullptr) == (i < 3 ? 1 : 0));
  }
  for (const std::int32_t bad : {-1, 6, INT32_MAX, INT32_MIN}) {
    Error error;
    rcap_tap* found = nullptr;
    CHECK(name(rcap_capturer_tap(rig.get(), bad, &found, error)) == "RCAP_STATUS_NOT_FOUND");
    CHECK(found == nullptr);
    CHECK(error.text().find(std::to_string(bad)) != std::string::npos);
  }
}

TEST_CASE("R20: drafts start denied and allowing one is refused; the target starts allowed") {
  Unsealed set;
  rcap_model* const target = set.add(RCAP_ROLE_TARGET);
  rcap_model* const draft = set.add(RCAP_ROLE_DRAFT);
  Error error;
  CHECK(name(rcap_model_set_capture(draft, RCAP_CAPTURE_ALLOW, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK_FALSE(error.text().empty());
  CHECK(rcap_model_set_capture(draft, RCAP_CAPTURE_DENY, nullptr) == RCAP_STATUS_OK);
  CHECK(name(rcap_model_set_capture(target, 2, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(name(rcap_model_set_capture(target, -1, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  rcap_tap* tap = nullptr;
  rcap_tap* draft_tap = nullptr;
  CHECK(add_tap(target, 3, nullptr, &tap) == "RCAP_STATUS_OK");
  CHECK(add_tap(draft, 3, nullptr, &draft_tap) == "RCAP_STATUS_OK");
  CHECK(rcap_tap_is_enabled(tap, nullptr) == 1);
  CHECK(rcap_tap_is_enabled(draft_tap, nullptr) == 0);
  CHECK(rcap_model_set_capture(target, RCAP_CAPTURE_DENY, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_tap_is_enabled(tap, nullptr) == 0);
  CHECK(rcap_model_set_capture(target, RCAP_CAPTURE_ALLOW, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_tap_is_enabled(tap, nullptr) == 1);
}

TEST_CASE("R20: changing a gate after sealing is an error and changes nothing") {
  Rig rig(with_colliding_draft());
  Error error;
  CHECK(name(rcap_model_set_capture(rig.target(), RCAP_CAPTURE_DENY, error)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(name(rcap_model_set_capture(rig.target(), RCAP_CAPTURE_ALLOW, error)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(rcap_tap_is_enabled(rig.tap(0), nullptr) == 1);
  rig.store({1}, {10});
  CHECK(rig.show({10}) == "1");
}

TEST_CASE("R20: sealing fails closed, says what is lacking, and may be repeated once that is there") {
  Unsealed set;
  Error error;
  const auto says = [&](const char* word) { return error.text().find(word) != std::string::npos; };
  CHECK(set.seal(error) == "RCAP_STATUS_INVALID_STATE");
  CHECK(says("target"));
  rcap_model* const draft = set.add(RCAP_ROLE_DRAFT);
  CHECK(add_tap(draft, 3) == "RCAP_STATUS_OK");
  CHECK(add_tap(draft, 5) == "RCAP_STATUS_OK");
  CHECK(add_tap(draft, 9) == "RCAP_STATUS_OK");
  CHECK(set.seal(error) == "RCAP_STATUS_INVALID_STATE");  // a draft is no target
  CHECK(says("target"));
  rcap_model* const target = set.add(RCAP_ROLE_TARGET);
  CHECK(set.seal(error) == "RCAP_STATUS_INVALID_STATE");
  CHECK(says("3"));
  CHECK(add_tap(target, 3) == "RCAP_STATUS_OK");
  CHECK(add_tap(target, 9) == "RCAP_STATUS_OK");
  CHECK(set.seal(error) == "RCAP_STATUS_INVALID_STATE");
  CHECK(says("5"));
  CHECK(add_tap(target, 5) == "RCAP_STATUS_OK");
  CHECK(rcap_model_set_capture(target, RCAP_CAPTURE_DENY, nullptr) == RCAP_STATUS_OK);
  CHECK(set.seal(error) == "RCAP_STATUS_INVALID_STATE");
  CHECK(says("den"));
  CHECK(rcap_model_set_capture(target, RCAP_CAPTURE_ALLOW, nullptr) == RCAP_STATUS_OK);
  CHECK(set.seal(error) == "RCAP_STATUS_OK");
  CHECK(error.text().empty());
  CHECK(set.seal(error) == "RCAP_STATUS_INVALID_STATE");
}

TEST_CASE("R20: a second target, a second tap on a layer, a layer that is not captured, a model without MoE layers") {
  Unsealed set;
  rcap_model* const target = set.add(RCAP_ROLE_TARGET);
  Error error;
  set.add(RCAP_ROLE_TARGET, RCAP_STATUS_INVALID_STATE, error);
  CHECK_FALSE(error.text().empty());
  set.add(2, RCAP_STATUS_INVALID_ARGUMENT, error);
  CHECK(error.text().find('2') != std::string::npos);
  CHECK(add_tap(target, 3) == "RCAP_STATUS_OK");
  CHECK(add_tap(target, 3, error) == "RCAP_STATUS_INVALID_STATE");
  CHECK(error.text().find('3') != std::string::npos);
  CHECK(add_tap(target, 4, error) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(error.text().find('4') != std::string::npos);
  CHECK(add_tap(target, -1, error) == "RCAP_STATUS_OUT_OF_RANGE");
  rcap_model* const draft = set.add(RCAP_ROLE_DRAFT);
  CHECK(add_tap(draft, 4) == "RCAP_STATUS_OK");  // a draft has layers of its own
  CHECK(add_tap(draft, 4, error) == "RCAP_STATUS_INVALID_STATE");
  Setup none;
  rcap_capturer* capturer = nullptr;
  CHECK(rcap_capturer_create(&none.config, none.layer_ids.data(), 0, nullptr, &capturer, error) != RCAP_STATUS_OK);
  CHECK(capturer == nullptr);
  CHECK(error.text().find("layer_ids") != std::string::npos);
}

TEST_CASE("R20: after the seal nothing is added; before it nothing is captured, ended, stored or read") {
  Rig rig(with_colliding_draft());
  rcap_model* model = nullptr;
  CHECK(name(rcap_capturer_add_model(rig.get(), RCAP_ROLE_DRAFT, "late", &model, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(add_tap(rig.target(), 3) == "RCAP_STATUS_INVALID_STATE");
  Setup open = with_colliding_draft();
  open.seal = false;
  Rig unsealed(open);
  CHECK(name(unsealed.capture(0, {1})) == "RCAP_STATUS_INVALID_STATE");
  Output output;
  CHECK(name(unsealed.try_end({.tokens = 0}, output)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(name(rcap_capturer_discard_forward(unsealed.get(), nullptr, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(name(unsealed.try_release({1})) == "RCAP_STATUS_INVALID_STATE");
  CHECK(name(unsealed.try_copy({1}, {2})) == "RCAP_STATUS_INVALID_STATE");
  CHECK(name(rcap_capturer_release_all(unsealed.get(), nullptr, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(unsealed.show({1}) == "RCAP_STATUS_INVALID_STATE");
  auto info = make<rcap_slot_info>();
  CHECK(name(rcap_capturer_slot_info_get(unsealed.get(), 1, &info, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(unsealed.stats().last_sequence == 0);
}
