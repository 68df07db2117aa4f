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

// What the next device is like: the only state that is not a device's.
std::mutex settings_mutex;
fake_device_settings settings{1, 0, 0, 0};
rcap_plugin_device* latest_device = nullptr;

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
    const std::lock_guard lock(settings_mutex);
    latest_device = new rcap_plugin_device(*host, *options, settings);
    *device = latest_device;
    return RCAP_STATUS_OK;
  });
}

void close_device(rcap_plugin_device* device) {
  delete device;
  const std::lock_guard lock(settings_mutex);
  if (latest_device == device) latest_device = nullptr;
}

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

// The tests' side.

void configure(const fake_device_settings* wanted) {
  const std::lock_guard lock(settings_mutex);
  settings = *wanted;
}

rcap_plugin_device* latest() {
  const std::lock_guard lock(settings_mutex);
  return latest_device;
}

void* engine_allocate(rcap_plugin_device* device, std::int64_t bytes) { return device->allocate(RCAP_PLUGIN_DEVICE, bytes, true); }
void engine_release(rcap_plugin_device* device, void* memory) { device->release(RCAP_PLUGIN_DEVICE, memory, true); }

void engine_write(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(device->inner(to, bytes, "write"), from, static_cast<std::size_t>(bytes));
}

void engine_write_in_order(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes, void* stream) {
  const auto* begin = static_cast<const std::byte*>(from);
  const std::vector<std::byte> kept(begin, begin + bytes);
  if (kept.empty()) return;
  device->queue(stream, [=] { std::memcpy(device->inner(to, bytes, "write"), kept.data(), kept.size()); });
}

void engine_read(rcap_plugin_device* device, void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, device->inner(from, bytes, "read"), static_cast<std::size_t>(bytes));
}

void* engine_stream_create(rcap_plugin_device* device) { return device->create_stream(); }
void engine_stream_destroy(rcap_plugin_device* device, void* stream) { device->destroy_stream(stream); }

void engine_stream_wait(rcap_plugin_device* device, void* stream, void* other) {
  const auto event = std::make_shared<fake_device::Event>();
  device->record(event, other);
  device->wait_in_order(event, stream);
}

void synchronize(rcap_plugin_device* device) { device->drain(); }
void hold(rcap_plugin_device* device, std::int32_t held) { device->pace().hold(held != 0); }
std::int64_t calls(rcap_plugin_device* device) { return device->calls(); }
std::int64_t works(rcap_plugin_device* device) { return device->pace().works(); }
void fail_call(rcap_plugin_device* device, std::int64_t which, std::int32_t fault) { device->fail_call(which, fault); }
void fail_work(rcap_plugin_device* device, std::int64_t which) { device->pace().fail_work(which); }
void lose(rcap_plugin_device* device) { device->lose("told to"); }
std::int64_t engine_bytes(rcap_plugin_device* device) { return device->engine_bytes(); }

const char* why_lost(rcap_plugin_device* device) {
  static thread_local std::string text;
  text = device->why_lost();
  return text.c_str();
}

constexpr fake_device_control kControl = {&configure,
                                          &latest,
                                          &engine_allocate,
                                          &engine_release,
                                          &engine_write,
                                          &engine_write_in_order,
                                          &engine_read,
                                          &engine_stream_create,
                                          &engine_stream_destroy,
                                          &engine_stream_wait,
                                          &synchronize,
                                          &hold,
                                          &calls,
                                          &works,
                                          &fail_call,
                                          &fail_work,
                                          &lose,
                                          &engine_bytes,
                                          &why_lost};

}  // namespace

extern "C" {

RCAP_PLUGIN_EXPORT const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* /*host*/, rcap_plugin_error* /*error*/) { return &kTable; }
RCAP_PLUGIN_EXPORT const fake_device_control* fake_device_control_1(void) { return &kControl; }
}
