// SPDX-License-Identifier: Apache-2.0
#include "geometry.h"

#include <algorithm>

#include "rcap.h"
#include "support.h"

namespace engine {
namespace {

RankRows rows_of_rank(std::int32_t kind, std::span<const std::int64_t> tokens, std::int64_t rank, std::int64_t attn_tp, std::int64_t padded_tokens) {
  RankRows rows;
  rcap_error error = make(rcap_error_init);
  require(rcap_layout_rows(kind, tokens.data(), count(tokens), rank, attn_tp, 0, padded_tokens, &rows.first_row, &rows.tokens, &error), error);
  return rows;
}

}  // namespace

Geometry concatenated(const EngineConfig& config, std::span<const std::int64_t> tokens_per_rank) {
  Geometry geometry;
  for (std::int64_t rank = 0; rank < config.dp_size; ++rank) {
    geometry.ranks.push_back(rows_of_rank(RCAP_ROWS_CONCATENATED, tokens_per_rank, rank, config.attn_tp_size, 0));
    geometry.rows += align_up(at(tokens_per_rank, rank), config.attn_tp_size);
  }
  return geometry;
}

Geometry padded(const EngineConfig& config, std::span<const std::int64_t> batch_per_rank, std::int64_t rows_per_request) {
  const std::int64_t largest = std::ranges::max(batch_per_rank);
  const std::int64_t batch = *std::ranges::lower_bound(config.graph_batch_sizes, largest);
  const std::int64_t share = align_up(batch * rows_per_request, config.attn_tp_size);
  // A graph's row count is baked in: a busy rank always runs its whole share, and its padding rows are discarded by their reserved slot.
  std::vector<std::int64_t> tokens;
  for (const std::int64_t requests : batch_per_rank) tokens.push_back(requests > 0 ? share : 0);
  Geometry geometry;
  geometry.graph = true;
  geometry.rows = share * config.dp_size;
  for (std::int64_t rank = 0; rank < config.dp_size; ++rank) {
    geometry.ranks.push_back(rows_of_rank(RCAP_ROWS_PADDED, tokens, rank, config.attn_tp_size, share));
  }
  return geometry;
}

}  // namespace engine
