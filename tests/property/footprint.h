// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace routecap_test::property {

/// What this process holds.
struct Footprint {
  std::int64_t heap_bytes = 0;      ///< given out by malloc, all arenas
  std::int64_t resident_bytes = 0;  ///< of memory, by the kernel's count
  std::int64_t mappings = 0;        ///< lines of /proc/self/maps
  std::int64_t files = 0;           ///< open file descriptors
  std::int64_t threads = 0;

  static Footprint now();
  [[nodiscard]] std::string text() const;
};

/// What may differ between one stretch of a long run and the next: contents of slots, malloc's own caches.
struct Slack {
  std::int64_t heap_bytes = 512 << 10;
  std::int64_t resident_bytes = 16 << 20;
  std::int64_t mappings = 64;
};

/// Footprints of a run that should not grow, taken where as much is alive as ever. The first fifth warms up; of the rest the first half says what is
/// usual, and in the second nothing may be larger. Files and threads have no slack.
class Growth {
 public:
  explicit Growth(Slack slack) : slack_(slack) {}
  /// @param elapsed  of the run, 0 .. 1
  void add(double elapsed, const Footprint& footprint);
  /// What grew, from what to what; nothing where nothing did. Both halves must have been seen.
  [[nodiscard]] std::optional<std::string> found() const;
  [[nodiscard]] const Footprint& usual() const { return first_; }
  [[nodiscard]] const Footprint& latest() const { return second_; }

 private:
  Slack slack_;
  std::int64_t samples_[2] = {0, 0};
  Footprint first_;   ///< most of each in the first half
  Footprint second_;  ///< in the second
};

}  // namespace routecap_test::property
