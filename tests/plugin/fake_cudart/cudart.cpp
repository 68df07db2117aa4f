// SPDX-License-Identifier: Apache-2.0
//
// A CUDA runtime for machines without a GPU: what the CUDA plugin calls, on the fake device. Its kernels are run thread by thread on the host.
//
// What it takes as seriously as CUDA does: the thread's last error, the stack of contexts, what a capture in global mode forbids, arguments read at
// the launch and memory when it runs, errors that stay once a device is lost. A primary context is a new device each time it is retained: tests want
// a whole one after they have lost one.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "control.h"
#include "device.h"
#include "kernels.h"

using Gpu = rcap_plugin_device;

struct fake_cudart_graph {
  std::vector<std::function<void()>> works;
  std::vector<std::pair<Gpu*, void*>> memory;  ///< allocated and freed while it was captured: at every replay it is there

  ~fake_cudart_graph() {
    for (const auto& [device, address] : memory) device->release(RCAP_PLUGIN_DEVICE, address, true);
  }
};

namespace {

thread_local std::vector<Gpu*> contexts;
thread_local cudaError_t last_error = cudaSuccess;
thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
thread_local Gpu* last_popped = nullptr;

std::atomic<std::int32_t> devices{2};
std::atomic<std::int32_t> why_none{cudaSuccess};
std::atomic<bool> kernels_there{true};

std::mutex state_mutex;
std::set<std::pair<Gpu*, int>> loaded;
std::int64_t not_loaded = 0;
std::map<void*, fake_cudart_graph*> captured_streams;
bool spoilt = false;

cudaError_t tell(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

Gpu& gpu() {
  if (contexts.empty()) throw fake_device::Refusal{cudaErrorInvalidValue, "no context is current"};
  return *contexts.back();
}

/// A device that fails for good says so when its last work is over.
cudaError_t lost_error(Gpu& device) {
  while (!device.pace().lost()) std::this_thread::yield();
  return cudaErrorIllegalAddress;
}

/// A call that may fail, on the current device.
template <class Body>
cudaError_t call(Body&& body, cudaError_t error_of_fault = cudaErrorUnknown) {
  try {
    Gpu& device = gpu();
    try {
      if (device.enter(error_of_fault)) return tell(error_of_fault);
      return tell(std::forward<Body>(body)(device));
    } catch (const fake_device::Refusal& refusal) {
      if (device.pace().failing()) return tell(lost_error(device));
      return tell(refusal.status == RCAP_STATUS_INVALID_ARGUMENT ? cudaErrorInvalidResourceHandle : static_cast<cudaError_t>(refusal.status));
    }
  } catch (const fake_device::Refusal&) {
    return tell(cudaErrorInvalidDevice);
  }
}

/// What a capture in global mode forbids to threads that have not said that they know.
cudaError_t unsafe() {
  const std::lock_guard lock(state_mutex);
  if (captured_streams.empty() || capture_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  spoilt = true;
  return cudaErrorStreamCaptureUnsupported;
}

/// The graph that the stream is captured into, or null.
fake_cudart_graph* graph_of(cudaStream_t stream) {
  const std::lock_guard lock(state_mutex);
  const auto found = captured_streams.find(stream);
  return found == captured_streams.end() ? nullptr : found->second;
}

void queue(Gpu& device, cudaStream_t stream, std::function<void()> work) {
  if (fake_cudart_graph* graph = graph_of(stream); graph != nullptr) {
    graph->works.push_back(std::move(work));
  } else {
    device.queue(stream, std::move(work));
  }
}

cudaError_t memory_or_error(void* memory, void** out) {
  *out = memory;
  return memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

// The driver.

CUresult driver_call(cudaError_t error) { return static_cast<CUresult>(error); }

const rcap_plugin_host& no_host() {
  static constexpr rcap_plugin_host kNone = {sizeof(rcap_plugin_host), "", nullptr, nullptr, nullptr};
  return kNone;
}

CUresult primary_retain(CUcontext* context, CUdevice ordinal) {
  rcap_plugin_options options{};
  options.device_ordinal = ordinal;
  *context = reinterpret_cast<CUcontext>(fake_device::make_device(no_host(), options));
  return CUDA_SUCCESS;
}

/// Of several contexts of one ordinal, the one that this thread has just left.
CUresult primary_release(CUdevice ordinal) {
  if (last_popped == nullptr || last_popped->ordinal() != ordinal) return CUDA_ERROR_INVALID_VALUE;
  {
    const std::lock_guard lock(state_mutex);
    for (auto at = loaded.begin(); at != loaded.end();) at = at->first == last_popped ? loaded.erase(at) : std::next(at);
  }
  fake_device::end_device(std::exchange(last_popped, nullptr));
  return CUDA_SUCCESS;
}

CUresult device_name(char* name, int bytes, CUdevice /*ordinal*/) {
  std::strncpy(name, "a GPU that is not there", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}

CUresult push(CUcontext context) {
  contexts.push_back(reinterpret_cast<Gpu*>(context));
  return CUDA_SUCCESS;
}

CUresult pop(CUcontext* context) {
  if (contexts.empty()) return CUDA_ERROR_INVALID_VALUE;
  last_popped = contexts.back();
  contexts.pop_back();
  *context = reinterpret_cast<CUcontext>(last_popped);
  return CUDA_SUCCESS;
}

/// A driver's call leaves the runtime's last error alone.
template <class Body>
CUresult quiet_call(Body&& body) {
  const cudaError_t before = last_error;
  const cudaError_t error = call(std::forward<Body>(body));
  last_error = before;
  return driver_call(error);
}

CUresult event_query(CUevent event) {
  return quiet_call([&](Gpu& device) {
    if (const cudaError_t error = unsafe(); error != cudaSuccess) return error;
    return device.event(event)->seen() ? cudaSuccess : cudaErrorNotReady;
  });
}

CUresult stream_query(CUstream stream) {
  Gpu& device = gpu();
  if (device.pace().failing()) return driver_call(lost_error(device));
  const auto asked = device.stream(stream);
  return asked->done() >= asked->queued() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

// The tests' side.

fake_cudart_thread look_at_thread() {
  return {static_cast<std::int32_t>(contexts.size()), static_cast<std::int32_t>(last_error), static_cast<std::int32_t>(capture_mode)};
}

void begin_capture(void* stream) {
  const std::lock_guard lock(state_mutex);
  spoilt = false;
  captured_streams[stream] = new fake_cudart_graph;
}

fake_cudart_graph* end_capture(void* stream) {
  const std::lock_guard lock(state_mutex);
  fake_cudart_graph* graph = captured_streams[stream];
  captured_streams.erase(stream);
  if (!spoilt) return graph;
  delete graph;
  return nullptr;
}

void launch_graph(rcap_plugin_device* device, fake_cudart_graph* graph, void* stream) {
  for (const auto& work : graph->works) device->queue(stream, work);
}

std::int64_t kernels_loaded() {
  const std::lock_guard lock(state_mutex);
  return static_cast<std::int64_t>(loaded.size());
}

std::int64_t kernels_not_loaded() {
  const std::lock_guard lock(state_mutex);
  return not_loaded;
}

constexpr fake_cudart_control kControl = {
    &look_at_thread,
    [](std::int32_t error) { last_error = static_cast<cudaError_t>(error); },
    &begin_capture,
    &end_capture,
    &launch_graph,
    [](fake_cudart_graph* graph) { delete graph; },
    [](std::int32_t count, std::int32_t error) {
      devices = count;
      why_none = error;
    },
    [](std::int32_t are_there) { kernels_there = are_there != 0; },
    &kernels_loaded,
    &kernels_not_loaded,
};

}  // namespace

extern "C" {

RCAP_PLUGIN_EXPORT const fake_cudart_control* fake_cudart_control_1(void) { return &kControl; }

cudaError_t cudaGetLastError(void) { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError(void) { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    default: return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "an error";
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = devices;
  return tell(static_cast<cudaError_t>(why_none.load()));
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = why_none == cudaErrorInsufficientDriver ? 11040 : 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int /*version*/, unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  const std::map<std::string, void*> functions = {{"cuDevicePrimaryCtxRetain", address_of(primary_retain)},
                                                  {"cuDevicePrimaryCtxRelease", address_of(primary_release)},
                                                  {"cuDeviceGetName", address_of(device_name)},
                                                  {"cuCtxPushCurrent", address_of(push)},
                                                  {"cuCtxPopCurrent", address_of(pop)},
                                                  {"cuEventQuery", address_of(event_query)},
                                                  {"cuStreamQuery", address_of(stream_query)}};
  const auto found = functions.find(symbol);
  *function = found == functions.end() ? nullptr : found->second;
  *result = found == functions.end() ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(capture_mode, *mode);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call(
      [&](Gpu& device) {
        if (const cudaError_t error = unsafe(); error != cudaSuccess) return error;
        return memory_or_error(device.allocate(RCAP_PLUGIN_DEVICE, static_cast<std::int64_t>(bytes), false), memory);
      },
      cudaErrorMemoryAllocation);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned int flags) {
  return call(
      [&](Gpu& device) {
        if (const cudaError_t error = unsafe(); error != cudaSuccess) return error;
        if (flags != (cudaHostAllocPortable | cudaHostAllocMapped)) return cudaErrorInvalidValue;
        void* const given = device.allocate(RCAP_PLUGIN_PINNED, static_cast<std::int64_t>(bytes), false);
        if (given != nullptr) std::memset(given, 0xA5, bytes);
        return memory_or_error(given, memory);
      },
      cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* memory) {
  if (const cudaError_t error = unsafe(); error != cudaSuccess) return tell(error);
  gpu().release(RCAP_PLUGIN_DEVICE, memory, false);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  if (const cudaError_t error = unsafe(); error != cudaSuccess) return tell(error);
  // Nothing says that CUDA waits for what is queued.
  gpu().release_pinned_now(memory);
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t /*stream*/) {
  return call([&](Gpu& device) { return memory_or_error(device.allocate(RCAP_PLUGIN_DEVICE, static_cast<std::int64_t>(bytes), true), memory); },
              cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  if (fake_cudart_graph* graph = graph_of(stream); graph != nullptr) {
    graph->memory.emplace_back(&gpu(), memory);
    return cudaSuccess;
  }
  gpu().release(RCAP_PLUGIN_DEVICE, memory, true);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&](Gpu& device) {
    queue(device, stream,
          [&device, memory, value, bytes] { std::memset(device.inner(memory, static_cast<std::int64_t>(bytes), "memset"), value, bytes); });
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](Gpu& device) {
    const auto size = static_cast<std::int64_t>(bytes);
    const void* const host = kind == cudaMemcpyHostToDevice ? from : to;
    const bool pinned = device.is_pinned(host, size);
    queue(device, stream, [&device, to, from, bytes, size, kind, host, pinned] {
      if (pinned && !device.is_pinned(host, size)) throw fake_device::Fault{"a copy comes to pinned memory that was freed"};
      if (kind == cudaMemcpyHostToDevice) {
        std::memcpy(device.inner(to, size, "copy to the device"), from, bytes);
      } else {
        std::memcpy(to, device.inner(from, size, "copy to the host"), bytes);
      }
    });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return call([&](Gpu& device) {
    if (const cudaError_t error = unsafe(); error != cudaSuccess) return error;
    if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = static_cast<cudaStream_t>(device.create_stream());
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  gpu().destroy_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](Gpu& device) {
    if (const cudaError_t error = graph_of(stream) != nullptr ? cudaErrorStreamCaptureUnsupported : unsafe(); error != cudaSuccess) return error;
    const auto waited = device.stream(stream);
    const std::int64_t queued = waited->queued();
    device.pace().wait([&] { return waited->done() >= queued || device.pace().failing(); });
    return device.pace().failing() ? lost_error(device) : cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int /*flags*/) {
  return call([&](Gpu& device) {
    device.wait_in_order(device.event(event), stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = graph_of(stream) != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&](Gpu& device) {
    if ((flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
    *event = static_cast<cudaEvent_t>(device.create_event());
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  gpu().destroy_event(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](Gpu& device) {
    device.record(device.event(event), stream);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](Gpu& device) {
    if (const cudaError_t error = unsafe(); error != cudaSuccess) return error;
    const auto waited = device.event(event);
    device.pace().wait([&] { return waited->reached(waited->recorded()) || device.pace().failing(); });
    while (!device.pace().failing() && !waited->seen()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    return device.pace().failing() ? lost_error(device) : cudaSuccess;
  });
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t /*shared*/, cudaStream_t stream) {
  return call([&](Gpu& device) {
    const int kernel = fake_cudart::number_of_kernel(function);
    if (kernel < 0) return cudaErrorInvalidDeviceFunction;
    {
      const std::lock_guard lock(state_mutex);
      if (loaded.count({&device, kernel}) == 0) ++not_loaded;
    }
    queue(device, stream, fake_cudart::grid_work(device, kernel, grid.x, static_cast<std::int32_t>(block.x), arguments[0]));
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* /*attributes*/, const void* function) {
  return call([&](Gpu& device) {
    if (!kernels_there) return cudaErrorNoKernelImageForDevice;
    const std::lock_guard lock(state_mutex);
    loaded.insert({&device, fake_cudart::number_of_kernel(function)});
    return cudaSuccess;
  });
}
}
