// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace routecap::rows {

enum class SimdLevel : std::uint8_t { kScalar, kAvx2, kAvx512, kNeon };

/// Narrows `count` adjacent ids. @return whether all are at most `largest`; if not, what was written is of no use
using NarrowKernel = bool (*)(std::byte* out, const std::byte* in, std::int64_t count, std::uint64_t largest);

/// The same for rows of eight int32 that lie `stride` bytes apart, to uint8.
using NarrowRowsKernel = bool (*)(std::byte* out, const std::byte* in, std::int64_t rows, std::int64_t stride, std::uint64_t largest);

/// Converts `count` adjacent binary32 to 16-bit floats.
using WeightKernel = void (*)(std::byte* out, const std::byte* in, std::int64_t count);

/// What a range of marks holds.
struct MarkSummary {
  std::int64_t captured = 0;
  std::int64_t repeated = 0;
  std::uint8_t any = 0;  ///< all marks together
};
using MarkKernel = MarkSummary (*)(const std::uint8_t* marks, std::int64_t count);

/// Turns cells of eight bytes from in[layer][row] to out[row][layer]; strides in bytes. `more`: the next tile of rows follows, and may be fetched.
using TurnKernel = void (*)(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride, std::int64_t layers,
                            std::int64_t rows, bool more);

/// Copies words into a claimed slot, or out of one that others may write meanwhile. Each word by itself is whole; together they are what the stamp
/// says.
using StoreWordsKernel = void (*)(std::uint64_t* slot, const std::byte* in, std::int64_t words);
using LoadWordsKernel = void (*)(std::byte* out, const std::uint64_t* slot, std::int64_t words);

/// The loops that gain from an instruction set. The set is chosen when the program runs; a build serves every machine of its architecture.
struct Kernels {
  SimdLevel level = SimdLevel::kScalar;
  const char* name = "scalar";
  NarrowKernel narrow[3][5] = {};  ///< [kept type][given type], see `narrow_for`
  NarrowRowsKernel narrow_rows_of_8 = nullptr;
  WeightKernel to_float16 = nullptr;
  WeightKernel to_bfloat16 = nullptr;
  MarkKernel summarize_marks = nullptr;
  TurnKernel turn_words = nullptr;
  StoreWordsKernel store_words = nullptr;
  LoadWordsKernel load_words = nullptr;

  /// @param id_bytes   bytes of a kept id
  /// @param ids_dtype  `rcap_dtype` of the given ids
  [[nodiscard]] NarrowKernel narrow_for(std::int32_t id_bytes, std::int32_t ids_dtype) const;
};

/// The kernels of one level, null where this machine or this build lacks it.
const Kernels* kernels_of(SimdLevel level);

/// The highest level that this machine runs.
const Kernels& best_kernels();

}  // namespace routecap::rows
