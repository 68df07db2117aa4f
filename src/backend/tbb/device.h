// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <atomic>
#include <cstdint>

#include "backend/rows/parallel.h"
#include "backend/tbb/threads.h"

namespace routecap::tbb_backend {

/// Bytes from which on two threads are faster than one.
std::int64_t least_bytes();

}  // namespace routecap::tbb_backend

/// The host's memory, worked on by several threads. Everything is done when a call returns: program order is stream order, and no event is pending.
struct rcap_plugin_device {
  rcap_plugin_device(const rcap_plugin_host& of, std::int32_t count)
      : host(of), threads(count), crew(threads.crew(routecap::tbb_backend::least_bytes())) {}

  const rcap_plugin_host& host;
  routecap::tbb_backend::Threads threads;
  const routecap::rows::Crew crew;

  std::atomic<std::int64_t> held[2]{};  ///< bytes of either home
  std::atomic<std::int64_t> events{0};
  std::atomic<std::int64_t> captures{0};
  std::atomic<std::int64_t> snapshots{0};
  std::atomic<std::int64_t> copies{0};
  std::atomic<std::int64_t> copied_bytes{0};
};
