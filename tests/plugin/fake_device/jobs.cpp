// SPDX-License-Identifier: Apache-2.0
#include "jobs.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/plugin/jobs.h"
#include "backend/rows/rows.h"
#include "device.h"
#include "support/dtype.h"

namespace fake_device {
namespace {

using routecap::dtype_bytes;

/// A copy of the caller's bytes that lives as long as the work.
using Kept = std::shared_ptr<std::vector<std::byte>>;

Kept keep(const void* from, std::int64_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  return std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
}

rcap_plugin_cache translated(const rcap_plugin_device& device, rcap_plugin_cache cache) {
  const std::int64_t rows = cache.device_rows * cache.layers;
  device.translate(cache.ids, rows * cache.top_k * cache.id_bytes, "cache of ids");
  device.translate(cache.weights, rows * cache.top_k * cache.weight_bytes, "cache of weights");
  device.translate(cache.marks, rows, "marks");
  device.translate(cache.notes, std::int64_t{64} * cache.layers, "notes");
  device.translate(cache.partial, cache.layers, "partial");
  return cache;
}

/// One array of a capture: read now where it lies with the host, found when the work runs where it lies on the device.
struct Array {
  std::int64_t bytes = 0;
  Kept kept;

  Array(const void* data, std::int64_t size, std::int32_t memory) : bytes(data == nullptr ? 0 : size) {
    if (data != nullptr && memory == RCAP_MEMORY_HOST) kept = keep(data, size);
  }
  template <class T>
  void place(const rcap_plugin_device& device, T*& data, const char* what) const {
    if (kept != nullptr) {
      data = reinterpret_cast<T*>(kept->data());
    } else {
      device.translate(data, bytes, what);
    }
  }
};

/// Two streams may capture halves of one layer at once, and the host's row loops keep what a layer captured in one place: one of them at a time.
std::mutex& layer_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

std::function<void()> capture_work(rcap_plugin_device& device, const rcap_plugin_capture& given) {
  const rcap_plugin_cache& cache = *given.cache;
  const auto reach = [&](std::int64_t stride, std::int32_t dtype) {
    return (given.tokens - 1) * stride + std::int64_t{cache.top_k} * dtype_bytes(dtype);
  };
  const Array ids(given.ids, reach(given.ids_stride, given.ids_dtype), given.memory);
  const Array weights(given.weights, reach(given.weights_stride, given.weights_dtype), given.memory);
  const Array row_ids(given.row_ids, given.tokens * 4, given.memory);
  const Array id_map(given.id_map, given.id_map_entries * dtype_bytes(given.id_map_dtype), given.id_map_memory);
  return [&device, given, cache, ids, weights, row_ids, id_map] {
    const rcap_plugin_cache inner = translated(device, cache);
    rcap_plugin_capture job = given;
    job.cache = &inner;
    ids.place(device, job.ids, "ids");
    weights.place(device, job.weights, "weights");
    row_ids.place(device, job.row_ids, "row_ids");
    id_map.place(device, job.id_map, "id_map");
    const std::lock_guard<std::mutex> lock(layer_mutex());
    routecap::rows::capture(routecap::plugin::from_plugin(job));
  };
}

std::function<void()> snapshot_work(rcap_plugin_device& device, const rcap_plugin_snapshot& given) {
  return [&device, given, cache = *given.cache, copies = device.stream(nullptr)->coin()] {
    const rcap_plugin_cache inner = translated(device, cache);
    rcap_plugin_snapshot job = given;
    job.cache = &inner;
    if (job.rows != nullptr && job.rows_home == RCAP_PLUGIN_PINNED && copies) {
      std::int64_t* room = job.rows_room;
      device.translate(room, job.staged * 8, "room for rows");
      std::memcpy(room, job.rows, static_cast<std::size_t>(job.staged) * 8);
      job.rows = room;
    } else if (job.rows_home == RCAP_PLUGIN_DEVICE) {
      device.translate(job.rows, job.staged * 8, "rows");
    }
    device.translate(job.payload, job.staged * cache.payload_bytes, "payload");
    device.translate(job.bad_layer, job.staged * 4, "bad_layer");
    device.translate(job.captured, std::int64_t{8} * cache.layers, "captured");
    device.translate(job.repeated, std::int64_t{8} * cache.layers, "repeated");
    device.translate(job.strays, std::int64_t{8} * cache.layers, "strays");
    const routecap::rows::SnapshotJob rows = routecap::plugin::from_plugin(job);
    routecap::rows::snapshot(rows);
    routecap::rows::clear_marks(rows.shape, rows.cache);
  };
}

std::function<void()> clear_work(rcap_plugin_device& device, const rcap_plugin_cache& cache) {
  return [&device, cache] {
    const rcap_plugin_cache inner = translated(device, cache);
    routecap::rows::clear_marks(routecap::plugin::shape_of(inner), routecap::plugin::view_of(inner));
  };
}

std::function<void()> widen_work(rcap_plugin_device& device, const rcap_plugin_list& given) {
  return [&device, given] {
    rcap_plugin_list list = given;
    device.translate(list.data, ((list.groups - 1) * list.stride + list.width) * list.element_bytes, "list");
    device.translate(list.out, list.groups * list.width * 8, "widened list");
    routecap::plugin::from_plugin(list).widen(list.out);
  };
}

}  // namespace fake_device
