// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/rows/kernels.h"
#include "wire/base64.h"

namespace routecap::base64 {

/// Encodes whole groups of three bytes from the front, as many as it takes at a time. @return bytes taken, a multiple of 3
using EncodeGroups = std::int64_t (*)(const std::byte* in, std::int64_t bytes, char* out);

/// Decodes whole groups of four characters from the front and stops at one with a character outside the alphabet, padding included.
///
/// Writes nothing behind chars / 4 * 3 bytes. @return characters taken, a multiple of 4; those behind them were not looked at, or are bad
using DecodeGroups = std::int64_t (*)(const char* in, std::int64_t chars, std::byte* out);

/// The two loops for one instruction set. The set is chosen when the program runs; what a loop leaves over is done by the scalar one.
struct Kernels {
  const char* name = "scalar";
  EncodeGroups encode = nullptr;
  DecodeGroups decode = nullptr;
};

/// The kernels of one level, null where this machine or this build lacks it. kAvx512 needs VBMI too.
const Kernels* kernels_for(rows::SimdLevel level);

/// The highest level that this machine runs.
const Kernels& best_kernels();

void encode_with(const Kernels& kernels, const std::byte* in, std::int64_t bytes, char* out);
Base64Result decode_with(const Kernels& kernels, const char* in, std::int64_t chars, std::byte* out);

}  // namespace routecap::base64
