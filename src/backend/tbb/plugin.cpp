// SPDX-License-Identifier: Apache-2.0
//
// The TBB plugin: the host's memory as a device, for forwards and reads that are large enough for several threads.
#include <sys/mman.h>
#include <tbb/version.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "backend/plugin/jobs.h"
#include "backend/rows/parallel.h"
#include "backend/tbb/device.h"

namespace rows = routecap::rows;
namespace plugin = routecap::plugin;
using routecap::tbb_backend::Threads;

namespace routecap::tbb_backend {

/// Measured: tests/bench/backends.cpp shows it. Tests of the plugin that divides every job say 1.
#if !defined(ROUTECAP_TBB_LEAST_BYTES)
#define ROUTECAP_TBB_LEAST_BYTES (std::int64_t{128} * 1024)
#endif
std::int64_t least_bytes() { return ROUTECAP_TBB_LEAST_BYTES; }

}  // namespace routecap::tbb_backend

namespace {

/// Without being told otherwise: what is copied comes from memory, which a few cores keep busy, and the others are the engine's.
constexpr std::int32_t kDefaultThreads = 4;

template <class... Values>
std::int32_t fail(const rcap_plugin_host& host, rcap_plugin_error* error, std::int32_t status, const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return host.fail(error, status, text);
}

std::int32_t probe(const rcap_plugin_host* /*host*/, rcap_plugin_error* /*error*/) { return RCAP_STATUS_OK; }

std::int32_t open_device(const rcap_plugin_host* host, const rcap_plugin_options* options, rcap_plugin_device** device, rcap_plugin_error* error) {
  if (options->device_ordinal != 0) {
    return fail(*host, error, RCAP_STATUS_OUT_OF_RANGE, "device_ordinal is %d, the TBB backend has only device 0", options->device_ordinal);
  }
  const std::int32_t limit = Threads::limit();
  if (options->threads < 0 || options->threads > limit) {
    return fail(*host, error, RCAP_STATUS_OUT_OF_RANGE, "threads is %d, allowed are 0 (the default, %d) .. %d, the processors of this process",
                options->threads, std::min(limit, kDefaultThreads), limit);
  }
  try {
    *device = new rcap_plugin_device(*host, options->threads != 0 ? options->threads : std::min(limit, kDefaultThreads));
  } catch (const std::exception& exception) {
    return fail(*host, error, RCAP_STATUS_OUT_OF_MEMORY, "no memory for a device: %s", exception.what());
  }
  return RCAP_STATUS_OK;
}

void close_device(rcap_plugin_device* device) { delete device; }

std::int32_t describe(rcap_plugin_device* device, rcap_plugin_description* out, rcap_plugin_error* /*error*/) {
  rcap_plugin_description about{};
  about.struct_size = out->struct_size;
  about.threads = device->threads.count();
  about.host_memory = 1;
  about.one_memory = 1;
  std::snprintf(about.description, sizeof about.description, "oneTBB %s, up to %d threads, %s row loops", TBB_runtime_version(), about.threads,
                rows::simd_level());
  about.parallel_bytes = device->threads.count() > 1 ? routecap::tbb_backend::least_bytes() : 0;
  std::memcpy(out, &about, std::min(static_cast<std::size_t>(out->struct_size), sizeof about));
  return RCAP_STATUS_OK;
}

/// At least a byte, so that every address is one's own.
std::size_t mapped_bytes(std::int64_t bytes) { return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)); }

std::int32_t allocate(rcap_plugin_device* device, std::int32_t home, std::int64_t bytes, void** memory, rcap_plugin_error* error) {
  // Zeroed pages of its own; each is there from its first touch on.
  void* mapped = ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return fail(device->host, error, RCAP_STATUS_OUT_OF_MEMORY, "%s", std::strerror(errno));
  device->held[home] += bytes;
  *memory = mapped;
  return RCAP_STATUS_OK;
}

void release(rcap_plugin_device* device, std::int32_t home, void* memory, std::int64_t bytes) {
  ::munmap(memory, mapped_bytes(bytes));
  device->held[home] -= bytes;
}

