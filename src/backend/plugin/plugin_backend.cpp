// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/plugin_backend.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "backend/plugin/host.h"
#include "backend/plugin/jobs.h"
#include "support/checked.h"
#include "support/mapping.h"

namespace routecap {
namespace {

/// A plugin that answers OK has kept its word, or nothing of it is used.
void require_given(const void* given, const char* backend, const char* function, const char* what) {
  if (given == nullptr) fail(RCAP_STATUS_INTERNAL, "backend \"%s\": %s answers 0 and gives no %s", backend, function, what);
}

/// A device that a plugin has opened. Kept alive by everything that was made with it.
class PluginDevice {
 public:
  PluginDevice(Plugin plugin, const rcap_backend_options& options) : plugin_(std::move(plugin)) {
    rcap_plugin_options given{};
    given.struct_size = sizeof given;
    given.device_ordinal = options.device_ordinal;
    given.threads = options.threads;
    // A plugin that is asked for a device it has not got says so: there is nothing else that it could be asked.
    call("probe", [&](rcap_plugin_error* error) { return plugin_.table.probe(&plugin_host(), error); });
    call("open", [&](rcap_plugin_error* error) { return plugin_.table.open(&plugin_host(), &given, &device_, error); });
    require_given(device_, name(), "open", "device");
    try {
      look();
    } catch (...) {
      plugin_.table.close(device_);
      throw;
    }
  }
  PluginDevice(const PluginDevice&) = delete;
  PluginDevice& operator=(const PluginDevice&) = delete;
  ~PluginDevice() {
    if (same_process()) plugin_.table.close(device_);
  }

  [[nodiscard]] const rcap_plugin_table& table() const { return plugin_.table; }
  [[nodiscard]] rcap_plugin_device* get() const { return device_; }
  [[nodiscard]] const char* name() const { return plugin_.table.name; }
  [[nodiscard]] const rows::Crew& crew() const { return crew_; }
  [[nodiscard]] bool one_memory() const { return one_memory_; }
  /// False in a forked child, where a device must not be touched.
  [[nodiscard]] bool same_process() const { return fork_guard_.same_process(); }

  template <class Call>
  void call(const char* function, Call&& made) const {
    rcap_plugin_error error;
    check_plugin_answer(std::forward<Call>(made)(&error), error, name(), function);
  }

 private:
  /// What the device offers. An older plugin offers neither: its description ends, or its table.
  void look() {
    rcap_plugin_description description{};
    description.struct_size = sizeof description;
    call("describe", [&](rcap_plugin_error* error) { return plugin_.table.describe(device_, &description, error); });
    one_memory_ = description.one_memory == 1;
    if (plugin_.table.parallel_for == nullptr || description.threads < 2 || description.parallel_bytes < 1) return;
    crew_.run = [](void* self, std::int64_t pieces, void (*body)(void*, std::int64_t), void* context) {
      const auto& device = *static_cast<const PluginDevice*>(self);
      device.plugin_.table.parallel_for(device.device_, pieces, body, context);
    };
    crew_.self = this;
    crew_.threads = description.threads;
    crew_.least_bytes = description.parallel_bytes;
  }

