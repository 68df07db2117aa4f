// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include "backend/rows/count.h"
#include "backend/rows/element.h"

namespace routecap::rows::algorithm {

/// Device row of a staged row, -1 where it names a row outside the forward.
RCAP_HD inline std::int64_t staged_source(const SnapshotJob& job, std::int64_t staged) {
  const std::int64_t row = job.rows == nullptr ? staged : job.rows[staged];
  return row < 0 || row >= job.tokens ? -1 : job.first_row + row;
}

/// One cell, ids and weights: index = staged row * L + layer, so that neighbours write side by side.
struct SnapshotCell {
  SnapshotJob job;

  RCAP_HD void operator()(std::int64_t index) const {
    const RowShape& shape = job.shape;
    const std::int64_t staged = index / shape.layers;
    const std::int64_t layer = index % shape.layers;
    const std::int64_t row = staged_source(job, staged);
    if (row < 0) return;
    // The cell of a PARTIAL layer that skipped this row still holds another forward's ids.
    const bool stale = shape.cell_words != 0 && job.partial[layer] != 0 && (layer_marks(job.cache, layer)[row] & kMarkCaptured) == 0;
    std::byte* out = job.payload + staged * shape.payload_bytes;
    place(out + layer * id_cell_bytes(shape), layer_ids(shape, job.cache, layer), row, id_cell_bytes(shape), stale);
    if (shape.weight_bytes == 0) return;
    place(out + shape.weights_offset + layer * weight_cell_bytes(shape), layer_weights(shape, job.cache, layer), row, weight_cell_bytes(shape),
          stale);
  }

 private:
  RCAP_HD static void place(std::byte* out, const std::byte* layer_base, std::int64_t row, std::int64_t bytes, bool stale) {
    if (stale) {
      std::memset(out, 0xFF, static_cast<std::size_t>(bytes));
    } else {
      std::memcpy(out, layer_base + row * bytes, static_cast<std::size_t>(bytes));
    }
  }
};

/// What stands once in a staged row: padding, cell bits, and what is wrong with it.
struct SnapshotRow {
  SnapshotJob job;

  RCAP_HD void operator()(std::int64_t staged) const {
    const RowShape& shape = job.shape;
    const std::int64_t row = staged_source(job, staged);
    job.bad_layer[staged] = row < 0 ? 0 : bad_layer(row);
    if (row < 0) return;
    std::byte* out = job.payload + staged * shape.payload_bytes;
    const std::int64_t ids_end = shape.weight_bytes != 0 ? shape.weights_offset : weights_end();
    zero(out, shape.ids_bytes, ids_end);
    if (shape.weight_bytes != 0) zero(out, shape.weights_offset + shape.weights_bytes, weights_end());
    if (shape.cell_words == 0) return;
    for (std::int64_t word = 0; word < shape.cell_words; ++word) store_as(out + shape.cells_offset + word * 8, cell_bits(row, word));
  }

 private:
  [[nodiscard]] RCAP_HD std::int64_t weights_end() const { return job.shape.cell_words != 0 ? job.shape.cells_offset : job.shape.payload_bytes; }

  RCAP_HD static void zero(std::byte* out, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) out[i] = std::byte{0};
  }

  [[nodiscard]] RCAP_HD std::uint64_t cell_bits(std::int64_t row, std::int64_t word) const {
    std::uint64_t bits = 0;
    for (std::int64_t layer = word * 64; layer < job.shape.layers && layer < word * 64 + 64; ++layer) {
      if ((layer_marks(job.cache, layer)[row] & kMarkCaptured) != 0) bits |= std::uint64_t{1} << (layer % 64);
    }
    return bits;
  }

  [[nodiscard]] RCAP_HD std::int32_t bad_layer(std::int64_t row) const {
    std::int32_t bad = 0;
    for (std::int32_t layer = 0; layer < job.shape.layers; ++layer) {
      const std::uint8_t mark = layer_marks(job.cache, layer)[row];
      if ((mark & kMarkRepeated) != 0 && job.shape.cell_words != 0 && job.partial[layer] != 0) return repeated_in(layer);
      if ((mark & kMarkBadId) != 0 && bad == 0) bad = bad_id_in(layer);
    }
    return bad;
  }
};

template <class Policy>
void snapshot(const Policy& policy, const SnapshotJob& job) {
  const thrust::counting_iterator<std::int64_t> first(0);
  thrust::for_each(policy, first, first + job.staged * job.shape.layers, SnapshotCell{job});
  thrust::for_each(policy, first, first + job.staged, SnapshotRow{job});
  count(policy, job);
}

}  // namespace routecap::rows::algorithm
