// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "record/record.h"

namespace routecap::wire {

/// Runs of set or clear bits of a bitmap, found a byte at a time.
///
/// @return the first index in [from, count) whose bit is not `bit`, or count
std::int64_t run_end(const Bytes& bitmap, std::int64_t from, std::int64_t count, bool bit);

/// Whether some cell is missing.
bool has_holes(const Record& record);

/// A missing cell; its column is -1 where the whole row is missing.
struct Hole {
  std::int64_t row = 0;
  std::int64_t column = -1;
};

/// The first missing cell of a record that has one.
Hole first_hole(const Record& record);
/// Whether a valid row has a missing cell.
bool has_cell_holes(const Record& record);

}  // namespace routecap::wire
