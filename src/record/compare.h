// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record/record.h"

namespace routecap {

/// Where two records differ, and by column how many cells differ in ids (none where the shapes are not the same).
struct Comparison {
  rcap_compare_report report{};
  std::vector<std::int64_t> by_layer;
};

[[nodiscard]] Comparison compare(const Record& first, const Record& second);

}  // namespace routecap
