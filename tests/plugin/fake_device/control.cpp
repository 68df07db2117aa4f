// SPDX-License-Identifier: Apache-2.0
//
// The tests' side of the fake device.
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "control.h"
#include "device.h"

namespace {

// What the next device is like, and the last: the only state that is not a device's.
std::mutex settings_mutex;
fake_device_settings settings{1, 0, 0, 0};
rcap_plugin_device* latest_device = nullptr;

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

namespace fake_device {

rcap_plugin_device* make_device(const rcap_plugin_host& host, const rcap_plugin_options& options) {
  const std::lock_guard lock(settings_mutex);
  latest_device = new rcap_plugin_device(host, options, settings);
  return latest_device;
}

void end_device(rcap_plugin_device* device) {
  delete device;
  const std::lock_guard lock(settings_mutex);
  if (latest_device == device) latest_device = nullptr;
}

}  // namespace fake_device

extern "C" RCAP_PLUGIN_EXPORT const fake_device_control* fake_device_control_1(void) { return &kControl; }
