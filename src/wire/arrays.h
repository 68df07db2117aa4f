// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <type_traits>

#include "wire/scalar.h"
#include "wire/shape.h"

/// Flat arrays of ids [rows, layers, K], as most foreign forms hold them.
namespace routecap::wire {

/// How an array of ids says "missing".
enum class Holes {
  kByCell,  ///< a cell of -1 is missing, and a row of them is a missing row
  kByRow,   ///< only a whole row of -1 is missing
};

struct ArraySource {
  const std::byte* data;  ///< any alignment, exactly the geometry's elements
  Scalar scalar;
  bool swapped;  ///< big endian
};

/// A record of a foreign array. Ids outside [0, E) are OUT_OF_RANGE, a cell (or row) that is -1 in part is CORRUPT; both are named by row and layer.
std::unique_ptr<Record> record_of_array(const char* form, RecordGeometry geometry, const ArraySource& source, Holes holes);

/// Elements and bytes of the record's ids as an array of another type.
std::int64_t array_bytes(const RecordGeometry& geometry, Scalar scalar);

/// What is written into missing cells, checked: the type can hold it, and the caller chose it where there are holes.
struct Filler {
  bool needed = false;  ///< the record has holes
  std::int32_t missing = RCAP_MISSING_REFUSE;
  std::int32_t fill_id = 0;
};

/// Checks `options` against the record and the type that it will be written in: holes that are refused, and ids that do not fit, are OUT_OF_RANGE,
/// -1 in an unsigned type is UNSUPPORTED.
///
/// @param first_row  what the record's first row is called in the text
Filler plan_array(const char* form, const Record& record, const rcap_encode_options& options, Scalar scalar, std::int64_t first_row = 0);

/// Pieces of the array in the first cache: bytes of one, a multiple of every element and of 3.
inline constexpr std::int64_t kArrayPiece = 12288;

/// Writes the elements [from, from + count) of the record's ids, holes filled, as little-endian `scalar`.
void convert_piece(const Record& record, Scalar scalar, const Filler& filler, std::int64_t from, std::int64_t count, std::byte* out);

/// Hands the array over, piece by piece: put(bytes, count).
template <class Put>
void write_array(const Record& record, Scalar scalar, const Filler& filler, Put&& put) {
  std::array<std::byte, kArrayPiece> piece;
  const std::int64_t element = facts_of(scalar).bytes;
  const std::int64_t elements = array_bytes(record.geometry(), scalar) / element;
  for (std::int64_t at = 0; at < elements; at += kArrayPiece / element) {
    const std::int64_t count = std::min(elements - at, kArrayPiece / element);
    convert_piece(record, scalar, filler, at, count, piece.data());
    put(piece.data(), count * element);
  }
}

}  // namespace routecap::wire
