// SPDX-License-Identifier: Apache-2.0
//
// What a run prints: a progress bar while it runs, a table or a JSON object at its end.
#pragma once

#include <cstdint>
#include <string>

#include "engine.h"
#include "options.h"

namespace engine {

/// On stderr, and only on a terminal.
class ProgressBar {
 public:
  ProgressBar(std::int64_t total, bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done);

 private:
  std::int64_t total_;
  bool is_shown_;
  std::int64_t last_ = -1;
};

[[nodiscard]] std::string table(const Outcome& outcome, const Engine& engine, const Options& options);

/// One object with exactly the documented keys.
[[nodiscard]] std::string json(const Outcome& outcome);

}  // namespace engine
