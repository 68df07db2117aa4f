// SPDX-License-Identifier: Apache-2.0
// Partitions: which rank has which tokens of a pack.
#include <doctest/doctest.h>

#include "trainer/calls.h"

using namespace routecap_trainer;

TEST_CASE("R43: context and sequence parallelism deal out a pack") {
  struct Case {
    const char* what;
    Ranks ranks;
    Numbers offsets;
    Numbers expected;
  };
  const std::vector<Case> cases = {
      {"one rank has all", {}, {0, 3, 5}, {0, 1, 2, 3, 4}},
      {"contiguous, rank 0", {.cp_size = 2}, {0, 4, 10}, {0, 1, 4, 5, 6}},
      {"contiguous, rank 1", {.cp_size = 2, .cp_rank = 1}, {0, 4, 10}, {2, 3, 7, 8, 9}},
      {"zigzag, rank 0 has the first and the last chunk", {.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2}, {0, 8}, {0, 1, 6, 7}},
      {"zigzag, rank 1 has those between", {.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2, .cp_rank = 1}, {0, 8}, {2, 3, 4, 5}},
      {"zigzag over four ranks, sequence by sequence",
       {.split = RCAP_SPLIT_ZIGZAG, .cp_size = 4, .cp_rank = 1},
       {0, 8, 8, 24},
       {1, 6, 10, 11, 20, 21}},
      {"zigzag over one rank leaves an odd sequence alone", {.split = RCAP_SPLIT_ZIGZAG}, {0, 3}, {0, 1, 2}},
      {"sequence parallelism cuts the rank's tokens, rank 0", {.sp_size = 2}, {0, 6}, {0, 1, 2}},
      {"rank 1", {.sp_size = 2, .sp_rank = 1}, {0, 6}, {3, 4, 5}},
      {"a slice may begin inside a chunk of another sequence", {.cp_size = 2, .cp_rank = 1, .sp_size = 3, .sp_rank = 1}, {0, 2, 12}, {8, 9}},
      {"zigzag, then sequence parallelism", {.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2, .sp_size = 2, .sp_rank = 1}, {0, 8}, {6, 7}},
      {"no sequence", {.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2, .sp_size = 2}, {0}, {}},
      {"sequences without tokens", {.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2, .sp_size = 2}, {0, 0, 0}, {}},
      {"more ranks than memory could list", {.cp_size = INT32_MAX, .cp_rank = INT32_MAX - 1, .sp_size = INT32_MAX}, {0, 0}, {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(rank_tokens(c.ranks, c.offsets) == count(c.expected));
    CHECK(indices(c.ranks, c.offsets) == c.expected);
  }
}

TEST_CASE("R43: parts are cut out of anything with an item for every token, and gathered in rank order") {
  const Ranks ranks{.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2, .sp_size = 2};
  const Numbers offsets = {0, 4, 8};
  const Bytes whole = {10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61, 70, 71, 80, 81};
  const auto part = [&](std::int32_t cp_rank, std::int32_t sp_rank) {
    Ranks one = ranks;
    one.cp_rank = cp_rank;
    one.sp_rank = sp_rank;
    return split(one, offsets, 2, whole);
  };
  CHECK(part(0, 0) == Bytes{10, 11, 40, 41});
  CHECK(part(0, 1) == Bytes{50, 51, 80, 81});
  CHECK(part(1, 0) == Bytes{20, 21, 30, 31});
  CHECK(part(1, 1) == Bytes{60, 61, 70, 71});
  CHECK(gather(ranks, offsets, 2, {10, 11, 40, 41, 50, 51, 80, 81, 20, 21, 30, 31, 60, 61, 70, 71}) == whole);
}

TEST_CASE("R43: the multiple that a sequence needs") {
  CHECK(multiple({}) == 1);
  CHECK(multiple({.cp_size = 4}) == 4);
  CHECK(multiple({.split = RCAP_SPLIT_ZIGZAG}) == 1);
  CHECK(multiple({.split = RCAP_SPLIT_ZIGZAG, .cp_size = 4}) == 8);
  CHECK(multiple({.split = RCAP_SPLIT_ZIGZAG, .cp_size = 4, .sp_size = 3}) == 24);
  // Its ranks are not looked at.
  CHECK(multiple({.cp_size = 2, .cp_rank = 9, .sp_size = 2, .sp_rank = -4}) == 4);
  const rcap_partition_layout too_many = layout_of({.split = RCAP_SPLIT_ZIGZAG, .cp_size = INT32_MAX, .sp_size = INT32_MAX});
  std::int64_t number = 0;
  REQUIRE(rcap_partition_multiple(&too_many, &number, nullptr) == RCAP_STATUS_OK);
  CHECK(number == std::int64_t{2} * INT32_MAX * INT32_MAX);
}

TEST_CASE("R43: sizes, ranks, offsets and arrays that do not fit are refused by name, and nothing is written") {
  const auto tokens_of = [](const Ranks& ranks, const Numbers& offsets) {
    return refused([&](rcap_error* err) {
      const rcap_partition_layout layout = layout_of(ranks);
      std::int64_t tokens = -3;
      const std::int32_t status = rcap_partition_tokens(&layout, offsets.data(), count(offsets), &tokens, err);
      CHECK(tokens == -3);
      return status;
    });
  };
  CHECK(tokens_of({.split = 2}, {0}) == "INVALID_ARGUMENT: layout->split is 2, allowed are CONTIGUOUS (0) and ZIGZAG (1)");
  CHECK(tokens_of({.cp_size = 0}, {0}) == "OUT_OF_RANGE: layout->cp_size is 0, allowed are 1 .. 2147483647");
  CHECK(tokens_of({.sp_size = -1}, {0}) == "OUT_OF_RANGE: layout->sp_size is -1, allowed are 1 .. 2147483647");
  CHECK(tokens_of({.cp_size = 2, .cp_rank = 2}, {0}) == "OUT_OF_RANGE: layout->cp_rank is 2, allowed are 0 .. 1");
  CHECK(tokens_of({.cp_rank = -1}, {0}) == "OUT_OF_RANGE: layout->cp_rank is -1, only 0 is allowed");
  CHECK(tokens_of({.sp_size = 3, .sp_rank = 3}, {0}) == "OUT_OF_RANGE: layout->sp_rank is 3, allowed are 0 .. 2");
  CHECK(tokens_of({}, {2}) == "OUT_OF_RANGE: offsets[0] is 2, only 0 is allowed");
  CHECK(tokens_of({}, {0, 4, 2}) == "OUT_OF_RANGE: offsets[2] is 2 behind 4, they must not descend");
  CHECK(tokens_of({.cp_size = 4}, {0, 4, 10}) == "OUT_OF_RANGE: sequence 1 has 6 tokens in the pack, CONTIGUOUS over 4 ranks needs a multiple of 4");
  CHECK(tokens_of({.split = RCAP_SPLIT_ZIGZAG, .cp_size = 2}, {0, 6}) ==
        "OUT_OF_RANGE: sequence 0 has 6 tokens in the pack, ZIGZAG over 2 ranks needs a multiple of 4");
  CHECK(tokens_of({.cp_size = 2, .sp_size = 2}, {0, 6}) == "OUT_OF_RANGE: a context-parallel rank has 3 tokens, layout->sp_size is 2");

  const rcap_partition_layout layout = layout_of({.cp_size = 2});
  const Numbers offsets = {0, 4};
  std::int64_t tokens = -3;
  CHECK(refused([&](rcap_error* err) { return rcap_partition_tokens(&layout, offsets.data(), 0, &tokens, err); }) ==
        "INVALID_ARGUMENT: offsets_count is 0, it must be at least 1");
  CHECK(tokens == -3);
  const Bytes whole(16, 1);
  Bytes part(16, 2);
  const auto split_of = [&](std::int64_t item_bytes, const void* from, std::int64_t from_bytes, std::int64_t part_bytes) {
    return refused([&](rcap_error* err) {
      return rcap_partition_split(&layout, offsets.data(), 2, item_bytes, from, from_bytes, part.data(), part_bytes, err);
    });
  };
  CHECK(split_of(0, whole.data(), 4, 2) == "OUT_OF_RANGE: item_bytes is 0, allowed are 1 .. 9223372036854775807");
  CHECK(split_of(INT64_MAX, whole.data(), 4, 2) ==
        "OUT_OF_RANGE: tokens of the pack * item_bytes: 4 * 9223372036854775807 exceeds 9223372036854775807");
  CHECK(split_of(4, whole.data(), 15, 8) == "INVALID_ARGUMENT: whole_bytes is 15, it must be 16");
  CHECK(split_of(4, whole.data(), 16, 16) == "INVALID_ARGUMENT: part_bytes is 16, it must be 8");
  CHECK(split_of(4, nullptr, 16, 8) == "INVALID_ARGUMENT: whole is null, whole_bytes is 16");
  CHECK(refused([&](rcap_error* err) { return rcap_partition_gather(&layout, offsets.data(), 2, 4, whole.data(), 8, part.data(), 16, err); }) ==
        "INVALID_ARGUMENT: parts_bytes is 8, it must be 16");
  CHECK(part == Bytes(16, 2));
  Numbers list(4, -3);
  CHECK(refused([&](rcap_error* err) { return rcap_partition_indices(&layout, offsets.data(), 2, list.data(), 4, err); }) ==
        "INVALID_ARGUMENT: indices_count is 4, it must be 2");
  CHECK(list == Numbers(4, -3));
  rcap_partition_layout strange = layout;
  strange.reserved = 7;
  CHECK(refused([&](rcap_error* err) { return rcap_partition_indices(&strange, offsets.data(), 2, list.data(), 2, err); }) ==
        "UNSUPPORTED: layout->reserved is 7, it must be 0");
}
