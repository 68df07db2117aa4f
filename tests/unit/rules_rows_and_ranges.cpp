// SPDX-License-Identifier: Apache-2.0
// R1 - R6: which rows a request has.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

/// A request of five prompt tokens and three generated ones: the row of token i is seed 10 + i, in slot 20 + i. Token 7 was sampled, never forwarded.
constexpr std::int64_t kTokens = 8;

Slots request_slots(std::int64_t count) {
  Slots slots;
  for (std::int64_t i = 0; i < count; ++i) slots.push_back(20 + i);
  return slots;
}

void serve(Rig& rig) {
  rig.store({10, 11, 12, 13, 14}, {20, 21, 22, 23, 24});
  rig.store({15}, {25});
  rig.store({16}, {26});
}

std::string words_of(const Rig& rig, const Read& read) { return rig.words(rig.read(read)); }

}  // namespace

TEST_CASE("R1: a finished request of n tokens has the rows of its n-1 inputs, each under its own token") {
  Rig rig;
  serve(rig);
  const Rows rows = rig.read({.slots = request_slots(kTokens), .tokens = kTokens});
  CHECK(rows.info.rows == kTokens - 1);
  CHECK(rows.info.rows_valid == kTokens - 1);
  CHECK(rig.words(rows) == "10 11 12 13 14 15 16");
  for (std::int64_t i = 0; i + 1 < kTokens; ++i) CHECK(rows.row(i) == rig.expected(10 + i));
}

TEST_CASE("R2: a forwarded last token is trimmed by token position, and given only with INCLUDE_LAST") {
  Rig rig;
  serve(rig);
  rig.store({17, 18}, {27, 28});  // the engine ran ahead: token 7, and one behind the end
  const Slots slots = request_slots(kTokens + 1);
  CHECK(words_of(rig, {.slots = slots, .tokens = kTokens}) == "10 11 12 13 14 15 16");
  CHECK(words_of(rig, {.slots = slots, .tokens = kTokens, .flags = RCAP_READ_INCLUDE_LAST}) == "10 11 12 13 14 15 16 17");
}

TEST_CASE("R2: the last row exists when its slot is valid at the read; otherwise the answer has n-1 rows, never a missing last one") {
  Setup setup;
  setup.config.reserved_slots = 2;
  Rig rig(setup);
  serve(rig);
  const std::string seven = "10 11 12 13 14 15 16";
  const auto with_last = [&](std::int64_t last) {
    Slots slots = request_slots(kTokens - 1);
    slots.push_back(last);
    return rig.read({.slots = slots, .tokens = kTokens, .flags = RCAP_READ_INCLUDE_LAST});
  };
  SUBCASE("never written") {
    const Rows rows = with_last(27);
    CHECK(rig.words(rows) == seven);
    CHECK(rows.info.rows == 7);
    CHECK(rows.row_validity.size() == 1);
    CHECK(rows.ids.size() == 7U * 3 * 4);
  }
  SUBCASE("hole") { CHECK(rig.words(with_last(-1)) == seven); }
  SUBCASE("reserved") { CHECK(rig.words(with_last(1)) == seven); }
  SUBCASE("released") {
    rig.store({17}, {27});
    CHECK(rig.words(with_last(27)) == seven + " 17");
    rig.release({27});
    CHECK(rig.words(with_last(27)) == seven);
  }
  SUBCASE("not given") {
    CHECK(rig.words(rig.read({.slots = request_slots(kTokens - 1), .tokens = kTokens, .flags = RCAP_READ_INCLUDE_LAST})) == seven);
  }
  SUBCASE("a missing row before the last is a row all the same") {
    rig.store({17}, {27});
    rig.release({26});
    CHECK(rig.words(with_last(27)) == "10 11 12 13 14 15 - 17");
  }
}

