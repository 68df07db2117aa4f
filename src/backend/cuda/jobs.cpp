// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/jobs.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/kernel_list.h"
#include "backend/plugin/jobs.h"
#include "support/dtype.h"

namespace routecap::cuda {
namespace {

bool lies_on(const void* address, std::uintptr_t alignment) { return reinterpret_cast<std::uintptr_t>(address) % alignment == 0; }

/// An array of a capture in host memory: rows a stride apart, which go to the device side by side.
struct HostRows {
  const std::byte* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
  std::int64_t stride = 0;
  std::int64_t offset = 0;  ///< in the scratch memory

  [[nodiscard]] std::int64_t bytes() const { return rows * row_bytes; }
};

/// Device memory for one capture's host arrays. It comes and goes in the order of the stream, and the bytes travel inside launches: the call reads
/// the arrays, waits for nothing, and may be captured into a graph, which then keeps them.
class Scratch {
 public:
  Scratch(const Device& device, cudaStream_t stream) : device_(device), stream_(stream) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    // Once more where it fails: the memory would be lost to the process.
    if (memory_ != nullptr && cudaFreeAsync(memory_, stream_) != cudaSuccess) static_cast<void>(cudaFreeAsync(memory_, stream_));
  }

  void add(HostRows& rows) {
    constexpr std::int64_t kAlignment = 16;
    rows.offset = bytes_;
    bytes_ += (rows.bytes() + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// To be called once, behind every `add`.
  void allocate() {
    if (bytes_ != 0) check(cudaMallocAsync(&memory_, static_cast<std::size_t>(bytes_), stream_), "cudaMallocAsync for host arrays");
  }

  /// Where the rows are from here on, in stream order.
  const std::byte* put(const HostRows& rows, int& queued) {
    std::byte* const to = static_cast<std::byte*>(memory_) + rows.offset;
    PutArgs args;
    const std::int64_t all = rows.bytes();
    for (std::int64_t done = 0; done < all; done += args.bytes) {
      args.to = to + done;
      args.bytes = std::min(kPutBytes, all - done);
      for (std::int64_t at = 0; at < args.bytes;) {
        const std::int64_t row = (done + at) / rows.row_bytes;
        const std::int64_t within = (done + at) % rows.row_bytes;
        const std::int64_t piece = std::min(rows.row_bytes - within, args.bytes - at);
        std::memcpy(args.data + at, rows.data + row * rows.stride + within, static_cast<std::size_t>(piece));
        at += piece;
      }
      device_.launch(kPutKernel, grid_of(args), args, stream_);
      ++queued;
    }
    return to;
  }

 private:
  const Device& device_;
  cudaStream_t stream_;
  std::int64_t bytes_ = 0;
  void* memory_ = nullptr;
};

void capture_from_device(const Device& device, const rows::CaptureJob& job, cudaStream_t stream) {
  const CaptureArgs args = spread(job, dtype_bytes(job.ids_dtype), dtype_bytes(job.weights_dtype_in));
  device.launch(capture_kernel(job.shape.id_bytes, job.ids_dtype), grid_of(args), args, stream);
}

}  // namespace

void capture(Device& device, const rcap_plugin_capture& given, cudaStream_t stream) {
  rows::CaptureJob job = plugin::from_plugin(given);
  if (job.tokens == 0) return;
  const bool host_map = job.id_map != nullptr && job.id_map_memory == RCAP_MEMORY_HOST;
  const bool host_rows = job.memory == RCAP_MEMORY_HOST;
  if (!host_rows && !host_map) return capture_from_device(device, job, stream);

  const auto rows_of = [&](const void* data, std::int64_t bytes, std::int64_t stride) {
    return HostRows{static_cast<const std::byte*>(data), job.tokens, bytes, stride};
  };
  const std::int64_t top_k = job.shape.top_k;
  HostRows ids = rows_of(job.ids, top_k * dtype_bytes(job.ids_dtype), job.ids_stride);
  HostRows weights = rows_of(job.weights, top_k * dtype_bytes(job.weights_dtype_in), job.weights_stride);
  HostRows row_ids = rows_of(job.row_ids, 4, 4);
  const std::int64_t entry = dtype_bytes(job.id_map_dtype);
  HostRows map{static_cast<const std::byte*>(job.id_map), job.id_map_entries, entry, entry};
  device.all_or_nothing(stream, [&](int& queued) {
    Scratch scratch(device, stream);
    if (host_rows) {
      scratch.add(ids);
      if (job.weights != nullptr) scratch.add(weights);
      if (job.row_ids != nullptr) scratch.add(row_ids);
    }
    if (host_map) scratch.add(map);
    scratch.allocate();
    if (host_rows) {
      job.ids = scratch.put(ids, queued);
      job.ids_stride = ids.row_bytes;
      if (job.weights != nullptr) {
        job.weights = scratch.put(weights, queued);
        job.weights_stride = weights.row_bytes;
      }
      if (job.row_ids != nullptr) job.row_ids = reinterpret_cast<const std::int32_t*>(scratch.put(row_ids, queued));
    }
    if (host_map) job.id_map = scratch.put(map, queued);
    capture_from_device(device, job, stream);
  });
}

void snapshot(Device& device, const rcap_plugin_snapshot& given, cudaStream_t stream) {
  rows::SnapshotJob job = plugin::from_plugin(given);
  // Few rows are read where they lie, in mapped memory; more are copied first.
  constexpr std::int64_t kReadInPlace = 512;
  const bool copied = job.rows != nullptr && given.rows_home == RCAP_PLUGIN_PINNED && given.rows_room != nullptr && job.staged > kReadInPlace;
  device.all_or_nothing(stream, [&](int& queued) {
    if (copied) {
      check(cudaMemcpyAsync(given.rows_room, job.rows, static_cast<std::size_t>(job.staged) * 8, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync of rows");
      ++queued;
      job.rows = given.rows_room;
    }
    const SnapshotArgs args = spread(job);
    device.launch(snapshot_kernel(word_of(job.shape)), grid_of(args), args, stream);
    ++queued;
    // A grid cannot wait for itself, so what was counted is forgotten by another; last, so that a snapshot that failed can be taken again.
    const ClearArgs cleared = spread(job.shape, job.cache);
    device.launch(kClearKernel, grid_of(cleared), cleared, stream);
  });
}

void clear(const Device& device, const rcap_plugin_cache& cache, cudaStream_t stream) {
  const ClearArgs args = spread(plugin::shape_of(cache), plugin::view_of(cache));
  device.launch(kClearKernel, grid_of(args), args, stream);
}

void widen(const Device& device, const rcap_plugin_list& list, cudaStream_t stream) {
  const WidenArgs args{plugin::from_plugin(list), list.out};
  device.launch(kWidenKernel, grid_of(args), args, stream);
}

void copy_to_host(Device& device, const rcap_plugin_copy& job, cudaStream_t stream) {
  if (job.after != nullptr) check(cudaStreamWaitEvent(stream, static_cast<cudaEvent_t>(job.after), 0), "cudaStreamWaitEvent");
  device.all_or_nothing(stream, [&](int& queued) {
    if (job.bytes <= device.zero_copy_bytes() && lies_on(job.host, 8) && lies_on(job.device, 8)) {
      const CopyArgs args{static_cast<std::byte*>(job.host), static_cast<const std::byte*>(job.device), job.bytes};
      device.launch(kCopyKernel, grid_of(args), args, stream);
    } else {
      check(cudaMemcpyAsync(job.host, job.device, static_cast<std::size_t>(job.bytes), cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync to the host");
    }
    ++queued;
    check(cudaEventRecord(static_cast<cudaEvent_t>(job.done), stream), "cudaEventRecord behind a copy to the host");
  });
}

void prepare(const Device& device, const rcap_plugin_cache& cache) {
  if (!lies_on(cache.ids, 16) || !lies_on(cache.weights, 16) || !lies_on(cache.marks, 8) || !lies_on(cache.notes, 8)) {
    throw Refusal(RCAP_STATUS_UNSUPPORTED, "the cache's arrays must lie on multiples of 16 bytes");
  }
  for (std::int32_t dtype = RCAP_DTYPE_UINT8; dtype <= RCAP_DTYPE_INT64; ++dtype) device.load(capture_kernel(cache.id_bytes, dtype));
  device.load(snapshot_kernel(word_of(plugin::shape_of(cache))));
  for (const int kernel : {kClearKernel, kWidenKernel, kPutKernel, kCopyKernel}) device.load(kernel);
}

}  // namespace routecap::cuda
