// SPDX-License-Identifier: Apache-2.0
//
// Schedules that once answered otherwise than the contract says, shortened to the calls that matter.
#include <doctest/doctest.h>

#include "support/rig.h"

namespace {

using routecap_test::Forward;
using routecap_test::Output;
using routecap_test::Rig;

TEST_CASE("R12, R14: an idle forward whose entries only the device knows may still make a slot missing, so a copy waits for it") {
  Rig rig;
  rig.store({1}, {3});
  Forward idle;
  idle.acceptance = RCAP_ACCEPT_GIVEN;
  idle.slots = {3};
  idle.rows = {0};
  idle.slots_memory = RCAP_MEMORY_DEVICE;
  idle.rows_memory = RCAP_MEMORY_DEVICE;
  const Output output = rig.end(idle);
  rig.copy({3}, {4});
  CHECK(rig.show({4}) == "NOT_READY(2)");
  const rcap_summary summary = rig.settle(output);
  CHECK(summary.first_bad_fault == RCAP_FAULT_ROW_OUT_OF_RANGE);
  CHECK(rig.show({3, 4}) == "- -");
}

}  // namespace
