// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "backend/rows/element.h"
#include "backend/rows/kernel_bodies.h"
#include "backend/rows/tuned.h"

namespace routecap::rows::tuned {
namespace {

constexpr std::int64_t kTile = bodies::kTurnedRows;

/// Source rows of one tile. A row outside the forward is staged nowhere.
struct Tile {
  std::array<std::int64_t, kTile> source;  ///< device row
  std::array<std::byte*, kTile> out;       ///< staged row
  std::int64_t rows = 0;
};

Tile make_tile(const SnapshotJob& job, std::int64_t first, std::int64_t end) {
  Tile tile;
  for (std::int64_t staged = first; staged < end; ++staged) {
    const std::int64_t row = job.rows == nullptr ? staged : job.rows[staged];
    if (row < 0 || row >= job.tokens) continue;
    const auto at = static_cast<std::size_t>(tile.rows++);
    tile.source[at] = job.first_row + row;
    tile.out[at] = job.payload + staged * job.shape.payload_bytes;
  }
  return tile;
}

/// Cells of one size that the compiler knows: a move or two each.
template <std::int64_t kBytes>
void turn_fixed(const Tile& tile, const std::byte* base, std::int64_t layer_stride, std::int64_t, std::int64_t layers, std::int64_t offset) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::byte* in = base + layer * layer_stride;
    const std::int64_t to = offset + layer * kBytes;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      std::memcpy(tile.out[at] + to, in + tile.source[at] * kBytes, kBytes);
    }
  }
}

void turn_any(const Tile& tile, const std::byte* base, std::int64_t layer_stride, std::int64_t bytes, std::int64_t layers, std::int64_t offset) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::byte* in = base + layer * layer_stride;
    const std::int64_t to = offset + layer * bytes;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      std::memcpy(tile.out[at] + to, in + tile.source[at] * bytes, static_cast<std::size_t>(bytes));
    }
  }
}

using Turn = void (*)(const Tile&, const std::byte*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

Turn turn_for(std::int64_t cell_bytes) {
  switch (cell_bytes) {
    case 1: return &turn_fixed<1>;
    case 2: return &turn_fixed<2>;
    case 4: return &turn_fixed<4>;
    case 6: return &turn_fixed<6>;
    case 8: return &turn_fixed<8>;
    case 10: return &turn_fixed<10>;
    case 12: return &turn_fixed<12>;
    case 16: return &turn_fixed<16>;
    case 20: return &turn_fixed<20>;
    case 22: return &turn_fixed<22>;
    case 24: return &turn_fixed<24>;
    case 32: return &turn_fixed<32>;
    default: return &turn_any;
  }
}

/// Everything in a staged row that is neither id nor weight, and with PARTIAL layers the cells that hold another forward's bytes.
class Edges {
 public:
  explicit Edges(const SnapshotJob& job) : job_(job) {
    const RowShape& shape = job.shape;
    weights_end_ = shape.cell_words != 0 ? shape.cells_offset : shape.payload_bytes;
    ids_end_ = shape.weight_bytes != 0 ? shape.weights_offset : weights_end_;
  }

  void write(const Tile& tile) const {
    const RowShape& shape = job_.shape;
    const std::int64_t weights_used = shape.weight_bytes != 0 ? shape.weights_offset + shape.weights_bytes : weights_end_;
    if (ids_end_ == shape.ids_bytes && weights_used == weights_end_ && shape.cell_words == 0) return;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      std::byte* out = tile.out[at];
      zero(out, shape.ids_bytes, ids_end_);
      zero(out, weights_used, weights_end_);
      if (shape.cell_words != 0) write_cells(out, tile.source[at]);
    }
  }

 private:
  static void zero(std::byte* out, std::int64_t first, std::int64_t end) {
    if (first != end) std::memset(out + first, 0, static_cast<std::size_t>(end - first));
  }

  void write_cells(std::byte* out, std::int64_t row) const {
    const RowShape& shape = job_.shape;
    for (std::int64_t word = 0; word < shape.cell_words; ++word) {
      std::uint64_t bits = 0;
      const std::int64_t end = std::min<std::int64_t>(word * 64 + 64, shape.layers);
      for (std::int64_t layer = word * 64; layer < end; ++layer) {
        const bool captured = job_.captured[layer] == job_.tokens || (layer_marks(job_.cache, layer)[row] & kMarkCaptured) != 0;
        if (captured) {
          bits |= std::uint64_t{1} << (layer % 64);
        } else if (job_.partial[layer] != 0) {
          std::memset(out + layer * id_cell_bytes(shape), 0xFF, static_cast<std::size_t>(id_cell_bytes(shape)));
          if (shape.weight_bytes != 0) {
            std::memset(out + shape.weights_offset + layer * weight_cell_bytes(shape), 0xFF, static_cast<std::size_t>(weight_cell_bytes(shape)));
          }
        }
      }
      store_as(out + shape.cells_offset + word * 8, bits);
    }
  }

  const SnapshotJob& job_;
  std::int64_t ids_end_ = 0;
  std::int64_t weights_end_ = 0;
};

}  // namespace

