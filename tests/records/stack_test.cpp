// SPDX-License-Identifier: Apache-2.0
// Stack: the layers of pipeline stages.
#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

TEST_CASE("R44: the layers of two stages stand in order, with their flags") {
  const Sketch first{.start = 5, .rows = {"1.1 1.2 #3", "~", "3.1 3.2 #4"}, .layers = {2, 6}, .flags = {RCAP_TAP_HASH_ROUTED, 0}};
  const Sketch second{.start = 5, .rows = {"8.1 8.2 8.3 #3", "~", "9.1 9.2 9.3 #4"}, .layers = {0, 3, 7}, .flags = {0, RCAP_TAP_UNORDERED, 0}};
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    const Handle whole = swapped ? stack(record(second), record(first)) : stack(record(first), record(second));
    CHECK(show(whole) == "5: 8.1 1.1 8.2 1.2 8.3 #3 | ~ | 9.1 3.1 9.2 3.2 9.3 #4");
    const View bytes = view(whole.get());
    CHECK(bytes.layer_ids == std::vector<std::int32_t>{0, 2, 3, 6, 7});
    CHECK(bytes.layer_flags == std::vector<std::int32_t>{0, RCAP_TAP_HASH_ROUTED, RCAP_TAP_UNORDERED, 0, 0});
    CHECK(bytes.has_cells == 0);
    CHECK(bytes.row_bits == Bytes{0x05});
  }
}

TEST_CASE("R44: a row that one stage lacks is valid with the other's cells") {
  const Sketch first{.rows = {"1.1 1.2 #3", "~", "~", "4.1 4.2 #3"}, .layers = {2, 6}};
  const Sketch second{.rows = {"8.1 #3", "8.2 #5", "~", "~"}, .layers = {9}};
  const Handle whole = stack(record(first), record(second));
  CHECK(show(whole) == "0: 1.1 1.2 8.1 #3 | - - 8.2 #5 | ~ | 4.1 4.2 - #3");
  const View bytes = view(whole.get());
  CHECK(bytes.has_cells == 1);
  CHECK(bytes.layer_flags == std::vector<std::int32_t>{0, 0, 0});
  CHECK(bytes.row_bits == Bytes{0x0B});
  CHECK(bytes.cell_bits == Bytes{0x27, 0x06});
  CHECK(bytes.spans == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}, {1, 5}, {3, 3}});
  // Each stage comes out as it went in.
  CHECK(view(to_compact(whole, {2, 6}).get()) == view(record(first).get()));
  CHECK(view(to_compact(whole, {9}).get()) == view(record(second).get()));
  // Cells have a validity of their own only as long as one is needed.
  CHECK(view(slice(whole, 0, 1).get()).has_cells == 0);
  CHECK(view(slice(whole, 2, 4).get()).cell_bits == Bytes{0x18});
}

TEST_CASE("R44: three stages, the weights with them") {
  const auto stage = [](std::int32_t layer, const char* row) {
    return record(Sketch{
        .rows = {row, row}, .layers = {layer}, .num_experts = 70000, .weights_dtype = RCAP_DTYPE_FLOAT16, .weights_kind = RCAP_WEIGHTS_SCALED});
  };
  const Handle whole = stack(stack(stage(4, "69999=1.5=2"), stage(1, "7=3.8=4")), stage(3, "9=5.10=6"));
  CHECK(show(whole) == "0: 7=3.8=4 9=5.10=6 69999=1.5=2 | 7=3.8=4 9=5.10=6 69999=1.5=2");
  CHECK(view(whole.get()).weights_kind == RCAP_WEIGHTS_SCALED);
}

TEST_CASE("R44: a shared layer, other positions, cells of another shape and two versions of a row are refused") {
  const Handle first = record(Sketch{.start = 5, .rows = {"1.1 1.2 #3", "~"}});
  const auto refused = [&](const Sketch& other) {
    const Handle second = record(other);
    return refusal([&](rcap_record** record, rcap_error* err) { return rcap_record_stack(first.get(), second.get(), record, err); });
  };
  CHECK(refused({.start = 5, .rows = {"1.1 1.2 #3", "~"}, .layers = {6, 7}}) ==
        "INVALID_ARGUMENT: stack: layer 6 is in both records (layers 2 .. 6 and 6 .. 7)");
  CHECK(refused({.start = 4, .rows = {"1.1 #3", "~"}, .layers = {7}}) ==
        "OUT_OF_RANGE: stack: the first record has the positions [5, 7), the second [4, 6)");
  CHECK(refused({.start = 5, .rows = {"1.1 #3"}, .layers = {7}}) ==
        "OUT_OF_RANGE: stack: the first record has the positions [5, 7), the second [5, 6)");
  CHECK(refused({.start = 5, .rows = {"1.1 #4", "1.1 #4"}, .layers = {7}}) ==
        "INVALID_ARGUMENT: stack: position 5 has weight version 3 in the first record and 4 in the second");
  CHECK(refused({.start = 5, .rows = {"~", "~"}, .layers = {7}, .num_experts = 8}) ==
        "INVALID_ARGUMENT: stack: num_experts is 256 in the first record and 8 in the second");
  CHECK(refused({.start = 5, .rows = {"~", "~"}, .layers = {7}, .top_k = 1}) ==
        "INVALID_ARGUMENT: stack: top_k is 2 in the first record and 1 in the second");
  CHECK(refused({.start = 5, .rows = {"~", "~"}, .layers = {7}, .weights_dtype = RCAP_DTYPE_FLOAT16}) ==
        "INVALID_ARGUMENT: stack: weights_dtype is 0 in the first record and 6 in the second");
}
