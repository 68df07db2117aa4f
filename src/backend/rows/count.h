// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/fill.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include "backend/rows/element.h"

namespace routecap::rows::algorithm {

using MarkCounts = thrust::tuple<std::int64_t, std::int64_t>;  ///< rows captured, rows captured more than once

/// Column of the i-th mark when the forward's rows of all layers are taken one after the other.
struct LayerOfMark {
  std::int64_t tokens;
  RCAP_HD std::int64_t operator()(std::int64_t index) const { return index / tokens; }
};

struct CountsOfMark {
  CacheView cache;
  std::int64_t first_row;
  std::int64_t tokens;
  RCAP_HD MarkCounts operator()(std::int64_t index) const {
    const std::uint8_t mark = layer_marks(cache, index / tokens)[first_row + index % tokens];
    return MarkCounts((mark & kMarkCaptured) != 0 ? 1 : 0, (mark & kMarkRepeated) != 0 ? 1 : 0);
  }
};

struct AddCounts {
  RCAP_HD MarkCounts operator()(const MarkCounts& a, const MarkCounts& b) const {
    return MarkCounts(thrust::get<0>(a) + thrust::get<0>(b), thrust::get<1>(a) + thrust::get<1>(b));
  }
};

/// Strays of one layer.
struct StraysOfLayer {
  CacheView cache;
  RCAP_HD std::int64_t operator()(std::int64_t layer) const { return cache.extents[layer].strays; }
};

/// Per layer the rows of [first_row, first_row + tokens) that it captured, and those that it captured more than once (R27); where there are
/// PARTIAL layers, their strays too.
template <class Policy>
void count(const Policy& policy, const SnapshotJob& job) {
  const thrust::counting_iterator<std::int64_t> first(0);
  if (job.shape.cell_words != 0) thrust::transform(policy, first, first + job.shape.layers, job.strays, StraysOfLayer{job.cache});
  if (job.tokens == 0) {
    thrust::fill(policy, job.captured, job.captured + job.shape.layers, std::int64_t{0});
    thrust::fill(policy, job.repeated, job.repeated + job.shape.layers, std::int64_t{0});
    return;
  }
  const auto layer = thrust::make_transform_iterator(first, LayerOfMark{job.tokens});
  const auto counts = thrust::make_transform_iterator(first, CountsOfMark{job.cache, job.first_row, job.tokens});
  thrust::reduce_by_key(policy, layer, layer + job.shape.layers * job.tokens, counts, thrust::make_discard_iterator(),
                        thrust::make_zip_iterator(thrust::make_tuple(job.captured, job.repeated)), thrust::equal_to<std::int64_t>{}, AddCounts{});
}

}  // namespace routecap::rows::algorithm