TEST_CASE("R3: start selects rows [start, n-1)") {
  Rig rig;
  serve(rig);
  rig.store({17}, {27});
  struct Case {
    std::int64_t start;
    std::int32_t status;
    const char* rows;
    const char* rows_with_last;
  };
  const std::vector<Case> cases = {
      {-1, RCAP_STATUS_OUT_OF_RANGE, "RCAP_STATUS_OUT_OF_RANGE", "RCAP_STATUS_OUT_OF_RANGE"},
      {0, RCAP_STATUS_OK, "10 11 12 13 14 15 16", "10 11 12 13 14 15 16 17"},
      {1, RCAP_STATUS_OK, "11 12 13 14 15 16", "11 12 13 14 15 16 17"},
      {5, RCAP_STATUS_OK, "15 16", "15 16 17"},
      {6, RCAP_STATUS_OK, "16", "16 17"},
      {7, RCAP_STATUS_OK, "", "17"},
      {8, RCAP_STATUS_OK, "", ""},
      {9, RCAP_STATUS_OUT_OF_RANGE, "RCAP_STATUS_OUT_OF_RANGE", "RCAP_STATUS_OUT_OF_RANGE"},
      {INT64_MAX, RCAP_STATUS_OUT_OF_RANGE, "RCAP_STATUS_OUT_OF_RANGE", "RCAP_STATUS_OUT_OF_RANGE"},
      {INT64_MIN, RCAP_STATUS_OUT_OF_RANGE, "RCAP_STATUS_OUT_OF_RANGE", "RCAP_STATUS_OUT_OF_RANGE"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.start);
    const Rows rows = rig.read({.slots = request_slots(kTokens), .tokens = kTokens, .start = c.start});
    CHECK(name(rows.status) == name(c.status));
    CHECK(rig.words(rows) == c.rows);
    const Rows with_last = rig.read({.slots = request_slots(kTokens), .tokens = kTokens, .start = c.start, .flags = RCAP_READ_INCLUDE_LAST});
    CHECK(rig.words(with_last) == c.rows_with_last);
    if (c.status != RCAP_STATUS_OK) continue;
    CHECK(rows.info.start == c.start);
    CHECK(rows.record_info.start == c.start);
    CHECK(rows.info.num_layers == 3);
    CHECK(rows.info.top_k == 4);
    CHECK(rows.info.ids_dtype == RCAP_DTYPE_UINT8);
    CHECK(rows.info.weights_dtype == RCAP_DTYPE_NONE);
  }
}

TEST_CASE("R3: read(start) is read(0)[start:] byte for byte") {
  Setup setup;
  setup.config.weights_dtype = RCAP_DTYPE_BFLOAT16;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  Seeds seeds;
  Slots slots;
  for (std::int64_t i = 0; i < 21; ++i) {
    seeds.push_back(100 + i);
    slots.push_back(i == 4 || i == 17 ? -1 : 64 - i);
  }
  CHECK(rig.capture(0, seeds) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {100, 107, 113}, {0, 7, 13}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, seeds) == RCAP_STATUS_OK);
  rig.settle(rig.end({.tokens = 21, .slots = slots}));
  const Rows whole = rig.read({.slots = slots});
  REQUIRE(whole.info.rows == 21);
  for (std::int64_t start = 0; start <= 22; ++start) {
    CAPTURE(start);
    const Rows part = rig.read({.slots = slots, .start = start});
    const std::int64_t rows = start > 21 ? 0 : 21 - start;
    REQUIRE(part.info.rows == rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      CHECK(part.row_bytes(i) == whole.row_bytes(start + i));
      CHECK(part.weight_bytes(i) == whole.weight_bytes(start + i));
      CHECK(part.valid(i) == whole.valid(start + i));
      for (std::int32_t column = 0; column < 3; ++column) CHECK(part.cell(i, column) == whole.cell(start + i, column));
    }
  }
}

TEST_CASE("R3: n-1 or more slots are given: fewer is an error, a missing n-th is -1, more than n are ignored") {
  Rig rig;
  serve(rig);
  rig.store({17}, {27});
  for (std::int64_t count = 0; count <= kTokens + 3; ++count) {
    CAPTURE(count);
    Slots slots = request_slots(std::min(count, kTokens));
    for (std::int64_t i = kTokens; i < count; ++i) slots.push_back(1'000'000 + i);  // behind the request: whatever the block table holds
    const Rows rows = rig.read({.slots = slots, .tokens = kTokens});
    const Rows with_last = rig.read({.slots = slots, .tokens = kTokens, .flags = RCAP_READ_INCLUDE_LAST});
    if (count < kTokens - 1) {
      CHECK(name(rows.status) == "RCAP_STATUS_INVALID_ARGUMENT");
      CHECK(name(with_last.status) == "RCAP_STATUS_INVALID_ARGUMENT");
      continue;
    }
    CHECK(rig.words(rows) == "10 11 12 13 14 15 16");
    CHECK(rig.words(with_last) == (count == kTokens - 1 ? "10 11 12 13 14 15 16" : "10 11 12 13 14 15 16 17"));
  }
}

TEST_CASE("R3: slot -1 reads as missing, anything lower or past the last slot is refused") {
  Rig rig;
  serve(rig);
  CHECK(words_of(rig, {.slots = {20, -1, 22}}) == "10 - 12");
  for (const std::int64_t bad : {std::int64_t{-2}, std::int64_t{128}, std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}}) {
    CAPTURE(bad);
    const Rows rows = rig.read({.slots = {20, bad, 22}});
    CHECK(name(rows.status) == "RCAP_STATUS_OUT_OF_RANGE");
    CHECK(rows.text.find(std::to_string(bad)) != std::string::npos);
  }
  CHECK(words_of(rig, {.slots = {20, 127, 22}}) == "10 - 12");
}

