// SPDX-License-Identifier: Apache-2.0
#include "rows/naive.h"

#include "support/floats.h"

namespace routecap::rows::testing {
namespace {

/// NaN keeps its sign and what fits of its payload, and is quiet: the first fraction bit set.
std::uint16_t narrow_nan(std::uint32_t bits, int fraction) {
  const std::uint32_t sign = bits >> 31 << 15;
  const std::uint32_t exponent = (0x7FFFU >> fraction) << fraction;
  const std::uint32_t payload = (bits & 0x7FFFFFU) >> (23 - fraction);
  return static_cast<std::uint16_t>(sign | exponent | payload | 1U << (fraction - 1));
}

bool is_nan(std::uint32_t bits) { return (bits << 1) > 0xFF000000U; }

}  // namespace

std::uint16_t nearest_float16(std::uint32_t bits) {
  return is_nan(bits) ? narrow_nan(bits, 10) : routecap_test::nearest_float16(routecap_test::float32_of(bits));
}

std::uint16_t nearest_bfloat16(std::uint32_t bits) {
  return is_nan(bits) ? narrow_nan(bits, 7) : routecap_test::nearest_bfloat16(routecap_test::float32_of(bits));
}

std::int64_t naive_capture(std::vector<NaiveCell>& cells, const NaiveGiven& given) {
  std::int64_t strays = 0;
  for (std::size_t token = 0; token < given.ids.size(); ++token) {
    std::int64_t row = given.first_row + static_cast<std::int64_t>(token);
    if (!given.row_ids.empty()) {
      row = given.first_row + given.row_ids[token];
    }
    if (row < given.first_row || row >= static_cast<std::int64_t>(cells.size())) {
      ++strays;
      continue;
    }
    NaiveCell& cell = cells[static_cast<std::size_t>(row)];
    std::vector<std::int64_t> ids;
    for (std::int64_t id : given.ids[token]) {
      if (!given.map.empty()) id = id >= 0 && id < static_cast<std::int64_t>(given.map.size()) ? given.map[static_cast<std::size_t>(id)] : -1;
      if (id < 0 || id >= given.num_experts) cell.bad = true;
      ids.push_back(id);
    }
    if (cell.captured) {
      cell.repeated = true;
      continue;
    }
    cell.captured = true;
    cell.ids = ids;
    cell.weights.clear();
    for (const std::uint32_t bits : given.weights.empty() ? std::vector<std::uint32_t>{} : given.weights[token]) {
      if (given.narrows_to == 16) {
        cell.weights.push_back(nearest_float16(bits));
      } else if (given.narrows_to == 8) {
        cell.weights.push_back(nearest_bfloat16(bits));
      } else {
        cell.weights.push_back(bits);
      }
    }
  }
  return strays;
}

}  // namespace routecap::rows::testing
