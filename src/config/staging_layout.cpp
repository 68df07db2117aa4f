// SPDX-License-Identifier: Apache-2.0
#include "config/staging_layout.h"

#include "support/checked.h"

namespace routecap {

StagingLayout StagingLayout::of(const rows::RowShape& shape, const StagingNeeds& needs) {
  constexpr const char* kWhat = "bytes of a staging block";
  StagingLayout layout;
  std::int64_t end = 0;
  const auto place = [&end](std::int64_t count, std::int64_t size) {
    const std::int64_t begin = end;
    end = checked_add(end, checked_align_up(checked_multiply(count, size, kWhat), 8, kWhat), kWhat);
    return begin;
  };
  layout.captured = place(shape.layers, 8);
  layout.repeated = place(shape.layers, 8);
  layout.slots = place(needs.device_slots, 8);
  layout.rows = place(needs.device_rows, 8);
  layout.tags = place(needs.device_tags, 8);
  layout.bad_layer = place(needs.staged, 4);
  layout.payload = place(needs.staged, shape.payload_bytes);
  layout.bytes = end;
  return layout;
}

std::int64_t StagingLayout::block_bytes(const rows::RowShape& shape, std::int64_t device_rows) {
  const std::int64_t largest = of(shape, {device_rows, device_rows, device_rows, device_rows}).bytes;
  return checked_add(largest, checked_multiply(device_rows, 8, "bytes of a staging block"), "bytes of a staging block");
}

}  // namespace routecap
