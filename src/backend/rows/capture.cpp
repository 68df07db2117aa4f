// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/rows/sequential.h"
#include "backend/rows/tuned.h"
#include "support/dtype.h"

namespace routecap::rows::tuned {
namespace {

/// Bytes of given ids that are narrowed before their verdict is looked at: they, what becomes of them and their marks stay in the first-level cache.
constexpr std::int64_t kBlockBytes = 8192;

std::uint64_t largest_id_of(std::int32_t ids_dtype, std::int32_t num_experts) {
  std::uint64_t largest = 0;
  with_given_type(ids_dtype, [&]<class In>() { largest = largest_id<In>(num_experts); });
  return largest;
}

void keep_weights(const CaptureJob& job, const Kernels& kernels, std::int64_t first, std::int64_t rows) {
  const std::byte* in = static_cast<const std::byte*>(job.weights) + first * job.weights_stride;
  const std::int64_t cell = weight_cell_bytes(job.shape);
  std::byte* out = layer_weights(job.shape, job.cache, job.layer) + (job.first_row + first) * cell;
  const std::int64_t given_cell = static_cast<std::int64_t>(job.shape.top_k) * dtype_bytes(job.weights_dtype_in);
  const bool dense = job.weights_stride == given_cell;
  const std::int64_t runs = dense ? 1 : rows;
  const std::int64_t columns = dense ? rows * job.shape.top_k : job.shape.top_k;
  const WeightKernel convert = job.weights_dtype == RCAP_DTYPE_FLOAT16 ? kernels.to_float16 : kernels.to_bfloat16;
  for (std::int64_t run = 0; run < runs; ++run) {
    if (job.weights_dtype_in == job.weights_dtype) {
      std::memcpy(out + run * cell, in + run * job.weights_stride, static_cast<std::size_t>(columns * job.shape.weight_bytes));
    } else {
      convert(out + run * cell, in + run * job.weights_stride, columns);
    }
  }
}

/// @return whether every id of the rows is good
bool narrow(const CaptureJob& job, const Kernels& kernels, NarrowKernel kernel, std::uint64_t largest, std::int64_t first, std::int64_t rows) {
  const std::byte* in = static_cast<const std::byte*>(job.ids) + first * job.ids_stride;
  const std::int64_t cell = id_cell_bytes(job.shape);
  std::byte* out = layer_ids(job.shape, job.cache, job.layer) + (job.first_row + first) * cell;
  if (job.ids_stride == static_cast<std::int64_t>(job.shape.top_k) * dtype_bytes(job.ids_dtype)) {
    return kernel(out, in, rows * job.shape.top_k, largest);
  }
  if (job.shape.top_k == 8 && job.shape.id_bytes == 1 && job.ids_dtype == RCAP_DTYPE_INT32) {
    return kernels.narrow_rows_of_8(out, in, rows, job.ids_stride, largest);
  }
  bool good = true;
  for (std::int64_t row = 0; row < rows; ++row) good &= kernel(out + row * cell, in + row * job.ids_stride, job.shape.top_k, largest);
  return good;
}

}  // namespace

CaptureJob part(const CaptureJob& job, std::int64_t first, std::int64_t end) {
  CaptureJob piece = job;
  piece.ids = static_cast<const std::byte*>(job.ids) + first * job.ids_stride;
  if (job.weights != nullptr) piece.weights = static_cast<const std::byte*>(job.weights) + first * job.weights_stride;
  if (job.row_ids != nullptr) piece.row_ids = job.row_ids + first;
  piece.first_row = job.row_ids != nullptr ? job.first_row : job.first_row + first;
  piece.tokens = end - first;
  return piece;
}

void extend(const CaptureJob& job) {
  LayerExtent& extent = job.cache.extents[job.layer];
  const algorithm::RowRange both = algorithm::JoinRanges{}({extent.first, extent.end}, algorithm::covered(thrust::seq, job));
  extent.first = both.first;
  extent.end = both.end;
}

void capture(const CaptureJob& job, const Kernels& kernels) {
  if (job.tokens == 0) return;
  extend(job);
  capture_rows(job, kernels);
}

void capture_rows(const CaptureJob& job, const Kernels& kernels) {
  if (job.row_ids != nullptr || job.id_map != nullptr) {
    algorithm::capture<HostWords>(thrust::seq, job);
    return;
  }
  const NarrowKernel kernel = kernels.narrow_for(job.shape.id_bytes, job.ids_dtype);
  const std::uint64_t largest = largest_id_of(job.ids_dtype, job.num_experts);
  const std::int64_t given_row = static_cast<std::int64_t>(job.shape.top_k) * dtype_bytes(job.ids_dtype);
  // No division for the few rows of a decode step.
  const std::int64_t block = job.tokens * given_row <= kBlockBytes ? job.tokens : std::max<std::int64_t>(1, kBlockBytes / given_row);
  std::uint8_t* marks = layer_marks(job.cache, job.layer) + job.first_row;
  for (std::int64_t first = 0; first < job.tokens; first += block) {
    const std::int64_t rows = job.tokens - first < block ? job.tokens - first : block;
    // The ids of a row that is there already must stay, and a bad one needs its own mark: both are rare, and left to the row-by-row form.
    const bool fresh = rows == 1 ? marks[first] == 0 : kernels.summarize_marks(marks + first, rows).any == 0;
    if (!fresh || !narrow(job, kernels, kernel, largest, first, rows)) {
      algorithm::capture<HostWords>(thrust::seq, part(job, first, first + rows));
      continue;
    }
    if (rows == 1) {
      marks[first] = kMarkCaptured;
    } else {
      std::memset(marks + first, kMarkCaptured, static_cast<std::size_t>(rows));
    }
    if (job.shape.weight_bytes != 0) keep_weights(job, kernels, first, rows);
  }
}

}  // namespace routecap::rows::tuned
