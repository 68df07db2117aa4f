// SPDX-License-Identifier: Apache-2.0
#include "backend/rows/rows.h"

#include "backend/rows/kernels.h"
#include "backend/rows/tuned.h"

namespace routecap::rows {

void capture(const CaptureJob& job) { tuned::capture(job, best_kernels()); }
void snapshot(const SnapshotJob& job) { tuned::snapshot(job, best_kernels()); }
ScatterResult scatter(const ScatterJob& job) { return tuned::scatter(job, best_kernels()); }
GatherResult gather(const GatherJob& job, const SlotList& slots) { return tuned::gather(job, slots, best_kernels()); }
const char* simd_level() { return best_kernels().name; }

void clear_marks(const RowShape& shape, const CacheView& cache) {
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    LayerExtent& extent = cache.extents[layer];
    if (extent.first == extent.end && extent.strays == 0) continue;
    std::memset(cache.marks + layer * cache.device_rows + extent.first, 0, static_cast<std::size_t>(extent.end - extent.first));
    extent = LayerExtent{};
  }
}

}  // namespace routecap::rows
