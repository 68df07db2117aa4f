// SPDX-License-Identifier: Apache-2.0
// R12: retraction, and rows that follow their KV to other slots.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

/// Status and lacking sequence of slot_info.
std::string info_of(const Rig& rig, std::int64_t slot) {
  Error error;
  auto info = make<rcap_slot_info>();
  const std::int32_t status = rcap_capturer_slot_info_get(rig.get(), slot, &info, error);
  if (status == RCAP_STATUS_NOT_READY) return "NOT_READY(" + std::to_string(error.detail()) + ")";
  return status == RCAP_STATUS_OK ? (info.valid == 1 ? "row" : "missing") : name(status);
}

}  // namespace

TEST_CASE("R12: after retraction, recomputed rows replace the old ones") {
  Rig rig;
  rig.store({1, 2, 3}, {10, 11, 12});
  rig.store({4, 5, 6}, {10, 11, 12});  // recompute into the same slots
  CHECK(rig.show({10, 11, 12}) == "4 5 6");
}

TEST_CASE("R12: rows go with copied and with moved KV") {
  Rig rig;
  rig.store({1, 2}, {10, 11});
  rig.copy({10, 11}, {20, 21});
  CHECK(rig.show({10, 11, 20, 21}) == "1 2 1 2");
  rig.copy({20}, {30});  // a move is a copy and a release
  rig.release({20});
  CHECK(rig.show({20, 30}) == "- 1");
  CHECK(rig.stats().slots_copied == 3);
  CHECK(rig.stats().copies_pending == 0);
}

TEST_CASE("R12: rows of a forward numbered before the copy and finalized after it go along; until then the target is not ready, never old") {
  Rig rig;
  rig.store({1, 2}, {10, 20});
  const Output output = rig.forward({3}, {10});  // number 2
  rig.copy({10}, {20});
  CHECK(rig.show({10}) == "1");
  CHECK(rig.show({20}) == "NOT_READY(2)");  // whatever sequence is named: here none
  CHECK(rig.words(rig.read({.slots = {20}, .after_sequence = 1})) == "NOT_READY(2)");
  CHECK(info_of(rig, 20) == "NOT_READY(2)");
  CHECK(rig.stats().copies_pending == 1);
  CHECK(rig.show({10, 20}) == "NOT_READY(2)");
  rig.settle(output);
  CHECK(rig.show({10, 20}) == "3 3");
  CHECK(rig.stats().copies_pending == 0);
}

TEST_CASE("R12: a copy takes its source as numbered before it, whatever happens to the source later") {
  SUBCASE("settled before: overwritten later") {
    Rig rig;
    rig.store({1}, {10});
    rig.copy({10}, {20});
    rig.store({2}, {10});
    CHECK(rig.show({10, 20}) == "2 1");
  }
  SUBCASE("pending: source released before the forward is finalized") {
    Rig rig;
    const Output output = rig.forward({1}, {10});
    rig.copy({10}, {20});
    rig.release({10});
    const rcap_summary summary = rig.settle(output);
    CHECK(summary.rows_outdated == 1);
    CHECK(rig.show({10, 20}) == "- 1");
  }
  SUBCASE("pending: everything released before the copy's target could be written") {
    Rig rig;
    const Output output = rig.forward({1}, {10});
    rig.copy({10}, {20});
    rig.release_all();
    CHECK(rig.show({10, 20}) == "- -");  // the target is void at once
    rig.settle(output);
    CHECK(rig.show({10, 20}) == "- -");
    CHECK(rig.stats().copies_pending == 0);
  }
  SUBCASE("pending: source overwritten by a later forward that is finalized first") {
    Rig rig;
    const Output before = rig.forward({1}, {10});
    rig.copy({10}, {20});
    const Output after = rig.forward({2}, {10});
    rig.settle(after);
    CHECK(rig.show({10}) == "2");
    CHECK(rig.show({20}) == "NOT_READY(1)");
    CHECK(rig.settle(before).rows_outdated == 1);
    CHECK(rig.show({10, 20}) == "2 1");
  }
  SUBCASE("pending with an older row in the source, which a later forward overwrites; then the pending one is dropped") {
    Rig rig;
    rig.store({1}, {10});
    Output before = rig.forward_later({2}, {10});
    rig.copy({10}, {20});
    rig.store({3}, {10});
    CHECK(rig.show({20}) == "NOT_READY(2)");
    before.reset();  // never accepted: touches no slot, so the copy takes what was there before
    CHECK(rig.show({10, 20}) == "3 1");
  }
  SUBCASE("pending behind a release of the source: what an older forward brings late does not go along") {
    Rig rig;
    const Output oldest = rig.forward({1}, {10});
    rig.release({10});
    Output before = rig.forward_later({2}, {10});
    rig.copy({10}, {20});
    rig.settle(oldest);
    CHECK(rig.show({20}) == "NOT_READY(3)");
    before.reset();
    CHECK(rig.show({10, 20}) == "- -");
  }
  SUBCASE("pending with an older row in the source, which is released; then nothing of it is accepted") {
    Rig rig;
    rig.store({1}, {10});
    const Output before = rig.forward_later({2}, {10});
    rig.copy({10}, {20});
    rig.release({10});
    Rig::accept(before, {});
    rig.settle(before);
    CHECK(rig.show({10, 20}) == "- 1");
  }
}

