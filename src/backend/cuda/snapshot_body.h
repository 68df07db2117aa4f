// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/grid.h"
#include "backend/rows/element.h"
#include "backend/rows/snapshot.h"

namespace routecap::cuda {

/// A tile: so many staged rows by so many words of a payload.
inline constexpr std::int32_t kTile = 32;

struct SnapshotArgs {
  rows::SnapshotJob job;
  // Blocks [0, row_tiles * column_tiles) turn tiles, row_blocks behind them look at staged rows, the last `layers` count.
  std::int64_t row_tiles = 0;
  std::int64_t column_tiles = 0;
  std::int64_t row_blocks = 0;
  std::int64_t id_words = 0;      ///< words of a row's ids
  std::int64_t weight_words = 0;  ///< and of its weights
};

/// One launch for a whole forward: what rows::algorithm::snapshot does. Ids and weights go through tiles in shared memory, so that reads run along
/// the rows of a layer and writes along the layers of a row; both are contiguous.
///
/// `Word` divides the bytes of a layer of a row, of ids and of weights.
template <class Words, class Word>
struct SnapshotBody {
  using Args = SnapshotArgs;
  static constexpr int kPhases = 3;

  struct Shared {
    Word tile[kTile][kTile + 1];  ///< one more, so that a column's words do not all lie in one bank
    std::int64_t captured;
    std::int64_t repeated;
  };

  RCAP_HD static void run(int phase, const Args& args, const GridThread& thread, Shared& shared) {
    const std::int64_t tiles = args.row_tiles * args.column_tiles;
    if (thread.block < tiles) {
      turn(phase, args, thread, shared);
    } else if (thread.block < tiles + args.row_blocks) {
      const std::int64_t staged = (thread.block - tiles) * thread.count + thread.index;
      if (phase == 0 && staged < args.job.staged) rows::algorithm::SnapshotRow{args.job}(staged);
    } else {
      count(phase, args, thread, thread.block - tiles - args.row_blocks, shared);
    }
  }

 private:
  static constexpr std::int64_t kWord = sizeof(Word);

  RCAP_HD static void turn(int phase, const Args& args, const GridThread& thread, Shared& shared) {
    const std::int64_t first_row = thread.block / args.column_tiles * kTile;
    const std::int64_t first_word = thread.block % args.column_tiles * kTile;
    for (std::int32_t at = thread.index; phase < 2 && at < kTile * kTile; at += thread.count) {
      const std::int32_t slow = at / kTile;
      const std::int32_t fast = at % kTile;
      const std::int32_t row = phase == 0 ? fast : slow;
      const std::int32_t column = phase == 0 ? slow : fast;
      const std::int64_t staged = first_row + row;
      const std::int64_t word = first_word + column;
      if (staged >= args.job.staged || word >= args.id_words + args.weight_words) continue;
      const std::int64_t source = rows::algorithm::staged_source(args.job, staged);
      if (source < 0) continue;
      if (phase == 0) {
        shared.tile[row][column] = read(args, source, word);
      } else {
        const std::int64_t offset = word < args.id_words ? word * kWord : args.job.shape.weights_offset + (word - args.id_words) * kWord;
        copy_to_aligned<sizeof(Word), sizeof(Word)>(args.job.payload + staged * args.job.shape.payload_bytes + offset, &shared.tile[row][column]);
      }
    }
  }

  RCAP_HD static Word read(const Args& args, std::int64_t source, std::int64_t word) {
    const rows::RowShape& shape = args.job.shape;
    const bool of_ids = word < args.id_words;
    const std::int64_t cell = of_ids ? rows::id_cell_bytes(shape) : rows::weight_cell_bytes(shape);
    const std::int64_t at = (of_ids ? word : word - args.id_words) * kWord;
    const std::int64_t layer = at / cell;
    Word value = static_cast<Word>(~Word{0});
    // The cell of a PARTIAL layer that skipped this row still holds another forward's ids (R7).
    const bool partial = shape.cell_words != 0 && args.job.partial[layer] != 0;
    if (partial && (rows::layer_marks(args.job.cache, layer)[source] & rows::kMarkCaptured) == 0) return value;
    const std::byte* base = of_ids ? rows::layer_ids(shape, args.job.cache, layer) : rows::layer_weights(shape, args.job.cache, layer);
    copy_from_aligned<sizeof(Word), sizeof(Word)>(&value, base + source * cell + at % cell);
    return value;
  }

  RCAP_HD static void count(int phase, const Args& args, const GridThread& thread, std::int64_t layer, Shared& shared) {
    const rows::SnapshotJob& job = args.job;
    if (phase == 0) {
      if (thread.index != 0) return;
      shared.captured = 0;
      shared.repeated = 0;
    } else if (phase == 1) {
      const std::uint8_t* marks = rows::layer_marks(job.cache, layer) + job.first_row;
      std::int64_t captured = 0;
      std::int64_t repeated = 0;
      for (std::int64_t row = thread.index; row < job.tokens; row += thread.count) {
        captured += (marks[row] & rows::kMarkCaptured) != 0 ? 1 : 0;
        repeated += (marks[row] & rows::kMarkRepeated) != 0 ? 1 : 0;
      }
      if (captured != 0) Words::add(shared.captured, captured);
      if (repeated != 0) Words::add(shared.repeated, repeated);
    } else if (thread.index == 0) {
      job.captured[layer] = shared.captured;
      job.repeated[layer] = shared.repeated;
      if (job.shape.cell_words != 0) job.strays[layer] = job.cache.extents[layer].strays;
    }
  }
};

/// Bytes of the word that a snapshot of this shape moves: 1, 2, 4 or 8. Bases and payloads are 8-byte aligned.
inline std::int32_t word_of(const rows::RowShape& shape) {
  const std::int64_t bits = rows::id_cell_bytes(shape) | rows::weight_cell_bytes(shape) | 8;
  return static_cast<std::int32_t>(bits & -bits);
}

/// How one snapshot is spread over a grid.
inline SnapshotArgs spread(const rows::SnapshotJob& job) {
  SnapshotArgs args;
  args.job = job;
  const std::int32_t word = word_of(job.shape);
  args.id_words = job.shape.ids_bytes / word;
  args.weight_words = job.shape.weights_bytes / word;
  args.row_tiles = blocks_for(job.staged, kTile);
  args.column_tiles = blocks_for(args.id_words + args.weight_words, kTile);
  args.row_blocks = blocks_for(job.staged, kBlockThreads);
  return args;
}

inline std::int64_t grid_of(const SnapshotArgs& args) { return args.row_tiles * args.column_tiles + args.row_blocks + args.job.shape.layers; }

}  // namespace routecap::cuda
