// SPDX-License-Identifier: Apache-2.0
#include "config/staging_layout.h"

#include <cinttypes>

#include "support/error.h"

namespace routecap {

StagingLayout StagingLayout::of(const rows::RowShape& shape, const StagingNeeds& needs) {
  StagingLayout layout;
  std::int64_t end = 0;
  bool overflow = false;
  const auto place = [&](std::int64_t count, std::int64_t size) {
    const std::int64_t begin = end;
    std::int64_t part = 0;
    overflow = overflow || __builtin_mul_overflow(count, size, &part) || __builtin_add_overflow(part, 7, &part) ||
               __builtin_add_overflow(end, part - part % 8, &end);
    return begin;
  };
  layout.captured = place(shape.layers, 8);
  layout.repeated = place(shape.layers, 8);
  layout.strays = place(shape.cell_words != 0 ? shape.layers : 0, 8);
  layout.slots = place(needs.device_slots, 8);
  layout.rows = place(needs.device_rows, 8);
  layout.tags = place(needs.device_tags, 8);
  layout.bad_layer = place(needs.staged, 4);
  layout.payload = place(needs.staged, shape.payload_bytes);
  layout.bytes = end;
  if (overflow) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "a staging block for %" PRId64 " device rows of %" PRId64 " bytes, with their lists, exceeds %" PRId64 " bytes",
         needs.staged, shape.payload_bytes, INT64_MAX);
  }
  return layout;
}

std::int64_t StagingLayout::block_bytes(const rows::RowShape& shape, std::int64_t device_rows) {
  // One list more than a forward has of its own.
  const std::int64_t two_lists = device_rows > INT64_MAX / 2 ? INT64_MAX : 2 * device_rows;
  return of(shape, {device_rows, device_rows, two_lists, device_rows}).bytes;
}

}  // namespace routecap