TEST_CASE("R12: a missing source makes the target missing") {
  Rig rig;
  rig.store({1, 2}, {20, 21});
  rig.copy({11}, {20});
  CHECK(rig.show({20, 21}) == "- 2");
  CHECK(rig.info(20).sequence == 2);
  rig.release({21});
  rig.store({3}, {22});
  rig.copy({21}, {22});
  CHECK(rig.show({22}) == "-");
}

TEST_CASE("R12: a copied row keeps its age, weight version and tag") {
  Setup setup;
  setup.config.tags = 1;
  Rig rig(setup);
  rig.capture_all({1, 2});
  rig.settle(rig.end({.tokens = 2, .slots = {10, 11}, .tags = {Rig::tag(1), Rig::tag(2)}, .weight_version = 77}));
  rig.capture_all({3});
  const Output pending = rig.end({.tokens = 1, .slots = {12}, .tags = {Rig::tag(3)}, .weight_version = 78});
  rig.copy({10, 12}, {20, 22});
  rig.settle(pending);
  rig.copy({20}, {30});
  const auto check = [&](std::int64_t slot, std::int64_t sequence, std::int64_t row_sequence, std::int64_t version, std::int64_t tag) {
    CAPTURE(slot);
    const rcap_slot_info info = rig.info(slot);
    CHECK(info.valid == 1);
    CHECK(info.sequence == sequence);
    CHECK(info.row_sequence == row_sequence);
    CHECK(info.weight_version == version);
    CHECK(info.tag == tag);
  };
  check(10, 1, 1, 77, Rig::tag(1));
  check(20, 3, 1, 77, Rig::tag(1));
  check(22, 3, 2, 78, Rig::tag(3));
  check(30, 4, 1, 77, Rig::tag(1));
  CHECK(rig.words(rig.read({.slots = {20, 22, 30}, .tags = {Rig::tag(1), Rig::tag(3), Rig::tag(1)}})) == "1 3 1");
  const Rows rows = rig.read({.slots = {20, 22, 30}});
  CHECK(rows.spans == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 77}, {1, 78}, {2, 77}});
}

TEST_CASE("R12: copied rows carry weights and partial cells") {
  Setup setup;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  CHECK(rig.capture(0, {1, 2}) == RCAP_STATUS_OK);
  CHECK(rig.capture_rows(1, {2}, {1}) == RCAP_STATUS_OK);
  CHECK(rig.capture(2, {1, 2}) == RCAP_STATUS_OK);
  const Output output = rig.end({.tokens = 2, .slots = {10, 11}});
  rig.copy({10, 11}, {20, 21});
  rig.settle(output);
  rig.copy({20, 21}, {31, 30});
  CHECK(rig.show({10, 11, 20, 21, 30, 31}) == "1[101] 2 1[101] 2 2 1[101]");
}

