// SPDX-License-Identifier: Apache-2.0
//
// Where each rank's rows stand. With data-parallel attention the MoE layers see the tokens of all ranks in one buffer, so each rank's routers
// hand over everybody's ids; what is this rank's is said once, at end_forward, and never guessed from row counts (R16).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model.h"

namespace engine {

struct RankRows {
  std::int64_t first_row = 0;
  std::int64_t tokens = 0;  // rows that the rank's forward has; in a graph batch those that pad it too
};

struct Geometry {
  bool graph = false;     // replayed graph: padded shares; else one share after the other
  std::int64_t rows = 0;  // of the gathered buffer, alignment and padding included
  std::vector<RankRows> ranks;
};

/// Forwards that run eagerly: every rank's share rounded up to a multiple of attention-TP, one behind the other.
[[nodiscard]] Geometry concatenated(const EngineConfig& config, std::span<const std::int64_t> tokens_per_rank);

/// Forwards that replay a graph: each busy rank runs the rows of the smallest recorded batch that holds the largest rank's requests.
[[nodiscard]] Geometry padded(const EngineConfig& config, std::span<const std::int64_t> batch_per_rank, std::int64_t rows_per_request);

}  // namespace engine
