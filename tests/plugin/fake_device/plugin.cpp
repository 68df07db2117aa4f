// SPDX-License-Identifier: Apache-2.0
//
// The fake device's plugin: a device that is not there, for machines without one.
#include <cstring>
#include <exception>
#include <utility>

#include "control.h"
#include "device.h"
#include "jobs.h"

using fake_device::Refusal;

namespace {

constexpr std::int32_t kDevices = 2;

template <class Body>
std::int32_t guard(const rcap_plugin_host& host, rcap_plugin_error* error, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const Refusal& refusal) {
    return host.fail(error, refusal.status, refusal.text);
  } catch (const std::exception& exception) {
    return host.fail(error, RCAP_STATUS_INTERNAL, exception.what());
  }
}

/// A call that may fail: counted, and failed where it is to.
template <class Body>
std::int32_t call(rcap_plugin_device* device, rcap_plugin_error* error, Body&& body, std::int32_t status_of_fault = RCAP_STATUS_DEVICE) noexcept {
  return guard(device->host(), error, [&]() -> std::int32_t {
    if (device->enter(status_of_fault)) throw Refusal{status_of_fault, "told to fail"};
    std::forward<Body>(body)();
    return RCAP_STATUS_OK;
  });
}

std::int32_t probe(const rcap_plugin_host* /*host*/, rcap_plugin_error* /*error*/) { return RCAP_STATUS_OK; }

std::int32_t open_device(const rcap_plugin_host* host, const rcap_plugin_options* options, rcap_plugin_device** device, rcap_plugin_error* error) {
  return guard(*host, error, [&]() -> std::int32_t {
    if (options->device_ordinal < 0 || options->device_ordinal >= kDevices)
      throw Refusal{RCAP_STATUS_OUT_OF_RANGE, "device_ordinal: there are 0 and 1"};
    *device = fake_device::make_device(*host, *options);
    return RCAP_STATUS_OK;
  });
}

void close_device(rcap_plugin_device* device) { fake_device::end_device(device); }

std::int32_t describe(rcap_plugin_device* device, rcap_plugin_description* out, rcap_plugin_error* /*error*/) {
  out->device_ordinal = device->ordinal();
  out->threads = 1;
  std::strcpy(out->description, "a device that is not there");
  return RCAP_STATUS_OK;
}

std::int32_t allocate(rcap_plugin_device* device, std::int32_t home, std::int64_t bytes, void** memory, rcap_plugin_error* error) {
  return call(
      device, error,
      [&] {
        *memory = device->allocate(home, bytes, false);
        if (*memory == nullptr) throw Refusal{RCAP_STATUS_OUT_OF_MEMORY, "the device is full"};
      },
      RCAP_STATUS_OUT_OF_MEMORY);
}

void release(rcap_plugin_device* device, std::int32_t home, void* memory, std::int64_t /*bytes*/) { device->release(home, memory, false); }

std::int32_t upload(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes, rcap_plugin_error* error) {
  return call(device, error, [&] {
    device->queue(nullptr, [=] { std::memcpy(device->inner(to, bytes, "upload"), from, static_cast<std::size_t>(bytes)); });
    device->drain();
  });
}

std::int32_t event_create(rcap_plugin_device* device, void** event, rcap_plugin_error* error) {
  return call(device, error, [&] {
    *event = device->create_event();
    ++device->events;
  });
}

void event_destroy(rcap_plugin_device* device, void* event) {
  device->destroy_event(event);
  --device->events;
}

std::int32_t event_record(rcap_plugin_device* device, void* event, void* stream, rcap_plugin_error* error) {
  return call(device, error, [&] { device->record(device->event(event), stream); });
}

std::int32_t event_query(rcap_plugin_device* device, void* event, rcap_plugin_error* error) {
  return guard(device->host(), error, [&]() -> std::int32_t {
    if (device->enter(RCAP_STATUS_DEVICE)) throw Refusal{RCAP_STATUS_DEVICE, "told to fail"};
    return device->event(event)->seen() ? RCAP_STATUS_OK : RCAP_STATUS_NOT_READY;
  });
}

