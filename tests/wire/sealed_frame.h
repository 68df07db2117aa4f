// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "case.h"

namespace wire_test {

/// Where the fields stand, by the specification and not by the library's structs.
inline constexpr std::size_t kVersionAt = 8;
inline constexpr std::size_t kByteOrderAt = 12;
inline constexpr std::size_t kFrameBytesAt = 16;
inline constexpr std::size_t kHeaderBytesAt = 24;
inline constexpr std::size_t kStartAt = 32;
inline constexpr std::size_t kRowsAt = 40;
inline constexpr std::size_t kExpertsAt = 48;
inline constexpr std::size_t kTopKAt = 52;
inline constexpr std::size_t kLayersAt = 56;
inline constexpr std::size_t kPartsAt = 60;
inline constexpr std::size_t kIdsDtypeAt = 64;
inline constexpr std::size_t kWeightsDtypeAt = 68;
inline constexpr std::size_t kWeightsKindAt = 72;
inline constexpr std::size_t kReservedAt = 76;
inline constexpr std::size_t kLayerTableAt = 80;

/// A part of a frame as its table has it.
struct FramePart {
  std::size_t table_at;  ///< of its entry: kind, coding, stored bytes, raw bytes, checksum
  std::size_t at;        ///< of its bytes
  std::size_t bytes;
};

template <class Number>
Number number_at(const Text& frame, std::size_t at) {
  Number value;
  std::memcpy(&value, frame.data() + at, sizeof value);
  return value;
}

template <class Number>
void set_number(Text& frame, std::size_t at, Number value) {
  std::memcpy(frame.data() + at, &value, sizeof value);
}

std::vector<FramePart> parts_of(const Text& frame);

/// Puts right checksums on a frame that was changed, first on its parts (as far as the table makes sense) and then on the header.
void seal(Text& frame);

}  // namespace wire_test
