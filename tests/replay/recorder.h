// SPDX-License-Identifier: Apache-2.0
//
// Writes down the calls of the C API that this program makes. It is linked between the program and the library (`--wrap` of the linker), hands every
// call on, and turns the ids of captures into other dtypes on the way: the engine has int32, a script has them all.
#pragma once

#include <cstdint>
#include <vector>

#include "script.h"

namespace replay {

/// Begins a run: what is called from here on is noted, with the column's dtype for every capture.
void begin_recording(const std::vector<std::int32_t>& ids_dtypes);
/// Ends it and gives the run. Everything that was created in it is destroyed by then.
[[nodiscard]] Run end_recording();

}  // namespace replay
