// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdarg>
#include <cstdint>
#include <exception>

#include <routecap/routecap.h>

/// CUDA as a guest uses it: the caller's current context, its pending error and its capture mode are what they were.
namespace routecap::cuda {

/// Thrown by a call that fails: a status and one line of text.
class Refusal : public std::exception {
 public:
  [[gnu::format(printf, 3, 4)]] Refusal(std::int32_t status, const char* format, ...);
  [[nodiscard]] std::int32_t status() const { return status_; }
  [[nodiscard]] const char* what() const noexcept override { return text_; }

 private:
  std::int32_t status_;
  char text_[256];
};

/// Throws for an error of the runtime, with the call and CUDA's own name and words; memory that is not there is OUT_OF_MEMORY, all else DEVICE.
void check(cudaError_t error, const char* call);
/// The same for the driver.
void check_driver(CUresult result, const char* call);

/// The few functions of the driver that the runtime has no equal of. They are asked of the runtime, which has opened the driver: nothing links it.
///
/// The current device is a context's: pushing one and popping it leaves the caller's as it was, and makes no context on a device that it had only
/// named, which `cudaSetDevice` would. And a query of the driver leaves no NOT_READY behind as the thread's last error.
struct Driver {
  CUresult (*primary_retain)(CUcontext* context, CUdevice device) = nullptr;
  CUresult (*primary_release)(CUdevice device) = nullptr;
  CUresult (*device_name)(char* name, int bytes, CUdevice device) = nullptr;
  CUresult (*push)(CUcontext context) = nullptr;
  CUresult (*pop)(CUcontext* context) = nullptr;
  CUresult (*event_query)(CUevent event) = nullptr;
  CUresult (*stream_query)(CUstream stream) = nullptr;
};

/// Throws NO_DEVICE where the driver lacks one of them. Made once; needs a driver.
const Driver& driver();

/// Devices that there are; throws NO_DEVICE, with the reason, where there are none.
int device_count();

/// How a call behaves while streams are captured into graphs.
enum class Mode {
  kQueues,   ///< it only queues, and may be captured itself
  kRelaxed,  ///< it does what a capture in global mode forbids to every thread: allowed here, since it has nothing to do with what is captured
};

/// The calling thread is the device's from here to the end of the block.
class Guest {
 public:
  Guest(CUcontext context, Mode mode);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  /// Takes back the error that this block caused, unless the caller had one pending: that one cannot be put back, but it is still told of one. The
  /// built plugin never meets that: a pending error is one copy of the runtime's, and the plugin's copy is its own (cuda.elf).
  ~Guest();

 private:
  Mode mode_;
  cudaError_t pending_;
  cudaStreamCaptureMode capture_mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace routecap::cuda
