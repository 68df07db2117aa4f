// SPDX-License-Identifier: Apache-2.0
#include "backend/rows/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "backend/rows/sequential.h"
#include "backend/rows/tuned.h"
#include "support/dtype.h"

namespace routecap::rows {
namespace {

/// Pieces for each thread where a job is large: one that loses its core keeps the others waiting for a piece of this size only.
constexpr std::int64_t kPiecesPerThread = 8;

/// Marks of one cache line.
constexpr std::int64_t kLineOfMarks = 64;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Calls visit(piece, first row, end row) for every piece.
template <class Visit>
void share(const Crew& crew, const Cut& cut, const Visit& visit) {
  struct Context {
    const Cut& cut;
    const Visit& visit;
  };
  Context context{cut, visit};
  const auto body = [](void* given, std::int64_t piece) {
    const Context& of = *static_cast<const Context*>(given);
    const std::int64_t first = piece * of.cut.step;
    of.visit(piece, first, std::min(first + of.cut.step, of.cut.rows));
  };
  crew.run(crew.self, cut.pieces, body, &context);
}

/// Bytes that the capture of `rows` rows of a layer reads and writes.
std::int64_t captured_bytes(const RowShape& shape, std::int64_t rows, std::int32_t ids_dtype, std::int32_t weights_dtype) {
  const std::int64_t weights = shape.weight_bytes == 0 ? 0 : dtype_bytes(weights_dtype) + shape.weight_bytes;
  return rows * (1 + std::int64_t{shape.top_k} * (dtype_bytes(ids_dtype) + shape.id_bytes + weights));
}

/// Whether captures of int32 ids of that many rows are divided. What one thread wrote lies in its core's caches, and another core gets it from there
/// more slowly than the next stage takes: with 2048 rows, which one thread captures, two take 1.6 times as long as one for the snapshot, and 1.2
/// times for the scatter behind it. So the stages behind a capture are divided where the capture was.
bool captured_by_many(const Crew& crew, const RowShape& shape, std::int64_t rows) {
  return cut_rows(crew, rows, captured_bytes(shape, rows, RCAP_DTYPE_INT32, RCAP_DTYPE_FLOAT32)).pieces > 1;
}

/// Part of the layer's counts, from several threads.
void add(std::int64_t& count, std::int64_t more) {
  if (more != 0) std::atomic_ref<std::int64_t>(count).fetch_add(more, std::memory_order_relaxed);
}

/// Counts of rows [first, end) of the forward's range. @return all of their marks together
std::uint8_t count_part(const SnapshotJob& job, const Kernels& kernels, std::int64_t first, std::int64_t end) {
  std::uint8_t any = 0;
  for (std::int64_t layer = 0; layer < job.shape.layers; ++layer) {
    const MarkSummary marks = kernels.summarize_marks(layer_marks(job.cache, layer) + job.first_row + first, end - first);
    add(job.captured[layer], marks.captured);
    add(job.repeated[layer], marks.repeated);
    any |= marks.any;
  }
  return any;
}

/// Sets the marks of cache rows [first, end) back.
void clear_part(const RowShape& shape, const CacheView& cache, std::int64_t first, std::int64_t end) {
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const LayerExtent& extent = cache.extents[layer];
    const std::int64_t from = std::max(first, extent.first);
    const std::int64_t to = std::min(end, extent.end);
    if (from < to) std::memset(layer_marks(cache, layer) + from, 0, static_cast<std::size_t>(to - from));
  }
}

/// After rows [first, end) were cleared: what else was captured, and the extents.
void clear_rest(const RowShape& shape, const CacheView& cache, std::int64_t first, std::int64_t end) {
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    LayerExtent& extent = cache.extents[layer];
    if (extent.first >= first && extent.end <= end) extent.first = extent.end = 0;
  }
  clear_marks(shape, cache);
}

}  // namespace

Cut cut_rows(const Crew& crew, std::int64_t rows, std::int64_t bytes) {
  Cut cut{rows, rows, 1};
  if (crew.run == nullptr || crew.threads < 2 || bytes < crew.least_bytes) return cut;
  // Half of what is worth dividing is the least that is worth giving away.
  const std::int64_t affordable = std::max<std::int64_t>(bytes / std::max<std::int64_t>(crew.least_bytes / 2, 1), 2);
  const std::int64_t threads = std::min<std::int64_t>(crew.threads, kMostPieces);
  const std::int64_t for_each = std::clamp<std::int64_t>(affordable / threads, 1, std::min(kPiecesPerThread, kMostPieces / threads));
  const std::int64_t wanted = std::min(affordable, threads * for_each);
  const std::int64_t step = (rows + wanted - 1) / wanted;
  cut.step = round_up(step, step < kLineOfMarks ? 8 : kLineOfMarks);
  cut.pieces = std::max<std::int64_t>((rows + cut.step - 1) / std::max<std::int64_t>(cut.step, 1), 1);
  return cut;
}

void capture(const CaptureJob& job, const Crew& crew) {
  const Cut cut = cut_rows(crew, job.tokens, captured_bytes(job.shape, job.tokens, job.ids_dtype, job.weights_dtype_in));
  if (cut.pieces < 2) {
    capture(job);
    return;
  }
  tuned::extend(job);
  const Kernels& kernels = best_kernels();
  share(crew, cut, [&](std::int64_t, std::int64_t first, std::int64_t end) { tuned::capture_rows(tuned::part(job, first, end), kernels); });
}

