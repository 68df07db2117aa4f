// SPDX-License-Identifier: Apache-2.0
//
// When two choices of experts are the same choice: a router's scores decide, and nothing else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace llama_demo {

/// Largest relative difference of two scores that counts as none. Sums of float32 in another order differ by some 1e-6 behind 61 layers; experts of
/// neighbouring ranks are a hundred times as far apart as this, as a rule.
constexpr double kLevel = 1e-4;

/// Of two numbers, in parts of the larger one.
[[nodiscard]] inline double relative_difference(double one, double other) {
  const double larger = std::max(std::abs(one), std::abs(other));
  return larger == 0 ? 0 : std::abs(one - other) / larger;
}

/// How far the experts of `chosen` score from those of the same rank in `own`, at most; nothing if an expert is none, is named twice, or is further
/// than `kLevel` from its rank.
/// @param chosen  K experts, best first
/// @param own     at least as many, by `scores`, best first
[[nodiscard]] inline std::optional<double> level_difference(std::span<const std::int32_t> chosen, std::span<const float> scores,
                                                            std::span<const std::int32_t> own) {
  double largest = 0;
  for (std::size_t rank = 0; rank < chosen.size(); ++rank) {
    const std::int32_t expert = chosen[rank];
    if (expert < 0 || static_cast<std::size_t>(expert) >= scores.size()) return std::nullopt;
    if (std::ranges::count(chosen.first(rank), expert) > 0) return std::nullopt;
    const auto score = static_cast<double>(scores[static_cast<std::size_t>(expert)]);
    const auto wanted = static_cast<double>(scores[static_cast<std::size_t>(own[rank])]);
    largest = std::max(largest, relative_difference(score, wanted));
  }
  if (largest > kLevel) return std::nullopt;
  return largest;
}

}  // namespace llama_demo
