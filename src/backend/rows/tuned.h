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

// Parts of these, for jobs that threads divide among themselves (parallel.h).

/// Rows [first, end) of the job as a job of their own.
CaptureJob part(const CaptureJob& job, std::int64_t first, std::int64_t end);
/// Extends the layer's extent by what the job covers; its rows themselves are `capture_rows`.
void extend(const CaptureJob& job);
void capture_rows(const CaptureJob& job, const Kernels& kernels);

/// Notes what is wrong with staged rows [first, end) in one layer, unless a layer in front of it had as much: layers come in order.
void blame(const SnapshotJob& job, std::int32_t layer, std::int64_t first, std::int64_t end);
/// Stages rows [first, end); the counts of the whole job are there.
void stage_rows(const SnapshotJob& job, const Kernels& kernels, std::int64_t first, std::int64_t end);

}  // namespace routecap::rows::tuned
