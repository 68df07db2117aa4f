// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backend/rows/views.h"
#include "support/error.h"
#include "support/list_view.h"

namespace routecap {

/// Bytes that a backend gave; given back with the last copy.
using Memory = std::shared_ptr<std::byte>;

/// Which of a backend's memories.
enum class MemoryHome {
  kDevice,  ///< the device cache and the device side of staging blocks
  kPinned,  ///< the host side of staging blocks
};

/// A copy to the host on its way.
struct Transfer {
  void* event = nullptr;
  bool started = false;
};

/// A place where rows are captured. Everything the engine's calls queue goes through here, in the order of the stream they name; functions may be
/// called from any thread, each for another tap or staging block. A device fault is Error(DEVICE).
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual void describe(rcap_backend_info& info) const = 0;
  /// Zeroed memory, in pages of its own. Throws OUT_OF_MEMORY naming `what`.
  virtual Memory allocate(MemoryHome home, std::int64_t bytes, const char* what) = 0;
  /// Narrows one layer's rows into the device cache.
  virtual void capture(const rows::CaptureJob& job, void* stream) = 0;
  /// Takes a forward's rows from the cache into a staging block, then forgets what was captured (R30).
  virtual void snapshot(const rows::SnapshotJob& job, void* stream) = 0;
  /// Forgets what was captured (R27).
  virtual void forget(const rows::RowShape& shape, const rows::CacheView& cache, void* stream) = 0;
  /// Widens a list in device memory to int64 in device memory of ours.
  virtual void widen(const ListView& list, std::int64_t* out, void* stream) = 0;
  /// Widens a list in device memory to int64 in pinned memory; complete when the call returns.
  virtual void widen_to_host(const ListView& list, std::int64_t* out, void* stream) = 0;
  /// Starts a copy from device to pinned memory, behind everything queued for that block.
  virtual void copy_to_host(std::byte* pinned, const std::byte* device, std::int64_t bytes, void* stream, Transfer& transfer) = 0;
  /// Whether a started copy is complete.
  virtual bool complete(const Transfer& transfer) = 0;
  /// Waits for a started copy; only threads of ours call it.
  virtual void wait(const Transfer& transfer) = 0;
};

/// The host backend: sequential, on the caller's thread, done when the call returns.
std::shared_ptr<Backend> open_host_backend();

/// Opens a backend by name. Throws NOT_FOUND naming what was looked for.
std::shared_ptr<Backend> open_backend(std::string_view name, const rcap_backend_options& options);

}  // namespace routecap
