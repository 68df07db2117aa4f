// SPDX-License-Identifier: Apache-2.0
//
// The comparison can fail: models that are wrong in one rule each do not get past a library that is right in it.
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "property/schedules.h"

namespace routecap_test::property {
namespace {

constexpr std::size_t kCommands = 120;
constexpr int kLimit = 80;

/// Everything that a schedule should meet now and then. What it never meets, it does not test.
const std::string kEvents[] = {
    "end_forward RCAP_STATUS_OK",
    "end_forward RCAP_STATUS_BUSY",
    "end_forward RCAP_STATUS_INVALID_ARGUMENT",
    "end_forward RCAP_STATUS_OUT_OF_RANGE",
    "accept RCAP_STATUS_OK",
    "accept RCAP_STATUS_INVALID_ARGUMENT",
    "accept RCAP_STATUS_OUT_OF_RANGE",
    "accept RCAP_STATUS_INVALID_STATE",
    "finalize RCAP_STATUS_OK",
    "finalize RCAP_STATUS_NOT_READY",
    "finalize RCAP_STATUS_CLOSED",
    "wait RCAP_STATUS_TIMEOUT",
    "device_rows RCAP_STATUS_OK",
    "dropped accepted",
    "dropped unaccepted",
    "copy_slots RCAP_STATUS_OK",
    "copy_slots RCAP_STATUS_INVALID_ARGUMENT",
    "copy_slots RCAP_STATUS_OUT_OF_RANGE",
    "a copy that waits",
    "release_slots RCAP_STATUS_OK",
    "release_slots RCAP_STATUS_OUT_OF_RANGE",
    "release_all RCAP_STATUS_OK",
    "discard_forward RCAP_STATUS_OK",
    "read RCAP_STATUS_OK",
    "read RCAP_STATUS_NOT_READY",
    "read RCAP_STATUS_INVALID_ARGUMENT",
    "read RCAP_STATUS_OUT_OF_RANGE",
    "row read valid",
    "row read missing",
    "last row read",
    "last row absent",
    "several weight versions in one read",
    "algebra",
    "row stored",
    "row bad",
    "row outdated",
    "row reserved",
    "row rejected",
    "row stray",
    "fault 0",
    "fault 1",
    "fault 2",
    "fault 3",
    "fault 4",
    "fault 5",
    "fault 6",
    "fault 7",
    "fault 8",
};
constexpr std::int64_t kOften = 5;

TEST_CASE("schedules reach every answer, fault and fate of a row that the contract speaks of") {
  Census census = census_of(kCommands, kLimit, Finalizing::kCaller);
  for (const std::string& event : kEvents) {
    INFO(event);
    CHECK(census[event] >= kOften);
  }
}

TEST_CASE("the right model is never found wrong by the schedules that find out the wrong ones") {
  CHECK(schedules_until_noticed(Variant::kContract, kCommands, kLimit) == 0);
}

TEST_CASE("a wrong model is noticed") {
  struct Wrong {
    Variant variant;
    std::string what;
  };
  const Wrong wrong[] = {
      {Variant::kCopyIgnoresPending, "R12: copies that do not take pending forwards"},
      {Variant::kArrivalOrder, "R9, R10: the last finalized wins"},
      {Variant::kDropLeavesOld, "R33: a dropped forward leaves stale rows"},
      {Variant::kBadRowLeavesOld, "R14: a bad row leaves a stale row"},
      {Variant::kCopySourceMoves, "R12: a copy takes its source as it became later"},
      {Variant::kUnsettledHides, "R7: an unsettled forward hides what its slots had"},
      {Variant::kHolesStored, "R15: padding reaches the store"},
      {Variant::kTagsIgnored, "R8: another tag's row is shown"},
  };
  for (const Wrong& model : wrong) {
    const int schedules = schedules_until_noticed(model.variant, kCommands, kLimit);
    INFO(model.what);
    CHECK(schedules > 0);
    MESSAGE(model.what << ": noticed in schedule " << schedules);
  }
}

}  // namespace
}  // namespace routecap_test::property
