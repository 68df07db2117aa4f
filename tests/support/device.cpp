// SPDX-License-Identifier: Apache-2.0
#include "support/device.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "plugin/fake_device/control.h"
#include "support/handles.h"

namespace routecap_test {
namespace {

/// The fake device of this run.
struct Run {
  const fake_device_control* control = nullptr;
  Backend backend;
  rcap_plugin_device* device = nullptr;
};

Run& current() {
  static Run run;
  return run;
}

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

Seeds seeds_of_environment() {
  const char* text = std::getenv("ROUTECAP_TEST_SEEDS");
  Seeds seeds;
  if (text == nullptr) return seeds;
  char* end = nullptr;
  seeds.first = seeds.last = std::strtoull(text, &end, 10);
  if (*end == '-') seeds.last = std::strtoull(end + 1, nullptr, 10);
  return seeds;
}

const fake_device_control* load_control(const char* plugin) {
  void* library = ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  void* symbol = ::dlsym(library, "fake_device_control_1");
  if (symbol == nullptr) throw std::runtime_error(std::string(plugin) + " is not the fake device");
  return reinterpret_cast<const fake_device_control* (*)()>(symbol)();
}

void begin(const char* plugin, const fake_device_settings& settings) {
  Run& run = current();
  run.control = load_control(plugin);
  run.control->configure(&settings);
  rcap_backend* backend = nullptr;
  Error error;
  if (rcap_backend_open(plugin, nullptr, &backend, error) != RCAP_STATUS_OK) throw std::runtime_error(error.text());
  run.backend.reset(backend);
  run.device = run.control->latest();
}

/// What is wrong with a device that a run is over with; 0 = nothing.
int end() {
  Run& run = current();
  run.control->synchronize(run.device);
  auto info = make<rcap_backend_info>();
  const bool told = rcap_backend_describe(run.backend.get(), &info, nullptr) == RCAP_STATUS_OK;
  const std::int64_t engine = run.control->engine_bytes(run.device);
  const std::string why = run.control->why_lost(run.device);
  run.backend.reset();
  run.device = nullptr;
  if (told && info.device_bytes == 0 && info.pinned_bytes == 0 && engine == 0 && info.lost == 0 && why.empty()) return 0;
  std::fprintf(stderr, "the fake device is left with %lld device, %lld pinned and %lld engine bytes, lost %d: %s\n",
               static_cast<long long>(info.device_bytes), static_cast<long long>(info.pinned_bytes), static_cast<long long>(engine), info.lost,
               why.c_str());
  return 1;
}

/// What a test program runs on in the host's memory. A run that leaves memory of the backend behind, or never came to it, fails.
int run_on_host_memory(const char* plugin, const std::function<int()>& run) {
  auto options = make<rcap_backend_options>();
  if (const char* threads = std::getenv("ROUTECAP_TEST_THREADS"); threads != nullptr) options.threads = std::atoi(threads);
  rcap_backend* backend = nullptr;
  Error error;
  if (rcap_backend_open(plugin, &options, &backend, error) != RCAP_STATUS_OK) throw std::runtime_error(error.text());
  current().backend.reset(backend);
  const int result = run();
  auto info = make<rcap_backend_info>();
  const bool told = rcap_backend_describe(backend, &info, nullptr) == RCAP_STATUS_OK;
  current().backend.reset();
  if (told && info.device_bytes == 0 && info.pinned_bytes == 0 && info.captures > 0 && info.snapshots > 0) return result;
  std::fprintf(stderr, "the backend is left with %lld device and %lld pinned bytes after %lld captures\n", static_cast<long long>(info.device_bytes),
               static_cast<long long>(info.pinned_bytes), static_cast<long long>(info.captures));
  return 1;
}

}  // namespace

rcap_backend* test_backend() { return current().backend.get(); }
const fake_device_control* test_device_control() { return current().control; }
rcap_plugin_device* test_device() { return current().device; }

int run_on_test_backend(const std::function<int()>& run) {
  if (const char* plugin = std::getenv("ROUTECAP_TEST_BACKEND"); plugin != nullptr) return run_on_host_memory(plugin, run);
  const char* plugin = std::getenv("ROUTECAP_TEST_FAKE_DEVICE");
  if (plugin == nullptr) return run();
  const Seeds seeds = seeds_of_environment();
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    constexpr std::int64_t kDelays[] = {0, 20'000, 200'000, 1'000'000};
    begin(plugin, {seed, kDelays[seed % 4], 0, 0});
    int result = run();
    if (const int left = end(); result == 0) result = left;
    if (result != 0) {
      std::fprintf(stderr, "failed with ROUTECAP_TEST_SEEDS=%llu\n", static_cast<unsigned long long>(seed));
      return result;
    }
  }
  return 0;
}

struct FreshDevice::Before {
  Run run;
};

FreshDevice::FreshDevice(std::uint64_t seed, std::int64_t delay_ns, std::int64_t device_bytes, std::int64_t pinned_bytes)
    : before_(std::make_unique<Before>()) {
  std::swap(before_->run, current());
  begin(std::getenv("ROUTECAP_TEST_FAKE_DEVICE"), {seed, delay_ns, device_bytes, pinned_bytes});
}

FreshDevice::~FreshDevice() { std::swap(before_->run, current()); }

std::int64_t FreshDevice::bytes_held() {
  auto info = make<rcap_backend_info>();
  if (rcap_backend_describe(test_backend(), &info, nullptr) != RCAP_STATUS_OK) return -1;
  return info.device_bytes + info.pinned_bytes;
}

Placed::Placed(const void* data, std::int64_t bytes, std::int32_t memory) : bytes_(bytes) {
  if (bytes == 0) return;
  const Run& run = current();
  if (memory != RCAP_MEMORY_DEVICE || run.device == nullptr) {
    const auto* begin = static_cast<const std::byte*>(data);
    kept_.assign(begin, begin + bytes);
    return;
  }
  on_device_ = run.control->allocate(run.device, bytes);
  if (on_device_ == nullptr) throw std::runtime_error("the fake device has no memory for an array");
  run.control->write(run.device, on_device_, data, bytes);
}

Placed::Placed(Placed&& other) noexcept
    : kept_(std::move(other.kept_)), on_device_(std::exchange(other.on_device_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Placed& Placed::operator=(Placed&& other) noexcept {
  std::swap(kept_, other.kept_);
  std::swap(on_device_, other.on_device_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Placed::~Placed() {
  if (on_device_ != nullptr) current().control->release(current().device, on_device_);
}

std::vector<std::byte> bytes_on_device(const void* data, std::int64_t bytes) {
  std::vector<std::byte> copy(static_cast<std::size_t>(bytes));
  if (bytes == 0) return copy;
  const Run& run = current();
  if (run.device == nullptr) {
    std::memcpy(copy.data(), data, copy.size());
  } else {
    run.control->synchronize(run.device);
    run.control->read(run.device, copy.data(), data, bytes);
  }
  return copy;
}

void Placed::rewrite(const void* data) {
  if (on_device_ != nullptr) {
    current().control->write_in_order(current().device, on_device_, data, bytes_, nullptr);
  } else {
    std::memcpy(kept_.data(), data, static_cast<std::size_t>(bytes_));
  }
}

}  // namespace routecap_test