TEST_CASE("R12: a source may repeat, a target may not") {
  Rig rig;
  rig.store({1, 2}, {10, 21});
  rig.copy({10, 10, 10}, {20, 21, 22});
  CHECK(rig.show({20, 21, 22}) == "1 1 1");
  Error error;
  CHECK(name(rig.try_copy({10, 11}, {30, 30}, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(error.text().find("30") != std::string::npos);
  CHECK(rig.show({30}) == "-");
  CHECK(rig.last_sequence() == 2);
  CHECK(rig.stats().slots_copied == 3);
}

TEST_CASE("R12: a copy is as if simultaneous: two slots are exchanged, a ring turns, a slot may be copied onto itself") {
  Rig rig;
  rig.store({1, 2, 3}, {10, 11, 12});
  rig.copy({10, 11}, {11, 10});
  CHECK(rig.show({10, 11, 12}) == "2 1 3");
  rig.copy({10, 11, 12}, {11, 12, 10});
  CHECK(rig.show({10, 11, 12}) == "3 2 1");
  rig.copy({10}, {10});
  CHECK(rig.show({10, 11, 12}) == "3 2 1");
  // The same while all of them wait for a forward.
  const Output output = rig.forward({4, 5}, {10, 11});
  rig.copy({10, 11, 12}, {11, 10, 12});
  rig.settle(output);
  CHECK(rig.show({10, 11, 12}) == "5 4 1");
}

TEST_CASE("R12: writes to the target numbered before the copy never show") {
  Rig rig;
  rig.store({1}, {10});
  const Output output = rig.forward({2}, {20});
  rig.copy({10}, {20});
  CHECK(rig.show({20}) == "1");  // no forward that may write the source is unsettled
  CHECK(rig.settle(output).rows_outdated == 1);
  CHECK(rig.show({20}) == "1");
}

TEST_CASE("R12: a forward that writes both source and target brings the source's row to the target") {
  Rig rig;
  const Output output = rig.forward({1, 2}, {10, 20});
  rig.copy({10}, {20});
  CHECK(rig.show({20}) == "NOT_READY(1)");
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.rows_stored == 1);
  CHECK(summary.rows_outdated == 1);
  CHECK(rig.show({10, 20}) == "1 1");
}

TEST_CASE("R12: something newer decides a waiting target at once") {
  SUBCASE("a later forward finalized first") {
    Rig rig;
    const Output before = rig.forward({1}, {10});
    rig.copy({10}, {20});
    const Output after = rig.forward({2}, {20});
    CHECK(rig.show({20}) == "NOT_READY(1)");
    rig.settle(after);
    CHECK(rig.show({20}) == "2");
    rig.settle(before);
    CHECK(rig.show({10, 20}) == "1 2");
  }
  SUBCASE("a release") {
    Rig rig;
    const Output before = rig.forward({1}, {10});
    rig.copy({10}, {20});
    rig.release({20});
    CHECK(rig.show({20}) == "-");
    CHECK(info_of(rig, 20) == "missing");
    rig.settle(before);
    CHECK(rig.show({10, 20}) == "1 -");
  }
  SUBCASE("a later copy from a settled source") {
    Rig rig;
    rig.store({5}, {11});
    const Output before = rig.forward({1}, {10});
    rig.copy({10}, {20});
    rig.copy({11}, {20});
    CHECK(rig.show({20}) == "5");
    rig.settle(before);
    CHECK(rig.show({10, 20}) == "1 5");
  }
  SUBCASE("a later copy that waits for another forward") {
    Rig rig;
    const Output first = rig.forward({1}, {10});
    rig.copy({10}, {20});
    const Output second = rig.forward({2}, {11});
    rig.copy({11}, {20});
    rig.settle(first);
    CHECK(rig.show({20}) == "NOT_READY(3)");
    rig.settle(second);
    CHECK(rig.show({20}) == "2");
    CHECK(rig.stats().copies_pending == 0);
  }
}

TEST_CASE("R12: with several forwards before the copy, the newest one's row goes along, in whatever order they are finalized") {
  for (const bool newest_first : {false, true}) {
    CAPTURE(newest_first);
    Rig rig;
    const Output first = rig.forward({1}, {10});
    const Output second = rig.forward({2}, {10});
    rig.copy({10}, {20});
    const Output third = rig.forward({3}, {10});
    CHECK(rig.show({20}) == "NOT_READY(1)");
    rig.settle(third);
    CHECK(rig.show({20}) == "NOT_READY(1)");
    rig.settle(newest_first ? second : first);
    if (!newest_first) CHECK(rig.show({20}) == "NOT_READY(2)");
    rig.settle(newest_first ? first : second);
    CHECK(rig.show({10, 20}) == "3 2");
  }
}

TEST_CASE("R12: copies of waiting targets wait as well, link by link") {
  Rig rig;
  rig.store({9}, {20});
  const Output output = rig.forward({1}, {10});
  rig.copy({10}, {20});
  rig.copy({20}, {30});
  rig.release({20});
  CHECK(rig.show({30}) == "NOT_READY(2)");
  CHECK(rig.stats().copies_pending >= 1);
  rig.settle(output);
  CHECK(rig.show({10, 20, 30}) == "1 - 1");
  CHECK(rig.info(30).row_sequence == 2);
  CHECK(rig.stats().copies_pending == 0);
}

TEST_CASE("R12: a forward not yet accepted counts as one that may write; dropping it settles it") {
  SUBCASE("unknown slots: any") {
    Rig rig;
    rig.store({1}, {10});
    Output output = rig.forward_later({2, 3});
    rig.copy({10}, {20});
    CHECK(rig.show({20}) == "NOT_READY(2)");
    output.reset();
    CHECK(rig.show({10, 20}) == "1 1");
  }
  SUBCASE("slots given with LATER: these alone") {
    Rig rig;
    rig.store({1, 2}, {10, 11});
    Output output = rig.forward_later({3, 4}, {11, 12});
    rig.copy({10, 11}, {20, 21});
    CHECK(rig.show({20}) == "1");
    CHECK(rig.show({21}) == "NOT_READY(2)");
    Rig::accept(output, {.rows = {0}});
    CHECK(rig.show({21}) == "NOT_READY(2)");
    rig.settle(output);
    CHECK(rig.show({11, 12, 20, 21}) == "3 - 1 3");
  }
  SUBCASE("accepted: only the accepted slots are waited for") {
    Rig rig;
    rig.store({1, 2}, {10, 11});
    const Output output = rig.forward_later({3, 4});
    Rig::accept(output, {.rows = {1}, .slots = {11}});
    rig.copy({10, 11}, {20, 21});
    CHECK(rig.show({20}) == "1");
    CHECK(rig.show({21}) == "NOT_READY(2)");
    rig.settle(output);
    CHECK(rig.show({20, 21}) == "1 4");
  }
  SUBCASE("accepted after the copy, without its source: the copy waits no longer") {
    Rig rig;
    rig.store({1}, {10});
    const Output output = rig.forward_later({3, 4});
    rig.copy({10}, {20});
    CHECK(rig.show({20}) == "NOT_READY(2)");
    Rig::accept(output, {.rows = {1}, .slots = {11}});
    CHECK(rig.show({20}) == "1");
    CHECK(rig.stats().copies_pending == 0);
    rig.settle(output);
    CHECK(rig.show({10, 11, 20}) == "1 4 1");
  }
  SUBCASE("slots in device memory: any") {
    Rig rig;
    rig.store({1}, {10});
    rig.capture_all({2});
    const Output output = rig.end({.tokens = 1, .slots = {11}, .slots_memory = RCAP_MEMORY_DEVICE});
    rig.copy({10}, {20});
    CHECK(rig.show({20}) == "NOT_READY(2)");
    rig.settle(output);
    CHECK(rig.show({11, 20}) == "2 1");
  }
}

TEST_CASE("R12: a dropped or bad source row makes the target missing") {
  SUBCASE("dropped") {
    Rig rig;
    rig.store({1}, {10});
    Output output = rig.forward({2}, {10});
    rig.copy({10}, {20});
    output.reset();
    CHECK(rig.show({10, 20}) == "- -");
  }
  SUBCASE("a layer captured nothing") {
    Rig rig;
    rig.store({1, 5}, {10, 20});
    CHECK(rig.capture(0, {2}) == RCAP_STATUS_OK);
    const Output output = rig.end({.tokens = 1, .slots = {10}});
    rig.copy({10}, {20});
    CHECK(rig.settle(output).rows_bad == 1);
    CHECK(rig.show({10, 20}) == "- -");
  }
}

TEST_CASE("R12: a read of other slots does not wait, and a waiting target outside the rows returned is no obstacle") {
  Rig rig;
  rig.store({1}, {11});
  const Output output = rig.forward({2}, {10});
  rig.copy({10}, {20});
  CHECK(rig.show({11}) == "1");
  CHECK(rig.words(rig.read({.slots = {20, 11}, .start = 1})) == "1");
  CHECK(rig.words(rig.read({.slots = {11, 20}, .tokens = 2})) == "1");
  CHECK(rig.words(rig.read({.slots = {11, 20}, .tokens = 2, .flags = RCAP_READ_INCLUDE_LAST})) == "NOT_READY(2)");
  rig.settle(output);
}

TEST_CASE("R12: -1 and slots out of range are refused, and then nothing is copied") {
  Rig rig;
  rig.store({1}, {10});
  for (const std::int64_t bad : {-1, -2, 128}) {
    CAPTURE(bad);
    Error error;
    CHECK(name(rig.try_copy({10, bad}, {20, 21}, error)) == "RCAP_STATUS_OUT_OF_RANGE");
    CHECK(error.text().find(std::to_string(bad)) != std::string::npos);
    CHECK(name(rig.try_copy({10, 10}, {20, bad}, error)) == "RCAP_STATUS_OUT_OF_RANGE");
    CHECK(rig.show({20, 21}) == "- -");
  }
  CHECK(rig.last_sequence() == 1);
}

TEST_CASE("R12: a reserved source reads as missing, a reserved target is left alone") {
  Setup setup;
  setup.config.reserved_slots = 4;
  Rig rig(setup);
  rig.store({1, 2}, {10, 11});
  rig.copy({0, 10}, {11, 2});
  CHECK(rig.show({10, 11, 2}) == "1 - -");
  CHECK(rig.info(2).valid == 0);
  CHECK(rig.info(2).reserved_slot == 1);
}

TEST_CASE("R12: whole pages are copied in the page's order, from host or device memory") {
  Setup setup;
  setup.config.page_size = 16;
  Rig rig(setup);
  rig.store({1, 2}, {16, 31});
  rig.store({9}, {40});
  CHECK(rig.try_copy({1}, {2}, nullptr, RCAP_UNIT_PAGE) == RCAP_STATUS_OK);
  CHECK(rig.show({16, 31, 32, 40, 47}) == "1 2 1 - 2");
  CHECK(rig.try_copy({2}, {3}, nullptr, RCAP_UNIT_PAGE, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  CHECK(rig.show({48, 63}) == "1 2");
  CHECK(name(rig.try_copy({2}, {8}, nullptr, RCAP_UNIT_PAGE)) == "RCAP_STATUS_OUT_OF_RANGE");
}
