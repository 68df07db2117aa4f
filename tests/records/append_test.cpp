// SPDX-License-Identifier: Apache-2.0
// Append: deltas become the whole again, an overlap is somebody's decision, a gap or another shape is refused.
#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

namespace {

Call appending(const Handle& self, const Handle& next, std::int32_t overlap = RCAP_OVERLAP_REFUSE) {
  return [&self, &next, overlap](rcap_record** record, rcap_error* err) { return rcap_record_append(self.get(), next.get(), overlap, record, err); };
}

}  // namespace

TEST_CASE("R5: deltas, each with its own start, append to the whole read") {
  const Handle whole = record(Sketch{.start = 4, .rows = {"1.2 3.4 #7", "~", "5.6 7.8 #7", "9.10 11.12 #8", "~", "13.14 15.16 #9"}});
  Handle so_far = slice(whole, 4, 4);
  for (std::int64_t position = 4; position < 10; ++position) so_far = append(so_far, slice(whole, position, position + 1));
  CHECK(show(so_far) == "4: 1.2 3.4 #7 | ~ | 5.6 7.8 #7 | 9.10 11.12 #8 | ~ | 13.14 15.16 #9");
  CHECK(view(so_far.get()) == view(whole.get()));
}

TEST_CASE("R39: adjacent and overlapping records, what stays and what is replaced") {
  const Sketch old{.start = 10, .rows = {"1.1 1.2 #1", "2.1 2.2 #1", "~", "4.1 4.2 #2"}};
  struct Case {
    const char* what;
    std::int64_t start;
    std::vector<std::string> rows;
    std::int32_t overlap;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"right behind", 14, {"5.5 5.6 #2"}, RCAP_OVERLAP_REFUSE, "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2 | 5.5 5.6 #2"},
      {"nothing, right behind", 14, {}, RCAP_OVERLAP_REFUSE, "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2"},
      {"nothing, inside: no position is in both", 11, {}, RCAP_OVERLAP_REFUSE, "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2"},
      {"old stays, new behind",
       12,
       {"8.1 8.2 #3", "9.1 9.2 #3", "6.1 6.2 #3"},
       RCAP_OVERLAP_KEEP_OLD,
       "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2 | 6.1 6.2 #3"},
      {"new replaces",
       12,
       {"8.1 8.2 #3", "9.1 9.2 #3", "6.1 6.2 #3"},
       RCAP_OVERLAP_KEEP_NEW,
       "10: 1.1 1.2 #1 | 2.1 2.2 #1 | 8.1 8.2 #3 | 9.1 9.2 #3 | 6.1 6.2 #3"},
      {"a new missing row replaces too", 11, {"~", "8.1 8.2 #3"}, RCAP_OVERLAP_KEEP_NEW, "10: 1.1 1.2 #1 | ~ | 8.1 8.2 #3 | 4.1 4.2 #2"},
      {"old stays, also behind the new one's end", 11, {"~", "8.1 8.2 #3"}, RCAP_OVERLAP_KEEP_OLD, "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2"},
      {"all replaced", 10, {"~", "~", "~", "~", "~"}, RCAP_OVERLAP_KEEP_NEW, "10: ~ | ~ | ~ | ~ | ~"},
      {"all kept", 10, {"7.1 7.2", "~", "~", "~", "7.8 7.9 #5"}, RCAP_OVERLAP_KEEP_OLD, "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2 | 7.8 7.9 #5"},
      {"right behind, whatever the policy", 14, {"5.5 5.6 #2"}, RCAP_OVERLAP_KEEP_NEW, "10: 1.1 1.2 #1 | 2.1 2.2 #1 | ~ | 4.1 4.2 #2 | 5.5 5.6 #2"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(show(append(record(old), record(Sketch{.start = c.start, .rows = c.rows}), c.overlap)) == c.expected);
  }
}

