// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "case.h"

namespace wire_test {

Text read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const Text& bytes);

/// The folder of recorded routing of real models, or empty where it is not there: $ROUTECAP_TRACES, else ../shared/traces next to the source tree.
std::filesystem::path traces();

/// What could not be tested here, for main to say at the end; empty if nothing.
std::string& skipped();

/// Keeps a frame, and beside it what the record holds, for the independent reader ($ROUTECAP_KEEP_FRAMES); nothing where that is not set.
void keep_frame(const std::string& name, const Record& record, const Text& frame);

}  // namespace wire_test
