// SPDX-License-Identifier: Apache-2.0
// Interleave: token positions that context parallelism dealt out to ranks.
#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

namespace {

Sketch rows(std::vector<std::string> rows, std::int64_t start = 0) { return {.start = start, .rows = std::move(rows), .layers = {3}, .top_k = 1}; }

std::string refused(const Sketch& first, const std::vector<std::int64_t>& positions, const Sketch& second,
                    const std::vector<std::int64_t>& other_positions) {
  const Handle a = record(first);
  const Handle b = record(second);
  return refusal([&](rcap_record** record, rcap_error* err) {
    return rcap_record_interleave(a.get(), positions.empty() ? nullptr : positions.data(), static_cast<std::int64_t>(positions.size()), b.get(),
                                  other_positions.empty() ? nullptr : other_positions.data(), static_cast<std::int64_t>(other_positions.size()),
                                  record, err);
  });
}

}  // namespace

TEST_CASE("R45: rows go to their positions") {
  struct Case {
    const char* what;
    Sketch first;
    std::vector<std::int64_t> positions;
    Sketch second;
    std::vector<std::int64_t> other_positions;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"zigzag: rank 0 has the first and the last chunk",
       rows({"10 #1", "11 #1", "16 #1", "17 #1"}),
       {0, 1, 6, 7},
       rows({"12 #1", "13 #1", "14 #1", "15 #1"}),
       {2, 3, 4, 5},
       "0: 10 #1 | 11 #1 | 12 #1 | 13 #1 | 14 #1 | 15 #1 | 16 #1 | 17 #1"},
      {"every other token", rows({"10", "12 #2"}), {0, 2}, rows({"11 #3", "~"}), {1, 3}, "0: 10 | 11 #3 | 12 #2 | ~"},
      {"contiguous, positions from the starts", rows({"12", "13"}, 2), {}, rows({"10", "11"}), {}, "0: 10 | 11 | 12 | 13"},
      {"not ascending", rows({"13", "10"}), {3, 0}, rows({"12", "11"}), {2, 1}, "0: 10 | 11 | 12 | 13"},
      {"a position that nobody named is missing", rows({"12"}), {2}, rows({"16 #5"}), {6}, "2: 12 | ~ | ~ | ~ | 16 #5"},
      {"missing rows give way, to either side", rows({"10", "~", "12", "~"}), {}, rows({"~", "11", "~"}), {}, "0: 10 | 11 | 12 | ~"},
      {"a missing row's position is named all the same", rows({"12"}), {2}, rows({"~", "~"}), {0, 3}, "0: ~ | ~ | 12 | ~"},
      {"one side without rows", rows({}, 9), {}, rows({"15"}, 5), {}, "5: 15"},
      {"both without rows", rows({}, 9), {}, rows({}, 5), {}, "5:"},
      {"one side alone, twice named, once valid", rows({"~", "14", "~"}), {4, 4, 4}, rows({}), {}, "4: 14"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Handle forward = interleave(record(c.first), c.positions, record(c.second), c.other_positions);
    CHECK(show(forward) == c.expected);
    CHECK(view(interleave(record(c.second), c.other_positions, record(c.first), c.positions).get()) == view(forward.get()));
  }
}

TEST_CASE("R45: four ranks, one after the other") {
  const auto rank = [](std::int64_t r) { return record(rows({std::to_string(10 + r), std::to_string(17 - r)})); };
  const auto positions = [](std::int64_t r) { return std::vector<std::int64_t>{r, 7 - r}; };
  Handle whole = interleave(rank(0), positions(0), rank(3), positions(3));
  CHECK(show(whole) == "0: 10 | ~ | ~ | 13 | 14 | ~ | ~ | 17");
  whole = interleave(whole, {}, rank(1), positions(1));
  whole = interleave(rank(2), positions(2), whole, {});
  CHECK(show(whole) == "0: 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17");
}

