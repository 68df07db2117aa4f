// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wire_test {

/// Bytes that this thread's operator new has given out and not got back, at most, since the last call of restart_peak. The library is linked
/// statically, so that what it allocates counts.
std::int64_t peak_bytes();
void restart_peak();

}  // namespace wire_test
