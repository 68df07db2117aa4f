// SPDX-License-Identifier: Apache-2.0
//
// Makes the calls of a script through the public C API and compares every answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "script.h"

namespace replay {

struct Replay {
  std::int64_t calls = 0;
  std::int64_t reads = 0;           // read, read_into and encode that answered OK
  std::vector<std::string> crcs;    // of their frames, in order
  std::vector<std::string> faults;  // answers that differ, one line each; the replay goes on
};

/// @param variant  index in the script
/// @throws std::runtime_error naming the line where a call cannot be made
[[nodiscard]] Replay replay(const Script& script, const Run& run, std::size_t variant);

}  // namespace replay
