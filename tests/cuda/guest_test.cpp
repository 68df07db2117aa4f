// SPDX-License-Identifier: Apache-2.0
// The CUDA plugin as a guest of its process, on the fake runtime: what it leaves behind in a thread, beside a capture and inside one, and what it
// says where there is nothing to run on.
#include <dlfcn.h>
#include <routecap/backend.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "plugin/fake_cudart/control.h"
#include "plugin/fake_device/control.h"

namespace {

struct Error {
  std::string text;
  rcap_plugin_error* get() { return reinterpret_cast<rcap_plugin_error*>(this); }
};

std::int32_t fail(rcap_plugin_error* error, std::int32_t status, const char* text) {
  reinterpret_cast<Error*>(error)->text = text;
  return status;
}

const rcap_plugin_host kHost = {sizeof(rcap_plugin_host), "test", [](std::int64_t bytes) { return std::calloc(1, static_cast<std::size_t>(bytes)); },
                                &std::free, &fail};

template <class Function>
Function symbol(const char* name) {
  static void* library = ::dlopen(ROUTECAP_TEST_CUDA_ON_FAKE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  void* found = ::dlsym(library, name);
  REQUIRE(found != nullptr);
  return reinterpret_cast<Function>(found);
}

const rcap_plugin_table& table() { return *symbol<rcap_plugin_entry>(RCAP_PLUGIN_ENTRY_NAME)(&kHost, nullptr); }
const fake_device_control& device_control() { return *symbol<const fake_device_control* (*)()>("fake_device_control_1")(); }
const fake_cudart_control& runtime() { return *symbol<const fake_cudart_control* (*)()>("fake_cudart_control_1")(); }

rcap_plugin_options options_of(std::int32_t ordinal, std::int32_t threads = 0) { return {sizeof(rcap_plugin_options), ordinal, threads}; }

/// A cache of two layers of 8 rows, one id each byte, four to a row.
class Scene {
 public:
  Scene() {
    const fake_device_settings settings{1, 0, 0, 0};
    device_control().configure(&settings);
    const rcap_plugin_options options = options_of(0);
    REQUIRE(table().open(&kHost, &options, &device, error.get()) == RCAP_STATUS_OK);
    gpu = device_control().latest();
    cache.struct_size = sizeof cache;
    cache.layers = 2;
    cache.top_k = 4;
    cache.id_bytes = 1;
    cache.num_experts = 256;
    cache.ids_bytes = 8;
    cache.weights_offset = cache.cells_offset = cache.payload_bytes = 8;
    cache.device_rows = 8;
    cache.ids = memory(64);
    cache.marks = static_cast<std::uint8_t*>(memory(16));
    cache.notes = memory(128);
    payload = memory(64);
    bad_layer = memory(32);
    counts = memory(32);
    pinned = memory(64, RCAP_PLUGIN_PINNED);
    REQUIRE(table().event_create(device, &event, error.get()) == RCAP_STATUS_OK);
    REQUIRE(table().prepare(device, &cache, error.get()) == RCAP_STATUS_OK);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() {
    table().event_destroy(device, event);
    for (void* one : events_) table().event_destroy(device, one);
    for (const Held& one : held_) table().release(device, one.home, one.memory, one.bytes);
    rcap_plugin_counters counters{};
    counters.struct_size = sizeof counters;
    CHECK(table().counters(device, &counters, error.get()) == RCAP_STATUS_OK);
    CHECK(counters.device_bytes + counters.pinned_bytes + counters.events + counters.streams == 0);
    table().close(device);
  }

  // What these make is given back with the scene.
  std::int32_t allocate(std::int64_t bytes, std::int32_t home, void** made) {
    const std::int32_t status = table().allocate(device, home, bytes, made, error.get());
    if (status == RCAP_STATUS_OK) held_.push_back({home, *made, bytes});
    return status;
  }
  void* memory(std::int64_t bytes, std::int32_t home = RCAP_PLUGIN_DEVICE) {
    void* made = nullptr;
    REQUIRE(allocate(bytes, home, &made) == RCAP_STATUS_OK);
    return made;
  }
  std::int32_t make_event() {
    void* made = nullptr;
    const std::int32_t status = table().event_create(device, &made, error.get());
    if (status == RCAP_STATUS_OK) events_.push_back(made);
    return status;
  }

  [[nodiscard]] rcap_plugin_capture capture_of(std::int32_t layer, const void* ids, std::int32_t where) const {
    rcap_plugin_capture job{};
    job.struct_size = sizeof job;
    job.cache = &cache;
    job.layer = layer;
    job.memory = where;
    job.ids_dtype = RCAP_DTYPE_INT32;
    job.tokens = 2;
    job.ids = ids;
    job.ids_stride = 16;
    return job;
  }

  std::int32_t capture(std::int32_t layer, const void* ids, std::int32_t where, void* stream = nullptr) {
    const rcap_plugin_capture job = capture_of(layer, ids, where);
    return table().capture(device, &job, stream, error.get());
  }

  /// `rows`: pinned memory with the numbers of two.
  std::int32_t snapshot(void* stream = nullptr, const std::int64_t* rows = nullptr) {
    rcap_plugin_snapshot job{};
    job.struct_size = sizeof job;
    job.cache = &cache;
    job.tokens = job.staged = 2;
    job.rows = rows;
    job.rows_home = rows == nullptr ? RCAP_PLUGIN_DEVICE : RCAP_PLUGIN_PINNED;
    job.payload = payload;
    job.bad_layer = static_cast<std::int32_t*>(bad_layer);
    job.captured = static_cast<std::int64_t*>(counts);
    job.repeated = static_cast<std::int64_t*>(counts) + 2;
    return table().snapshot(device, &job, stream, error.get());
  }

  std::int32_t copy(void* stream = nullptr, const void* from = nullptr, void* to = nullptr) {
    rcap_plugin_copy job{};
    job.struct_size = sizeof job;
    job.host = to == nullptr ? pinned : to;
    job.device = from == nullptr ? payload : from;
    job.bytes = 16;
    job.done = event;
    return table().copy_to_host(device, &job, stream, error.get());
  }

  /// The two rows of a snapshot, as they come to the host.
  std::vector<int> rows(void* stream = nullptr) {
    REQUIRE(snapshot(stream) == RCAP_STATUS_OK);
    REQUIRE(copy(stream) == RCAP_STATUS_OK);
    REQUIRE(table().event_wait(device, event, error.get()) == RCAP_STATUS_OK);
    const auto* bytes = static_cast<const std::uint8_t*>(pinned);
    return {bytes, bytes + 16};
  }

  Error error;
  rcap_plugin_device* device = nullptr;
  rcap_plugin_device* gpu = nullptr;
  rcap_plugin_cache cache{};
  void *payload = nullptr, *bad_layer = nullptr, *counts = nullptr, *pinned = nullptr, *event = nullptr;

 private:
  struct Held {
    std::int32_t home;
    void* memory;
    std::int64_t bytes;
  };
  std::vector<Held> held_;
  std::vector<void*> events_;
};

/// Every function that the library may call from an engine's thread, by name.
struct Call {
  const char* name;
  std::function<std::int32_t(Scene&)> made;
};

std::vector<Call> every_call() {
  static const std::int32_t ids[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  return {{"allocate",
           [](Scene& scene) {
             void* memory = nullptr;
             return scene.allocate(64, RCAP_PLUGIN_DEVICE, &memory);
           }},
          {"allocate pinned",
           [](Scene& scene) {
             void* memory = nullptr;
             return scene.allocate(64, RCAP_PLUGIN_PINNED, &memory);
           }},
          {"upload", [](Scene& scene) { return table().upload(scene.device, scene.payload, ids, sizeof ids, scene.error.get()); }},
          {"event_create", [](Scene& scene) { return scene.make_event(); }},
          {"stream_create",
           [](Scene& scene) {
             void* stream = nullptr;
             const std::int32_t status = table().stream_create(scene.device, &stream, scene.error.get());
             if (status == RCAP_STATUS_OK) table().stream_destroy(scene.device, stream);
             return status;
           }},
          {"event_record", [](Scene& scene) { return table().event_record(scene.device, scene.event, nullptr, scene.error.get()); }},
          {"event_query",
           [](Scene& scene) {
             const std::int32_t status = table().event_query(scene.device, scene.event, scene.error.get());
             return status == RCAP_STATUS_NOT_READY ? std::int32_t{RCAP_STATUS_OK} : status;
           }},
          {"event_wait", [](Scene& scene) { return table().event_wait(scene.device, scene.event, scene.error.get()); }},
          {"capture", [](Scene& scene) { return scene.capture(0, ids, RCAP_MEMORY_HOST); }},
          {"snapshot", [](Scene& scene) { return scene.snapshot(); }},
          {"clear", [](Scene& scene) { return table().clear(scene.device, &scene.cache, nullptr, scene.error.get()); }},
          {"widen",
           [](Scene& scene) {
             const rcap_plugin_list list{sizeof list, scene.payload, 4, 0, 1, 2, 2, static_cast<std::int64_t*>(scene.counts)};
             return table().widen(scene.device, &list, nullptr, scene.error.get());
           }},
          {"copy_to_host", [](Scene& scene) { return scene.copy(); }},
          {"prepare", [](Scene& scene) { return table().prepare(scene.device, &scene.cache, scene.error.get()); }}};
}

constexpr std::int32_t kPending = 701;  // an error of the caller's own, any that no call here causes

bool same(const fake_cudart_thread& a, const fake_cudart_thread& b) {
  return a.contexts == b.contexts && a.last_error == b.last_error && a.capture_mode == b.capture_mode;
}

}  // namespace

TEST_CASE("a call leaves the thread's contexts, pending error and capture mode as they were, whether it succeeds or fails") {
  for (const Call& call : every_call()) {
    CAPTURE(call.name);
    Scene scene;
    const fake_cudart_thread before = runtime().thread();
    REQUIRE(before.last_error == 0);
    CHECK(call.made(scene) == RCAP_STATUS_OK);
    CHECK(same(runtime().thread(), before));
    // The same with an error pending that is the caller's: it neither fails the call nor goes away.
    runtime().set_last_error(kPending);
    CHECK(call.made(scene) == RCAP_STATUS_OK);
    CHECK(runtime().thread().last_error == kPending);
    runtime().set_last_error(0);
    // And where each of its calls of CUDA fails in turn.
    const std::int64_t first = device_control().calls(scene.gpu);
    REQUIRE(call.made(scene) == RCAP_STATUS_OK);
    const std::int64_t count = device_control().calls(scene.gpu) - first;
    REQUIRE(count >= 1);
    std::int64_t failed = 0;
    for (std::int64_t at = 0; at < count; ++at) {
      device_control().fail_call(scene.gpu, device_control().calls(scene.gpu) + at, kFaultOnce);
      const std::int32_t status = call.made(scene);
      failed += status != RCAP_STATUS_OK ? 1 : 0;
      if (status != RCAP_STATUS_OK) CHECK((status == RCAP_STATUS_DEVICE || status == RCAP_STATUS_OUT_OF_MEMORY));
      CHECK(same(runtime().thread(), before));
    }
    device_control().fail_call(scene.gpu, -1, kFaultOnce);
    CHECK(failed == count);
    CHECK(table().lost(scene.device) == 0);
  }
}

TEST_CASE("a query that finds nothing ready leaves no error behind, and a pending one of the caller's where it is") {
  Scene scene;
  device_control().hold(scene.gpu, 1);
  REQUIRE(table().event_record(scene.device, scene.event, nullptr, scene.error.get()) == RCAP_STATUS_OK);
  CHECK(table().event_query(scene.device, scene.event, scene.error.get()) == RCAP_STATUS_NOT_READY);
  CHECK(runtime().thread().last_error == 0);
  runtime().set_last_error(kPending);
  CHECK(table().event_query(scene.device, scene.event, scene.error.get()) == RCAP_STATUS_NOT_READY);
  CHECK(runtime().thread().last_error == kPending);
  runtime().set_last_error(0);
  device_control().hold(scene.gpu, 0);
  CHECK(table().event_wait(scene.device, scene.event, scene.error.get()) == RCAP_STATUS_OK);
}

TEST_CASE("memory that is given back stays until queued snapshots and copies are over with it, and giving it back waits for nothing") {
  for (const bool event_goes_first : {false, true}) {
    for (const bool fails : {false, true}) {
      CAPTURE(event_goes_first);
      CAPTURE(fails);
      Scene scene;
      void* stream = device_control().stream_create(scene.gpu);
      const std::int32_t ids[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      const auto get = [&](std::int32_t home, std::int64_t bytes) {
        void* made = nullptr;
        REQUIRE(table().allocate(scene.device, home, bytes, &made, scene.error.get()) == RCAP_STATUS_OK);
        return made;
      };
      auto* const rows = static_cast<std::int64_t*>(get(RCAP_PLUGIN_PINNED, 16));
      void* const to = get(RCAP_PLUGIN_PINNED, 64);
      void* staged = nullptr;
      REQUIRE(table().event_create(scene.device, &staged, scene.error.get()) == RCAP_STATUS_OK);
      rows[0] = 1;
      rows[1] = 0;
      REQUIRE(scene.capture(0, ids, RCAP_MEMORY_HOST, stream) == RCAP_STATUS_OK);
      if (!fails) device_control().hold(scene.gpu, 1);
      REQUIRE(scene.snapshot(stream, rows) == RCAP_STATUS_OK);
      REQUIRE(table().event_record(scene.device, staged, stream, scene.error.get()) == RCAP_STATUS_OK);
      REQUIRE(scene.copy(stream, nullptr, to) == RCAP_STATUS_OK);
      // Where CUDA refuses to order anything behind the events, it is waited for instead.
      if (fails) device_control().fail_call(scene.gpu, device_control().calls(scene.gpu), kFaultOnce);
      if (event_goes_first) table().event_destroy(scene.device, staged);
      table().release(scene.device, RCAP_PLUGIN_PINNED, rows, 16);
      table().release(scene.device, RCAP_PLUGIN_PINNED, to, 64);
      if (!event_goes_first) table().event_destroy(scene.device, staged);
      device_control().hold(scene.gpu, 0);
      device_control().synchronize(scene.gpu);
      CHECK(std::string(device_control().why_lost(scene.gpu)).empty());
      CHECK(table().lost(scene.device) == 0);
      // It was read while it was there: the rows' order is the list's.
      CHECK(scene.copy(stream) == RCAP_STATUS_OK);
      REQUIRE(table().event_wait(scene.device, scene.event, scene.error.get()) == RCAP_STATUS_OK);
      const auto* bytes = static_cast<const std::uint8_t*>(scene.pinned);
      CHECK(std::vector<int>{bytes, bytes + 4} == std::vector<int>{5, 6, 7, 8});
      CHECK(std::vector<int>{bytes + 8, bytes + 12} == std::vector<int>{1, 2, 3, 4});
      device_control().stream_destroy(scene.gpu, stream);
    }
  }
}

TEST_CASE("memory that still leaves is waited for where there is no other") {
  Scene scene;
  const fake_device_settings settings{1, 0, 0, 4096};
  device_control().configure(&settings);
  rcap_plugin_device* device = nullptr;
  const rcap_plugin_options options = options_of(1);
  REQUIRE(table().open(&kHost, &options, &device, scene.error.get()) == RCAP_STATUS_OK);
  rcap_plugin_device* gpu = device_control().latest();
  void *memory = nullptr, *event = nullptr;
  REQUIRE(table().event_create(device, &event, scene.error.get()) == RCAP_STATUS_OK);
  REQUIRE(table().allocate(device, RCAP_PLUGIN_PINNED, 4096, &memory, scene.error.get()) == RCAP_STATUS_OK);
  device_control().hold(gpu, 1);
  REQUIRE(table().event_record(device, event, nullptr, scene.error.get()) == RCAP_STATUS_OK);
  table().release(device, RCAP_PLUGIN_PINNED, memory, 4096);
  std::thread later([gpu] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    device_control().hold(gpu, 0);
  });
  CHECK(table().allocate(device, RCAP_PLUGIN_PINNED, 4096, &memory, scene.error.get()) == RCAP_STATUS_OK);
  later.join();
  void* more = nullptr;
  CHECK(table().allocate(device, RCAP_PLUGIN_PINNED, 16, &more, scene.error.get()) == RCAP_STATUS_OUT_OF_MEMORY);
  table().release(device, RCAP_PLUGIN_PINNED, memory, 4096);
  table().event_destroy(device, event);
  table().close(device);
}

TEST_CASE("beside another thread's capture in global mode every call works and spoils nothing") {
  Scene scene;
  void* stream = device_control().stream_create(scene.gpu);
  runtime().begin_capture(stream);
  for (const Call& call : every_call()) {
    CAPTURE(call.name);
    CHECK(call.made(scene) == RCAP_STATUS_OK);
  }
  // Nor does giving back, while something is queued or not.
  for (const bool busy : {false, true}) {
    void *memory = nullptr, *event = nullptr;
    REQUIRE(table().allocate(scene.device, RCAP_PLUGIN_PINNED, 64, &memory, scene.error.get()) == RCAP_STATUS_OK);
    REQUIRE(table().event_create(scene.device, &event, scene.error.get()) == RCAP_STATUS_OK);
    device_control().hold(scene.gpu, busy ? 1 : 0);
    REQUIRE(table().event_record(scene.device, event, nullptr, scene.error.get()) == RCAP_STATUS_OK);
    table().release(scene.device, RCAP_PLUGIN_PINNED, memory, 64);
    table().event_destroy(scene.device, event);
    device_control().hold(scene.gpu, 0);
  }
  fake_cudart_graph* graph = runtime().end_capture(stream);
  CHECK(graph != nullptr);
  runtime().destroy_graph(graph);
  device_control().stream_destroy(scene.gpu, stream);
}

TEST_CASE("R15: captures recorded into a graph are replayed with other data, and recorded again; what was given in host memory stays in the graph") {
  Scene scene;
  void* stream = device_control().stream_create(scene.gpu);
  auto* routed = static_cast<std::int32_t*>(scene.memory(32));
  std::int32_t from_host[8] = {50, 51, 52, 53, 54, 55, 56, 57};
  const std::int64_t not_loaded = runtime().kernels_not_loaded();
  for (int recording = 0; recording < 2; ++recording) {
    runtime().begin_capture(stream);
    REQUIRE(scene.capture(0, routed, RCAP_MEMORY_DEVICE, stream) == RCAP_STATUS_OK);
    if (recording == 0) REQUIRE(scene.capture(1, from_host, RCAP_MEMORY_HOST, stream) == RCAP_STATUS_OK);
    if (recording == 1) REQUIRE(scene.capture(1, routed, RCAP_MEMORY_DEVICE, stream) == RCAP_STATUS_OK);
    fake_cudart_graph* graph = runtime().end_capture(stream);
    REQUIRE(graph != nullptr);
    std::fill(from_host, from_host + 8, 99);
    for (std::int32_t replay = 0; replay < 3; ++replay) {
      CAPTURE(recording);
      CAPTURE(replay);
      const std::int32_t base = 10 * replay + recording;
      const std::int32_t ids[8] = {base, base + 1, base + 2, base + 3, base + 4, base + 5, base + 6, base + 7};
      device_control().write_in_order(scene.gpu, routed, ids, sizeof ids, stream);
      runtime().launch_graph(scene.gpu, graph, stream);
      std::vector<int> expected;
      for (int row = 0; row < 2; ++row) {
        for (int layer = 0; layer < 2; ++layer) {
          for (int k = 0; k < 4; ++k) expected.push_back((layer == 1 && recording == 0 ? 50 : base) + row * 4 + k);
        }
      }
      CHECK(scene.rows(stream) == expected);
    }
    runtime().destroy_graph(graph);
    std::int32_t again[8] = {50, 51, 52, 53, 54, 55, 56, 57};
    std::memcpy(from_host, again, sizeof again);
  }
  // Everything that ran had been loaded by `prepare`: nothing is loaded inside a capture.
  CHECK(runtime().kernels_not_loaded() == not_loaded);
  device_control().stream_destroy(scene.gpu, stream);
}

TEST_CASE("a device that the plugin has no code for is refused when a capturer is sealed, and says so") {
  Scene scene;
  runtime().set_kernels(0);
  CHECK(table().prepare(scene.device, &scene.cache, scene.error.get()) == RCAP_STATUS_UNSUPPORTED);
  CHECK(scene.error.text.find("the plugin has no code for this device: cudaErrorNoKernelImageForDevice") == 0);
  runtime().set_kernels(1);
  CHECK(table().prepare(scene.device, &scene.cache, scene.error.get()) == RCAP_STATUS_OK);
}

TEST_CASE("without a device, a driver or a new enough one, probe says which") {
  Error error;
  CHECK(table().probe(&kHost, error.get()) == RCAP_STATUS_OK);
  runtime().set_devices(0, 100);
  CHECK(table().probe(&kHost, error.get()) == RCAP_STATUS_NO_DEVICE);
  CHECK(error.text.find("no CUDA device: cudaErrorNoDevice") == 0);
  runtime().set_devices(0, 35);
  CHECK(table().probe(&kHost, error.get()) == RCAP_STATUS_NO_DEVICE);
  CHECK(error.text == "the CUDA driver is for CUDA 11.4, and 13.0 is needed");
  runtime().set_devices(0, 0);
  CHECK(table().probe(&kHost, error.get()) == RCAP_STATUS_NO_DEVICE);
  CHECK(error.text == "no CUDA device: the driver is there and shows none");
  runtime().set_devices(2, 0);
  CHECK(runtime().thread().last_error == 0);
}

TEST_CASE("what cannot be opened is refused by number and limit, and nothing stays behind") {
  Error error;
  rcap_plugin_device* device = nullptr;
  rcap_plugin_options options = options_of(2);
  CHECK(table().open(&kHost, &options, &device, error.get()) == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(error.text == "device_ordinal is 2, there are 0 .. 1");
  options = options_of(-1);
  CHECK(table().open(&kHost, &options, &device, error.get()) == RCAP_STATUS_OUT_OF_RANGE);
  options = options_of(0, 2);
  CHECK(table().open(&kHost, &options, &device, error.get()) == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(error.text == "threads is 2, a CUDA device is fed by the caller's thread alone: 0 or 1");
  for (const char* wrong : {"-1", "many", "12 "}) {
    ::setenv("ROUTECAP_CUDA_ZERO_COPY_BYTES", wrong, 1);
    options = options_of(0);
    CHECK(table().open(&kHost, &options, &device, error.get()) == RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(error.text.find(wrong) != std::string::npos);
  }
  ::unsetenv("ROUTECAP_CUDA_ZERO_COPY_BYTES");
  CHECK(device == nullptr);
  CHECK(runtime().thread().contexts == 0);
}

TEST_CASE("a host with smaller structs gets what it knows of and no byte behind it") {
  Scene scene;
  rcap_plugin_description description;
  std::memset(&description, 0x5A, sizeof description);
  description.struct_size = offsetof(rcap_plugin_description, host_memory);
  REQUIRE(table().describe(scene.device, &description, scene.error.get()) == RCAP_STATUS_OK);
  CHECK(description.threads == 1);
  CHECK(description.host_memory == 0x5A5A5A5A);
  CHECK(description.description[0] == 0x5A);
  description.struct_size = sizeof description;
  REQUIRE(table().describe(scene.device, &description, scene.error.get()) == RCAP_STATUS_OK);
  CHECK(std::string(description.description) == "a GPU that is not there, compute capability 9.0, driver for CUDA 13.0");
  rcap_plugin_counters counters;
  std::memset(&counters, 0x5A, sizeof counters);
  counters.struct_size = offsetof(rcap_plugin_counters, pinned_bytes);
  REQUIRE(table().counters(scene.device, &counters, scene.error.get()) == RCAP_STATUS_OK);
  CHECK(counters.device_bytes == 64 + 16 + 128 + 64 + 32 + 32);
  CHECK(counters.pinned_bytes == 0x5A5A5A5A5A5A5A5A);
}
