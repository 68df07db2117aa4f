// SPDX-License-Identifier: Apache-2.0
//
// The CUDA plugin's table.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "backend/cuda/device.h"
#include "backend/cuda/jobs.h"

using routecap::cuda::check;
using routecap::cuda::check_driver;
using routecap::cuda::Device;
using routecap::cuda::Guest;
using routecap::cuda::Mode;
using routecap::cuda::Refusal;

namespace {

// The interface's handle is nothing but an address to us.
Device& device_of(rcap_plugin_device* handle) { return *reinterpret_cast<Device*>(handle); }
cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }

/// What both sides know of a struct; the rest is 0.
template <class Struct>
Struct known(const Struct& given) {
  Struct out{};
  std::memcpy(&out, &given, std::min(sizeof out, static_cast<std::size_t>(given.struct_size)));
  return out;
}
template <class Struct>
void give(Struct& to, Struct from) {
  from.struct_size = to.struct_size;
  std::memcpy(&to, &from, std::min(sizeof from, static_cast<std::size_t>(to.struct_size)));
}

template <class Body>
std::int32_t guard(const rcap_plugin_host& host, rcap_plugin_error* error, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return RCAP_STATUS_OK;
  } catch (const Refusal& refusal) {
    return host.fail(error, refusal.status(), refusal.what());
  } catch (const std::bad_alloc&) {
    return host.fail(error, RCAP_STATUS_OUT_OF_MEMORY, "no memory for the plugin's own bookkeeping");
  } catch (const std::exception& exception) {
    return host.fail(error, RCAP_STATUS_INTERNAL, exception.what());
  }
}

/// A call on a device, as its guest. One that has failed for good is asked nothing more.
template <class Body>
std::int32_t call(rcap_plugin_device* handle, rcap_plugin_error* error, Mode mode, Body&& body) noexcept {
  Device& device = device_of(handle);
  return guard(device.host(), error, [&] {
    if (device.known_lost()) throw Refusal(RCAP_STATUS_DEVICE, "the device is lost");
    const Guest guest(device.context(), mode);
    try {
      body(device);
    } catch (const Refusal& refusal) {
      if (refusal.status() == RCAP_STATUS_DEVICE) device.lost();
      throw;
    }
  });
}

/// The same where nobody can be told: what fails is passed over.
template <class Body>
void quietly(rcap_plugin_device* handle, Body&& body) noexcept {
  Device& device = device_of(handle);
  try {
    const Guest guest(device.context(), Mode::kRelaxed);
    body(device);
  } catch (const Refusal&) {
    device.lost();
  }
}

std::int32_t probe(const rcap_plugin_host* host, rcap_plugin_error* error) {
  return guard(*host, error, [] { routecap::cuda::device_count(); });
}

std::int32_t open_device(const rcap_plugin_host* host, const rcap_plugin_options* given, rcap_plugin_device** device, rcap_plugin_error* error) {
  return guard(*host, error, [&] {
    const rcap_plugin_options options = known(*given);
    if (options.threads < 0 || options.threads > 1) {
      throw Refusal(RCAP_STATUS_OUT_OF_RANGE, "threads is %d, a CUDA device is fed by the caller's thread alone: 0 or 1", options.threads);
    }
    *device = reinterpret_cast<rcap_plugin_device*>(std::make_unique<Device>(*host, options.device_ordinal).release());
  });
}

void close_device(rcap_plugin_device* device) { delete &device_of(device); }

std::int32_t describe(rcap_plugin_device* handle, rcap_plugin_description* out, rcap_plugin_error* /*error*/) {
  const Device& device = device_of(handle);
  rcap_plugin_description description{};
  description.device_ordinal = device.ordinal();
  description.threads = 1;
  std::snprintf(description.description, sizeof description.description, "%s", device.description());
  give(*out, description);
  return RCAP_STATUS_OK;
}

std::int32_t allocate(rcap_plugin_device* handle, std::int32_t home, std::int64_t bytes, void** memory, rcap_plugin_error* error) {
  return call(handle, error, Mode::kRelaxed, [&](Device& device) { *memory = device.allocate(home, bytes); });
}

void release(rcap_plugin_device* handle, std::int32_t home, void* memory, std::int64_t bytes) {
  quietly(handle, [&](Device& device) { device.release(home, memory, bytes); });
}

std::int32_t upload(rcap_plugin_device* handle, void* to, const void* from, std::int64_t bytes, rcap_plugin_error* error) {
  return call(handle, error, Mode::kRelaxed, [&](Device& device) { device.upload(to, from, bytes); });
}

std::int32_t event_create(rcap_plugin_device* handle, void** event, rcap_plugin_error* error) {
  return call(handle, error, Mode::kRelaxed, [&](Device& device) { *event = device.make_event(); });
}

void event_destroy(rcap_plugin_device* handle, void* event) {
  quietly(handle, [&](Device& device) { device.end_event(event_of(event)); });
}

std::int32_t event_record(rcap_plugin_device* handle, void* event, void* stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kQueues, [&](Device& device) { device.record(event_of(event), stream_of(stream)); });
}

