// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "backend/cuda/grid.h"
#include "backend/cuda/kernels.h"

namespace routecap::cuda {
namespace {

/// ROUTECAP_CUDA_ZERO_COPY_BYTES; nothing below a number is one. Off unless asked for: where the crossover lies has not been measured.
std::int64_t zero_copy_bytes_of_environment() {
  const char* text = ::secure_getenv("ROUTECAP_CUDA_ZERO_COPY_BYTES");
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const long long bytes = std::strtoll(text, &end, 10);
  if (*end != '\0' || bytes < 0) {
    throw Refusal(RCAP_STATUS_INVALID_ARGUMENT, "ROUTECAP_CUDA_ZERO_COPY_BYTES is \"%.40s\", it is a number of bytes from 0", text);
  }
  return bytes;
}

}  // namespace

Device::Device(const rcap_plugin_host& host, std::int32_t ordinal)
    : host_(host), ordinal_(ordinal), zero_copy_bytes_(zero_copy_bytes_of_environment()) {
  const int count = device_count();
  if (ordinal < 0 || ordinal >= count) throw Refusal(RCAP_STATUS_OUT_OF_RANGE, "device_ordinal is %d, there are 0 .. %d", ordinal, count - 1);
  check_driver(driver().primary_retain(&context_, ordinal), "cuDevicePrimaryCtxRetain");
  try {
    const Guest guest(context_, Mode::kRelaxed);
    describe();
    check(cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    const cudaError_t error = cudaStreamCreateWithFlags(&leaving_stream_, cudaStreamNonBlocking);
    if (error != cudaSuccess) static_cast<void>(cudaStreamDestroy(own_stream_));
    check(error, "cudaStreamCreateWithFlags");
  } catch (...) {
    static_cast<void>(driver().primary_release(ordinal_));
    throw;
  }
}

Device::~Device() {
  try {
    const Guest guest(context_, Mode::kRelaxed);
    sweep(true);
    static_cast<void>(cudaStreamDestroy(leaving_stream_));
    static_cast<void>(cudaStreamDestroy(own_stream_));
  } catch (const Refusal&) {
    // A device that is gone has no stream to give back.
  }
  static_cast<void>(driver().primary_release(ordinal_));
}

void Device::describe() {
  char name[64] = "a CUDA device";
  static_cast<void>(driver().device_name(name, sizeof name, ordinal_));
  int major = 0;
  int minor = 0;
  int version = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal_), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal_), "cudaDeviceGetAttribute");
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  std::snprintf(description_, sizeof description_, "%s, compute capability %d.%d, driver for CUDA %d.%d", name, major, minor, version / 1000,
                version % 1000 / 10);
}

void* Device::allocate(std::int32_t home, std::int64_t bytes) {
  // Whole words: an atomic step on the last byte takes the word around it.
  constexpr std::int64_t kWhole = 16;
  const auto size = static_cast<std::size_t>(bytes == 0 ? kWhole : (bytes + kWhole - 1) / kWhole * kWhole);
  void* memory = nullptr;
  const auto take = [&] {
    return home == RCAP_PLUGIN_DEVICE ? cudaMalloc(&memory, size) : cudaHostAlloc(&memory, size, cudaHostAllocPortable | cudaHostAllocMapped);
  };
  sweep(false);
  cudaError_t taken = take();
  if (taken == cudaErrorMemoryAllocation && !nothing_leaves()) {
    // What was given back may be enough.
    sweep(true);
    taken = take();
  }
  check(taken, home == RCAP_PLUGIN_DEVICE ? "cudaMalloc" : "cudaHostAlloc");
  held_[home] += bytes;
  if (home == RCAP_PLUGIN_DEVICE) {
    // Not on the default stream, which would wait for the engine's.
    cudaError_t error = cudaMemsetAsync(memory, 0, size, own_stream_);
    if (error == cudaSuccess) error = cudaStreamSynchronize(own_stream_);
    if (error != cudaSuccess) {
      release(home, memory, bytes);
      check(error, "cudaMemsetAsync of new memory");
    }
  } else {
    std::memset(memory, 0, size);
  }
  return memory;
}

void Device::release(std::int32_t home, void* memory, std::int64_t bytes) {
  held_[home] -= bytes;
  {
    const std::lock_guard lock(mutex_);
    for (cudaEvent_t event : events_made_) leave_behind(event);
    if (driver().stream_query(leaving_stream_) != CUDA_SUCCESS) {
      if (park(home, memory)) return;
      insist([this] { return cudaStreamSynchronize(leaving_stream_); });
    }
  }
  free(home, memory);
  sweep(false);
}

