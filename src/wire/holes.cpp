// SPDX-License-Identifier: Apache-2.0
#include "wire/holes.h"

namespace routecap::wire {
std::int64_t run_end(const Bytes& bitmap, std::int64_t from, std::int64_t count, bool bit) {
  const std::byte whole = bit ? std::byte{0xFF} : std::byte{0};
  std::int64_t at = from;
  while (at < count) {
    if (at % 8 == 0 && count - at >= 8 && bitmap.data()[at / 8] == whole) {
      at += 8;
    } else if (bits::test(bitmap.data(), at) == bit) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

bool has_holes(const Record& record) {
  const RecordGeometry& geometry = record.geometry();
  if (geometry.has_cells) {
    const std::int64_t cells = geometry.rows * geometry.layers();
    return run_end(record.cell_validity(), 0, cells, true) != cells;
  }
  return run_end(record.row_validity(), 0, geometry.rows, true) != geometry.rows;
}

Hole first_hole(const Record& record) {
  const RecordGeometry& geometry = record.geometry();
  const std::int64_t row = run_end(record.row_validity(), 0, geometry.rows, true);
  if (!geometry.has_cells) return {row, -1};
  const std::int64_t cell = run_end(record.cell_validity(), 0, geometry.rows * geometry.layers(), true);
  if (row <= cell / geometry.layers()) return {row, -1};
  return {cell / geometry.layers(), cell % geometry.layers()};
}

bool has_cell_holes(const Record& record) {
  const RecordGeometry& geometry = record.geometry();
  if (!geometry.has_cells) return false;
  std::int64_t row = 0;
  while (row < geometry.rows) {
    if (!record.row_valid(row)) {
      row = run_end(record.row_validity(), row, geometry.rows, false);
      continue;
    }
    const std::int64_t end = run_end(record.row_validity(), row, geometry.rows, true);
    const std::int64_t cells = end * geometry.layers();
    if (run_end(record.cell_validity(), row * geometry.layers(), cells, true) != cells) return true;
    row = end;
  }
  return false;
}

}  // namespace routecap::wire
