// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

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
  } catch (...) {
    static_cast<void>(driver().primary_release(ordinal_));
    throw;
  }
}

Device::~Device() {
  try {
    const Guest guest(context_, Mode::kRelaxed);
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
  if (home == RCAP_PLUGIN_DEVICE) {
    check(cudaMalloc(&memory, size), "cudaMalloc");
  } else {
    check(cudaHostAlloc(&memory, size, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
  }
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
  static_cast<void>(home == RCAP_PLUGIN_DEVICE ? cudaFree(memory) : cudaFreeHost(memory));
  held_[home] -= bytes;
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
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    if (cudaStreamSynchronize(stream) == cudaSuccess || lost()) return;
  }
  lost_.store(true, std::memory_order_release);
}

}  // namespace routecap::cuda
