// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <array>
#include <cstring>

#include "backend/cuda/kernel_list.h"
#include "backend/cuda/kernels.h"
#include "backend/rows/words.h"
#include "device.h"
#include "run_grid.h"
#include "support/dtype.h"

namespace cuda = routecap::cuda;
namespace rows = routecap::rows;

namespace fake_cudart {
namespace {

/// One byte per kernel, whose addresses stand for the kernels.
const std::array<char, cuda::kKernels> addresses{};

// Where a launch's memory is, and that all of it is the device's.

void place(const rcap_plugin_device& device, const rows::RowShape& shape, rows::CacheView& cache) {
  const std::int64_t all = cache.device_rows * shape.layers;
  device.translate(cache.ids, all * rows::id_cell_bytes(shape), "cache of ids");
  device.translate(cache.weights, all * rows::weight_cell_bytes(shape), "cache of weights");
  device.translate(cache.marks, all, "marks");
  device.translate(cache.extents, std::int64_t{64} * shape.layers, "notes");
  device.translate(cache.partial, shape.layers, "partial");
}

void place(const rcap_plugin_device& device, cuda::CaptureArgs& args) {
  rows::CaptureJob& job = args.job;
  const auto reach = [&](std::int64_t stride, std::int32_t dtype) {
    return (job.tokens - 1) * stride + std::int64_t{job.shape.top_k} * routecap::dtype_bytes(dtype);
  };
  place(device, job.shape, job.cache);
  device.translate(job.ids, reach(job.ids_stride, job.ids_dtype), "ids");
  device.translate(job.weights, reach(job.weights_stride, job.weights_dtype_in), "weights");
  device.translate(job.row_ids, job.tokens * 4, "row_ids");
  device.translate(job.id_map, job.id_map_entries * routecap::dtype_bytes(job.id_map_dtype), "id_map");
}

void place(const rcap_plugin_device& device, cuda::SnapshotArgs& args) {
  rows::SnapshotJob& job = args.job;
  place(device, job.shape, job.cache);
  if (job.rows != nullptr && !device.is_pinned(job.rows, job.staged * 8)) device.translate(job.rows, job.staged * 8, "rows");
  job.partial = job.cache.partial;
  device.translate(job.payload, job.staged * job.shape.payload_bytes, "payload");
  device.translate(job.bad_layer, job.staged * 4, "bad_layer");
  device.translate(job.captured, std::int64_t{8} * job.shape.layers, "captured");
  device.translate(job.repeated, std::int64_t{8} * job.shape.layers, "repeated");
  device.translate(job.strays, std::int64_t{8} * job.shape.layers, "strays");
}

void place(const rcap_plugin_device& device, cuda::ClearArgs& args) {
  device.translate(args.marks, args.bytes, "marks");
  device.translate(args.extents, 64 * args.layers, "notes");
}

void place(const rcap_plugin_device& device, cuda::WidenArgs& args) {
  const routecap::ListView& list = args.list;
  device.translate(args.list.data, ((list.groups - 1) * list.stride + list.width) * list.element_bytes, "list");
  device.translate(args.out, list.count() * 8, "widened list");
}

void place(const rcap_plugin_device& device, cuda::PutArgs& args) { device.translate(args.to, args.bytes, "put"); }

void place(const rcap_plugin_device& device, cuda::CopyArgs& args) {
  if (!device.is_pinned(args.host, args.bytes)) throw fake_device::Fault{"a kernel writes to memory that is not pinned"};
  device.translate(args.device, args.bytes, "copy");
}

struct MakeWork {
  rcap_plugin_device& device;
  std::int64_t blocks;
  std::int32_t threads;
  const void* arguments;

  template <class Body>
  std::function<void()> operator()() const {
    typename Body::Args args;
    std::memcpy(&args, arguments, sizeof args);
    return [&gpu = device, grid = blocks, block = threads, args] {
      typename Body::Args placed = args;
      place(gpu, placed);
      run_grid<Body>(placed, grid, block);
    };
  }
};

}  // namespace

int number_of_kernel(const void* address) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (address == &addresses[i]) return static_cast<int>(i);
  }
  return -1;
}

std::function<void()> grid_work(rcap_plugin_device& device, int kernel, std::int64_t blocks, std::int32_t threads, const void* arguments) {
  using Words = rows::HostWords;
  const MakeWork make{device, blocks, threads, arguments};
  if (kernel >= cuda::kSnapshotKernels) return cuda::with_other_body<Words>(kernel, make);
  const int given = kernel % cuda::kGivenTypes;
  switch (kernel / cuda::kGivenTypes) {
    case 0: return cuda::with_capture_body<Words, std::uint8_t>(given, make);
    case 1: return cuda::with_capture_body<Words, std::uint16_t>(given, make);
    default: return cuda::with_capture_body<Words, std::int32_t>(given, make);
  }
}

}  // namespace fake_cudart

// In place of the device's compiler.
namespace routecap::cuda {

const void* capture_kernel_to_uint8(int given) { return &fake_cudart::addresses[static_cast<std::size_t>(given)]; }
const void* capture_kernel_to_uint16(int given) { return &fake_cudart::addresses[static_cast<std::size_t>(kGivenTypes + given)]; }
const void* capture_kernel_to_int32(int given) { return &fake_cudart::addresses[static_cast<std::size_t>(2 * kGivenTypes + given)]; }
const void* other_kernel(int kernel) { return &fake_cudart::addresses[static_cast<std::size_t>(kernel)]; }

}  // namespace routecap::cuda