void blame(const SnapshotJob& job, std::int32_t layer, std::int64_t first, std::int64_t end) {
  const std::uint8_t* marks = layer_marks(job.cache, layer) + job.first_row;
  const bool partial = job.shape.cell_words != 0 && job.partial[layer] != 0;
  for (std::int64_t staged = first; staged < end; ++staged) {
    const std::int64_t row = job.rows == nullptr ? staged : job.rows[staged];
    if (row < 0 || row >= job.tokens) continue;
    std::int32_t& bad = job.bad_layer[staged];
    if (partial && (marks[row] & kMarkRepeated) != 0) {
      if (bad >= 0) bad = repeated_in(layer);
    } else if ((marks[row] & kMarkBadId) != 0 && bad == 0) {
      bad = bad_id_in(layer);
    }
  }
}

void snapshot(const SnapshotJob& job, const Kernels& kernels) {
  const RowShape& shape = job.shape;
  std::fill(job.bad_layer, job.bad_layer + job.staged, 0);
  for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
    const MarkSummary marks = kernels.summarize_marks(layer_marks(job.cache, layer) + job.first_row, job.tokens);
    job.captured[layer] = marks.captured;
    job.repeated[layer] = marks.repeated;
    if (shape.cell_words != 0) job.strays[layer] = job.cache.extents[layer].strays;
    if ((marks.any & (kMarkBadId | kMarkRepeated)) != 0) blame(job, layer, 0, job.staged);
  }
  stage_rows(job, kernels, 0, job.staged);
}

void stage_rows(const SnapshotJob& job, const Kernels& kernels, std::int64_t first_staged, std::int64_t end_staged) {
  const RowShape& shape = job.shape;
  const Edges edges(job);
  const std::int64_t id_cell = id_cell_bytes(shape);
  const std::int64_t weight_cell = weight_cell_bytes(shape);
  const Turn turn_ids = turn_for(id_cell);
  const Turn turn_weights = turn_for(weight_cell);
  for (std::int64_t first = first_staged; first < end_staged; first += kTile) {
    const Tile tile = make_tile(job, first, std::min(first + kTile, end_staged));
    if (tile.rows == 0) continue;
    const auto turn = [&](Turn move, const std::byte* base, std::int64_t cell, std::int64_t offset) {
      const std::int64_t layer_stride = job.cache.device_rows * cell;
      if (cell == 8 && job.rows == nullptr) {  // eight one-byte ids, the usual case
        kernels.turn_words(tile.out[0] + offset, shape.payload_bytes, base + tile.source[0] * 8, layer_stride, shape.layers, tile.rows,
                           first + kTile < end_staged);
      } else {
        move(tile, base, layer_stride, cell, shape.layers, offset);
      }
    };
    turn(turn_ids, job.cache.ids, id_cell, 0);
    if (weight_cell != 0) turn(turn_weights, job.cache.weights, weight_cell, shape.weights_offset);
    edges.write(tile);
  }
}

}  // namespace routecap::rows::tuned
