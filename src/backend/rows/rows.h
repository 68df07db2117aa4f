// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backend/rows/views.h"

/// The row algorithms as the host backend runs them: on the calling thread, one after the other, without allocating.
///
/// Each takes its hand-tuned loop where there is a faster one and the Thrust form (capture.h, snapshot.h, scatter.h, gather.h, count.h) under the
/// sequential policy where there is not; both give the same bytes.
namespace routecap::rows {

/// Narrows the given rows of one layer into the cache, marks them and extends the layer's extent.
///
/// A row that is marked already keeps its bytes and is marked repeated, also when both are in this call. Ids outside [0, E) mark the row bad and
/// leave any bytes. Entries of row_ids outside the cache are counted in the extent. Different layers may be captured from different threads.
void capture(const CaptureJob& job);

/// Copies rows of the cache out, token-major, and counts the marks of the forward's whole range. Marks stay.
///
/// Of a row outside the forward only `bad_layer` is written, as 0.
void snapshot(const SnapshotJob& job);

/// Sets the marks of every captured row back to 0 and the extents to empty, their strays too. Work goes by what was captured.
void clear_marks(const RowShape& shape, const CacheView& cache);

/// Stores rows in their slots, unless those are newer. Others may scatter and gather meanwhile, the same slots too.
///
/// An entry without a row whose slot is newer counts nowhere in the result.
ScatterResult scatter(const ScatterJob& job);

/// Slots of consecutive tokens as an engine lists them: one number per token, or one per page of tokens. Any alignment.
struct SlotList {
  const void* data = nullptr;
  std::int32_t element_bytes = 8;  ///< 4 (int32) or 8 (int64)
  std::int64_t page_size = 1;      ///< tokens to one number: 1 = numbers are slots, else pages
  std::int64_t count = 0;          ///< numbers
  std::int64_t first = 0;          ///< token of a gather's row 0

  /// Slot of a token, -1 for a negative number and past the end.
  [[nodiscard]] std::int64_t at(std::int64_t token) const {
    const std::int64_t index = page_size == 1 ? token : token / page_size;
    if (index >= count) return -1;
    std::int64_t number = -1;
    if (element_bytes == 4) {
      std::int32_t narrow = -1;
      std::memcpy(&narrow, static_cast<const std::byte*>(data) + index * 4, 4);
      number = narrow;
    } else {
      std::memcpy(&number, static_cast<const std::byte*>(data) + index * 8, 8);
    }
    if (number < 0) return -1;
    return page_size == 1 ? number : number * page_size + token % page_size;
  }
};

/// Reads rows of slots; row i is that of `slots.at(slots.first + i)`. Others may scatter meanwhile; each row is seen whole, old or new.
/// With a pending row the outputs are of no use: read again.
GatherResult gather(const GatherJob& job, const SlotList& slots);

/// Column of the first layer that has an id twice in this row, for CHECK_FULL (R25). Layers that did not capture the row are passed over.
///
/// @param payload  one staged row
/// @param layer    receives the column; left alone when there is none
bool has_repeated_id(const RowShape& shape, const std::byte* payload, std::int32_t* layer);

/// `scalar`, `avx2`, `avx512` or `neon`: what the loops use on this machine.
const char* simd_level();

/// Version of the Thrust that the algorithms were compiled with: major * 100000 + minor * 100 + patch.
int thrust_version();

}  // namespace routecap::rows
