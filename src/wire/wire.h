// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "record/record.h"

/// Records in forms outside the library (R37, R41): one file per form, and this as their common door.
namespace routecap::wire {

/// What the caller of a decoder knows besides the bytes. Checked: every number is in its range or says "not given".
struct DecodeHints {
  std::int64_t start = -1;
  std::int64_t rows = -1;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::int32_t num_layers = 0;
  std::int32_t dtype = RCAP_DTYPE_NONE;
  std::int64_t turn = -1;
  std::span<const std::int32_t> layer_ids;  ///< ascending, or empty = not given
};

/// A record and how many of the bytes it took.
struct Decoded {
  std::unique_ptr<Record> record;
  std::int64_t consumed = 0;
};

/// The name of a format, or null for a number that is none.
const char* format_name(std::int32_t format);
/// The format of a name, or 0.
std::int32_t format_of(std::string_view name);
/// The format that the bytes show by themselves, or 0.
std::int32_t detect(std::span<const std::byte> bytes);

/// Refuses options that `format` has no use for, and numbers out of range.
void check_options(std::int32_t format, const rcap_encode_options& options, const RecordGeometry& geometry);

/// Writes a record; `format` is known and `options` are checked.
///
/// @return bytes of the form; where they are more than `capacity`, what stands in `out` is undefined
std::int64_t encode(const Record& record, std::int32_t format, const rcap_encode_options& options, std::byte* out, std::int64_t capacity);

/// Reads a record; `format` is known. Memory taken stays below kAllocationFactor times the bytes given plus kAllocationSlack (compressed
/// frames: kCompressionLimit times), whatever they promise. A trace of holes takes next to no bytes: hints of rows, layers and top-k lift the bound.
Decoded decode(std::int32_t format, std::span<const std::byte> bytes, const DecodeHints& hints);

inline constexpr std::int64_t kAllocationFactor = 64;
inline constexpr std::int64_t kAllocationSlack = std::int64_t{1} << 20;
/// Bytes of a frame's part for one byte of its compressed form, at most. The writer sees to it.
inline constexpr std::int64_t kCompressionLimit = 256;

}  // namespace routecap::wire
