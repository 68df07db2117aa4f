// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "backend/cuda/grid.h"

namespace fake_cudart {

/// Every thread of a grid on this one: block by block, and in each the phases in their order. A block's shared memory begins as noise.
template <class Body>
void run_grid(const typename Body::Args& args, std::int64_t blocks, std::int32_t threads) {
  using Shared = typename Body::Shared;
  const auto shared = std::make_unique<Shared>();
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::memset(static_cast<void*>(shared.get()), 0xA5, sizeof(Shared));
    for (int phase = 0; phase < Body::kPhases; ++phase) {
      for (std::int32_t thread = 0; thread < threads; ++thread) Body::run(phase, args, {block, thread, threads}, *shared);
    }
  }
}

}  // namespace fake_cudart
