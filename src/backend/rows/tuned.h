// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/rows/kernels.h"
#include "backend/rows/rows.h"

/// Hand-tuned forms of the algorithms; what each does is said in rows.h. Tests hold them to the bytes of the Thrust forms, with every kernel set that
/// the machine runs.
namespace routecap::rows::tuned {

void capture(const CaptureJob& job, const Kernels& kernels);
void snapshot(const SnapshotJob& job, const Kernels& kernels);
ScatterResult scatter(const ScatterJob& job, const Kernels& kernels);
GatherResult gather(const GatherJob& job, const SlotList& slots, const Kernels& kernels);

}  // namespace routecap::rows::tuned
