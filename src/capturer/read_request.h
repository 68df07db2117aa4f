// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/rows/rows.h"
#include "store/stamp.h"

namespace routecap {

/// What a read was asked, checked in shape.
struct ReadRequest {
  rows::SlotList slots;
  const std::int64_t* tags = nullptr;  ///< of token 0 on, or null
  std::int64_t start = 0;
  std::int64_t end = 0;           ///< token behind the last row wanted: n-1, or n with INCLUDE_LAST
  bool last_is_optional = false;  ///< the row end-1 is there only if its slot is valid at the read (R2)
  Sequence after = 0;
  std::int64_t timeout_ns = 0;
  [[nodiscard]] std::int64_t rows() const { return end > start ? end - start : 0; }
};

/// Where a read puts its rows; null = not wanted.
struct ReadTarget {
  std::byte* ids = nullptr;
  std::byte* weights = nullptr;
  std::uint8_t* row_validity = nullptr;
  std::uint8_t* cell_validity = nullptr;
  bool cells_follow_rows = false;  ///< the cell bitmap stands right behind the row bitmap, wherever that ends
  std::int64_t* versions = nullptr;
};

}  // namespace routecap