bool Device::park(std::int32_t home, void* memory) {
  std::list<Leaving> one;
  try {
    one.push_back({home, memory, nullptr});
  } catch (const std::bad_alloc&) {
    return false;
  }
  cudaEvent_t& passed = one.front().passed;
  if (cudaEventCreateWithFlags(&passed, cudaEventDisableTiming) != cudaSuccess) return false;
  if (cudaEventRecord(passed, leaving_stream_) != cudaSuccess) {
    static_cast<void>(cudaEventDestroy(passed));
    return false;
  }
  leaving_.splice(leaving_.end(), one);
  return true;
}

void Device::free(std::int32_t home, void* memory) { static_cast<void>(home == RCAP_PLUGIN_DEVICE ? cudaFree(memory) : cudaFreeHost(memory)); }

void Device::sweep(bool all) {
  std::list<Leaving> gone;
  {
    const std::lock_guard lock(mutex_);
    if (all && !leaving_.empty()) insist([this] { return cudaStreamSynchronize(leaving_stream_); });
    while (!leaving_.empty() && (all || driver().event_query(leaving_.front().passed) != CUDA_ERROR_NOT_READY)) {
      gone.splice(gone.end(), leaving_, leaving_.begin());
    }
  }
  // CUDA may wait here.
  for (const Leaving& one : gone) {
    static_cast<void>(cudaEventDestroy(one.passed));
    free(one.home, one.memory);
  }
}

bool Device::nothing_leaves() {
  const std::lock_guard lock(mutex_);
  return leaving_.empty();
}

cudaEvent_t Device::make_event() {
  cudaEvent_t made = nullptr;
  // A thread that waits sleeps.
  check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreateWithFlags");
  const std::lock_guard lock(mutex_);
  try {
    events_made_.insert(made);
  } catch (...) {
    static_cast<void>(cudaEventDestroy(made));
    throw;
  }
  ++events;
  return made;
}

void Device::record(cudaEvent_t event, cudaStream_t stream) {
  const cudaError_t error = cudaEventRecord(event, stream);
  if (error != cudaSuccess) outlast(stream);
  check(error, "cudaEventRecord");
}

void Device::end_event(cudaEvent_t event) {
  {
    const std::lock_guard lock(mutex_);
    leave_behind(event);
    events_made_.erase(event);
  }
  static_cast<void>(cudaEventDestroy(event));
  --events;
}

void Device::leave_behind(cudaEvent_t event) {
  if (driver().event_query(event) == CUDA_SUCCESS) return;
  for (int i = 0; i < 2; ++i) {
    if (cudaStreamWaitEvent(leaving_stream_, event, 0) == cudaSuccess) return;
  }
  insist([event] { return cudaEventSynchronize(event); });
}

void Device::upload(void* to, const void* from, std::int64_t bytes) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, own_stream_), "cudaMemcpyAsync to the device");
  const cudaError_t error = cudaStreamSynchronize(own_stream_);
  if (error != cudaSuccess) outlast(own_stream_);
  check(error, "cudaStreamSynchronize behind a copy to the device");
}

void Device::launch_with(int kernel, std::int64_t blocks, const void* args, cudaStream_t stream) const {
  if (blocks == 0) return;
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw Refusal(RCAP_STATUS_OUT_OF_RANGE, "a launch of %" PRId64 " blocks, at most %d are possible", blocks,
                  std::numeric_limits<std::int32_t>::max());
  }
  void* parameters[] = {const_cast<void*>(args)};
  check(cudaLaunchKernel(kernel_address(kernel), dim3(static_cast<unsigned int>(blocks)), dim3(kBlockThreads), parameters, 0, stream),
        "cudaLaunchKernel");
}

void Device::load(int kernel) const {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel_address(kernel));
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction || error == cudaErrorUnsupportedPtxVersion) {
    throw Refusal(RCAP_STATUS_UNSUPPORTED, "the plugin has no code for this device: %s (%s)", cudaGetErrorName(error), cudaGetErrorString(error));
  }
  check(error, "cudaFuncGetAttributes");
}

bool Device::lost() {
  if (known_lost()) return true;
  // An idle stream of ours fails only with its context. Twice, since an error may be told once and be over.
  for (int i = 0; i < 2; ++i) {
    const CUresult result = driver().stream_query(own_stream_);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) return false;
  }
  lost_.store(true, std::memory_order_release);
  return true;
}

void Device::outlast(cudaStream_t stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  // What is captured does not run.
  if (cudaStreamIsCapturing(stream, &capturing) == cudaSuccess && capturing != cudaStreamCaptureStatusNone) return;
  insist([stream] { return cudaStreamSynchronize(stream); });
}

template <class Wait>
void Device::insist(Wait&& wait) {
  // Where a call only queues, another thread's capture would be spoilt by the wait.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  constexpr int kTries = 4;
  bool over = false;
  for (int i = 0; i < kTries && !over; ++i) over = wait() == cudaSuccess || lost();
  if (!over) lost_.store(true, std::memory_order_release);
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
}

}  // namespace routecap::cuda
