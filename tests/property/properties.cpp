// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "property/schedules.h"

namespace routecap_test::property {
namespace {

constexpr std::int64_t kFewestCommands = 10'000;

TEST_CASE("any schedule of calls answers as the contract says, finalized by the caller") {
  const std::int64_t commands = check_schedules("caller finalizes", 120, Finalizing::kCaller);
  MESSAGE(commands << " commands");
  CHECK(commands >= (parameters_given() ? 0 : kFewestCommands * scale()));
}

TEST_CASE("any schedule of calls answers as the contract says, finalized on the capturer's own thread") {
  const std::int64_t commands = check_schedules("own thread finalizes", 60, Finalizing::kOwnThread);
  MESSAGE(commands << " commands");
  CHECK(commands >= 0);
}

TEST_CASE("short schedules too: a capturer that has hardly been used") {
  const std::int64_t commands = check_schedules("hardly used", 6, Finalizing::kCaller);
  CHECK(commands >= 0);
}

}  // namespace
}  // namespace routecap_test::property
