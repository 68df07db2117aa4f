// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/grid.h"
#include "backend/rows/capture.h"
#include "backend/rows/element.h"

namespace routecap::cuda {

/// Rows of a block at most.
inline constexpr std::int32_t kCaptureRows = 256;

struct CaptureArgs {
  rows::CaptureJob job;
  std::int32_t block_rows = 1;       ///< rows of a block
  std::int32_t group = 1;            ///< adjacent ids that a thread takes at once: 1 or 4, divides K
  std::int32_t ids_alignment = 1;    ///< of every group of the given ids: 1, sizeof(In), or where group is 4 min(16, 4 * sizeof(In))
  std::int32_t weights_aligned = 0;  ///< 1 = every given weight is aligned to its size
};

/// One launch for one layer: given rows are narrowed into the layer's rows of the cache. A block takes `block_rows` given rows; neighbouring threads
/// take neighbouring groups of ids, so that both what is read and what is written is contiguous.
///
/// Bytes and marks are those of rows::algorithm::CaptureRow.
template <class Words, class Id, class In>
struct CaptureBody {
  using Args = CaptureArgs;
  static constexpr int kPhases = 4;

  struct Shared {
    alignas(8) std::uint8_t bad[kCaptureRows];   ///< a bad id in the row
    alignas(8) std::uint8_t mine[kCaptureRows];  ///< this block was the first to capture the row, and fills it
  };

  RCAP_HD static void run(int phase, const Args& args, const GridThread& thread, Shared& shared) {
    const std::int64_t first = thread.block * args.block_rows;
    const std::int64_t left = args.job.tokens - first;
    const auto rows = static_cast<std::int32_t>(left < args.block_rows ? left : args.block_rows);
    if (args.group == 4) {
      run_groups<4>(phase, args, thread, shared, first, rows);
    } else {
      run_groups<1>(phase, args, thread, shared, first, rows);
    }
  }

 private:
  static constexpr std::int64_t kIn = sizeof(In);
  static constexpr std::int64_t kId = sizeof(Id);

  /// `kGroup` is known to the compiler, so that a group stays in registers.
  template <std::int32_t kGroup>
  RCAP_HD static void run_groups(int phase, const Args& args, const GridThread& thread, Shared& shared, std::int64_t first, std::int32_t rows) {
    const std::int32_t per_row = args.job.shape.top_k / kGroup;
    if (phase == 0) {
      for (std::int32_t row = thread.index; row < rows; row += thread.count) shared.bad[row] = 0;
    } else if (phase == 1) {
      for (std::int32_t at = thread.index; at < rows * per_row; at += thread.count) {
        if (any_bad<kGroup>(args, first + at / per_row, at % per_row * kGroup)) Words::set_bits(shared.bad[at / per_row], 1);
      }
    } else if (phase == 2) {
      for (std::int32_t row = thread.index; row < rows; row += thread.count) mark(args, first, row, shared);
    } else {
      for (std::int32_t at = thread.index; at < rows * per_row; at += thread.count) {
        if (shared.mine[at / per_row] != 0) keep<kGroup>(args, first + at / per_row, at % per_row * kGroup);
      }
    }
  }

  /// Given ids, as many as a group has.
  template <std::int32_t kGroup>
  struct Group {
    In ids[kGroup];

    RCAP_HD Group(const Args& args, std::int64_t index, std::int32_t column) {
      constexpr std::size_t kBytes = kGroup * sizeof(In);
      constexpr std::size_t kWhole = kBytes < 16 ? kBytes : 16;
      const std::byte* at = static_cast<const std::byte*>(args.job.ids) + index * args.job.ids_stride + column * kIn;
      if (args.ids_alignment >= static_cast<std::int32_t>(kWhole)) {
        copy_from_aligned<kWhole, kBytes>(ids, at);
      } else if (args.ids_alignment >= static_cast<std::int32_t>(kIn)) {
        for (std::int32_t k = 0; k < kGroup; ++k) copy_from_aligned<sizeof(In), sizeof(In)>(&ids[k], at + k * kIn);
      } else {
        for (std::int32_t k = 0; k < kGroup; ++k) ids[k] = rows::load_as<In>(at + k * kIn);
      }
    }
  };

  template <std::int32_t kGroup>
  RCAP_HD static bool any_bad(const Args& args, std::int64_t index, std::int32_t column) {
    const Group<kGroup> given(args, index, column);
    bool bad = false;
    for (std::int32_t k = 0; k < kGroup; ++k) rows::algorithm::logical_id(args.job, static_cast<std::int64_t>(given.ids[k]), bad);
    return bad;
  }

