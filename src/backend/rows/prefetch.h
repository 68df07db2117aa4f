// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace routecap::rows {

constexpr std::int64_t kLine = 64;

/// Fetches bytes that will be read or written soon. Inlined by force: gcc takes a function that only prefetches for one without effect and drops the
/// calls.
[[gnu::always_inline]] inline void fetch_to_read(const std::byte* first, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(first + at, 0, 3);
}

[[gnu::always_inline]] inline void fetch_to_write(const std::byte* first, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(first + at, 1, 3);
}

}  // namespace routecap::rows
