// SPDX-License-Identifier: Apache-2.0
// R21: what a verify forward commits, told later.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "unit/verify_scene.h"

using namespace routecap_test;

TEST_CASE("R21: acceptance told later: nothing is stored before, and finalize is NOT_READY") {
  Rig rig(verifying());
  const Output output = rig.forward_later(kRows, kLocations);
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
  Error error;
  CHECK(name(rcap_output_finalize(output.get(), nullptr, error)) == "RCAP_STATUS_NOT_READY");
  CHECK(error.text().empty());
  CHECK(rig.show(kLocations) == "- - - - - - - -");
  CHECK(rig.words(rig.read({.slots = kLocations, .after_sequence = 1})) == "NOT_READY(1)");
  Rig::accept(output, {.rows = {0, 1, 4}});
  CHECK(rig.show(kLocations) == "- - - - - - - -");
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.entries == 3);
  CHECK(summary.rows_rejected == 5);
  CHECK(rig.show(kLocations) == "1 2 - - 5 - - -");
  CHECK(rig.words(rig.read({.slots = kLocations, .after_sequence = 1})) == "1 2 - - 5 - - -");
}

TEST_CASE("R21: a later acceptance may come with slots, from host or device memory, with groups and holes") {
  for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
    for (const std::int32_t dtype : {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64}) {
      CAPTURE(memory);
      CAPTURE(dtype);
      Rig rig(verifying());
      const Output output = rig.forward_later(kRows);
      Rig::accept(output, {.rows = {0, 2, -1, 4, 5, 7},
                           .slots = kLocations,
                           .groups = 2,
                           .group_width = 3,
                           .slots_group_stride = 4,
                           .rows_group_stride = 3,
                           .slots_memory = memory,
                           .rows_memory = memory,
                           .slots_dtype = dtype,
                           .rows_dtype = dtype});
      CHECK(rig.settle(output).rows_stored == 5);
      CHECK(rig.show(kLocations) == "1 3 - - 5 6 8 -");
    }
  }
}

TEST_CASE("R21: accepted before or after the copy to the host, it is the same") {
  for (const bool copied_first : {false, true}) {
    Rig rig(verifying());
    const Output output = rig.forward_later(kRows, kLocations);
    if (copied_first) CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
    Rig::accept(output, {.rows = {7}});
    rig.settle(output);
    CHECK(rig.show({33}) == "8");
  }
}

TEST_CASE("R21: slots given with LATER: a row whose slot is -1 can never be committed, and others' slots are refused") {
  Rig rig(verifying());
  rig.capture_all({1, 2, 3});
  const Output output = rig.end({.tokens = 3, .acceptance = RCAP_ACCEPT_LATER, .slots = {20, -1, 22}});
  Error error;
  CHECK(name(Rig::try_accept(output, {.rows = {0}, .slots = {40}}, error)) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(error.text().find("40") != std::string::npos);
  Rig::accept(output, {.rows = {1, 2}});
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.entries == 1);
  CHECK(rig.show({20, 22, 40}) == "- 3 -");
}

TEST_CASE("R21: with slots given with LATER, an accept may place an accepted row in another of them, as tree verification does") {
  Rig rig(verifying());
  const Output output = rig.forward_later({1, 2, 3, 4}, {20, 21, 22, 23});
  Rig::accept(output, {.rows = {0, 3}, .slots = {20, 21}});
  rig.settle(output);
  CHECK(rig.show({20, 21, 22, 23}) == "1 4 - -");
}

TEST_CASE("R21: with slots given with LATER, a device-known accept outside of them makes that row bad") {
  Rig rig(verifying());
  rig.store({9}, {40});
  const Output output = rig.forward_later({1, 2}, {20, 21});
  Rig::accept(output, {.rows = {0, 1}, .slots = {40, 21}, .slots_memory = RCAP_MEMORY_DEVICE});
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.rows_bad == 1);
  CHECK(summary.first_bad_fault == RCAP_FAULT_SLOT_OUT_OF_RANGE);
  CHECK(summary.first_bad_slot == 40);
  CHECK(rig.show({40, 20, 21}) == "9 - 2");
}

TEST_CASE("R21: late acceptance keeps the number of end_forward; releases, copies and forwards made in between apply") {
  Rig rig(verifying());
  const Output output = rig.forward_later({1, 2, 3, 4}, {20, 21, 22, 23});  // number 1
  rig.release({21});
  rig.copy({22}, {50});
  rig.store({8}, {23});
  Rig::accept(output, {.rows = {0, 1, 2, 3}});
  CHECK(rig.sequence(output) == 1);
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.sequence == 1);
  CHECK(summary.rows_outdated == 2);
  CHECK(summary.rows_stored == 2);
  CHECK(rig.show({20, 21, 22, 23, 50}) == "1 - 3 8 3");
  CHECK(rig.info(20).row_sequence == 1);
}

