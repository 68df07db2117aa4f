// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/rows/views.h"

namespace routecap {

/// What a staging block has room for in one forward.
struct StagingNeeds {
  std::int64_t staged = 0;        ///< staged rows
  std::int64_t device_slots = 0;  ///< slots that only the device knows
  std::int64_t device_rows = 0;   ///< row numbers that only the device knows
  std::int64_t device_tags = 0;   ///< tags that only the device knows
};

/// Where the parts of a staging block stand: everything that must reach the host is one range of bytes, so that one copy moves it.
struct StagingLayout {
  std::int64_t captured = 0;   ///< int64 [L]: rows of the forward that each layer captured (R27)
  std::int64_t repeated = 0;   ///< int64 [L]: of these, captured more than once
  std::int64_t strays = 0;     ///< int64 [L] where there are PARTIAL layers: entries of row_ids outside the device buffer (R14)
  std::int64_t slots = 0;      ///< int64 [device_slots]
  std::int64_t rows = 0;       ///< int64 [device_rows]
  std::int64_t tags = 0;       ///< int64 [device_tags]
  std::int64_t bad_layer = 0;  ///< int32 [staged]: see `rows::SnapshotJob`
  std::int64_t payload = 0;    ///< [staged][payload_bytes]
  std::int64_t bytes = 0;      ///< what one copy moves

  /// Throws OUT_OF_RANGE where the sum overflows.
  static StagingLayout of(const rows::RowShape& shape, const StagingNeeds& needs);
  /// Bytes of a block with room for any forward of a device buffer of `device_rows` rows. Behind `bytes` there is always room for what is moved by
  /// itself: the rows that the host named for a GIVEN forward, on their way to the device, or the rows and slots of a LATER one's acceptance, on
  /// their way back (a LATER forward stages no rows of its own).
  static std::int64_t block_bytes(const rows::RowShape& shape, std::int64_t device_rows);
};

}  // namespace routecap