std::int32_t upload(rcap_plugin_device* /*device*/, void* to, const void* from, std::int64_t bytes, rcap_plugin_error* /*error*/) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return RCAP_STATUS_OK;
}

// Whatever was recorded is over by the time that anyone asks: an event is only counted.

std::int32_t event_create(rcap_plugin_device* device, void** event, rcap_plugin_error* /*error*/) {
  ++device->events;
  *event = device;
  return RCAP_STATUS_OK;
}

void event_destroy(rcap_plugin_device* device, void* /*event*/) { --device->events; }

std::int32_t event_record(rcap_plugin_device* /*device*/, void* /*event*/, void* /*stream*/, rcap_plugin_error* /*error*/) { return RCAP_STATUS_OK; }

std::int32_t event_query(rcap_plugin_device* /*device*/, void* /*event*/, rcap_plugin_error* /*error*/) { return RCAP_STATUS_OK; }

std::int32_t capture(rcap_plugin_device* device, const rcap_plugin_capture* job, void* /*stream*/, rcap_plugin_error* /*error*/) {
  rows::capture(plugin::from_plugin(*job), device->crew);
  ++device->captures;
  return RCAP_STATUS_OK;
}

std::int32_t snapshot(rcap_plugin_device* device, const rcap_plugin_snapshot* job, void* /*stream*/, rcap_plugin_error* /*error*/) {
  // Rows that the host named are read where they are: all memory is one here.
  rows::snapshot_and_clear(plugin::from_plugin(*job), device->crew);
  ++device->snapshots;
  return RCAP_STATUS_OK;
}

std::int32_t clear(rcap_plugin_device* device, const rcap_plugin_cache* cache, void* /*stream*/, rcap_plugin_error* /*error*/) {
  rows::clear_marks(plugin::shape_of(*cache), plugin::view_of(*cache), device->crew);
  return RCAP_STATUS_OK;
}

std::int32_t widen(rcap_plugin_device* /*device*/, const rcap_plugin_list* list, void* /*stream*/, rcap_plugin_error* /*error*/) {
  plugin::from_plugin(*list).widen(list->out);
  return RCAP_STATUS_OK;
}

std::int32_t copy_to_host(rcap_plugin_device* device, const rcap_plugin_copy* job, void* /*stream*/, rcap_plugin_error* /*error*/) {
  ++device->copies;
  if (job->host == job->device) return RCAP_STATUS_OK;
  rows::copy(static_cast<std::byte*>(job->host), static_cast<const std::byte*>(job->device), job->bytes, device->crew);
  device->copied_bytes += job->bytes;
  return RCAP_STATUS_OK;
}

std::int32_t lost(rcap_plugin_device* /*device*/) { return 0; }

std::int32_t counters(rcap_plugin_device* device, rcap_plugin_counters* out, rcap_plugin_error* /*error*/) {
  const rcap_plugin_counters counts = {out->struct_size,
                                       device->held[RCAP_PLUGIN_DEVICE],
                                       device->held[RCAP_PLUGIN_PINNED],
                                       device->events,
                                       0,
                                       device->captures,
                                       device->snapshots,
                                       device->copies,
                                       device->copied_bytes};
  std::memcpy(out, &counts, std::min(static_cast<std::size_t>(out->struct_size), sizeof counts));
  return RCAP_STATUS_OK;
}

void parallel_for(rcap_plugin_device* device, std::int64_t pieces, void (*body)(void* context, std::int64_t piece), void* context) {
  device->threads.run(pieces, body, context);
}

constexpr rcap_plugin_table kTable = {sizeof(rcap_plugin_table),
                                      "tbb",
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
                                      /*event_wait=*/&event_query,
                                      &capture,
                                      &snapshot,
                                      &clear,
                                      &widen,
                                      &copy_to_host,
                                      &lost,
                                      /*prepare=*/nullptr,
                                      /*stream_create=*/nullptr,
                                      /*stream_destroy=*/nullptr,
                                      &counters,
                                      &parallel_for};

}  // namespace

extern "C" {

RCAP_PLUGIN_EXPORT const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* /*host*/, rcap_plugin_error* /*error*/) { return &kTable; }
}
