// SPDX-License-Identifier: Apache-2.0
// Geometries that plan and create refuse, and set-up calls.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "unit/refusal.h"

using namespace routecap_test;

namespace {

struct Case {
  const char* what;
  std::int32_t status;
  Words words;
  std::function<void(Setup&)> spoil;
};

constexpr std::int32_t kInvalid = RCAP_STATUS_INVALID_ARGUMENT;
constexpr std::int32_t kRange = RCAP_STATUS_OUT_OF_RANGE;
constexpr std::int64_t kHuge = std::int64_t{1} << 60;

const std::vector<Case> kCases = {
    {"E 0", kRange, {"num_experts", "0", "1"}, [](Setup& s) { s.config.num_experts = 0; }},
    {"E negative", kRange, {"num_experts", "-5", "1"}, [](Setup& s) { s.config.num_experts = -5; }},
    {"K 0", kRange, {"top_k", "0", "1"}, [](Setup& s) { s.config.top_k = 0; }},
    {"K negative", kRange, {"top_k", "-1"}, [](Setup& s) { s.config.top_k = -1; }},
    {"K > E", kRange, {"top_k", "65", "64"}, [](Setup& s) { s.config.top_k = 65; }},
    {"fused negative", kRange, {"num_fused_shared_experts", "-1", "0"}, [](Setup& s) { s.config.num_fused_shared_experts = -1; }},
    {"fused overflows the columns",
     kRange,
     {"num_fused_shared_experts", "2147483647"},
     [](Setup& s) { s.config.num_fused_shared_experts = INT32_MAX; }},
    {"slots negative", kRange, {"num_slots", "-1", "0"}, [](Setup& s) { s.config.num_slots = -1; }},
    {"slots overflow", kRange, {"num_slots", "1152921504606846976"}, [](Setup& s) { s.config.num_slots = kHuge; }},
    {"weights of an integer dtype", kInvalid, {"weights_dtype", "4|INT32"}, [](Setup& s) { s.config.weights_dtype = RCAP_DTYPE_INT32; }},
    {"weights of an unknown dtype", kInvalid, {"weights_dtype", "77"}, [](Setup& s) { s.config.weights_dtype = 77; }},
    {"unknown weights kind", kInvalid, {"weights_kind", "3"}, [](Setup& s) { s.config.weights_kind = 3; }},
    {"unknown check level", kInvalid, {"check_level", "2"}, [](Setup& s) { s.config.check_level = 2; }},
    {"unknown finalize mode", kInvalid, {"finalize_mode", "-1"}, [](Setup& s) { s.config.finalize_mode = -1; }},
    {"unknown busy policy",
     kInvalid,
     {"busy_policy", "2"},
     [](Setup& s) { s.config.finalize_mode = RCAP_FINALIZE_OWN_THREAD, s.config.busy_policy = 2; }},
    {"waiting without an own thread", kInvalid, {"busy_policy", "OWN_THREAD|finalize_mode"}, [](Setup& s) { s.config.busy_policy = RCAP_BUSY_WAIT; }},
    {"negative busy timeout",
     kInvalid,
     {"busy_timeout_ns", "-1"},
     [](Setup& s) {
       s.config.finalize_mode = RCAP_FINALIZE_OWN_THREAD, s.config.busy_policy = RCAP_BUSY_WAIT;
       s.config.busy_timeout_ns = -1;
     }},
    {"tags neither 0 nor 1", kInvalid, {"tags", "2"}, [](Setup& s) { s.config.tags = 2; }},
    {"no staging block", kRange, {"pipeline_depth", "0", "1"}, [](Setup& s) { s.config.pipeline_depth = 0; }},
    {"negative depth", kRange, {"pipeline_depth", "-2"}, [](Setup& s) { s.config.pipeline_depth = -2; }},
    {"too many staging blocks", kRange, {"pipeline_depth", "4097", "4096"}, [](Setup& s) { s.config.pipeline_depth = 4097; }},
    {"page size 0", kRange, {"page_size", "0"}, [](Setup& s) { s.config.page_size = 0; }},
    {"slots are no whole number of pages", kInvalid, {"num_slots|page_size", "128", "12"}, [](Setup& s) { s.config.page_size = 12; }},
    {"reserved negative", kRange, {"reserved_slots", "-1"}, [](Setup& s) { s.config.reserved_slots = -1; }},
    {"more reserved than there are", kRange, {"reserved_slots", "129", "128"}, [](Setup& s) { s.config.reserved_slots = 129; }},
    {"no layers", kRange, {"layer_ids", "0"}, [](Setup& s) { s.layer_ids.clear(); }},
    {"layers not ascending",
     kInvalid,
     {"layer_ids", "5", "3"},
     [](Setup& s) {
       s.layer_ids = {5, 3, 9};
     }},
    {"layer twice",
     kInvalid,
     {"layer_ids", "5"},
     [](Setup& s) {
       s.layer_ids = {3, 5, 5};
     }},
    {"negative layer",
     kRange,
     {"layer_ids", "-3"},
     [](Setup& s) {
       s.layer_ids = {-3, 5, 9};
     }},
    {"bytes of a slot overflow",
     kRange,
     {"slots|bytes|layer|rows", "2147483647|overflow|exceeds"},
     [](Setup& s) {
       s.config.num_experts = INT32_MAX;
       s.config.top_k = INT32_MAX;
       s.config.num_slots = std::int64_t{1} << 40;
       s.config.chunked_prefill_size = std::int64_t{1} << 40;
     }},
    {"staging overflows",
     kRange,
     {""},
     [](Setup& s) {
       s.config.chunked_prefill_size = std::int64_t{1} << 48;
       s.config.pipeline_depth = 4096;
     }},
};

}  // namespace

