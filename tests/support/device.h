// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <routecap/routecap.h>

struct fake_device_control;
struct rcap_plugin_device;

/// Which backend a test program runs on: the host, or, where the environment variable ROUTECAP_TEST_FAKE_DEVICE names its plugin, the fake device.
/// Then every array that a test says is in device memory is put there, and each program runs once for every seed of ROUTECAP_TEST_SEEDS (`3` or
/// `1-200`). ROUTECAP_TEST_BACKEND names the plugin of a backend that works in the host's memory instead, opened with ROUTECAP_TEST_THREADS threads.
namespace routecap_test {

/// The backend of this run; null is the host.
[[nodiscard]] rcap_backend* test_backend();
/// Its controls and itself; null but on the fake device.
[[nodiscard]] const fake_device_control* test_device_control();
[[nodiscard]] rcap_plugin_device* test_device();

/// Runs a program on the backend: once, or once for every seed. A run that leaves memory of the device behind, or loses it, fails.
int run_on_test_backend(const std::function<int()>& run);

/// A fake device of its own, which takes the place of the run's as long as it lives. Whatever was made on it must be gone before.
class FreshDevice {
 public:
  FreshDevice(std::uint64_t seed, std::int64_t delay_ns, std::int64_t device_bytes = 0, std::int64_t pinned_bytes = 0);
  FreshDevice(const FreshDevice&) = delete;
  FreshDevice& operator=(const FreshDevice&) = delete;
  ~FreshDevice();
  /// Bytes of either memory that the library still holds.
  [[nodiscard]] static std::int64_t bytes_held();

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

/// Bytes where a layout says that they are: with the host, or on the device of the run. They stay until the device has passed everything that was
/// queued while they were here.
class Placed {
 public:
  Placed() = default;
  Placed(const void* data, std::int64_t bytes, std::int32_t memory);
  Placed(const std::vector<std::byte>& bytes, std::int32_t memory) : Placed(bytes.data(), static_cast<std::int64_t>(bytes.size()), memory) {}
  Placed(Placed&& other) noexcept;
  Placed& operator=(Placed&& other) noexcept;
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed();

  /// Null where there are no bytes.
  [[nodiscard]] const void* data() const { return bytes_ == 0 ? nullptr : on_device_ != nullptr ? on_device_ : kept_.data(); }
  template <class T>
  [[nodiscard]] const T* as() const {
    return static_cast<const T*>(data());
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Writes other bytes in the same place, behind what the default stream has been given so far.
  void rewrite(const void* data);

 private:
  std::vector<std::byte> kept_;
  void* on_device_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Bytes of device memory, as they are when the device has run everything that is queued.
[[nodiscard]] std::vector<std::byte> bytes_on_device(const void* data, std::int64_t bytes);

}  // namespace routecap_test
