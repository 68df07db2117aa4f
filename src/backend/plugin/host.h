// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <string_view>

#include "support/error.h"

/// What a plugin's functions are given to say why they failed: one line, kept without allocating.
struct rcap_plugin_error {
  char text[sizeof(rcap_error::text)] = "";
};

namespace routecap {

/// The table that every plugin is given.
const rcap_plugin_host& plugin_host();

/// Turns a plugin's answer into an Error that begins with what was asked of which backend. Answers that no function may give are INTERNAL.
void check_plugin_answer(std::int32_t status, const rcap_plugin_error& error, const char* backend, const char* function);

}  // namespace routecap
