// SPDX-License-Identifier: Apache-2.0
//
// From records to bytes: which form, and what it does with what it cannot say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "library.h"

namespace routecap::cli {

class Parser;

struct EncodeOptions {
  std::string output = "-";
  std::string to = "frame";
  std::string dtype;
  std::string missing = "refuse";
  std::int32_t fill_id = 0;
  std::int32_t zstd_level = 0;
  std::int64_t turn = 0;
  std::int64_t decode_start = -1;
};

/// Declares -o, --to and the options of the forms.
void add_encode_options(Parser& parser, EncodeOptions& options);

/// Writes records where the options say, in their form; several only as frames, one behind the other.
void write_records(const std::vector<const rcap_record*>& records, const EncodeOptions& options);

}  // namespace routecap::cli
