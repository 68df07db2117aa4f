// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_reduce.h>

#include "backend/rows/element.h"

namespace routecap::rows::algorithm {

/// Device row of a given row, -1 = a stray: it names none.
RCAP_HD inline std::int64_t captured_row(const CaptureJob& job, std::int64_t index) {
  if (job.row_ids == nullptr) return job.first_row + index;
  const std::int64_t offset = load_as<std::int32_t>(job.row_ids + index);
  return offset < 0 || offset >= job.cache.device_rows - job.first_row ? -1 : job.first_row + offset;
}

/// A given id after the map, or what it was when it turned out bad (R22).
RCAP_HD inline std::int64_t logical_id(const CaptureJob& job, std::int64_t id, bool& bad) {
  if (job.id_map != nullptr) {
    if (id < 0 || id >= job.id_map_entries) {
      bad = true;
      return id;
    }
    const std::byte* map = static_cast<const std::byte*>(job.id_map);
    id = job.id_map_dtype == RCAP_DTYPE_INT64 ? load_as<std::int64_t>(map + id * 8) : load_as<std::int32_t>(map + id * 4);
  }
  if (id < 0 || id >= job.num_experts) bad = true;
  return id;
}

/// One given row of one layer into the cache.
template <class Words, class Id, class In>
struct CaptureRow {
  CaptureJob job;

  RCAP_HD void operator()(std::int64_t index) const {
    const std::int64_t row = captured_row(job, index);
    if (row < 0) {
      Words::add(job.cache.extents[job.layer].strays, 1);  // R14: told when the forward settles
      return;
    }
    const std::byte* ids = static_cast<const std::byte*>(job.ids) + index * job.ids_stride;
    const std::uint8_t fault = any_bad(ids) ? kMarkBadId : std::uint8_t{0};
    std::uint8_t& mark = layer_marks(job.cache, job.layer)[row];
    if ((Words::set_bits(mark, static_cast<std::uint8_t>(kMarkCaptured | fault)) & kMarkCaptured) != 0) {
      // Whoever came first keeps the row: under a parallel policy this thread may not touch it. No byte of it will be stored (R27).
      Words::set_bits(mark, kMarkRepeated);
      return;
    }
    std::byte* out = layer_ids(job.shape, job.cache, job.layer) + row * id_cell_bytes(job.shape);
    for (std::int32_t k = 0; k < job.shape.top_k; ++k) {
      bool bad = false;
      store_as(out + static_cast<std::int64_t>(k) * static_cast<std::int64_t>(sizeof(Id)), static_cast<Id>(logical(ids, k, bad)));
    }
    if (job.shape.weight_bytes != 0) keep_weights(row, index);
  }

 private:
  RCAP_HD bool any_bad(const std::byte* ids) const {
    bool bad = false;
    for (std::int32_t k = 0; k < job.shape.top_k; ++k) logical(ids, k, bad);
    return bad;
  }

  /// The id of column k after the map, or what it was when it turned out bad.
  RCAP_HD std::int64_t logical(const std::byte* ids, std::int32_t k, bool& bad) const {
    return logical_id(job, static_cast<std::int64_t>(load_as<In>(ids + static_cast<std::int64_t>(k) * static_cast<std::int64_t>(sizeof(In)))), bad);
  }

  RCAP_HD void keep_weights(std::int64_t row, std::int64_t index) const {
    const std::byte* in = static_cast<const std::byte*>(job.weights) + index * job.weights_stride;
    std::byte* out = layer_weights(job.shape, job.cache, job.layer) + row * weight_cell_bytes(job.shape);
    if (job.weights_dtype_in == job.weights_dtype) {
      std::memcpy(out, in, static_cast<std::size_t>(weight_cell_bytes(job.shape)));
      return;
    }
    for (std::int64_t k = 0; k < job.shape.top_k; ++k) {
      const auto bits = load_as<std::uint32_t>(in + k * 4);
      store_as(out + k * 2, job.weights_dtype == RCAP_DTYPE_FLOAT16 ? to_float16(bits) : to_bfloat16(bits));
    }
  }
};

template <class Words, class Policy>
void capture(const Policy& policy, const CaptureJob& job) {
  const thrust::counting_iterator<std::int64_t> first(0);
  with_id_type(job.shape, [&]<class Id>() {
    with_given_type(job.ids_dtype, [&]<class In>() { thrust::for_each(policy, first, first + job.tokens, CaptureRow<Words, Id, In>{job}); });
  });
}

/// Rows [first, end) of the cache; first == end: none.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

/// Rows that one given row covers: itself, or none when it is a stray.
struct CoveredRow {
  CaptureJob job;
  RCAP_HD RowRange operator()(std::int64_t index) const {
    const std::int64_t row = captured_row(job, index);
    return row < 0 ? RowRange{} : RowRange{row, row + 1};
  }
};

/// The smallest range around both.
struct JoinRanges {
  RCAP_HD RowRange operator()(const RowRange& a, const RowRange& b) const {
    if (a.first == a.end) return b;
    if (b.first == b.end) return a;
    return RowRange{a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
  }
};

/// Rows of the cache that a capture may have marked.
template <class Policy>
RowRange covered(const Policy& policy, const CaptureJob& job) {
  if (job.row_ids == nullptr) return {job.first_row, job.first_row + job.tokens};
  const thrust::counting_iterator<std::int64_t> first(0);
  return thrust::transform_reduce(policy, first, first + job.tokens, CoveredRow{job}, RowRange{}, JoinRanges{});
}

}  // namespace routecap::rows::algorithm