TEST_CASE("R21: an acceptance is given once; a refused one may be repeated") {
  Rig rig(verifying());
  const Output output = rig.forward_later(kRows);
  struct Case {
    const char* what;
    Accept accept;
    std::int32_t status;
  };
  const std::vector<Case> cases = {
      {"row past the last", {.rows = {0, 8}, .slots = {20, 21}}, RCAP_STATUS_OUT_OF_RANGE},
      {"row below -1", {.rows = {-2}, .slots = {20}}, RCAP_STATUS_OUT_OF_RANGE},
      {"row twice", {.rows = {1, 1}, .slots = {20, 21}}, RCAP_STATUS_INVALID_ARGUMENT},
      {"slot twice", {.rows = {1, 2}, .slots = {20, 20}}, RCAP_STATUS_INVALID_ARGUMENT},
      {"slot past the last", {.rows = {1}, .slots = {128}}, RCAP_STATUS_OUT_OF_RANGE},
      {"fewer slots than rows", {.rows = {1, 2}, .slots = {20}}, RCAP_STATUS_INVALID_ARGUMENT},
      {"no slots were ever given", {.rows = {1}}, RCAP_STATUS_INVALID_ARGUMENT},
      {"stride below the width",
       {.rows = {0, 1, 2, 4}, .slots = {20, 21, 30, 31}, .groups = 2, .group_width = 2, .rows_group_stride = 1},
       RCAP_STATUS_INVALID_ARGUMENT},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    Error error;
    CHECK(name(Rig::try_accept(output, c.accept, error)) == name(c.status));
    CHECK_FALSE(error.text().empty());
  }
  CHECK(name(rcap_output_finalize(output.get(), nullptr, nullptr)) == "RCAP_STATUS_NOT_READY");
  Rig::accept(output, {.rows = {0, 1}, .slots = {20, 21}});
  Error error;
  CHECK(name(Rig::try_accept(output, {.rows = {2}, .slots = {22}}, error)) == "RCAP_STATUS_INVALID_STATE");
  rig.settle(output);
  CHECK(name(Rig::try_accept(output, {.rows = {2}, .slots = {22}}, error)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(rig.show({20, 21, 22}) == "1 2 -");
}

TEST_CASE("R21: accepting a forward that did not ask for it is refused") {
  Rig rig(verifying());
  const Output all = rig.forward({1}, {10});
  CHECK(name(Rig::try_accept(all, {.rows = {0}, .slots = {11}})) == "RCAP_STATUS_INVALID_STATE");
  rig.capture_all({2});
  const Output given = rig.end({.tokens = 1, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {12}, .rows = {0}});
  CHECK(name(Rig::try_accept(given, {.rows = {0}, .slots = {13}})) == "RCAP_STATUS_INVALID_STATE");
  rig.settle(all);
  rig.settle(given);
  CHECK(rig.show({10, 11, 12, 13}) == "1 - 2 -");
}

TEST_CASE("R21: nothing accepted commits nothing") {
  Rig rig(verifying());
  rig.store({9}, {20});
  const Output output = rig.forward_later({1, 2}, {20, 21});
  Rig::accept(output, {});
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.entries == 0);
  CHECK(summary.rows_rejected == 2);
  CHECK(rig.show({20, 21}) == "9 -");
}

TEST_CASE("R12: a LATER forward of 0 tokens counts as one that may write until it is accepted or dropped") {
  Rig rig(verifying());
  rig.store({1, 2, 3}, {20, 21, 22});
  Output idle = rig.end({.acceptance = RCAP_ACCEPT_LATER});
  rig.copy({20}, {30});
  CHECK(rig.show({30}) == "NOT_READY(2)");
  CHECK(rig.show({20, 21}) == "1 2");  // a read that names no sequence waits for none
  CHECK(rig.words(rig.read({.slots = {21}, .after_sequence = 2})) == "NOT_READY(2)");
  SUBCASE("nothing accepted: it writes nothing from then on") {
    Rig::accept(idle, {});
    CHECK(rig.show({20, 30}) == "1 1");
    CHECK(rig.words(rig.read({.slots = {21}, .after_sequence = 2})) == "2");
    CHECK(rig.settle(idle).entries == 0);
  }
  SUBCASE("dropped") {
    idle.reset();
    CHECK(rig.show({20, 30}) == "1 1");
  }
  SUBCASE("accepted with a row that only the device knew, and that it does not have: the slot is missing, its copy too") {
    Rig::accept(idle, {.rows = {0}, .slots = {20}, .rows_memory = RCAP_MEMORY_DEVICE});
    CHECK(rig.show({30}) == "NOT_READY(2)");
    CHECK(rig.words(rig.read({.slots = {21}, .after_sequence = 2})) == "2");  // its slots are known by now
    const rcap_summary summary = rig.settle(idle);
    CHECK(summary.rows_bad == 1);
    CHECK(summary.first_bad_fault == RCAP_FAULT_ROW_OUT_OF_RANGE);
    CHECK(rig.show({20, 21, 30}) == "- 2 -");
  }
}

TEST_CASE("R12: a forward of 0 tokens that commits at once writes nothing, and nobody waits for it") {
  Rig rig;
  rig.store({1}, {20});
  Output idle = rig.end({.slots_memory = RCAP_MEMORY_DEVICE});
  rig.copy({20}, {30});
  CHECK(rig.show({20, 30}) == "1 1");
  CHECK(rig.words(rig.read({.slots = {20}, .after_sequence = 2})) == "1");
  idle.reset();
}

TEST_CASE("R21: with slots given with LATER, rows that only the device knows go to these slots; bad ones are found at finalize") {
  Rig rig(verifying());
  rig.store({91, 92}, {21, 23});
  const Output output = rig.forward_later({1, 2, 3, 4}, {20, 21, 22, 23});
  Rig::accept(output, {.rows = {0, 3, 9, 3, -1, 2}, .rows_memory = RCAP_MEMORY_DEVICE});
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.entries == 5);
  CHECK(summary.rows_stored == 2);
  CHECK(summary.rows_bad == 3);  // row 9, and row 3 twice
  CHECK(summary.rows_rejected == 1);
  CHECK(rig.show({20, 21, 22, 23}) == "1 91 3 -");
}
