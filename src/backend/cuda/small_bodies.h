// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/grid.h"
#include "backend/rows/element.h"
#include "support/list_view.h"

namespace routecap::cuda {

/// For bodies whose threads share nothing.
struct NothingShared {};

/// Bytes that a thread takes at once: a whole word, or what is left behind the last whole one.
template <class Each>
RCAP_HD inline void for_each_word(std::int64_t bytes, const GridThread& thread, std::int64_t words_of_block, const Each& each) {
  const std::int64_t first = thread.block * words_of_block;
  for (std::int64_t at = thread.index; at < words_of_block; at += thread.count) {
    const std::int64_t begin = (first + at) * 8;
    if (begin < bytes) each(begin, bytes - begin < 8 ? bytes - begin : 8);
  }
}

/// Words that a block of the bodies below takes.
inline constexpr std::int64_t kBlockWords = std::int64_t{4} * kBlockThreads;

struct ClearArgs {
  std::uint8_t* marks = nullptr;  ///< 8-byte aligned
  std::int64_t bytes = 0;
  rows::LayerExtent* extents = nullptr;
  std::int64_t layers = 0;
};

/// Sets every mark and every count of strays to 0.
struct ClearBody {
  using Args = ClearArgs;
  using Shared = NothingShared;
  static constexpr int kPhases = 1;

  RCAP_HD static void run(int /*phase*/, const Args& args, const GridThread& thread, Shared& /*shared*/) {
    for_each_word(args.bytes, thread, kBlockWords, [&](std::int64_t begin, std::int64_t bytes) {
      const std::uint64_t zero = 0;
      if (bytes == 8) {
        copy_to_aligned<8, 8>(args.marks + begin, &zero);
      } else {
        for (std::int64_t i = 0; i < bytes; ++i) args.marks[begin + i] = 0;
      }
    });
    const std::int64_t blocks = blocks_for(args.bytes, kBlockWords * 8);
    for (std::int64_t layer = thread.block * thread.count + thread.index; layer < args.layers; layer += blocks * thread.count) {
      args.extents[layer].strays = 0;
    }
  }
};

inline ClearArgs spread(const rows::RowShape& shape, const rows::CacheView& cache) {
  return {cache.marks, shape.layers * cache.device_rows, cache.extents, shape.layers};
}
inline std::int64_t grid_of(const ClearArgs& args) { return blocks_for(args.bytes, kBlockWords * 8); }

struct WidenArgs {
  ListView list;
  std::int64_t* out = nullptr;
};

/// A list of numbers to int64.
struct WidenBody {
  using Args = WidenArgs;
  using Shared = NothingShared;
  static constexpr int kPhases = 1;

  RCAP_HD static void run(int /*phase*/, const Args& args, const GridThread& thread, Shared& /*shared*/) {
    const std::int64_t index = thread.block * thread.count + thread.index;
    if (index >= args.list.groups * args.list.width) return;
    const std::int64_t at = index / args.list.width * args.list.stride + index % args.list.width;
    const auto* data = static_cast<const std::byte*>(args.list.data);
    args.out[index] = args.list.element_bytes == 4 ? rows::load_as<std::int32_t>(data + at * 4) : rows::load_as<std::int64_t>(data + at * 8);
  }
};

inline std::int64_t grid_of(const WidenArgs& args) { return blocks_for(args.list.groups * args.list.width, kBlockThreads); }

/// Bytes that travel inside a launch: what a call was given in host memory has been read when it returns, and a graph keeps it.
inline constexpr std::int64_t kPutBytes = 3584;

struct PutArgs {
  std::byte* to = nullptr;
  std::int64_t bytes = 0;
  std::byte data[kPutBytes] = {};
};

struct PutBody {
  using Args = PutArgs;
  using Shared = NothingShared;
  static constexpr int kPhases = 1;

  RCAP_HD static void run(int /*phase*/, const Args& args, const GridThread& thread, Shared& /*shared*/) {
    for (std::int64_t i = thread.index; i < args.bytes; i += thread.count) args.to[i] = args.data[i];
  }
};

inline std::int64_t grid_of(const PutArgs& /*args*/) { return 1; }

struct CopyArgs {
  std::byte* host = nullptr;          ///< pinned and mapped, 8-byte aligned
  const std::byte* device = nullptr;  ///< 8-byte aligned
  std::int64_t bytes = 0;
};

/// Writes a small block straight into mapped host memory.
struct CopyBody {
  using Args = CopyArgs;
  using Shared = NothingShared;
  static constexpr int kPhases = 1;

  RCAP_HD static void run(int /*phase*/, const Args& args, const GridThread& thread, Shared& /*shared*/) {
    for_each_word(args.bytes, thread, kBlockWords, [&](std::int64_t begin, std::int64_t bytes) {
      if (bytes == 8) {
        std::uint64_t word;
        copy_from_aligned<8, 8>(&word, args.device + begin);
        copy_to_aligned<8, 8>(args.host + begin, &word);
      } else {
        for (std::int64_t i = 0; i < bytes; ++i) args.host[begin + i] = args.device[begin + i];
      }
    });
  }
};

inline std::int64_t grid_of(const CopyArgs& args) { return blocks_for(args.bytes, kBlockWords * 8); }

}  // namespace routecap::cuda
