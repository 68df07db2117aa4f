// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <atomic>
#include <cstdint>

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
  /// CUDA's own functions wait for what is queued before they give memory to anyone else, so nothing is asked to wait here.
  void release(std::int32_t home, void* memory, std::int64_t bytes);
  void upload(void* to, const void* from, std::int64_t bytes);

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
  /// Waits until nothing runs on the stream. Where even that fails, the device counts as lost: nobody may touch the memory.
  void outlast(cudaStream_t stream);

  const rcap_plugin_host& host_;
  std::int32_t ordinal_;
  std::int64_t zero_copy_bytes_ = 0;
  char description_[128] = {};  ///< asked for at the opening: a device that is lost answers nothing
  CUcontext context_ = nullptr;
  cudaStream_t own_stream_ = nullptr;
  std::atomic<std::int64_t> held_[2] = {0, 0};
  std::atomic<bool> lost_{false};
};

}  // namespace routecap::cuda