TEST_CASE("R3: only slots of the rows returned are checked") {
  Rig rig;
  serve(rig);
  const Slots slots = {-7, 1'000'000, 22, 23, 999};
  CHECK(words_of(rig, {.slots = slots, .tokens = 5, .start = 2}) == "12 13");
  CHECK(words_of(rig, {.slots = slots, .tokens = 5, .start = 1}) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(words_of(rig, {.slots = slots, .tokens = 5, .start = 4}) == "");
  CHECK(words_of(rig, {.slots = slots, .tokens = 5, .start = 5, .flags = RCAP_READ_INCLUDE_LAST}) == "");
}

TEST_CASE("R3: slots come as int32 as well") {
  Rig rig;
  serve(rig);
  CHECK(words_of(rig, {.slots = {20, -1, 26}, .slots_dtype = RCAP_DTYPE_INT32}) == "10 - 16");
  CHECK(words_of(rig, {.slots = {20, -2, 26}, .slots_dtype = RCAP_DTYPE_INT32}) == "RCAP_STATUS_OUT_OF_RANGE");
}

TEST_CASE("R4: truncating tokens truncates rows in the same call") {
  Rig rig;
  serve(rig);
  const Slots slots = request_slots(kTokens);
  CHECK(words_of(rig, {.slots = slots, .tokens = 4}) == "10 11 12");
  CHECK(words_of(rig, {.slots = slots, .tokens = 4, .flags = RCAP_READ_INCLUDE_LAST}) == "10 11 12 13");
  CHECK(words_of(rig, {.slots = slots, .tokens = 4, .start = 2}) == "12");
  CHECK(words_of(rig, {.slots = slots, .tokens = 4, .start = 5}) == "RCAP_STATUS_OUT_OF_RANGE");
}

TEST_CASE("R5: streamed deltas, concatenated, equal the whole read, and every delta states its own start") {
  Rig rig;
  rig.store({10, 11, 12, 13, 14}, {20, 21, 22, 23, 24});
  std::vector<std::byte> streamed;
  std::int64_t sent = 0;
  const auto stream = [&](std::int64_t tokens) {
    const Rows delta = rig.read({.slots = request_slots(tokens), .tokens = tokens, .start = sent});
    REQUIRE(delta.status == RCAP_STATUS_OK);
    CHECK(delta.info.start == sent);
    CHECK(delta.info.rows == tokens - 1 - sent);
    streamed.insert(streamed.end(), delta.ids.begin(), delta.ids.end());
    sent += delta.info.rows;
  };
  stream(6);  // prefill gave token 5
  stream(6);  // nothing new: an empty delta, not an error
  rig.store({15}, {25});
  stream(7);
  rig.store({16}, {26});
  stream(8);
  const Rows whole = rig.read({.slots = request_slots(kTokens), .tokens = kTokens});
  CHECK(streamed == whole.ids);
  CHECK(rig.words(whole) == "10 11 12 13 14 15 16");
}

TEST_CASE("R6: small cases are never errors") {
  Rig rig;
  rig.store({10, 11}, {20, 21});
  struct Case {
    std::int64_t tokens;
    Slots slots;
    const char* rows;
    const char* rows_with_last;
  };
  const std::vector<Case> cases = {
      {2, {20, 21}, "10", "10 11"}, {2, {20}, "10", "10"}, {1, {20}, "", "10"}, {1, {}, "", ""}, {0, {20}, "", ""}, {0, {}, "", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.tokens);
    CAPTURE(c.slots.size());
    const Rows rows = rig.read({.slots = c.slots, .tokens = c.tokens});
    CHECK(name(rows.status) == "RCAP_STATUS_OK");
    CHECK(rig.words(rows) == c.rows);
    const Rows with_last = rig.read({.slots = c.slots, .tokens = c.tokens, .flags = RCAP_READ_INCLUDE_LAST});
    CHECK(name(with_last.status) == "RCAP_STATUS_OK");
    CHECK(rig.words(with_last) == c.rows_with_last);
  }
  rcap_record* record = nullptr;
  auto layout = make<rcap_read_layout>();
  CHECK(rcap_capturer_read(rig.get(), &layout, nullptr, 0, nullptr, 0, &record, nullptr) == RCAP_STATUS_OK);
  const Record owner(record);
  const void* data = nullptr;
  std::int64_t bytes = -1;
  CHECK(rcap_record_row_validity(record, &data, &bytes, nullptr) == RCAP_STATUS_OK);
  CHECK(data != nullptr);
  CHECK(bytes == 0);
}