std::int32_t event_wait(rcap_plugin_device* device, void* event, rcap_plugin_error* error) {
  return call(device, error, [&] {
    const auto waited = device->event(event);
    device->pace().wait([&] { return waited->reached(waited->recorded()) || device->pace().failing(); });
    while (!device->pace().failing() && !waited->seen()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (device->pace().failing()) throw Refusal{RCAP_STATUS_DEVICE, "the device was lost during the wait"};
  });
}

std::int32_t capture(rcap_plugin_device* device, const rcap_plugin_capture* job, void* stream, rcap_plugin_error* error) {
  return call(device, error, [&] {
    device->queue(stream, fake_device::capture_work(*device, *job));
    ++device->captures;
  });
}

std::int32_t snapshot(rcap_plugin_device* device, const rcap_plugin_snapshot* job, void* stream, rcap_plugin_error* error) {
  return call(device, error, [&] {
    device->queue(stream, fake_device::snapshot_work(*device, *job));
    ++device->snapshots;
  });
}

std::int32_t clear(rcap_plugin_device* device, const rcap_plugin_cache* cache, void* stream, rcap_plugin_error* error) {
  return call(device, error, [&] { device->queue(stream, fake_device::clear_work(*device, *cache)); });
}

std::int32_t widen(rcap_plugin_device* device, const rcap_plugin_list* list, void* stream, rcap_plugin_error* error) {
  return call(device, error, [&] { device->queue(stream, fake_device::widen_work(*device, *list)); });
}

std::int32_t copy_to_host(rcap_plugin_device* device, const rcap_plugin_copy* given, void* stream, rcap_plugin_error* error) {
  return guard(device->host(), error, [&]() -> std::int32_t {
    const bool fails_late = device->enter(RCAP_STATUS_DEVICE);
    const rcap_plugin_copy job = *given;
    const auto done = device->event(job.done);
    if (job.after != nullptr) device->wait_in_order(device->event(job.after), stream);
    device->queue(stream, [=] { std::memcpy(job.host, device->inner(job.device, job.bytes, "copy"), static_cast<std::size_t>(job.bytes)); });
    if (fails_late) {
      // The record is what failed: nothing may be running when the library hears of it.
      device->drain();
      throw Refusal{RCAP_STATUS_DEVICE, "told to fail late"};
    }
    device->record(done, stream);
    ++device->copies;
    device->copied_bytes += job.bytes;
    return RCAP_STATUS_OK;
  });
}

std::int32_t lost(rcap_plugin_device* device) { return device->pace().lost() ? 1 : 0; }

std::int32_t prepare(rcap_plugin_device* device, const rcap_plugin_cache* /*cache*/, rcap_plugin_error* error) {
  return call(device, error, [] {});
}

std::int32_t stream_create(rcap_plugin_device* device, void** stream, rcap_plugin_error* error) {
  return call(device, error, [&] {
    *stream = device->create_stream();
    ++device->streams;
  });
}

void stream_destroy(rcap_plugin_device* device, void* stream) {
  device->destroy_stream(stream);
  --device->streams;
}

std::int32_t counters(rcap_plugin_device* device, rcap_plugin_counters* out, rcap_plugin_error* /*error*/) {
  *out = {out->struct_size,
          device->held(RCAP_PLUGIN_DEVICE),
          device->held(RCAP_PLUGIN_PINNED),
          device->events,
          device->streams,
          device->captures,
          device->snapshots,
          device->copies,
          device->copied_bytes};
  return RCAP_STATUS_OK;
}

constexpr rcap_plugin_table kTable = {sizeof(rcap_plugin_table),
                                      "fake",
                                      "1",
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

extern "C" {

RCAP_PLUGIN_EXPORT const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* /*host*/, rcap_plugin_error* /*error*/) { return &kTable; }
}
