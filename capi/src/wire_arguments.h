// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <cinttypes>

#include "arguments.h"
#include "wire/wire.h"

/// What the functions that encode and decode take in common.
namespace routecap::capi {

inline void require_format(std::int32_t format) {
  if (wire::format_name(format) == nullptr) fail(RCAP_STATUS_INVALID_ARGUMENT, "format is %d, known values are 1 .. %d", format, RCAP_WIRE_CSV);
}

/// Null = the defaults.
inline rcap_encode_options checked_options(const rcap_encode_options* options) {
  if (options != nullptr) return sized_in(options, "options");
  rcap_encode_options defaults{};
  defaults.decode_start = -1;
  return defaults;
}

inline void require_buffer(const void* buffer, std::int64_t bytes, const std::int64_t* needed) {
  require(needed, "needed");
  if (bytes < 0 || (buffer == nullptr && bytes != 0)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "buffer_bytes is %" PRId64 "%s", bytes, buffer == nullptr ? ", buffer is null" : "");
  }
}

}  // namespace routecap::capi
