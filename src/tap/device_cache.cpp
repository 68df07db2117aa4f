// SPDX-License-Identifier: Apache-2.0
#include "tap/device_cache.h"

#include "config/sizing.h"
#include "support/checked.h"

namespace routecap {

DeviceCache::DeviceCache(const Geometry& geometry, const rows::RowShape& shape, const std::vector<std::uint8_t>& partial, Backend& backend) {
  constexpr const char* kWhat = "device cache";
  const std::int64_t device_rows = geometry.device_rows().rows;
  const std::int64_t layer_rows = checked_multiply(shape.layers, device_rows, kWhat);
  const auto part = [&](std::int64_t row_bytes) { return checked_align_up(checked_multiply(layer_rows, row_bytes, kWhat), 64, kWhat); };
  const std::int64_t extents = std::int64_t{shape.layers} * static_cast<std::int64_t>(sizeof(rows::LayerExtent));
  const std::int64_t ids = part(std::int64_t{shape.top_k} * shape.id_bytes);
  const std::int64_t weights = part(std::int64_t{shape.top_k} * shape.weight_bytes);
  const std::int64_t marks = part(1);
  std::int64_t bytes = checked_add(extents, ids, kWhat);
  bytes = checked_add(bytes, weights, kWhat);
  bytes = checked_add(bytes, marks, kWhat);
  const std::int64_t flags = bytes;
  if (shape.cell_words != 0) bytes = checked_add(bytes, shape.layers, kWhat);
  memory_ = backend.allocate(MemoryHome::kDevice, bytes, kWhat);
  std::byte* at = memory_.get();
  view_.extents = reinterpret_cast<rows::LayerExtent*>(at);
  view_.ids = at + extents;
  view_.weights = weights == 0 ? nullptr : view_.ids + ids;
  view_.marks = reinterpret_cast<std::uint8_t*>(view_.ids + ids + weights);
  view_.device_rows = device_rows;
  view_.num_experts = geometry.config().num_experts;
  view_.weights_dtype = geometry.config().weights_dtype;
  if (shape.cell_words != 0) {
    backend.upload(at + flags, partial.data(), shape.layers);
    view_.partial = reinterpret_cast<std::uint8_t*>(at + flags);
  }
  backend.prepare(shape, view_);
}

}  // namespace routecap