TEST_CASE("R26, R29, R45: flags, weights and cells go with their rows") {
  const std::vector<std::int32_t> flags = {RCAP_TAP_PARTIAL, RCAP_TAP_UNORDERED};
  const Sketch first{.rows = {"1=1.2=2 3=3.4=4", "- 5=5.6=6"}, .flags = flags, .weights_dtype = RCAP_DTYPE_BFLOAT16};
  const Sketch second{.rows = {"- 7=7.8=65535"}, .flags = flags, .weights_dtype = RCAP_DTYPE_BFLOAT16};
  const Handle whole = interleave(record(first), {0, 4}, record(second), {2});
  CHECK(show(whole) == "0: 1=1.2=2 3=3.4=4 | ~ | - 7=7.8=65535 | ~ | - 5=5.6=6");
  CHECK(view(whole.get()).layer_flags == flags);
}

TEST_CASE("R45: a position twice is refused, naming the position and both rows") {
  CHECK(refused(rows({"1", "2"}), {4, 6}, rows({"3"}), {6}) ==
        "INVALID_ARGUMENT: interleave: position 6 is row 1 of the first record and row 0 of the second, both valid");
  CHECK(refused(rows({"1", "~", "2"}), {4, 4, 4}, rows({}), {}) ==
        "INVALID_ARGUMENT: interleave: position 4 is row 0 of the first record and row 2 of the first, both valid");
  CHECK(refused(rows({"~"}), {2}, rows({"1", "2", "3"}), {2, 3, 2}) ==
        "INVALID_ARGUMENT: interleave: position 2 is row 0 of the second record and row 2 of the second, both valid");
}

TEST_CASE("R45: positions that are none, too few or too many are refused") {
  CHECK(refused(rows({"1", "2"}), {4, -1}, rows({"3"}), {6}) ==
        "OUT_OF_RANGE: interleave: row 1 of the first record has position -1, allowed are 0 .. 9223372036854775806");
  CHECK(refused(rows({"1"}), {0}, rows({"3"}), {INT64_MAX}) ==
        "OUT_OF_RANGE: interleave: row 0 of the second record has position 9223372036854775807, allowed are 0 .. 9223372036854775806");
  CHECK(refused(rows({"1", "2"}), {4}, rows({"3"}), {6}) == "INVALID_ARGUMENT: positions_count is 1, the record has 2 rows");
  CHECK(refused(rows({"1", "2"}), {}, rows({"3"}), {6, 7}) == "INVALID_ARGUMENT: other_positions_count is 2, the record has 1 rows");
  CHECK(refused(rows({"1"}), {}, {.rows = {"3"}, .layers = {4}, .top_k = 1}, {6}) ==
        "INVALID_ARGUMENT: interleave: column 0 is layer 3 in the first record and 4 in the second");
  // Farther apart than the rows of 1024 ranks could lie.
  CHECK(refused({.rows = {"1.2 3.4"}}, {0}, {.rows = {"5.6 7.8"}}, {INT64_MAX - 1}) ==
        "OUT_OF_RANGE: interleave: positions reach from 0 to 9223372036854775806, 2 rows may span 67584");
  CHECK(refused(rows({"1", "2"}), {5, 67589 + 1024}, rows({"3"}), {6}) ==
        "OUT_OF_RANGE: interleave: positions reach from 5 to 68613, 3 rows may span 68608");
  const Handle widest = interleave(record(rows({"1", "2"})), {5, 67588 + 1024}, record(rows({"3"})), {6});
  CHECK(view(widest.get()).rows == 68608);
  const Handle a = record(rows({"1"}));
  CHECK(refusal([&](rcap_record** record, rcap_error* err) {
          return rcap_record_interleave(a.get(), nullptr, 1, a.get(), nullptr, 0, record, err);
        }) == "INVALID_ARGUMENT: positions_count is 1 with null, the record has 1 rows");
}
