// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/rig.h"

/// From slots to a form by way of a record, and in one pass.
namespace routecap_test {

[[nodiscard]] rcap_encode_options default_options();

/// A read as both ways take it.
struct Asked {
  rcap_read_layout layout = make<rcap_read_layout>();
  std::vector<std::byte> slots;
  std::vector<std::int64_t> tags;
};

struct Answered {
  std::int32_t status = RCAP_STATUS_OK;
  std::int64_t detail = 0;
  std::string text;   ///< of the error
  std::string bytes;  ///< of the form
  std::int64_t needed = -1;
};

/// By way of a record.
[[nodiscard]] Answered by_record(const Rig& rig, const Asked& asked, std::int32_t format, const rcap_encode_options& options);

/// In one pass, into a buffer of this size (null where it is negative).
[[nodiscard]] Answered in_one_pass(const Rig& rig, const Asked& asked, std::int32_t format, const rcap_encode_options& options,
                                   std::int64_t capacity);

/// Why the two ways differ, or nothing.
[[nodiscard]] std::string difference(const Rig& rig, const Asked& asked, std::int32_t format, const rcap_encode_options& options);

}  // namespace routecap_test