TEST_CASE("R39: a gap, a refused overlap and an earlier start are refused, both ranges named") {
  const Handle old = record(Sketch{.start = 10, .rows = {"1.1 1.2", "2.1 2.2", "3.1 3.2"}});
  const auto at = [](std::int64_t start, std::vector<std::string> rows) { return record(Sketch{.start = start, .rows = std::move(rows)}); };
  CHECK(refusal(appending(old, at(14, {"5.1 5.2"}))) == "OUT_OF_RANGE: append: [14, 15) leaves a gap behind [10, 13)");
  CHECK(refusal(appending(old, at(14, {}), RCAP_OVERLAP_KEEP_NEW)) == "OUT_OF_RANGE: append: [14, 14) leaves a gap behind [10, 13)");
  CHECK(refusal(appending(old, at(9, {"5.1 5.2"}), RCAP_OVERLAP_KEEP_OLD)) == "OUT_OF_RANGE: append: [9, 10) starts before [10, 13)");
  CHECK(refusal(appending(old, at(12, {"5.1 5.2", "6.1 6.2"}))) == "OUT_OF_RANGE: append: [12, 14) overlaps [10, 13)");
  CHECK(refusal(appending(old, at(10, {"~"}))) == "OUT_OF_RANGE: append: [10, 11) overlaps [10, 13)");
  CHECK(refusal(appending(old, at(13, {}), 3)) == "INVALID_ARGUMENT: overlap is 3, allowed are REFUSE (0), KEEP_OLD (1) and KEEP_NEW (2)");
  CHECK(refusal(appending(old, at(13, {}), -1)) == "INVALID_ARGUMENT: overlap is -1, allowed are REFUSE (0), KEEP_OLD (1) and KEEP_NEW (2)");
}

TEST_CASE("R39: another shape is refused, both named") {
  const Handle old = record(Sketch{.start = 10, .rows = {"1.1 1.2"}});
  const auto refused = [&](Sketch next) {
    next.start = 11;
    return refusal(appending(old, record(next)));
  };
  CHECK(refused({.num_experts = 128}) == "INVALID_ARGUMENT: append: num_experts is 256 in the first record and 128 in the second");
  CHECK(refused({.top_k = 3}) == "INVALID_ARGUMENT: append: top_k is 2 in the first record and 3 in the second");
  CHECK(refused({.weights_dtype = RCAP_DTYPE_BFLOAT16}) == "INVALID_ARGUMENT: append: weights_dtype is 0 in the first record and 7 in the second");
  CHECK(refused({.weights_kind = RCAP_WEIGHTS_SCALED}) == "INVALID_ARGUMENT: append: weights_kind is 0 in the first record and 2 in the second");
  CHECK(refused({.layers = {2, 5}}) == "INVALID_ARGUMENT: append: column 1 is layer 6 in the first record and 5 in the second");
  CHECK(refused({.layers = {1, 2, 6}}) == "INVALID_ARGUMENT: append: the first record has 2 layers (2 .. 6), the second 3 (1 .. 6)");
  CHECK(refused({.flags = {0, RCAP_TAP_UNORDERED}}) == "INVALID_ARGUMENT: append: layer 6 has flags 0 in the first record and 2 in the second");
}

TEST_CASE("R26, R29, R39: flags, weights and cells are kept") {
  const Sketch first{.rows = {"1=10.2=20 3=30.4=40", "5=50.6=60 -"},
                     .flags = {RCAP_TAP_HASH_ROUTED, RCAP_TAP_PARTIAL},
                     .num_experts = 257,
                     .weights_dtype = RCAP_DTYPE_FLOAT32,
                     .weights_kind = RCAP_WEIGHTS_RENORMALIZED};
  Sketch next = first;
  next.start = 2;
  next.rows = {"256=4000000000.0=0 -"};
  const Handle whole = append(record(first), record(next));
  CHECK(show(whole) == "0: 1=10.2=20 3=30.4=40 | 5=50.6=60 - | 256=4000000000.0=0 -");
  const View bytes = view(whole.get());
  CHECK(bytes.layer_flags == first.flags);
  CHECK(bytes.weights_kind == RCAP_WEIGHTS_RENORMALIZED);
  CHECK(bytes.cell_bits == Bytes{0x17});
}

TEST_CASE("append: null handles are named") {
  const Handle old = record(Sketch{.rows = {"1.1 1.2"}});
  CHECK(refusal(appending(nullptr, old)) == "INVALID_ARGUMENT: self is null");
  CHECK(refusal(appending(old, nullptr)) == "INVALID_ARGUMENT: next is null");
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  CHECK(rcap_record_append(old.get(), old.get(), RCAP_OVERLAP_KEEP_OLD, nullptr, &error) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(std::string(error.text) == "record is null");
}