TEST_CASE("bad input: a geometry out of its limits is refused by plan and create alike, and nothing is written") {
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.what));
    Setup setup;
    c.spoil(setup);
    const auto count = static_cast<std::int64_t>(setup.layer_ids.size());
    Error planned;
    auto plan = make<rcap_capturer_plan>();
    plan.device_rows = 12345;
    CHECK(name(rcap_capturer_plan_get(&setup.config, setup.layer_ids.data(), count, &plan, planned)) == name(c.status));
    CHECK(plan.device_rows == 12345);
    check_text(planned.text(), c.words);
    Error created;
    rcap_capturer* capturer = nullptr;
    CHECK(name(rcap_capturer_create(&setup.config, setup.layer_ids.data(), count, nullptr, &capturer, created)) == name(c.status));
    CHECK(capturer == nullptr);
    CHECK(created.text() == planned.text());
  }
}

TEST_CASE("bad input: null arguments of plan and create") {
  const Setup setup;
  auto plan = make<rcap_capturer_plan>();
  rcap_capturer* capturer = nullptr;
  Error error;
  const std::int32_t* layers = setup.layer_ids.data();
  CHECK(name(rcap_capturer_plan_get(nullptr, layers, 3, &plan, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"config"});
  CHECK(name(rcap_capturer_plan_get(&setup.config, nullptr, 3, &plan, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"layer_ids"});
  CHECK(name(rcap_capturer_plan_get(&setup.config, layers, -1, &plan, error)) != "RCAP_STATUS_OK");
  check_text(error.text(), {"layer_ids", "-1"});
  CHECK(name(rcap_capturer_plan_get(&setup.config, layers, INT64_MAX, &plan, error)) != "RCAP_STATUS_OK");
  CHECK(name(rcap_capturer_plan_get(&setup.config, layers, 3, nullptr, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"plan"});
  CHECK(name(rcap_capturer_create(nullptr, layers, 3, nullptr, &capturer, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(name(rcap_capturer_create(&setup.config, nullptr, 3, nullptr, &capturer, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(name(rcap_capturer_create(&setup.config, layers, 3, nullptr, nullptr, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"capturer"});
  CHECK(capturer == nullptr);
}

TEST_CASE("bad input: set-up calls") {
  Setup setup;
  setup.seal = false;
  Rig rig(setup);
  rcap_model* model = nullptr;
  rcap_tap* tap = nullptr;
  Error error;
  CHECK(name(rcap_capturer_add_model(rig.get(), 2, "x", &model, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"role", "2"});
  CHECK(name(rcap_capturer_add_model(rig.get(), RCAP_ROLE_DRAFT, nullptr, &model, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"name"});
  CHECK(name(rcap_capturer_add_model(rig.get(), RCAP_ROLE_DRAFT, "x", nullptr, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"model"});
  CHECK(name(rcap_capturer_add_model(rig.get(), RCAP_ROLE_TARGET, "x", &model, error)) == "RCAP_STATUS_INVALID_STATE");
  check_text(error.text(), {"target"});
  CHECK(model == nullptr);
  REQUIRE(rcap_capturer_add_model(rig.get(), RCAP_ROLE_DRAFT, "eagle head", &model, error) == RCAP_STATUS_OK);
  CHECK(name(rcap_model_set_capture(model, RCAP_CAPTURE_ALLOW, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"eagle head"});  // names the model by the name it was given
  CHECK(name(rcap_model_set_capture(model, 5, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"gate", "5"});
  CHECK(name(rcap_model_add_tap(model, -1, nullptr, nullptr, 0, &tap, error)) == "RCAP_STATUS_OUT_OF_RANGE");
  check_text(error.text(), {"layer_number", "-1"});
  CHECK(name(rcap_model_add_tap(rig.target(), 4, nullptr, nullptr, 0, &tap, error)) == "RCAP_STATUS_OUT_OF_RANGE");
  check_text(error.text(), {"layer_number", "4"});
  CHECK(name(rcap_model_add_tap(rig.target(), 5, nullptr, nullptr, 0, &tap, error)) == "RCAP_STATUS_INVALID_STATE");
  check_text(error.text(), {"5"});
  CHECK(name(rcap_model_add_tap(model, 1, nullptr, nullptr, 0, nullptr, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"tap"});
  auto options = make<rcap_tap_options>();
  options.flags = 8;
  CHECK(name(rcap_model_add_tap(model, 1, &options, nullptr, 0, &tap, error)) == "RCAP_STATUS_UNSUPPORTED");
  check_text(error.text(), {"flags", "8"});
  options.flags = -1;
  CHECK(name(rcap_model_add_tap(model, 1, &options, nullptr, 0, &tap, error)) == "RCAP_STATUS_UNSUPPORTED");
  CHECK(tap == nullptr);
  CHECK(rcap_capturer_seal(rig.get(), error) == RCAP_STATUS_OK);  // none of it has left a trace
  rcap_tap* second = nullptr;
  CHECK(name(rcap_capturer_tap(rig.get(), 3, &second, nullptr)) == "RCAP_STATUS_NOT_FOUND");
}

TEST_CASE("bad input: backends") {
  rcap_backend* backend = nullptr;
  Error error;
  CHECK(name(rcap_backend_open(nullptr, nullptr, &backend, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  check_text(error.text(), {"name"});
  CHECK(name(rcap_backend_open("", nullptr, &backend, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(name(rcap_backend_open("abacus", nullptr, &backend, error)) == "RCAP_STATUS_NOT_FOUND");
  check_text(error.text(), {"abacus"});
  CHECK(name(rcap_backend_open("host", nullptr, nullptr, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  auto options = make<rcap_backend_options>();
  options.device_ordinal = 1;
  CHECK(name(rcap_backend_open("host", &options, &backend, error)) == "RCAP_STATUS_OUT_OF_RANGE");
  check_text(error.text(), {"device_ordinal", "1", "0"});
  options.device_ordinal = 0;
  for (const std::int32_t threads : {-1, 2}) {
    options.threads = threads;
    CHECK(name(rcap_backend_open("host", &options, &backend, error)) == "RCAP_STATUS_OUT_OF_RANGE");
    check_text(error.text(), {"threads", threads == 2 ? "2" : "-1"});
  }
  CHECK(backend == nullptr);
  for (const std::int32_t threads : {0, 1}) {
    options.threads = threads;
    REQUIRE(rcap_backend_open("host", &options, &backend, error) == RCAP_STATUS_OK);
    rcap_backend_destroy(backend);
  }
}
