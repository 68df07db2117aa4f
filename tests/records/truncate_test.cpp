// SPDX-License-Identifier: Apache-2.0
// Truncate: rows go with the tokens.
#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

TEST_CASE("R4: a request cut to n tokens keeps the rows below n - 1, with INCLUDE_LAST below n") {
  const Handle whole = record(Sketch{.start = 3, .rows = {"~", "1.1 1.2 #4", "~", "2.1 2.2 #5"}});  // positions 3 .. 6
  struct Case {
    std::int64_t tokens;
    std::int32_t flags;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {8, 0, "3: ~ | 1.1 1.2 #4 | ~ | 2.1 2.2 #5"},
      {7, RCAP_READ_INCLUDE_LAST, "3: ~ | 1.1 1.2 #4 | ~ | 2.1 2.2 #5"},
      {INT64_MAX, 0, "3: ~ | 1.1 1.2 #4 | ~ | 2.1 2.2 #5"},
      {INT64_MAX, RCAP_READ_INCLUDE_LAST, "3: ~ | 1.1 1.2 #4 | ~ | 2.1 2.2 #5"},
      {7, 0, "3: ~ | 1.1 1.2 #4 | ~"},
      {6, 0, "3: ~ | 1.1 1.2 #4"},
      {6, RCAP_READ_INCLUDE_LAST, "3: ~ | 1.1 1.2 #4 | ~"},
      {5, 0, "3: ~"},
      {4, 0, "3:"},
      {3, RCAP_READ_INCLUDE_LAST, "3:"},
      {1, 0, "3:"},
      {0, 0, "3:"},
      {0, RCAP_READ_INCLUDE_LAST, "3:"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.tokens);
    CAPTURE(c.flags);
    CHECK(show(truncate(whole, c.tokens, c.flags)) == c.expected);
  }
  CHECK(view(truncate(whole, 5).get()).spans.empty());
}

TEST_CASE("R4: negative tokens and unknown flags are refused") {
  const Handle whole = record(Sketch{.rows = {"1.1 1.2"}});
  const auto refused = [&](std::int64_t tokens, std::int32_t flags) {
    return refusal([&](rcap_record** record, rcap_error* err) { return rcap_record_truncate(whole.get(), tokens, flags, record, err); });
  };
  CHECK(refused(-1, 0) == "OUT_OF_RANGE: tokens is -1, allowed are 0 .. 9223372036854775807");
  CHECK(refused(2, 2) == "UNSUPPORTED: flags is 2, known bits are INCLUDE_LAST (1)");
}
