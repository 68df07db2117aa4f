// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "two_ways.h"

namespace routecap_test {

/// Choices that a number repeats.
class Choice {
 public:
  explicit Choice(std::uint64_t seed) : random_(seed) {}
  template <class T>
  T pick(T low, T high) {
    return std::uniform_int_distribution<T>(low, high)(random_);
  }
  template <class T>
  T one_of(const std::vector<T>& from) {
    return from[pick<std::size_t>(0, from.size() - 1)];
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

 private:
  std::mt19937_64 random_;
};

/// A capturer that somebody has used: stored, half stored, released, copied.
class Scene : private Choice {
 public:
  explicit Scene(std::uint64_t seed);
  [[nodiscard]] const Rig& rig() const { return rig_; }

  /// Any read of these slots.
  [[nodiscard]] Asked ask();
  /// Options that the format has a use for.
  [[nodiscard]] rcap_encode_options choose(std::int32_t format);

 private:
  Setup chosen_setup();
  /// Slots of one call, each once.
  Slots some_slots(int most);
  void happen();
  void forward(bool settled);

  Rig rig_;
  std::vector<Output> unsettled_;
  std::vector<std::int64_t> stored_;
  std::map<std::int64_t, std::int64_t> tag_of_;
  std::map<std::vector<std::int32_t>, std::int64_t> canonical_;  ///< rows of different seeds may be alike where E or K is small
};

}  // namespace routecap_test