  Plugin plugin_;
  ForkGuard fork_guard_;
  rcap_plugin_device* device_ = nullptr;
  rows::Crew crew_;
  bool one_memory_ = false;
};

using SharedDevice = std::shared_ptr<const PluginDevice>;

Memory allocate_on(const SharedDevice& device, MemoryHome home, std::int64_t bytes, const char* what) {
  const std::int32_t number = home == MemoryHome::kDevice ? RCAP_PLUGIN_DEVICE : RCAP_PLUGIN_PINNED;
  void* memory = nullptr;
  rcap_plugin_error error;
  const std::int32_t status = device->table().allocate(device->get(), number, bytes, &memory, &error);
  if (status == RCAP_STATUS_OUT_OF_MEMORY) {
    fail(RCAP_STATUS_OUT_OF_MEMORY, "%s: %" PRId64 " bytes of %s memory cannot be had from backend \"%s\": %s", what, bytes,
         home == MemoryHome::kDevice ? "device" : "pinned", device->name(), error.text);
  }
  check_plugin_answer(status, error, device->name(), "allocate");
  if (bytes > 0) require_given(memory, device->name(), "allocate", "memory");
  const auto give_back = [device, number, bytes](std::byte* at) {
    if (device->same_process()) device->table().release(device->get(), number, at, bytes);
  };
  return {static_cast<std::byte*>(memory), give_back};
}

Event make_event_on(const SharedDevice& device) {
  void* event = nullptr;
  device->call("event_create", [&](rcap_plugin_error* error) { return device->table().event_create(device->get(), &event, error); });
  require_given(event, device->name(), "event_create", "event");  // a copy takes a null one for none
  return {event, [device](void* made) {
            if (device->same_process()) device->table().event_destroy(device->get(), made);
          }};
}

class PluginBackend final : public Backend {
 public:
  explicit PluginBackend(SharedDevice device) : device_(std::move(device)) {}

  void describe(rcap_backend_info& info) const override {
    rcap_plugin_description description{};
    description.struct_size = sizeof description;
    std::snprintf(info.name, sizeof info.name, "%s", device_->name());
    if (!device_->same_process()) return;
    device_->call("describe", [&](rcap_plugin_error* error) { return table().describe(device_->get(), &description, error); });
    info.device_ordinal = description.device_ordinal;
    info.threads = description.threads;
    info.host_memory = description.host_memory;
    description.description[sizeof description.description - 1] = '\0';
    std::snprintf(info.description, sizeof info.description, "%s", description.description);
    info.lost = table().lost != nullptr && lost() ? 1 : 0;
    if (table().counters == nullptr) return;
    rcap_plugin_counters counters{};
    counters.struct_size = sizeof counters;
    device_->call("counters", [&](rcap_plugin_error* error) { return table().counters(device_->get(), &counters, error); });
    info.device_bytes = counters.device_bytes;
    info.pinned_bytes = counters.pinned_bytes;
    info.captures = counters.captures;
    info.snapshots = counters.snapshots;
    info.copies = counters.copies;
    info.copied_bytes = counters.copied_bytes;
  }

  Memory allocate(MemoryHome home, std::int64_t bytes, const char* what) override { return allocate_on(device_, home, bytes, what); }

  Memory host_side(const Memory& device, std::int64_t bytes, const char* what) override {
    return device_->one_memory() ? device : Backend::host_side(device, bytes, what);
  }

  void capture(const rows::CaptureJob& job, void* stream) override {
    const rcap_plugin_cache cache = plugin::to_plugin(job.shape, job.cache);
    const rcap_plugin_capture given = plugin::to_plugin(job, cache);
    device_->call("capture", [&](rcap_plugin_error* error) { return table().capture(device_->get(), &given, stream, error); });
  }

  void snapshot(const rows::SnapshotJob& job, const NamedRows& named, void* stream) override {
    const rcap_plugin_cache cache = plugin::to_plugin(job.shape, job.cache);
    const rcap_plugin_snapshot given = plugin::to_plugin(job, named, cache);
    device_->call("snapshot", [&](rcap_plugin_error* error) { return table().snapshot(device_->get(), &given, stream, error); });
  }

  void forget(const rows::RowShape& shape, const rows::CacheView& view, void* stream) override {
    const rcap_plugin_cache cache = plugin::to_plugin(shape, view);
    device_->call("clear", [&](rcap_plugin_error* error) { return table().clear(device_->get(), &cache, stream, error); });
  }

  void widen(const ListView& list, std::int64_t* out, void* stream) override {
    const rcap_plugin_list given = plugin::to_plugin(list, out);
    device_->call("widen", [&](rcap_plugin_error* error) { return table().widen(device_->get(), &given, stream, error); });
  }

