// SPDX-License-Identifier: Apache-2.0
// The full axis of a model's layers, and back.
#include <functional>

#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

TEST_CASE("R26: the full axis has a column for every layer; dense ones are missing or hold the caller's value") {
  const Sketch compact{.start = 4, .rows = {"1.2 3.4 #2", "~", "5.6 7.8 #3"}, .layers = {1, 3}, .flags = {RCAP_TAP_HASH_ROUTED, RCAP_TAP_UNORDERED}};
  const Handle missing = to_full_axis(record(compact), 5, RCAP_FILL_MISSING, -1);
  CHECK(show(missing) == "4: - 1.2 - 3.4 - #2 | ~ | - 5.6 - 7.8 - #3");
  CHECK(view(missing.get()).layer_ids == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  CHECK(view(missing.get()).layer_flags ==
        std::vector<std::int32_t>{RCAP_TAP_PARTIAL, RCAP_TAP_HASH_ROUTED, RCAP_TAP_PARTIAL, RCAP_TAP_UNORDERED, RCAP_TAP_PARTIAL});
  const Handle value = to_full_axis(record(compact), 4, RCAP_FILL_VALUE, 255);
  CHECK(show(value) == "4: 255.255 1.2 255.255 3.4 #2 | ~ | 255.255 5.6 255.255 7.8 #3");
  CHECK(view(value.get()).layer_flags == std::vector<std::int32_t>{0, RCAP_TAP_HASH_ROUTED, 0, RCAP_TAP_UNORDERED});
  CHECK(view(value.get()).has_cells == 0);
  for (const Handle& full : {std::cref(missing), std::cref(value)}) CHECK(view(to_compact(full, {1, 3}).get()) == view(record(compact).get()));
}

TEST_CASE("R26, R29: a value has weights of 0, in every id dtype and weights dtype") {
  struct Case {
    std::int32_t experts;
    std::int32_t weights_dtype;
    std::int32_t id;
  };
  for (const Case& c : {Case{256, RCAP_DTYPE_FLOAT16, 254}, Case{65536, RCAP_DTYPE_BFLOAT16, 65279}, Case{100000, RCAP_DTYPE_FLOAT32, 99999}}) {
    CAPTURE(c.experts);
    const Handle compact = record(Sketch{.rows = {"1=9.2=8", "~"}, .layers = {1}, .num_experts = c.experts, .weights_dtype = c.weights_dtype});
    const std::string filled = std::to_string(c.id) + "=0." + std::to_string(c.id) + "=0";
    CHECK(show(to_full_axis(compact, 3, RCAP_FILL_VALUE, c.id)) == "0: " + filled + " 1=9.2=8 " + filled + " | ~");
  }
}

TEST_CASE("R7, R26: rows in which every PARTIAL layer was idle stay what they were") {
  const Sketch compact{.rows = {"1.2 -", "", "~", "- 3.4"}, .layers = {1, 2}, .flags = {RCAP_TAP_PARTIAL, RCAP_TAP_PARTIAL}};
  CHECK(show(record(compact)) == "0: 1.2 - | - - | ~ | - 3.4");
  const Handle missing = to_full_axis(record(compact), 4, RCAP_FILL_MISSING, 0);
  CHECK(show(missing) == "0: - 1.2 - - | - - - - | ~ | - - 3.4 -");
  const Handle value = to_full_axis(record(compact), 4, RCAP_FILL_VALUE, 9);
  CHECK(show(value) == "0: 9.9 1.2 - 9.9 | 9.9 - - 9.9 | ~ | 9.9 - 3.4 9.9");
  for (const Handle& full : {std::cref(missing), std::cref(value)}) CHECK(view(to_compact(full, {1, 2}).get()) == view(record(compact).get()));
}

TEST_CASE("R26: a record that has every layer is its own full axis") {
  const Sketch all{.rows = {"1.2 3.4 #2", "~"}, .layers = {0, 1}};
  CHECK(view(to_full_axis(record(all), 2, RCAP_FILL_MISSING, 0).get()) == view(record(all).get()));
  CHECK(view(to_full_axis(record(all), 2, RCAP_FILL_VALUE, 0).get()) == view(record(all).get()));
}

TEST_CASE("R26: the compact view takes some layers; a row that has no cell in them is missing") {
  const Sketch whole{
      .start = 1, .rows = {"1.1 2.2 3.3 #5", "- - 6.6 #6", "7.7 - - #7"}, .layers = {0, 4, 9}, .flags = {0, RCAP_TAP_HASH_ROUTED, RCAP_TAP_PARTIAL}};
  CHECK(show(to_compact(record(whole), {0, 4, 9})) == "1: 1.1 2.2 3.3 #5 | - - 6.6 #6 | 7.7 - - #7");
  CHECK(show(to_compact(record(whole), {0, 4})) == "1: 1.1 2.2 #5 | ~ | 7.7 - #7");
  CHECK(show(to_compact(record(whole), {4})) == "1: 2.2 #5 | ~ | ~");
  CHECK(view(to_compact(record(whole), {4}).get()).layer_flags == std::vector<std::int32_t>{RCAP_TAP_HASH_ROUTED});
  CHECK(view(to_compact(record(whole), {4}).get()).has_cells == 0);
  // A PARTIAL layer by itself: the row was there, the layer did not run on it.
  CHECK(show(to_compact(record(whole), {9})) == "1: 3.3 #5 | 6.6 #6 | - #7");
}

TEST_CASE("R26: layers that the record does not have, and values that are no expert, are refused") {
  const Handle compact = record(Sketch{.rows = {"1.2 3.4"}});  // layers 2 and 6
  const auto full = [&](std::int32_t num_layers, std::int32_t fill, std::int32_t id) {
    return refusal([&](rcap_record** record, rcap_error* err) { return rcap_record_to_full_axis(compact.get(), num_layers, fill, id, record, err); });
  };
  CHECK(full(6, RCAP_FILL_MISSING, 0) == "OUT_OF_RANGE: num_layers is 6, the record's highest layer is 6");
  CHECK(full(-1, RCAP_FILL_MISSING, 0) == "OUT_OF_RANGE: num_layers is -1, the record's highest layer is 6");
  CHECK(full(65537, RCAP_FILL_MISSING, 0) == "OUT_OF_RANGE: num_layers is 65537, a full axis has at most 65536");
  CHECK(full(INT32_MAX, RCAP_FILL_VALUE, 1) == "OUT_OF_RANGE: num_layers is 2147483647, a full axis has at most 65536");
  CHECK(show(to_full_axis(compact, 65536, RCAP_FILL_MISSING, 0)).size() > 65536);
  CHECK(full(7, 2, 0) == "INVALID_ARGUMENT: fill is 2, allowed are MISSING (0) and VALUE (1)");
  CHECK(full(7, RCAP_FILL_VALUE, 256) == "OUT_OF_RANGE: fill_id is 256, allowed are 0 .. 255");
  CHECK(full(7, RCAP_FILL_VALUE, -1) == "OUT_OF_RANGE: fill_id is -1, allowed are 0 .. 255");
  const auto some = [&](const std::vector<std::int32_t>& layers) {
    return refusal([&](rcap_record** record, rcap_error* err) {
      return rcap_record_to_compact(compact.get(), layers.empty() ? nullptr : layers.data(), static_cast<std::int64_t>(layers.size()), record, err);
    });
  };
  CHECK(some({}) == "INVALID_ARGUMENT: layer_ids is null");
  CHECK(some({5}) == "OUT_OF_RANGE: layer 5 is not in the record, it has 2 layers (2 .. 6)");
  CHECK(some({6, 2}) == "INVALID_ARGUMENT: layer_ids[1] is 2 after 6, layers must ascend and stand once");
  CHECK(some({2, 2}) == "INVALID_ARGUMENT: layer_ids[1] is 2 after 2, layers must ascend and stand once");
  CHECK(some({-1}) == "OUT_OF_RANGE: layer_ids[0] is -1, it must not be negative");
  CHECK(some({2, 6, 7}) == "OUT_OF_RANGE: layer_ids_count is 3, allowed are 1 .. 2");
}
