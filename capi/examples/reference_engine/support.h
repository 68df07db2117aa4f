// SPDX-License-Identifier: Apache-2.0
//
// Small things every file here uses: signed sizes, a seeded random source that gives the same numbers everywhere, and a stopwatch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace engine {

template <typename Container>
[[nodiscard]] std::int64_t count(const Container& container) {
  return static_cast<std::int64_t>(std::size(container));
}

/// Element of a signed index: positions, rows and slots are int64_t throughout, as in the library's API.
template <typename Container>
[[nodiscard]] decltype(auto) at(Container& container, std::int64_t index) {
  return container[static_cast<std::size_t>(index)];
}

[[nodiscard]] constexpr std::int64_t align_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Finalizer of splitmix64: every input bit reaches every output bit.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// The standard library's distributions differ between implementations; a schedule must not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15ULL)) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }
  /// 0 .. limit - 1
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit)); }
  /// first .. last, both included
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

/// Seconds spent inside its laps.
class Stopwatch {
 public:
  class Lap {
   public:
    explicit Lap(Stopwatch& watch) : watch_(watch), began_(std::chrono::steady_clock::now()) {}
    ~Lap() { watch_.seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;

   private:
    Stopwatch& watch_;
    std::chrono::steady_clock::time_point began_;
  };

  [[nodiscard]] Lap lap() { return Lap(*this); }
  [[nodiscard]] double seconds() const { return seconds_; }
  void restart() { seconds_ = 0; }

 private:
  double seconds_ = 0;
};

}  // namespace engine
