// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/runtime.h"

#include <cstdio>

namespace routecap::cuda {
namespace {

/// `version`: the CUDA version whose form of the function is meant.
template <class Function>
void find(Function& function, const char* name, [[maybe_unused]] unsigned int version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr) {
    throw Refusal(RCAP_STATUS_NO_DEVICE, "the CUDA driver has no %s", name);
  }
  function = reinterpret_cast<Function>(found);
}

Driver find_all() {
  Driver found;
  find(found.primary_retain, "cuDevicePrimaryCtxRetain", 7000);
  find(found.primary_release, "cuDevicePrimaryCtxRelease", 11000);
  find(found.device_name, "cuDeviceGetName", 2000);
  find(found.push, "cuCtxPushCurrent", 4000);
  find(found.pop, "cuCtxPopCurrent", 4000);
  find(found.event_query, "cuEventQuery", 2000);
  find(found.stream_query, "cuStreamQuery", 2000);
  return found;
}

}  // namespace

Refusal::Refusal(std::int32_t status, const char* format, ...) : status_(status) {
  va_list values;
  va_start(values, format);
  std::vsnprintf(text_, sizeof text_, format, values);
  va_end(values);
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  const std::int32_t status = error == cudaErrorMemoryAllocation ? RCAP_STATUS_OUT_OF_MEMORY : RCAP_STATUS_DEVICE;
  throw Refusal(status, "%s: %s (%s)", call, cudaGetErrorName(error), cudaGetErrorString(error));
}

void check_driver(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  // The numbers of both are the same, and the runtime has the words.
  const auto error = static_cast<cudaError_t>(result);
  throw Refusal(RCAP_STATUS_DEVICE, "%s: %s (%s)", call, cudaGetErrorName(error), cudaGetErrorString(error));
}

const Driver& driver() {
  static const Driver found = find_all();
  return found;
}

int device_count() {
  const cudaError_t pending = cudaPeekAtLastError();
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess && pending == cudaSuccess) static_cast<void>(cudaGetLastError());
  if (error == cudaErrorInsufficientDriver) {
    int have = 0;
    int need = 0;
    static_cast<void>(cudaDriverGetVersion(&have));
    static_cast<void>(cudaRuntimeGetVersion(&need));
    if (have == 0) throw Refusal(RCAP_STATUS_NO_DEVICE, "no CUDA driver is installed (CUDA %d.%d is needed)", need / 1000, need % 1000 / 10);
    throw Refusal(RCAP_STATUS_NO_DEVICE, "the CUDA driver is for CUDA %d.%d, and %d.%d is needed", have / 1000, have % 1000 / 10, need / 1000,
                  need % 1000 / 10);
  }
  if (error != cudaSuccess) {
    throw Refusal(RCAP_STATUS_NO_DEVICE, "no CUDA device: %s (%s)", cudaGetErrorName(error), cudaGetErrorString(error));
  }
  if (count == 0) throw Refusal(RCAP_STATUS_NO_DEVICE, "no CUDA device: the driver is there and shows none");
  return count;
}

Guest::Guest(CUcontext context, Mode mode) : mode_(mode), pending_(cudaPeekAtLastError()) {
  check_driver(driver().push(context), "cuCtxPushCurrent");
  if (mode_ == Mode::kRelaxed) static_cast<void>(cudaThreadExchangeStreamCaptureMode(&capture_mode_));
}

Guest::~Guest() {
  if (mode_ == Mode::kRelaxed) static_cast<void>(cudaThreadExchangeStreamCaptureMode(&capture_mode_));
  if (pending_ == cudaSuccess) static_cast<void>(cudaGetLastError());
  CUcontext mine = nullptr;
  static_cast<void>(driver().pop(&mine));
}

}  // namespace routecap::cuda
