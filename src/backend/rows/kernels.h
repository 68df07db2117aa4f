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

/// The loops that gain from an instruction set. The set is chosen when the program runs; a build serves every machine of its architecture.
struct Kernels {
  SimdLevel level = SimdLevel::kScalar;
  const char* name = "scalar";
  NarrowKernel narrow[3][5] = {};  ///< [kept type][given type], see `narrow_for`
  NarrowRowsKernel narrow_rows_of_8 = nullptr;
  WeightKernel to_float16 = nullptr;
  WeightKernel to_bfloat16 = nullptr;
  MarkKernel summarize_marks = nullptr;

  /// @param id_bytes   bytes of a kept id
  /// @param ids_dtype  `rcap_dtype` of the given ids
  [[nodiscard]] NarrowKernel narrow_for(std::int32_t id_bytes, std::int32_t ids_dtype) const;
};

/// The kernels of one level, null where this machine or this build lacks it.
const Kernels* kernels_of(SimdLevel level);

/// The highest level that this machine runs.
const Kernels& best_kernels();

}  // namespace routecap::rows
