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
  layout.strays = place(shape.cell_words != 0 ? shape.layers : 0, 8);
  layout.slots = place(needs.device_slots, 8);
  layout.rows = place(needs.device_rows, 8);
  layout.tags = place(needs.device_tags, 8);
  layout.bad_layer = place(needs.staged, 4);
  layout.payload = place(needs.staged, shape.payload_bytes);
  layout.bytes = end;
  return layout;
}

}  // namespace routecap
