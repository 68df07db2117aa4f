// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "backend/rows/hd.h"

/// What one thread of a grid does is written in *bodies*: plain functions that know no CUDA, so that a test runs them over a whole grid on any
/// machine.
///
/// A body is `Body<...>` with `Args` (all that a launch is given), `Shared` (what the threads of a block share, uninitialized) and `kPhases`; `run`
/// is one phase of one thread. Between two phases the block's threads wait for each other.
namespace routecap::cuda {

/// Threads of a block, for every kernel.
inline constexpr std::int32_t kBlockThreads = 256;

/// Which thread of a grid.
struct GridThread {
  std::int64_t block = 0;
  std::int32_t index = 0;  ///< in its block
  std::int32_t count = 0;  ///< threads of a block
};

RCAP_HD constexpr std::int64_t blocks_for(std::int64_t items, std::int64_t per_block) { return (items + per_block - 1) / per_block; }

/// Bytes whose address is a multiple of `kAlignment`: one access instead of one per byte.
template <std::size_t kAlignment, std::size_t kBytes>
RCAP_HD inline void copy_from_aligned(void* to, const void* from) {
  std::memcpy(to, __builtin_assume_aligned(from, kAlignment), kBytes);
}
template <std::size_t kAlignment, std::size_t kBytes>
RCAP_HD inline void copy_to_aligned(void* to, const void* from) {
  std::memcpy(__builtin_assume_aligned(to, kAlignment), from, kBytes);
}

}  // namespace routecap::cuda
