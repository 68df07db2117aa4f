// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "property/session.h"

namespace routecap_test::property {

/// The seed of a run that names none.
constexpr std::uint64_t kSeed = 20260117;
/// Schedules of one property at scale 1.
constexpr int kSchedules = 300;

/// How much longer than usual to search: `ROUTECAP_PROPERTY_SCALE`, at least 1.
[[nodiscard]] int scale();
/// Whether the caller chose RapidCheck's parameters himself: counts are then his.
[[nodiscard]] bool parameters_given();
/// Sets RC_PARAMS to the fixed seed and the scaled number of schedules, unless the caller did. Before RapidCheck's first use.
void set_default_parameters();

/// Runs random schedules of so many commands each; prints and shrinks the first that fails. Returns the commands run, -1 on failure.
[[nodiscard]] std::int64_t check_schedules(const std::string& property, std::size_t commands, Finalizing finalizing);

/// Number of schedules after which a wrong model was noticed, at most `limit`; 0 if it never was.
[[nodiscard]] int schedules_until_noticed(Variant variant, std::size_t commands, int limit);

/// Runs so many schedules on a model that is right and counts what they meet.
[[nodiscard]] Census census_of(std::size_t commands, int count, Finalizing finalizing);

}  // namespace routecap_test::property
