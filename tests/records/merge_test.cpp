// SPDX-License-Identifier: Apache-2.0
// Merge: prefill rows up to an explicit boundary, then decode rows.
#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

TEST_CASE("R40: prefill rows below the boundary, decode rows from it on") {
  const Handle prefill = record(Sketch{.start = 2, .rows = {"1.1 1.2 #1", "2.1 2.2 #1", "~", "4.1 4.2 #1"}});
  struct Case {
    const char* what;
    std::int64_t start;
    std::vector<std::string> rows;
    std::int64_t boundary;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"decode starts at the boundary", 5, {"8.1 8.2 #2", "9.1 9.2 #2"}, 5, "2: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 8.1 8.2 #2 | 9.1 9.2 #2"},
      {"decode has the prompt too, missing", 0, {"~", "~", "~", "~", "~", "8.1 8.2 #2"}, 5, "2: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 8.1 8.2 #2"},
      {"decode has the prompt too, other rows", 4, {"7.1 7.2 #2", "~", "9.1 9.2 #2"}, 5, "2: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | ~ | 9.1 9.2 #2"},
      {"all of the prefill", 4, {"~", "~", "9.1 9.2"}, 6, "2: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #1 | 9.1 9.2"},
      {"nothing of the prefill", 1, {"~", "9.1 9.2"}, 2, "2: 9.1 9.2"},
      {"no decoded row", 6, {}, 6, "2: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #1"},
      {"decode ends at the boundary", 3, {"7.1 7.2", "7.3 7.4"}, 5, "2: 1.1 1.2 #1 | 2.1 2.2 #1 | ~"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(show(merge(prefill, record(Sketch{.start = c.start, .rows = c.rows}), c.boundary)) == c.expected);
  }
}

TEST_CASE("R40: a side that does not reach the boundary, and another shape, are refused") {
  const Handle prefill = record(Sketch{.start = 2, .rows = {"1.1 1.2", "2.1 2.2"}});
  const auto refused = [&](const Sketch& decode, std::int64_t boundary) {
    const Handle other = record(decode);
    return refusal([&](rcap_record** record, rcap_error* err) { return rcap_record_merge(prefill.get(), other.get(), boundary, record, err); });
  };
  const Sketch decode{.start = 3, .rows = {"8.1 8.2", "9.1 9.2"}};
  CHECK(refused(decode, 5) == "OUT_OF_RANGE: merge: boundary 5, the prefill record has the positions [2, 4) and does not reach it");
  CHECK(refused(decode, 1) == "OUT_OF_RANGE: merge: boundary 1, the prefill record has the positions [2, 4) and does not reach it");
  CHECK(refused(decode, 2) == "OUT_OF_RANGE: merge: boundary 2, the decode record has the positions [3, 5) and does not reach it");
  CHECK(refused({.start = 0, .rows = {"8.1 8.2"}}, 3) ==
        "OUT_OF_RANGE: merge: boundary 3, the decode record has the positions [0, 1) and does not reach it");
  CHECK(refused(decode, -1) == "OUT_OF_RANGE: merge: boundary -1, the prefill record has the positions [2, 4) and does not reach it");
  CHECK(refused({.start = 3, .num_experts = 64}, 3) == "INVALID_ARGUMENT: merge: num_experts is 256 in the first record and 64 in the second");
}
