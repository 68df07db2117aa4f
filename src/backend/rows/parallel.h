// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/rows/rows.h"

/// The row algorithms of rows.h divided among threads, for jobs that are large enough. Each gives the bytes that the sequential form gives; only of a
/// row that is captured twice in one job it is open which of the two is kept, and no byte of such a row is stored (R27).
namespace routecap::rows {

/// Threads that take pieces of a job. A value; `self` outlives it.
struct Crew {
  /// Calls body(context, i) for every i in [0, pieces), each once, on the caller's thread and on at most threads - 1 others, and returns when all
  /// have returned. Neither fails nor throws; `body` must not throw either.
  using Run = void (*)(void* self, std::int64_t pieces, void (*body)(void* context, std::int64_t piece), void* context);

  Run run = nullptr;  ///< null: the caller is alone
  void* self = nullptr;
  std::int32_t threads = 1;
  std::int64_t least_bytes = 0;  ///< a job that moves fewer is done sooner by one thread
};

/// Most pieces of one job.
inline constexpr std::int64_t kMostPieces = 64;

/// How the rows of a job are cut.
struct Cut {
  std::int64_t rows = 0;
  std::int64_t step = 0;    ///< rows of every piece but the last
  std::int64_t pieces = 1;  ///< 1: the caller does it alone
};

/// Cuts `rows` rows, for which `bytes` bytes are read or written. Pieces begin at multiples of 8 rows, so that no two of them share a byte of a
/// bitmap.
Cut cut_rows(const Crew& crew, std::int64_t rows, std::int64_t bytes);

void capture(const CaptureJob& job, const Crew& crew);
/// A snapshot, then clear_marks.
void snapshot_and_clear(const SnapshotJob& job, const Crew& crew);
/// Each thread those rows that it captures: their marks are in its core's caches when the next forward comes.
void clear_marks(const RowShape& shape, const CacheView& cache, const Crew& crew);
void copy(std::byte* to, const std::byte* from, std::int64_t bytes, const Crew& crew);
ScatterResult scatter(const ScatterJob& job, const Crew& crew);
/// Rows behind a pending one may be read too.
GatherResult gather(const GatherJob& job, const SlotList& slots, const Crew& crew);

}  // namespace routecap::rows
