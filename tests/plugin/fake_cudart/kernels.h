// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

struct rcap_plugin_device;

namespace fake_cudart {

/// A kernel that `routecap::cuda::kernel_address` gave the address of; -1 where it is none.
int number_of_kernel(const void* address);

/// The work of one launch: every thread of the grid, block by block and phase by phase, in the memory of the device. `arguments` is read at once. An
/// address that is neither the device's nor pinned is a fault.
std::function<void()> grid_work(rcap_plugin_device& device, int kernel, std::int64_t blocks, std::int32_t threads, const void* arguments);

}  // namespace fake_cudart