  RCAP_HD static void mark(const Args& args, std::int64_t first, std::int32_t row, Shared& shared) {
    const rows::CaptureJob& job = args.job;
    const std::int64_t target = rows::algorithm::captured_row(job, first + row);
    shared.mine[row] = 0;
    if (target < 0) {
      Words::add(job.cache.extents[job.layer].strays, 1);  // R14: told when the forward settles
      return;
    }
    std::uint8_t& mark = rows::layer_marks(job.cache, job.layer)[target];
    const std::uint8_t bits = static_cast<std::uint8_t>(rows::kMarkCaptured | (shared.bad[row] != 0 ? rows::kMarkBadId : 0));
    if ((Words::set_bits(mark, bits) & rows::kMarkCaptured) == 0) {
      shared.mine[row] = 1;
    } else {
      Words::set_bits(mark, rows::kMarkRepeated);  // R27: whoever came first keeps the row
    }
  }

  template <std::int32_t kGroup>
  RCAP_HD static void keep(const Args& args, std::int64_t index, std::int32_t column) {
    const rows::CaptureJob& job = args.job;
    const std::int64_t target = rows::algorithm::captured_row(job, index);
    const Group<kGroup> given(args, index, column);
    Id kept[kGroup];
    bool bad = false;
    for (std::int32_t k = 0; k < kGroup; ++k) {
      kept[k] = static_cast<Id>(rows::algorithm::logical_id(job, static_cast<std::int64_t>(given.ids[k]), bad));
    }
    std::byte* out = rows::layer_ids(job.shape, job.cache, job.layer) + (target * job.shape.top_k + column) * kId;
    copy_to_aligned<kGroup * sizeof(Id), kGroup * sizeof(Id)>(out, kept);
    if (job.shape.weight_bytes != 0) keep_weights<kGroup>(args, index, target, column);
  }

  template <std::int32_t kGroup>
  RCAP_HD static void keep_weights(const Args& args, std::int64_t index, std::int64_t target, std::int32_t column) {
    const rows::CaptureJob& job = args.job;
    const bool same = job.weights_dtype_in == job.weights_dtype;
    const std::int64_t given_bytes = same ? job.shape.weight_bytes : 4;
    const std::byte* in = static_cast<const std::byte*>(job.weights) + index * job.weights_stride + column * given_bytes;
    std::byte* out = rows::layer_weights(job.shape, job.cache, job.layer) +
                     (target * job.shape.top_k + column) * static_cast<std::int64_t>(job.shape.weight_bytes);
    for (std::int64_t k = 0; k < kGroup; ++k) {
      if (given_bytes == 4) {
        const std::uint32_t bits = word_at<std::uint32_t>(args, in + k * 4);
        if (same) {
          copy_to_aligned<4, 4>(out + k * 4, &bits);
        } else {
          const std::uint16_t half = job.weights_dtype == RCAP_DTYPE_FLOAT16 ? rows::to_float16(bits) : rows::to_bfloat16(bits);
          copy_to_aligned<2, 2>(out + k * 2, &half);
        }
      } else {
        const std::uint16_t half = word_at<std::uint16_t>(args, in + k * 2);
        copy_to_aligned<2, 2>(out + k * 2, &half);
      }
    }
  }

  template <class Bits>
  RCAP_HD static Bits word_at(const Args& args, const std::byte* at) {
    if (args.weights_aligned == 0) return rows::load_as<Bits>(at);
    Bits bits;
    copy_from_aligned<sizeof(Bits), sizeof(Bits)>(&bits, at);
    return bits;
  }
};

/// How one capture is spread over a grid. The bases of the cache are at least 16-byte aligned.
inline CaptureArgs spread(const rows::CaptureJob& job, std::int64_t given_id_bytes, std::int64_t given_weight_bytes) {
  CaptureArgs args;
  args.job = job;
  const std::int32_t top_k = job.shape.top_k;
  args.group = top_k % 4 == 0 ? 4 : 1;
  // Some four ids for every thread, and enough blocks for a device where there are rows enough.
  constexpr std::int32_t kBlockIds = 4 * kBlockThreads;
  args.block_rows = kBlockIds / top_k < 1 ? 1 : (kBlockIds / top_k > kCaptureRows ? kCaptureRows : kBlockIds / top_k);
  const auto lies_on = [&](const void* base, std::int64_t stride, std::int64_t alignment) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base) % 16);
    return address % alignment == 0 && (job.tokens == 1 || stride % alignment == 0);
  };
  const std::int64_t group_alignment = 4 * given_id_bytes < 16 ? 4 * given_id_bytes : 16;
  if (args.group == 4 && lies_on(job.ids, job.ids_stride, group_alignment)) {
    args.ids_alignment = static_cast<std::int32_t>(group_alignment);
  } else if (lies_on(job.ids, job.ids_stride, given_id_bytes)) {
    args.ids_alignment = static_cast<std::int32_t>(given_id_bytes);
  }
  if (job.shape.weight_bytes != 0 && lies_on(job.weights, job.weights_stride, given_weight_bytes)) args.weights_aligned = 1;
  return args;
}

inline std::int64_t grid_of(const CaptureArgs& args) { return blocks_for(args.job.tokens, args.block_rows); }

}  // namespace routecap::cuda
