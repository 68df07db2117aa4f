// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include "backend/cuda/device.h"

/// What the interface's jobs become on a stream. Each throws Refusal, and has then queued nothing, or waited until nothing of it runs any more.
namespace routecap::cuda {

void capture(Device& device, const rcap_plugin_capture& given, cudaStream_t stream);
void snapshot(Device& device, const rcap_plugin_snapshot& given, cudaStream_t stream);
void clear(const Device& device, const rcap_plugin_cache& cache, cudaStream_t stream);
void widen(const Device& device, const rcap_plugin_list& list, cudaStream_t stream);
void copy_to_host(Device& device, const rcap_plugin_copy& job, cudaStream_t stream);
/// Loads every kernel that jobs of this cache can need; throws UNSUPPORTED for one that cannot be.
void prepare(const Device& device, const rcap_plugin_cache& cache);

}  // namespace routecap::cuda
