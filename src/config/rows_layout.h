// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace routecap {

/// Where one rank's rows stand in the device buffer.
struct RankRows {
  std::int64_t first_row = 0;
  std::int64_t tokens = 0;
};

/// What `rcap_layout_rows` was asked.
struct RankRowsQuery {
  std::int32_t kind = 0;
  std::span<const std::int64_t> tokens_per_rank;
  std::int64_t dp_rank = 0;
  std::int64_t attn_tp_size = 1;
  std::int64_t attn_tp_rank = 0;
  std::int64_t padded_tokens_per_rank = 0;
};

/// First row and number of rows of a rank (R16). Throws naming value and limit.
RankRows locate_rank_rows(const RankRowsQuery& query);

}  // namespace routecap
