// SPDX-License-Identifier: Apache-2.0
#include "sealed_frame.h"

#include "wire/frame_kernels.h"

namespace wire_test {
namespace {

std::uint64_t checksum(const Text& frame, std::size_t at, std::size_t bytes) {
  return routecap::wire::frame_kernels().checksum(frame.data() + at, static_cast<std::int64_t>(bytes));
}

}  // namespace

std::vector<FramePart> parts_of(const Text& frame) {
  std::vector<FramePart> parts;
  const auto layers = static_cast<std::size_t>(number_at<std::int32_t>(frame, kLayersAt));
  auto at = static_cast<std::size_t>(number_at<std::int64_t>(frame, kHeaderBytesAt));
  for (std::int32_t i = 0; i < number_at<std::int32_t>(frame, kPartsAt); ++i) {
    const std::size_t table_at = kLayerTableAt + layers * 8 + static_cast<std::size_t>(i) * 32;
    if (table_at + 32 > frame.size()) break;
    const auto bytes = static_cast<std::size_t>(number_at<std::int64_t>(frame, table_at + 8));
    if (at > frame.size() || bytes > frame.size() - at) break;
    parts.push_back({table_at, at, bytes});
    at += (bytes + 7) / 8 * 8;
  }
  return parts;
}

void seal(Text& frame) {
  for (const FramePart& part : parts_of(frame)) set_number(frame, part.table_at + 24, checksum(frame, part.at, part.bytes));
  const auto header = static_cast<std::size_t>(number_at<std::int64_t>(frame, kHeaderBytesAt));
  if (header >= 8 && header <= frame.size()) set_number(frame, header - 8, checksum(frame, 0, header - 8));
}

}  // namespace wire_test
