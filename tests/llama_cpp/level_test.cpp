// SPDX-License-Identifier: Apache-2.0
//
// The rule by which the llama.cpp example takes two choices of experts for the same: it must not be one that takes everything.
#include "level.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace llama_demo {
namespace {

// Expert 0 scores best; 2 and 3 are all but level, and so are 4 and 5, of which one more would be chosen.
constexpr std::array<float, 7> kScores = {0.30F, 0.20F, 0.100001F, 0.1F, 0.05F, 0.04999999F, 0.01F};
constexpr std::array<std::int32_t, 7> kRanked = {0, 1, 2, 3, 4, 5, 6};

std::optional<double> apart(const std::vector<std::int32_t>& chosen) { return level_difference(chosen, kScores, kRanked); }

TEST_CASE("the same choice is level, and nothing lies between") { CHECK(apart({0, 1, 2, 3, 4}) == 0.0); }

TEST_CASE("experts of one score may change their places, inside the choice and at its edge") {
  CHECK(apart({0, 1, 3, 2, 4}).value() == doctest::Approx(1e-5).epsilon(0.01));
  CHECK(apart({0, 1, 2, 3, 5}).value() == doctest::Approx(2.2e-7).epsilon(0.4));
}

TEST_CASE("any other change is none that rounding makes") {
  CHECK_FALSE(apart({1, 0, 2, 3, 4}).has_value());  // the same set
  CHECK_FALSE(apart({0, 1, 2, 3, 6}).has_value());  // a worse expert
  CHECK_FALSE(apart({0, 1, 2, 4, 3}).has_value());
}

TEST_CASE("an expert that is none, or stands there twice, is never level") {
  CHECK_FALSE(apart({0, 1, 2, 2, 4}).has_value());
  CHECK_FALSE(apart({0, 1, 2, 3, 7}).has_value());
  CHECK_FALSE(apart({-1, 1, 2, 3, 4}).has_value());
}

TEST_CASE("the bound is the one that is documented") {
  const std::array<float, 3> scores = {1.0F, 0.99995F, 0.9998F};
  const std::array<std::int32_t, 3> own = {0, 1, 2};
  CHECK(level_difference(std::array<std::int32_t, 1>{1}, scores, own).has_value());
  CHECK_FALSE(level_difference(std::array<std::int32_t, 1>{2}, scores, own).has_value());
}

}  // namespace
}  // namespace llama_demo