std::int32_t event_query(rcap_plugin_device* handle, void* event, rcap_plugin_error* error) {
  bool ready = true;
  const std::int32_t status = call(handle, error, Mode::kRelaxed, [&](Device&) {
    const CUresult result = routecap::cuda::driver().event_query(event_of(event));
    ready = result != CUDA_ERROR_NOT_READY;
    if (ready) check_driver(result, "cuEventQuery");
  });
  return status == RCAP_STATUS_OK && !ready ? RCAP_STATUS_NOT_READY : status;
}

std::int32_t event_wait(rcap_plugin_device* handle, void* event, rcap_plugin_error* error) {
  return call(handle, error, Mode::kRelaxed, [&](Device&) { check(cudaEventSynchronize(event_of(event)), "cudaEventSynchronize"); });
}

std::int32_t capture(rcap_plugin_device* handle, const rcap_plugin_capture* given, void* stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kQueues, [&](Device& device) {
    rcap_plugin_capture job = known(*given);
    const rcap_plugin_cache cache = known(*given->cache);
    job.cache = &cache;
    routecap::cuda::capture(device, job, stream_of(stream));
    ++device.captures;
  });
}

std::int32_t snapshot(rcap_plugin_device* handle, const rcap_plugin_snapshot* given, void* stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kQueues, [&](Device& device) {
    rcap_plugin_snapshot job = known(*given);
    const rcap_plugin_cache cache = known(*given->cache);
    job.cache = &cache;
    routecap::cuda::snapshot(device, job, stream_of(stream));
    ++device.snapshots;
  });
}

std::int32_t clear(rcap_plugin_device* handle, const rcap_plugin_cache* cache, void* stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kQueues, [&](Device& device) { routecap::cuda::clear(device, known(*cache), stream_of(stream)); });
}

std::int32_t widen(rcap_plugin_device* handle, const rcap_plugin_list* list, void* stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kQueues, [&](Device& device) { routecap::cuda::widen(device, known(*list), stream_of(stream)); });
}

std::int32_t copy_to_host(rcap_plugin_device* handle, const rcap_plugin_copy* given, void* stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kQueues, [&](Device& device) {
    const rcap_plugin_copy job = known(*given);
    routecap::cuda::copy_to_host(device, job, stream_of(stream));
    ++device.copies;
    device.copied_bytes += job.bytes;
  });
}

std::int32_t lost(rcap_plugin_device* handle) {
  Device& device = device_of(handle);
  if (device.known_lost()) return 1;
  quietly(handle, [](Device& looked_at) { looked_at.lost(); });
  return device.known_lost() ? 1 : 0;
}

std::int32_t prepare(rcap_plugin_device* handle, const rcap_plugin_cache* cache, rcap_plugin_error* error) {
  return call(handle, error, Mode::kRelaxed, [&](Device& device) { routecap::cuda::prepare(device, known(*cache)); });
}

std::int32_t stream_create(rcap_plugin_device* handle, void** stream, rcap_plugin_error* error) {
  return call(handle, error, Mode::kRelaxed, [&](Device& device) {
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    *stream = made;
    ++device.streams;
  });
}

void stream_destroy(rcap_plugin_device* handle, void* stream) {
  quietly(handle, [&](Device& device) {
    static_cast<void>(cudaStreamDestroy(stream_of(stream)));
    --device.streams;
  });
}

std::int32_t counters(rcap_plugin_device* handle, rcap_plugin_counters* out, rcap_plugin_error* /*error*/) {
  const Device& device = device_of(handle);
  rcap_plugin_counters counts{};
  counts.device_bytes = device.held(RCAP_PLUGIN_DEVICE);
  counts.pinned_bytes = device.held(RCAP_PLUGIN_PINNED);
  counts.events = device.events;
  counts.streams = device.streams;
  counts.captures = device.captures;
  counts.snapshots = device.snapshots;
  counts.copies = device.copies;
  counts.copied_bytes = device.copied_bytes;
  give(*out, counts);
  return RCAP_STATUS_OK;
}

constexpr rcap_plugin_table kTable = {sizeof(rcap_plugin_table),
                                      "cuda",
                                      RCAP_VERSION_STRING,
                                      sizeof(rcap_plugin_cache),
                                      sizeof(rcap_plugin_capture),
                                      sizeof(rcap_plugin_snapshot),
                                      &probe,
                                      &open_device,
                                      &close_device,
                                      &describe,
                                      &allocate,
                                      &release,
                                      &upload,
                                      &event_create,
                                      &event_destroy,
                                      &event_record,
                                      &event_query,
                                      &event_wait,
                                      &capture,
                                      &snapshot,
                                      &clear,
                                      &widen,
                                      &copy_to_host,
                                      &lost,
                                      &prepare,
                                      &stream_create,
                                      &stream_destroy,
                                      &counters,
                                      /*parallel_for=*/nullptr};

}  // namespace

extern "C" RCAP_PLUGIN_EXPORT const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* host, rcap_plugin_error* error);

const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* /*host*/, rcap_plugin_error* /*error*/) { return &kTable; }
