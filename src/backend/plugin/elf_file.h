// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/error.h"

namespace routecap {

/// Refuses a file that cannot be loaded here, before the dynamic linker sees it: its own texts differ between systems, and do not tell a file of
/// another architecture from a damaged one. Throws NOT_FOUND, CORRUPT or UNSUPPORTED with the reason alone.
void check_elf_file(const std::string& path);

}  // namespace routecap
