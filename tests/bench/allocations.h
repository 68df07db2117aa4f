// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace routecap_bench {

/// Calls of malloc, calloc, realloc and the aligned ones by this thread so far, operator new included; -1 where they cannot be counted (sanitizers
/// bring an allocator of their own).
std::int64_t allocations();

}  // namespace routecap_bench
