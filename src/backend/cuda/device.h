// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <set>

#include "backend/cuda/runtime.h"

namespace routecap::cuda {

/// One device that was opened: its primary context, which everyone in the process shares, and a stream of ours for what need not wait for others.
///
/// Functions may be called from any thread, inside a `Guest` of this device's context where they call CUDA. They throw Refusal.
class Device {
 public:
  Device(const rcap_plugin_host& host, std::int32_t ordinal);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  [[nodiscard]] const rcap_plugin_host& host() const { return host_; }
  [[nodiscard]] std::int32_t ordinal() const { return ordinal_; }
  [[nodiscard]] CUcontext context() const { return context_; }
  /// Name, compute capability and driver, in words.
  [[nodiscard]] const char* description() const { return description_; }

  /// Zeroed memory of a `rcap_plugin_home`.
  void* allocate(std::int32_t home, std::int64_t bytes);
  /// Waits for nothing: CUDA gets memory back when all events of the library that are recorded by now have been reached, which is behind every
  /// snapshot and every copy. `cudaFree` only "may" wait for the device, and of `cudaFreeHost` nothing is said.
  void release(std::int32_t home, void* memory, std::int64_t bytes);
  void upload(void* to, const void* from, std::int64_t bytes);

  /// An event for the library, to be recorded in `record` alone.
  cudaEvent_t make_event();
  /// Where it fails, waits until nothing of what the event was to stand behind runs any more.
  void record(cudaEvent_t event, cudaStream_t stream);
  /// What it was last recorded behind counts on for memory that is given back.
  void end_event(cudaEvent_t event);

  /// Queues a kernel of kernel_list.h. Without blocks there is nothing to queue.
  template <class Args>
  void launch(int kernel, std::int64_t blocks, const Args& args, cudaStream_t stream) const {
    launch_with(kernel, blocks, &args, stream);
  }
  /// Loads a kernel; throws UNSUPPORTED where the plugin has no code for this device.
  void load(int kernel) const;

  /// Calls `body(queued)`, which counts in `queued` what it has put on the stream. Where it throws, waits until nothing of that runs any more.
  template <class Body>
  void all_or_nothing(cudaStream_t stream, Body&& body) {
    int queued = 0;
    try {
      body(queued);
    } catch (...) {
      if (queued != 0) outlast(stream);
      throw;
    }
  }

  /// Whether the device has failed for good; looks when nobody has seen it fail yet.
  bool lost();
  [[nodiscard]] bool known_lost() const { return lost_.load(std::memory_order_acquire); }

  /// Bytes up to which a block goes to the host by a kernel's own writes instead of a copy; 0 = never.
  [[nodiscard]] std::int64_t zero_copy_bytes() const { return zero_copy_bytes_; }

  std::atomic<std::int64_t> events{0}, streams{0}, captures{0}, snapshots{0}, copies{0}, copied_bytes{0};
  [[nodiscard]] std::int64_t held(std::int32_t home) const { return held_[home].load(std::memory_order_relaxed); }

 private:
  void describe();
  void launch_with(int kernel, std::int64_t blocks, const void* args, cudaStream_t stream) const;
  /// Waits until nothing runs on the stream, as `insist` does.
  void outlast(cudaStream_t stream);

  /// Memory that was given back and that queued work may still touch.
  struct Leaving {
    std::int32_t home;
    void* memory;
    cudaEvent_t passed;  ///< on `leaving_stream_`
  };
  /// Keeps memory until `leaving_stream_` has come to where it is now; false where that cannot be had.
  bool park(std::int32_t home, void* memory);
  /// Frees what nothing touches any more; the rest of it as well where `all`, after a wait.
  void sweep(bool all);
  /// Everything on `leaving_stream_` from here on is behind the last record of the event. Where that cannot be had, it waits.
  void leave_behind(cudaEvent_t event);
  [[nodiscard]] bool nothing_leaves();
  static void free(std::int32_t home, void* memory);
  /// Calls `wait` until it succeeds. Where it does not, the device counts as lost: nobody may touch the memory.
  template <class Wait>
  void insist(Wait&& wait);

  const rcap_plugin_host& host_;
  std::int32_t ordinal_;
  std::int64_t zero_copy_bytes_ = 0;
  char description_[128] = {};  ///< asked for at the opening: a device that is lost answers nothing
  CUcontext context_ = nullptr;
  cudaStream_t own_stream_ = nullptr;
  cudaStream_t leaving_stream_ = nullptr;  ///< runs nothing: it waits for events of the library before memory goes

  std::mutex mutex_;
  std::set<cudaEvent_t> events_made_;  ///< and not ended
  std::list<Leaving> leaving_;         ///< in the order of `leaving_stream_`

  std::atomic<std::int64_t> held_[2] = {0, 0};
  std::atomic<bool> lost_{false};
};

}  // namespace routecap::cuda
