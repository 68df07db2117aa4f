// SPDX-License-Identifier: Apache-2.0
//
// The tests' controls of a device (fake_device/control.h) on a real GPU, linked into a test's copy of the CUDA plugin: what the contract's tests need
// of an engine. A GPU cannot be held, and none of its calls be told to fail: tests that need that are for the fake device.
#include <routecap/backend.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "backend/cuda/device.h"
#include "plugin/fake_device/control.h"

namespace {

std::mutex mutex;
std::map<void*, std::int64_t> sizes;
std::atomic<std::int64_t> held{0};

/// A test cannot go on where its own GPU calls fail.
void must(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", call, cudaGetErrorName(error), cudaGetErrorString(error));
  std::abort();
}

cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }

void* allocate(rcap_plugin_device* /*device*/, std::int64_t bytes) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "cudaMalloc");
  must(cudaMemset(memory, 0, static_cast<std::size_t>(bytes)), "cudaMemset");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::lock_guard lock(mutex);
  sizes[memory] = bytes;
  held += bytes;
  return memory;
}

void release(rcap_plugin_device* /*device*/, void* memory) {
  {
    const std::lock_guard lock(mutex);
    held -= sizes[memory];
    sizes.erase(memory);
  }
  must(cudaFree(memory), "cudaFree");
}

void write(rcap_plugin_device* /*device*/, void* to, const void* from, std::int64_t bytes) {
  must(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

// Pageable memory has been read when this returns.
void write_in_order(rcap_plugin_device* /*device*/, void* to, const void* from, std::int64_t bytes, void* stream) {
  must(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream_of(stream)), "cudaMemcpyAsync to the device");
}

void read(rcap_plugin_device* /*device*/, void* to, const void* from, std::int64_t bytes) {
  must(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
}

void* stream_create(rcap_plugin_device* /*device*/) {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}

void stream_destroy(rcap_plugin_device* /*device*/, void* stream) { must(cudaStreamDestroy(stream_of(stream)), "cudaStreamDestroy"); }

void stream_wait(rcap_plugin_device* /*device*/, void* stream, void* other) {
  cudaEvent_t event = nullptr;
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  must(cudaEventRecord(event, stream_of(other)), "cudaEventRecord");
  must(cudaStreamWaitEvent(stream_of(stream), event, 0), "cudaStreamWaitEvent");
  must(cudaEventDestroy(event), "cudaEventDestroy");
}

void synchronize(rcap_plugin_device* /*device*/) { must(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

[[noreturn]] void only_on_the_fake_device() {
  std::fprintf(stderr, "this test is for the fake device: a GPU can neither be held nor told to fail\n");
  std::abort();
}

constexpr fake_device_control kControl = {
    [](const fake_device_settings*) {},
    []() -> rcap_plugin_device* {
      // Nothing of it is looked at: memory and streams are those of the current device.
      static int stands_for_it = 0;
      return reinterpret_cast<rcap_plugin_device*>(&stands_for_it);
    },
    &allocate,
    &release,
    &write,
    &write_in_order,
    &read,
    &stream_create,
    &stream_destroy,
    &stream_wait,
    &synchronize,
    [](rcap_plugin_device*, std::int32_t) { only_on_the_fake_device(); },
    [](rcap_plugin_device*) { return std::int64_t{0}; },
    [](rcap_plugin_device*) { return std::int64_t{0}; },
    [](rcap_plugin_device*, std::int64_t, std::int32_t) { only_on_the_fake_device(); },
    [](rcap_plugin_device*, std::int64_t) { only_on_the_fake_device(); },
    [](rcap_plugin_device*) { only_on_the_fake_device(); },
    [](rcap_plugin_device*) { return held.load(); },
    [](rcap_plugin_device*) { return ""; },
};

}  // namespace

extern "C" RCAP_PLUGIN_EXPORT const fake_device_control* fake_device_control_1(void);
const fake_device_control* fake_device_control_1(void) { return &kControl; }
