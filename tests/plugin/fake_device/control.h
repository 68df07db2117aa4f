// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// How tests steer the fake device: a table of functions that its plugin exports beside its entry. All functions may be called from any thread.
extern "C" {

/// A device that the plugin has opened; the same object that the library knows.
struct rcap_plugin_device;

/// What the next device to be opened is like.
struct fake_device_settings {
  std::uint64_t seed;         ///< of every random choice: delays, which way a job takes
  std::int64_t delay_ns;      ///< longest pause before a piece of work, and longest time by which an event is seen late; 0 = none
  std::int64_t device_bytes;  ///< device memory that there is, 0 = no limit
  std::int64_t pinned_bytes;  ///< the same of pinned memory
};

/// What a fault does.
enum fake_device_fault {
  kFaultOnce = 0,    ///< that call alone fails; the device goes on
  kFaultSticky = 1,  ///< that call fails and the device is lost
  kFaultLate = 2,    ///< a copy that fails after it was queued: the plugin waits for it, and fails; other calls as kFaultOnce
};

struct fake_device_control {
  void (*configure)(const fake_device_settings* settings);
  /// The device opened last, null when it is closed.
  rcap_plugin_device* (*latest)();

  // The engine's memory and streams.
  /// Device memory, zeroed; null where there is none. Not counted by the interface's counters.
  void* (*allocate)(rcap_plugin_device* device, std::int64_t bytes);
  /// In order behind everything queued so far.
  void (*release)(rcap_plugin_device* device, void* memory);
  /// Copies to the device, complete when it returns.
  void (*write)(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes);
  /// The same in stream order; `from` is read at once.
  void (*write_in_order)(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes, void* stream);
  void (*read)(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes);
  void* (*stream_create)(rcap_plugin_device* device);
  void (*stream_destroy)(rcap_plugin_device* device, void* stream);
  /// `stream` goes on when `other` has come to where it is now.
  void (*stream_wait)(rcap_plugin_device* device, void* stream, void* other);
  /// Waits until everything queued has run.
  void (*synchronize)(rcap_plugin_device* device);

  // Faults and pauses.
  /// While it is held no stream begins anything; a release does not wait then.
  void (*hold)(rcap_plugin_device* device, std::int32_t held);
  /// Calls of the interface that could have failed so far, and pieces of work run by streams.
  std::int64_t (*calls)(rcap_plugin_device* device);
  std::int64_t (*works)(rcap_plugin_device* device);
  /// The call that `calls` will count as `call`, or the work that `works` will count as `work`, fails; -1 = none. A failed work loses the device.
  void (*fail_call)(rcap_plugin_device* device, std::int64_t call, std::int32_t fault);
  void (*fail_work)(rcap_plugin_device* device, std::int64_t work);
  /// Loses the device now.
  void (*lose)(rcap_plugin_device* device);
  /// Engine's memory that is not released yet.
  std::int64_t (*engine_bytes)(rcap_plugin_device* device);
  /// Why the device was lost, empty while it is not. Until the next call.
  const char* (*why_lost)(rcap_plugin_device* device);
};

const fake_device_control* fake_device_control_1(void);
}
