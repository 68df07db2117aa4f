// SPDX-License-Identifier: Apache-2.0
//
// Instantiates every algorithm; cccl_check.sh compiles it with CCCL's Thrust instead of the one that the project is built with.
#include "backend/rows/rows.h"
#include "backend/rows/sequential.h"

static_assert(THRUST_VERSION >= 300000, "this file is for CCCL 3");

namespace routecap::rows::testing {

struct ListedSlots {
  SlotList list;
  std::int64_t operator()(std::int64_t row) const { return list.at(list.first + row); }
};

struct Results {
  algorithm::RowRange covered;
  ScatterResult scattered;
  GatherResult gathered;
};

Results every_algorithm(const CaptureJob& capture, const SnapshotJob& snapshot, const ScatterJob& scatter, const GatherJob& gather,
                        const SlotList& slots) {
  Results results;
  algorithm::capture<HostWords>(thrust::seq, capture);
  results.covered = algorithm::covered(thrust::seq, capture);
  algorithm::snapshot(thrust::seq, snapshot);
  algorithm::count(thrust::seq, snapshot);
  results.scattered = algorithm::scatter<HostWords>(thrust::seq, scatter);
  results.gathered = algorithm::gather<HostWords>(thrust::seq, gather, ListedSlots{slots});
  return results;
}

}  // namespace routecap::rows::testing
