// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// What the algorithms must give, said once more in the plainest way: numbers in vectors, one loop per sentence, no code shared with them.
namespace routecap::rows::testing {

/// One layer's row as numbers.
struct NaiveCell {
  bool captured = false;
  bool repeated = false;
  bool bad = false;
  std::vector<std::int64_t> ids;       ///< as the first capture gave them, after the map
  std::vector<std::uint32_t> weights;  ///< bits as kept
};

struct NaiveGiven {
  std::vector<std::vector<std::int64_t>> ids;       ///< [tokens][K]
  std::vector<std::vector<std::uint32_t>> weights;  ///< [tokens][K] bits as they come
  std::vector<std::int64_t> map;                    ///< physical -> logical, empty = none
  std::vector<std::int32_t> row_ids;                ///< empty = in order
  std::int64_t first_row = 0;
  std::int64_t num_experts = 0;
  int narrows_to = 0;  ///< 0: weights stay, else 16 = binary16, 8 = bfloat16 (bits of its exponent)
};

/// Captures into one layer of `cells` [device rows].
/// @return the rows of `row_ids` that no device row answers to
std::int64_t naive_capture(std::vector<NaiveCell>& cells, const NaiveGiven& given);

/// Conversions by search for the nearest value there is; no arithmetic on bits.
std::uint16_t nearest_float16(std::uint32_t bits);
std::uint16_t nearest_bfloat16(std::uint32_t bits);

}  // namespace routecap::rows::testing
