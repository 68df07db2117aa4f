// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <functional>

struct rcap_plugin_device;

namespace fake_device {

/// The work of one job, to be run by a stream: everything in HOST memory has been read, addresses are looked up when it runs, and one that is not the
/// device's is a Fault.
std::function<void()> capture_work(rcap_plugin_device& device, const rcap_plugin_capture& job);
std::function<void()> snapshot_work(rcap_plugin_device& device, const rcap_plugin_snapshot& job);
std::function<void()> clear_work(rcap_plugin_device& device, const rcap_plugin_cache& cache);
std::function<void()> widen_work(rcap_plugin_device& device, const rcap_plugin_list& list);

}  // namespace fake_device
