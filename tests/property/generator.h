// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>

#include <rapidcheck/Gen.h>

#include "property/schedule.h"

namespace routecap_test::property {

/// Schedules of this many commands, in the mixture that a serving engine makes of them. They shrink command by command, then number by number.
[[nodiscard]] rc::Gen<Schedule> schedules(std::size_t commands);

/// Schedules as RapidCheck prints them. The calls they stand for are told by `Mismatch`.
void showValue(const Schedule& schedule, std::ostream& stream);

}  // namespace routecap_test::property