void snapshot_and_clear(const SnapshotJob& job, const Crew& crew) {
  const RowShape& shape = job.shape;
  const std::int64_t bytes = 2 * job.staged * shape.payload_bytes;
  const Cut staged = cut_rows(crew, job.staged, bytes);
  if (staged.pieces < 2 || !captured_by_many(crew, shape, job.staged)) {
    snapshot(job);
    clear_marks(shape, job.cache);
    return;
  }
  const Kernels& kernels = best_kernels();
  std::fill(job.bad_layer, job.bad_layer + job.staged, 0);
  std::fill(job.captured, job.captured + shape.layers, 0);
  std::fill(job.repeated, job.repeated + shape.layers, 0);
  if (shape.cell_words != 0) {
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) job.strays[layer] = job.cache.extents[layer].strays;
  }
  std::atomic<unsigned> any{0};
  share(crew, cut_rows(crew, job.tokens, bytes),
        [&](std::int64_t, std::int64_t first, std::int64_t end) { any.fetch_or(count_part(job, kernels, first, end), std::memory_order_relaxed); });
  // By now the counts are whole, and it is known whether any row has to be looked at closer.
  const bool faulty = (any.load(std::memory_order_relaxed) & (kMarkBadId | kMarkRepeated)) != 0;
  const bool own_marks = job.rows == nullptr;  // a piece reads the marks of the rows that it stages, and of no others
  share(crew, staged, [&](std::int64_t, std::int64_t first, std::int64_t end) {
    if (faulty) {
      for (std::int32_t layer = 0; layer < shape.layers; ++layer) tuned::blame(job, layer, first, end);
    }
    tuned::stage_rows(job, kernels, first, end);
    if (own_marks) clear_part(shape, job.cache, job.first_row + first, job.first_row + end);
  });
  if (own_marks) {
    clear_rest(shape, job.cache, job.first_row, job.first_row + job.staged);
  } else {
    clear_marks(shape, job.cache, crew);
  }
}

void clear_marks(const RowShape& shape, const CacheView& cache, const Crew& crew) {
  std::int64_t first = cache.device_rows;
  std::int64_t end = 0;
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const LayerExtent& extent = cache.extents[layer];
    if (extent.first == extent.end) continue;
    first = std::min(first, extent.first);
    end = std::max(end, extent.end);
  }
  const std::int64_t rows = std::max<std::int64_t>(end - first, 0);
  const Cut cut = cut_rows(crew, rows, rows * shape.layers);
  if (cut.pieces < 2) {
    clear_marks(shape, cache);
    return;
  }
  share(crew, cut, [&](std::int64_t, std::int64_t from, std::int64_t to) { clear_part(shape, cache, first + from, first + to); });
  clear_rest(shape, cache, first, end);
}

void copy(std::byte* to, const std::byte* from, std::int64_t bytes, const Crew& crew) {
  constexpr std::int64_t kLine = 64;
  // Counted once, though read and written: what lies in a core's cache is copied twice as fast as the other jobs take it.
  const Cut cut = cut_rows(crew, (bytes + kLine - 1) / kLine, bytes);
  if (cut.pieces < 2) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  share(crew, cut, [&](std::int64_t, std::int64_t first, std::int64_t end) {
    const std::int64_t at = first * kLine;
    std::memcpy(to + at, from + at, static_cast<std::size_t>(std::min(end * kLine, bytes) - at));
  });
}

ScatterResult scatter(const ScatterJob& job, const Crew& crew) {
  const Cut cut = cut_rows(crew, job.count, 2 * job.count * job.shape.payload_bytes);
  if (cut.pieces < 2 || !captured_by_many(crew, job.shape, job.count)) return scatter(job);
  std::array<ScatterResult, kMostPieces> results;
  share(crew, cut, [&](std::int64_t piece, std::int64_t first, std::int64_t end) {
    ScatterJob part = job;
    part.entries += first;
    part.count = end - first;
    results[static_cast<std::size_t>(piece)] = scatter(part);
  });
  ScatterResult sum;
  for (std::int64_t piece = 0; piece < cut.pieces; ++piece) sum = algorithm::AddScattered{}(sum, results[static_cast<std::size_t>(piece)]);
  return sum;
}

GatherResult gather(const GatherJob& job, const SlotList& slots, const Crew& crew) {
  const RowShape& shape = job.shape;
  const Cut cut = cut_rows(crew, job.rows, 2 * job.rows * (shape.ids_bytes + (job.weights == nullptr ? 0 : shape.weights_bytes)));
  if (cut.pieces < 2) return gather(job, slots);
  std::array<GatherResult, kMostPieces> results;
  share(crew, cut, [&](std::int64_t piece, std::int64_t first, std::int64_t end) {
    GatherJob part = job;
    SlotList listed = slots;
    listed.first += first;
    part.rows = end - first;
    part.ids += first * shape.ids_bytes;
    if (part.weights != nullptr) part.weights += first * shape.weights_bytes;
    if (part.tags != nullptr) part.tags += first;
    if (part.row_validity != nullptr) part.row_validity += first / 8;
    if (part.cell_validity != nullptr) part.cell_validity += first / 8 * shape.layers;  // `first` is a multiple of 8: a whole number of bytes
    if (part.versions != nullptr) part.versions += first;
    GatherResult result = gather(part, listed);
    if (result.pending_row >= 0) result.pending_row += first;
    results[static_cast<std::size_t>(piece)] = result;
  });
  GatherResult all;
  for (std::int64_t piece = 0; piece < cut.pieces; ++piece) all = algorithm::JoinGathered{}(all, results[static_cast<std::size_t>(piece)]);
  return all;
}

}  // namespace routecap::rows
