// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace routecap::cli {

/// A file's bytes, or those of standard input.
struct Input {
  std::string name;  ///< for messages: the path, or `standard input`
  std::string bytes;
};

/// @param path a file, or `-` for standard input, which can be read once
Input read_input(const std::string& path);

}  // namespace routecap::cli
