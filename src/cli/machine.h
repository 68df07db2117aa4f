// SPDX-License-Identifier: Apache-2.0
//
// Limits of this machine that matter to a capturer, as the kernel tells them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace routecap::cli {

struct Machine {
  /// Bytes of memory that may be locked; empty = no limit.
  std::optional<std::int64_t> locked_limit;
  /// Processors that this process may run on.
  std::int64_t processors = 0;
  /// Processors' worth of time that control groups allow; empty = no limit.
  std::optional<double> processor_quota;
  /// Bytes of the machine's memory, and what is available without swapping; -1 = not told.
  std::int64_t memory = -1;
  std::int64_t memory_available = -1;
  /// Bytes that control groups allow; empty = no limit.
  std::optional<std::int64_t> memory_limit;
  /// `always`, `madvise` or `never`; empty = not told.
  std::string transparent_huge_pages;
  /// Reserved huge pages, those of them that are free, and the size of one in bytes; -1 = not told.
  std::int64_t huge_pages = -1;
  std::int64_t huge_pages_free = -1;
  std::int64_t huge_page_bytes = -1;
  /// The kernel's overcommit mode, 0 .. 2; -1 = not told.
  std::int64_t overcommit = -1;
};

/// @param root  where /proc and /sys are looked for: empty, or a folder with copies of their files
[[nodiscard]] Machine look_at_machine(const std::string& root);

}  // namespace routecap::cli
