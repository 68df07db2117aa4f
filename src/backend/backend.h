// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "backend/rows/parallel.h"
#include "backend/rows/views.h"
#include "support/error.h"
#include "support/list_view.h"

namespace routecap {

/// Bytes that a backend gave; given back with the last copy.
using Memory = std::shared_ptr<std::byte>;

/// A backend's event or stream, given back with the last copy; null where the backend needs none.
using Event = std::shared_ptr<void>;
using Stream = std::shared_ptr<void>;

/// Which of a backend's memories.
enum class MemoryHome {
  kDevice,  ///< the device cache and the device side of staging blocks; only the backend touches it
  kPinned,  ///< the host side of staging blocks
};

/// Memory and an event for lists that come to the host by themselves.
struct FetchRoom {
  std::int64_t numbers = 0;
  Memory device;
  Memory pinned;
  Event event;
};

/// A copy to the host on its way.
struct Transfer {
  void* event = nullptr;  ///< recorded behind the copy
  bool started = false;
  bool failed = false;  ///< the device failed before it was complete
  bool done = false;    ///< it was seen complete
};

/// Bytes to bring from device to pinned memory; none where both are one.
struct HostCopy {
  std::byte* pinned = nullptr;
  const std::byte* device = nullptr;
  std::int64_t bytes = 0;
  void* after = nullptr;  ///< event that the copy waits for on the device, or null
};

/// Rows of a snapshot that the host named, for a device that cannot read them where they are.
struct NamedRows {
  const std::int64_t* pinned = nullptr;  ///< as they are until the stream has passed the snapshot
  std::int64_t* room = nullptr;          ///< device memory for as many
};

/// A place where rows are captured. Everything the engine's calls queue goes through here, in the order of the stream they name; functions may be
/// called from any thread, each for another tap or staging block. A device fault is Error(DEVICE); a call that throws leaves nothing running.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual void describe(rcap_backend_info& info) const = 0;
  /// Zeroed memory, in pages of its own. Throws OUT_OF_MEMORY naming `what`.
  virtual Memory allocate(MemoryHome home, std::int64_t bytes, const char* what) = 0;
  /// The host side of a staging block: pinned memory as large as its device side, or the device side itself where the host reads that as it is. A
  /// copy between them then moves nothing.
  virtual Memory host_side(const Memory& /*device*/, std::int64_t bytes, const char* what) { return allocate(MemoryHome::kPinned, bytes, what); }
  /// Narrows one layer's rows into the device cache.
  virtual void capture(const rows::CaptureJob& job, void* stream) = 0;
  /// Takes a forward's rows from the cache into a staging block, then forgets what was captured (R30). `named` is given instead of job.rows where the
  /// host named the rows and the backend does not read host lists.
  virtual void snapshot(const rows::SnapshotJob& job, const NamedRows& named, void* stream) = 0;
  /// Forgets what was captured (R27).
  virtual void forget(const rows::RowShape& shape, const rows::CacheView& cache, void* stream) = 0;
  /// Widens a list in device memory to int64 in device memory of ours.
  virtual void widen(const ListView& list, std::int64_t* out, void* stream) = 0;
  /// Starts a copy from device to pinned memory, in stream order and behind `after`.
  virtual void copy_to_host(const HostCopy& copy, void* stream, Transfer& transfer) = 0;
  /// Whether a started copy is complete.
  virtual bool complete(const Transfer& transfer) = 0;
  /// Waits for a started copy; only threads of ours call it.
  virtual void wait(const Transfer& transfer) = 0;

  // What only a device of its own needs.

  /// Widens a list in device memory to int64 in host memory; waits until the stream has come to it. What it needs for that it keeps in `room`, the
  /// caller's alone, for the next time.
  virtual void widen_to_host(const ListView& list, std::int64_t* out, void* /*stream*/, FetchRoom& /*room*/) { list.widen(out); }
  /// Loads everything that captures and snapshots of this cache will need: nothing is loaded later, inside a graph's capture. Throws UNSUPPORTED.
  virtual void prepare(const rows::RowShape& /*shape*/, const rows::CacheView& /*cache*/) {}
  /// Copies to device memory; complete when it returns.
  virtual void upload(std::byte* device, const void* from, std::int64_t bytes) { std::memcpy(device, from, static_cast<std::size_t>(bytes)); }
  virtual Event make_event() { return {}; }
  /// A stream for copies of ours.
  virtual Stream make_stream() { return {}; }
  virtual void record(void* /*event*/, void* /*stream*/) {}
  /// Whether a snapshot reads its list of rows from host memory, during the call.
  [[nodiscard]] virtual bool reads_host_lists() const { return true; }
  /// Whether copies complete without a call of ours, so that whoever waits for one must look again and again.
  [[nodiscard]] virtual bool completes_by_itself() const { return false; }
  /// Threads that the library may divide work in host memory among.
  [[nodiscard]] virtual rows::Crew crew() const { return {}; }
  /// Whether the device has failed for good: then nothing that was queued runs any more (R34).
  [[nodiscard]] virtual bool lost() const { return false; }
};

/// The host backend: sequential, on the caller's thread, done when the call returns.
std::shared_ptr<Backend> open_host_backend();

/// Opens a backend by name, or a plugin by its absolute path. Throws what the search says where there is none (see plugin/loader.h).
std::shared_ptr<Backend> open_backend(std::string_view name, const rcap_backend_options& options);

}  // namespace routecap
