// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/plugin/loader.h"

namespace routecap {

/// Probes a plugin's device and opens it. Throws what the plugin says, NO_DEVICE among others.
std::shared_ptr<Backend> open_plugin_backend(Plugin plugin, const rcap_backend_options& options);

}  // namespace routecap
