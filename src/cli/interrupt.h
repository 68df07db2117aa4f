// SPDX-License-Identifier: Apache-2.0
//
// What Ctrl-C, SIGTERM and a closed terminal must not leave behind.
#pragma once

#include <string>

namespace routecap::cli {

/// From here on SIGINT, SIGTERM and SIGHUP remove the temporary file, if one is named, and end the program as they would have; a closed pipe is an
/// error of the write and no signal.
void watch_signals();

/// Names the file that a signal removes; empty = none. @param path at most 4095 bytes
void set_temporary(const std::string& path);

}  // namespace routecap::cli
