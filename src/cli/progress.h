// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace routecap::cli {

/// A bar on standard error for work that takes long, where that is a terminal. Gone when the work is.
class Progress {
 public:
  /// @param what   one word or two, for example `reading`
  /// @param total  amount of work, in any unit; 0 = not known, no bar
  Progress(const char* what, std::int64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(std::int64_t amount);

  /// For the whole program: no bar, whatever standard error is.
  static void turn_off();

 private:
  void draw();

  const char* what_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool wanted_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace routecap::cli
