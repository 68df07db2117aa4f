// SPDX-License-Identifier: Apache-2.0
#include "property/schedules.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>

#include <rapidcheck.h>

#include "property/generator.h"

namespace routecap_test::property {
namespace {

constexpr const char* kParameters = "RC_PARAMS";
constexpr std::chrono::seconds kShrinking{60};
bool given = false;

}  // namespace

int scale() {
  const char* text = std::getenv("ROUTECAP_PROPERTY_SCALE");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

bool parameters_given() { return given; }

void set_default_parameters() {
  given = std::getenv(kParameters) != nullptr;
  const std::string parameters = "seed=" + std::to_string(kSeed) + " max_success=" + std::to_string(kSchedules * scale());
  setenv(kParameters, parameters.c_str(), 0);
}

std::int64_t check_schedules(const std::string& property, std::size_t commands, Finalizing finalizing) {
  std::int64_t run = 0;
  const rc::Gen<Schedule> random = schedules(commands);
  std::optional<Schedule> wrong;
  std::exception_ptr why;
  std::chrono::steady_clock::time_point stop_shrinking;
  const bool holds = rc::check(property, [&] {
    const Schedule schedule = *random;
    if (wrong && schedule == *wrong) std::rethrow_exception(why);
    // RapidCheck shrinks without end; once time is up no candidate is wrong any more, and the last that was is what it prints.
    if (wrong && std::chrono::steady_clock::now() > stop_shrinking) return;
    run += std::ssize(schedule.commands);
    try {
      Session::run(schedule, finalizing);
    } catch (...) {
      if (!wrong) stop_shrinking = std::chrono::steady_clock::now() + kShrinking;
      wrong = schedule;
      why = std::current_exception();
      throw;
    }
  });
  return holds ? run : -1;
}

int schedules_until_noticed(Variant variant, std::size_t commands, int limit) {
  const rc::Gen<Schedule> random = schedules(commands);
  for (int i = 1; i <= limit; ++i) {
    const Schedule schedule = random(rc::Random(kSeed + static_cast<std::uint64_t>(i)), 100).value();
    try {
      Session::run(schedule, Finalizing::kCaller, variant);
    } catch (const Mismatch&) {
      return i;
    }
  }
  return 0;
}

Census census_of(std::size_t commands, int count, Finalizing finalizing) {
  Census census;
  const rc::Gen<Schedule> random = schedules(commands);
  for (int i = 1; i <= count; ++i) {
    Session::run(random(rc::Random(kSeed + static_cast<std::uint64_t>(i)), 100).value(), finalizing, Variant::kContract, &census);
  }
  return census;
}

}  // namespace routecap_test::property
