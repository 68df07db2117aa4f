// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/engine.h"

namespace routecap_bench {

/// What the driver asks of the stages' program.
struct StageOptions {
  static constexpr int kNoBackend = 77;  ///< exit code where the wanted backend is not installed

  Shape shape;
  std::vector<std::int64_t> tokens = {1, 64, 256, 8192};
  std::int64_t rows = 8192;  ///< of one layer in the file of ids, at least the largest batch
  std::string ids;           ///< file: int32 [layers, rows, K]
  std::string order;         ///< file: int64 [slots], a permutation
  std::string check;         ///< folder for what the peers compare with; empty = not wanted
  std::string backend;       ///< empty = host
  int threads = 1;
  int rounds = 8;  ///< 0 measures nothing
  double scale = 1;

  /// Throws `std::invalid_argument` with one line.
  static StageOptions parse(int argc, char** argv);

  /// Timed calls of one round.
  [[nodiscard]] std::int64_t repetitions(std::int64_t batch) const;
};

}  // namespace routecap_bench
