// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "record/record.h"

/// The frame as capi/docs/frame.md describes it, byte for byte. Little endian; the only place that knows an offset.
namespace routecap::wire {

static_assert(std::endian::native == std::endian::little, "rows are copied as they lie in memory");

/// A byte above 127, the name, both kinds of line end and the character that ends a text on some systems: what damages text damages this first.
inline constexpr std::array<unsigned char, 8> kFrameMagic{0x89, 'R', 'C', 'A', 'P', '\r', '\n', 0x1A};
inline constexpr std::uint32_t kFrameVersion = 1;
inline constexpr std::uint32_t kFrameByteOrder = 0x01020304;

/// The header's fixed part.
struct FrameHead {
  std::array<unsigned char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::int64_t frame_bytes;
  std::int64_t header_bytes;
  std::int64_t start;
  std::int64_t rows;
  std::int32_t num_experts;
  std::int32_t top_k;
  std::int32_t num_layers;
  std::int32_t parts;
  std::int32_t ids_dtype;
  std::int32_t weights_dtype;
  std::int32_t weights_kind;
  std::int32_t reserved;
};
static_assert(sizeof(FrameHead) == 80 && offsetof(FrameHead, num_experts) == 48);

/// One column of the layer axis; `num_layers` of them follow the fixed part.
struct FrameLayer {
  std::int32_t layer_id;
  std::int32_t flags;
};
static_assert(sizeof(FrameLayer) == 8);

enum class FramePart : std::uint32_t { kRowRuns = 1, kCellBits = 2, kVersionSpans = 3, kIds = 4, kWeights = 5 };
enum class FrameCoding : std::uint32_t { kStored = 0, kZstd = 1 };

/// Where a part is and what it should be; `parts` of them follow the layers, then the header's checksum.
struct FramePartHead {
  FramePart part;
  FrameCoding coding;
  std::int64_t stored_bytes;
  std::int64_t raw_bytes;
  std::uint64_t checksum;
};
static_assert(sizeof(FramePartHead) == 32);

inline constexpr std::int64_t kMostFrameParts = 5;

constexpr std::int64_t frame_header_bytes(std::int64_t layers, std::int64_t parts) {
  return static_cast<std::int64_t>(sizeof(FrameHead)) + layers * static_cast<std::int64_t>(sizeof(FrameLayer)) +
         parts * static_cast<std::int64_t>(sizeof(FramePartHead)) + 8;
}

/// Parts begin at multiples of 8; the bytes between are 0.
constexpr std::int64_t frame_padded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

/// The parts of a geometry, in the order in which they stand.
inline std::vector<FramePart> frame_parts(const RecordGeometry& geometry) {
  std::vector<FramePart> parts{FramePart::kRowRuns};
  if (geometry.has_cells) parts.push_back(FramePart::kCellBits);
  parts.push_back(FramePart::kVersionSpans);
  parts.push_back(FramePart::kIds);
  if (geometry.weights_dtype != RCAP_DTYPE_NONE) parts.push_back(FramePart::kWeights);
  return parts;
}

}  // namespace routecap::wire