  void widen_to_host(const ListView& list, std::int64_t* out, void* stream, FetchRoom& room) override {
    const std::int64_t count = list.count();
    // Where something fails the room goes back to the plugin, which waits for what may still write into it.
    FetchRoom taken = room.numbers >= count ? std::move(room) : make_room(count);
    room = {};
    Transfer transfer{taken.event.get()};
    widen(list, reinterpret_cast<std::int64_t*>(taken.device.get()), stream);
    copy_to_host({taken.pinned.get(), taken.device.get(), count * 8}, stream, transfer);
    wait(transfer);
    std::memcpy(out, taken.pinned.get(), static_cast<std::size_t>(count * 8));
    room = std::move(taken);
  }

  void copy_to_host(const HostCopy& copy, void* stream, Transfer& transfer) override {
    rcap_plugin_copy given{};
    given.struct_size = sizeof given;
    given.host = copy.pinned;
    given.device = copy.device;
    given.bytes = copy.bytes;
    given.after = copy.after;
    given.done = transfer.event;
    device_->call("copy_to_host", [&](rcap_plugin_error* error) { return table().copy_to_host(device_->get(), &given, stream, error); });
    transfer.started = true;
  }

  bool complete(const Transfer& transfer) override {
    rcap_plugin_error error;
    const std::int32_t status = table().event_query(device_->get(), transfer.event, &error);
    if (status == RCAP_STATUS_NOT_READY) return false;
    check_plugin_answer(status, error, device_->name(), "event_query");
    return true;
  }

  void wait(const Transfer& transfer) override {
    device_->call("event_wait", [&](rcap_plugin_error* error) { return table().event_wait(device_->get(), transfer.event, error); });
  }

  void prepare(const rows::RowShape& shape, const rows::CacheView& view) override {
    if (table().prepare == nullptr) return;
    const rcap_plugin_cache cache = plugin::to_plugin(shape, view);
    device_->call("prepare", [&](rcap_plugin_error* error) { return table().prepare(device_->get(), &cache, error); });
  }

  void upload(std::byte* to, const void* from, std::int64_t bytes) override {
    device_->call("upload", [&](rcap_plugin_error* error) { return table().upload(device_->get(), to, from, bytes, error); });
  }

  Event make_event() override { return make_event_on(device_); }

  Stream make_stream() override {
    if (table().stream_create == nullptr || table().stream_destroy == nullptr) return {};
    void* stream = nullptr;
    device_->call("stream_create", [&](rcap_plugin_error* error) { return table().stream_create(device_->get(), &stream, error); });
    return {stream, [device = device_](void* made) {
              if (device->same_process()) device->table().stream_destroy(device->get(), made);
            }};
  }

  void record(void* event, void* stream) override {
    device_->call("event_record", [&](rcap_plugin_error* error) { return table().event_record(device_->get(), event, stream, error); });
  }

  [[nodiscard]] bool reads_host_lists() const override { return false; }
  [[nodiscard]] bool completes_by_itself() const override { return true; }
  [[nodiscard]] rows::Crew crew() const override { return device_->crew(); }
  [[nodiscard]] bool lost() const override { return table().lost == nullptr || table().lost(device_->get()) != 0; }

 private:
  [[nodiscard]] const rcap_plugin_table& table() const { return device_->table(); }

  FetchRoom make_room(std::int64_t numbers) {
    constexpr std::int64_t kLeast = 1024;
    const std::int64_t least = std::max(numbers, kLeast);
    const std::int64_t bytes = checked_multiply(least, 8, "bytes of a list of slots");
    return {least, allocate(MemoryHome::kDevice, bytes, "list of slots on the device"),
            allocate(MemoryHome::kPinned, bytes, "list of slots on the host"), make_event()};
  }

  SharedDevice device_;
};

}  // namespace

std::shared_ptr<Backend> open_plugin_backend(Plugin plugin, const rcap_backend_options& options) {
  return std::make_shared<PluginBackend>(std::make_shared<const PluginDevice>(std::move(plugin), options));
}

}  // namespace routecap
