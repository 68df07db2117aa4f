// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control.h"
#include "memory.h"
#include "stream.h"

namespace fake_device {

/// Thrown by work that finds what real hardware would fault at; loses the device.
struct Fault {
  std::string what;
};

/// A failed call: a status and a text.
struct Refusal {
  std::int32_t status;
  const char* text;
};

}  // namespace fake_device

/// A device with memory that traps, streams that dawdle, and faults on demand.
struct rcap_plugin_device {
 public:
  rcap_plugin_device(const rcap_plugin_host& host, const rcap_plugin_options& options, const fake_device_settings& settings);
  rcap_plugin_device(const rcap_plugin_device&) = delete;
  rcap_plugin_device& operator=(const rcap_plugin_device&) = delete;
  ~rcap_plugin_device();

  [[nodiscard]] const rcap_plugin_host& host() const { return host_; }
  [[nodiscard]] std::int32_t ordinal() const { return ordinal_; }
  [[nodiscard]] fake_device::Pace& pace() { return *pace_; }

  /// Begins a call that may fail; throws Refusal where it is to. Returns whether it is to fail late.
  bool enter(std::int32_t status_of_fault);
  [[nodiscard]] std::int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  void fail_call(std::int64_t call, std::int32_t fault);
  void lose(std::string why);
  [[nodiscard]] std::string why_lost() const;

  // Memory.
  void* allocate(std::int32_t home, std::int64_t bytes, bool of_engine);
  void release(std::int32_t home, void* memory, bool of_engine);
  /// Frees pinned memory at once, whatever is queued: work that still names it faults.
  void release_pinned_now(void* memory);
  /// Where streams find bytes of device memory; throws Fault for any other address.
  std::byte* inner(const void* address, std::int64_t bytes, const char* what) const;
  template <class T>
  void translate(T*& address, std::int64_t bytes, const char* what) const {
    if (address != nullptr) address = reinterpret_cast<T*>(inner(address, bytes, what));
  }
  /// Whether these bytes are pinned memory that was handed out.
  [[nodiscard]] bool is_pinned(const void* address, std::int64_t bytes) const;
  [[nodiscard]] std::int64_t held(std::int32_t home) const { return held_[home].load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t engine_bytes() const { return engine_bytes_.load(std::memory_order_relaxed); }

  // Streams and events.
  std::shared_ptr<fake_device::Stream> stream(void* handle);
  void* create_stream();
  void destroy_stream(void* handle);
  void* create_event();
  void destroy_event(void* handle);
  std::shared_ptr<fake_device::Event> event(void* handle);
  /// Queues work; what it throws as Fault loses the device.
  void queue(void* stream, std::function<void()> work);
  void record(const std::shared_ptr<fake_device::Event>& event, void* stream);
  void wait_in_order(const std::shared_ptr<fake_device::Event>& event, void* stream);
  /// Waits until everything queued so far has run, or never will.
  void drain();

  // Counters of the interface.
  std::atomic<std::int64_t> events{0}, streams{0}, captures{0}, snapshots{0}, copies{0}, copied_bytes{0};

 private:
  struct Parked;
  struct Pinned {
    std::shared_ptr<void> memory;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] bool is_parked(const void* memory) const;
  [[nodiscard]] std::vector<std::shared_ptr<fake_device::Stream>> all_streams() const;
  /// Frees memory whose streams have passed.
  void sweep();

  const rcap_plugin_host& host_;
  std::int32_t ordinal_;
  fake_device_settings settings_;
  std::shared_ptr<fake_device::Pace> pace_;
  fake_device::AddressSpace space_;

  std::atomic<std::int64_t> calls_{0};
  std::atomic<std::int64_t> call_to_fail_{-1};
  std::atomic<std::int32_t> fault_{kFaultOnce};
  std::atomic<std::int64_t> held_[2] = {0, 0};
  std::atomic<std::int64_t> engine_bytes_{0};

  mutable std::mutex mutex_;
  std::string why_lost_;
  std::map<void*, std::shared_ptr<fake_device::Stream>> streams_;
  std::map<void*, std::shared_ptr<fake_device::Event>> events_;
  std::map<void*, Pinned> pinned_;
  std::vector<Parked> parked_;
  std::shared_ptr<fake_device::Stream> default_stream_;  ///< last: its thread uses the rest
};

namespace fake_device {

/// A device with the settings that the tests asked for last; `end_device` ends it.
rcap_plugin_device* make_device(const rcap_plugin_host& host, const rcap_plugin_options& options);
void end_device(rcap_plugin_device* device);

}  // namespace fake_device
