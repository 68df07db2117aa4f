// SPDX-License-Identifier: Apache-2.0
// Layers of a pipeline stage, and their columns.
#include <doctest/doctest.h>

#include "trainer/calls.h"

using namespace routecap_trainer;

namespace {

/// Layers first .. end - 1.
Layers range(std::int32_t first, std::int32_t end) {
  Layers layers;
  for (std::int32_t layer = first; layer < end; ++layer) layers.push_back(layer);
  return layers;
}

}  // namespace

TEST_CASE("R43: a pipeline stage has its share of the layers, and of these the MoE layers") {
  struct Case {
    const char* what;
    Stage stage;
    Layers moe;
    Layers expected;
  };
  const std::vector<Case> cases = {
      {"one stage has all", {.num_layers = 4}, {1, 2, 3}, {1, 2, 3}},
      {"a first dense layer", {.num_layers = 8, .pp_size = 4}, {1, 2, 3, 4, 5, 6, 7}, {1}},
      {"the last stage", {.num_layers = 8, .pp_size = 4, .pp_rank = 3}, {1, 2, 3, 4, 5, 6, 7}, {6, 7}},
      {"every other layer", {.num_layers = 8, .pp_size = 2, .pp_rank = 1}, {1, 3, 5, 7}, {5, 7}},
      {"a stage of dense layers alone", {.num_layers = 6, .pp_size = 3}, {3, 4, 5}, {}},
      {"two chunks a stage, in rounds", {.num_layers = 8, .pp_size = 2, .pp_rank = 1, .vp_size = 2}, range(0, 8), {2, 3, 6, 7}},
      {"its second chunk alone", {.num_layers = 8, .pp_size = 2, .pp_rank = 1, .vp_size = 2, .vp_rank = 1}, range(0, 8), {6, 7}},
      {"a shorter first stage", {.num_layers = 10, .pp_size = 3, .first_layers = 2}, range(0, 10), {0, 1}},
      {"the stage behind it", {.num_layers = 10, .pp_size = 3, .pp_rank = 1, .first_layers = 2}, range(0, 10), {2, 3, 4, 5}},
      {"shorter first and last stages",
       {.num_layers = 61, .pp_size = 4, .pp_rank = 2, .first_layers = 15, .last_layers = 14},
       range(3, 61),
       range(31, 47)},
      {"the last of these", {.num_layers = 61, .pp_size = 4, .pp_rank = 3, .first_layers = 15, .last_layers = 14}, range(3, 61), range(47, 61)},
      {"a shorter last stage in chunks", {.num_layers = 10, .pp_size = 2, .pp_rank = 1, .vp_size = 2, .last_layers = 4}, range(0, 10), {3, 4, 8, 9}},
      {"no MoE layer", {.num_layers = 4, .pp_size = 2}, {}, {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(stage_layers(c.stage, c.moe) == c.expected);
  }
}

TEST_CASE("R43: layers that the stages or chunks do not divide, and layers that the model does not have, are refused by number") {
  const auto stage_of = [](const Stage& stage, const Layers& moe, std::size_t capacity = 9) {
    return refused([&](rcap_error* err) {
      Layers layers(capacity, -7);
      std::int64_t needed = -3;
      const std::int32_t status = rcap_stage_layers(stage.num_layers, stage.pp_size, stage.pp_rank, stage.vp_size, stage.vp_rank, stage.first_layers,
                                                    stage.last_layers, moe.data(), count(moe), layers.data(), count(layers), &needed, err);
      CHECK(layers == Layers(capacity, -7));
      CHECK(needed == (capacity < 9 ? 2 : -3));
      return status;
    });
  };
  CHECK(stage_of({.num_layers = 0}, {}) == "OUT_OF_RANGE: num_layers is 0, allowed are 1 .. 2147483647");
  CHECK(stage_of({.pp_size = 0}, {}) == "OUT_OF_RANGE: pp_size is 0, allowed are 1 .. 2147483647");
  CHECK(stage_of({.pp_rank = 1}, {}) == "OUT_OF_RANGE: pp_rank is 1, only 0 is allowed");
  CHECK(stage_of({.vp_size = 0}, {}) == "OUT_OF_RANGE: vp_size is 0, allowed are 1 .. 2147483647");
  CHECK(stage_of({.vp_rank = 1}, {}) == "OUT_OF_RANGE: vp_rank is 1, allowed are -1 .. 0");
  CHECK(stage_of({.num_layers = 4, .first_layers = 2}, {}) == "OUT_OF_RANGE: first_layers is 2, only 0 is allowed");
  CHECK(stage_of({.num_layers = 4, .pp_size = 2, .first_layers = 3, .last_layers = 2}, {}) == "OUT_OF_RANGE: last_layers is 2, allowed are 0 .. 1");
  CHECK(stage_of({.num_layers = 10, .pp_size = 4}, {}) ==
        "OUT_OF_RANGE: 10 layers are left for 4 stages of the same size (num_layers 10, first_layers 0, last_layers 0)");
  CHECK(stage_of({.num_layers = 10, .pp_size = 2, .first_layers = 4, .last_layers = 5}, {}) ==
        "OUT_OF_RANGE: 1 layers are left for 0 stages of the same size (num_layers 10, first_layers 4, last_layers 5)");
  CHECK(stage_of({.num_layers = 12, .pp_size = 3, .vp_size = 3}, {}) == "OUT_OF_RANGE: stage 0 has 4 layers, vp_size is 3");
  CHECK(stage_of({.num_layers = 13, .pp_size = 3, .vp_size = 3, .first_layers = 3}, {}) == "OUT_OF_RANGE: stage 1 has 5 layers, vp_size is 3");
  CHECK(stage_of({.num_layers = 16, .pp_size = 3, .vp_size = 3, .last_layers = 4}, {}) == "OUT_OF_RANGE: stage 2 has 4 layers, vp_size is 3");
  CHECK(stage_of({.num_layers = 4}, {1, 4}) == "OUT_OF_RANGE: moe_layers[1] is 4, num_layers is 4");
  CHECK(stage_of({.num_layers = 4}, {-1}) == "OUT_OF_RANGE: moe_layers[0] is -1, num_layers is 4");
  CHECK(stage_of({.num_layers = 4}, {2, 2}) == "INVALID_ARGUMENT: moe_layers[1] is 2 behind 2, they must ascend");
  CHECK(stage_of({.num_layers = 4}, {2, 3}, 1) == "OUT_OF_RANGE: layer_ids_count is 1, the stage has 2 MoE layers");
}

TEST_CASE("R43: a stage's columns are cut out in its order and put back") {
  const Layers layers = {1, 2, 5};
  const Bytes whole = {10, 11, 20, 21, 50, 51, 12, 13, 22, 23, 52, 53};  // two tokens
  CHECK(split_layers(layers, {5, 1}, 2, 2, RCAP_AXIS_ORDER_TOKENS_FIRST, whole) == Bytes{50, 51, 10, 11, 52, 53, 12, 13});
  CHECK(split_layers(layers, {5, 1}, 2, 2, RCAP_AXIS_ORDER_LAYERS_FIRST, whole) == Bytes{50, 51, 52, 53, 10, 11, 12, 13});
  CHECK(split_layers(layers, {}, 2, 2, RCAP_AXIS_ORDER_LAYERS_FIRST, whole) == Bytes{});
  Bytes made(12, 0);
  gather_layers(layers, {5, 1}, 2, 2, RCAP_AXIS_ORDER_LAYERS_FIRST, {50, 51, 52, 53, 10, 11, 12, 13}, made);
  CHECK(made == Bytes{10, 11, 0, 0, 50, 51, 12, 13, 0, 0, 52, 53});
  gather_layers(layers, {2}, 2, 2, RCAP_AXIS_ORDER_TOKENS_FIRST, {20, 21, 22, 23}, made);
  CHECK(made == whole);
}

TEST_CASE("R43: a layer that is not there is refused by number, one that stands twice too, and nothing is written") {
  const auto split_of = [](Layers layers, Layers selected, std::int64_t tokens, std::int64_t item_bytes, std::int32_t order, std::int64_t whole_bytes,
                           std::int64_t part_bytes) {
    return refused([&](rcap_error* err) {
      const Bytes whole(32, 1);
      Bytes part(32, 2);
      const std::int32_t status = rcap_layers_split(layers.data(), count(layers), selected.data(), count(selected), tokens, item_bytes, order,
                                                    whole.data(), whole_bytes, part.data(), part_bytes, err);
      CHECK(part == Bytes(32, 2));
      return status;
    });
  };
  CHECK(split_of({1, 5}, {7}, 2, 1, 0, 4, 2) == "OUT_OF_RANGE: selected: layer 7 is none of the 2 layers there are (1 .. 5)");
  CHECK(split_of({1, 5}, {3}, 2, 1, 0, 4, 2) == "OUT_OF_RANGE: selected: layer 3 is none of the 2 layers there are (1 .. 5)");
  CHECK(split_of({1, 5, 1}, {5}, 2, 1, 0, 6, 2) == "INVALID_ARGUMENT: layer_ids: layer 1 stands at 0 and at 2");
  CHECK(split_of({1, 5}, {5, 5}, 2, 1, 0, 4, 4) == "INVALID_ARGUMENT: selected: layer 5 stands at 0 and at 1");
  CHECK(split_of({1, 5}, {5}, -1, 1, 0, 4, 2) == "OUT_OF_RANGE: tokens is -1, allowed are 0 .. 9223372036854775807");
  CHECK(split_of({1, 5}, {5}, 2, 0, 0, 4, 2) == "OUT_OF_RANGE: item_bytes is 0, allowed are 1 .. 9223372036854775807");
  CHECK(split_of({1, 5}, {5}, 2, 1, 2, 4, 2) == "INVALID_ARGUMENT: order is 2, allowed are TOKENS_FIRST (0) and LAYERS_FIRST (1)");
  CHECK(split_of({1, 5}, {5}, INT64_MAX, 1, 0, 4, 2) == "OUT_OF_RANGE: tokens * layers: 9223372036854775807 * 2 exceeds 9223372036854775807");
  CHECK(split_of({1, 5}, {5}, INT64_MAX / 2, 2, 0, 4, 2) ==
        "OUT_OF_RANGE: tokens * layers * item_bytes: 9223372036854775806 * 2 exceeds 9223372036854775807");
  CHECK(split_of({1, 5}, {5}, 2, 1, 0, 5, 2) == "INVALID_ARGUMENT: whole_bytes is 5, it must be 4");
  CHECK(split_of({1, 5}, {5}, 2, 1, 0, 4, 3) == "INVALID_ARGUMENT: part_bytes is 3, it must be 2");
  CHECK(split_of({}, {5}, 2, 1, 0, 4, 3) == "INVALID_ARGUMENT: layer_ids is null");
}
