// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/model.h"

/// Small records written as text, so that a table of cases reads as what it means.
///
/// A row is its cells, a space between them, and `#version` where that is not 0. A cell is its ids joined by `.`; with weights an id is `id=bits`.
/// `-` is a missing cell, `~` a missing row, `` (only `#version` or nothing) a valid row without a cell.
namespace routecap_records {

struct Sketch {
  std::int64_t start = 0;
  std::vector<std::string> rows{};
  std::vector<std::int32_t> layers{2, 6};
  std::vector<std::int32_t> flags{};  ///< none = all 0
  std::int32_t num_experts = 256;
  std::int32_t top_k = 2;
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_kind = RCAP_WEIGHTS_AS_ROUTED;
};

Model model(const Sketch& sketch);
Handle record(const Sketch& sketch);

/// A record in the same notation: `start: row | row | row`. Checks on the way that what is missing is 0xFF.
std::string show(const Handle& record);

}  // namespace routecap_records
