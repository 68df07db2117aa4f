// SPDX-License-Identifier: Apache-2.0
#include "config/rows_layout.h"

#include <algorithm>
#include <array>
#include <cinttypes>

#include "support/checked.h"
#include "support/choice.h"

namespace routecap {
namespace {

constexpr std::array<Choice, 4> kRowsKinds{
    {{RCAP_ROWS_LOCAL, "LOCAL"}, {RCAP_ROWS_CONCATENATED, "CONCATENATED"}, {RCAP_ROWS_PADDED, "PADDED"}, {RCAP_ROWS_SHARDED, "SHARDED"}}};

RankRows concatenated(const RankRowsQuery& query) {
  const auto ranks = static_cast<std::int64_t>(query.tokens_per_rank.size());
  std::int64_t first = 0;
  std::int64_t end = 0;
  // The whole gather must be addressable, not only the shares before this rank's.
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    if (rank == query.dp_rank) first = end;
    const std::int64_t share =
        checked_align_up(query.tokens_per_rank[static_cast<std::size_t>(rank)], query.attn_tp_size, "tokens_per_rank rounded up to attn_tp_size");
    end = checked_add(end, share, "tokens_per_rank summed up");
  }
  return {first, query.tokens_per_rank[static_cast<std::size_t>(query.dp_rank)]};
}

RankRows padded(const RankRowsQuery& query) {
  const auto ranks = static_cast<std::int64_t>(query.tokens_per_rank.size());
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t tokens = query.tokens_per_rank[static_cast<std::size_t>(rank)];
    if (tokens > query.padded_tokens_per_rank) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "padded_tokens_per_rank is %" PRId64 ", tokens_per_rank[%" PRId64 "] is %" PRId64, query.padded_tokens_per_rank,
           rank, tokens);
    }
  }
  static_cast<void>(checked_multiply(ranks, query.padded_tokens_per_rank, "ranks * padded_tokens_per_rank"));
  return {query.dp_rank * query.padded_tokens_per_rank, query.tokens_per_rank[static_cast<std::size_t>(query.dp_rank)]};
}

RankRows shard(const RankRowsQuery& query) {
  if (query.attn_tp_rank < 0 || query.attn_tp_rank >= query.attn_tp_size) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "attn_tp_rank is %" PRId64 ", attn_tp_size is %" PRId64, query.attn_tp_rank, query.attn_tp_size);
  }
  const std::int64_t tokens = query.tokens_per_rank[static_cast<std::size_t>(query.dp_rank)];
  const std::int64_t share = ceil_divide(tokens, query.attn_tp_size);
  // rank * share may exceed INT64_MAX only where share is 0 or the shard is empty anyway.
  if (share == 0 || query.attn_tp_rank > tokens / share) return {0, 0};
  return {0, std::min(share, tokens - query.attn_tp_rank * share)};
}

}  // namespace

RankRows locate_rank_rows(const RankRowsQuery& query) {
  const auto ranks = static_cast<std::int64_t>(query.tokens_per_rank.size());
  require_choice("kind", query.kind, kRowsKinds);
  if (query.dp_rank < 0 || query.dp_rank >= ranks) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "dp_rank is %" PRId64 ", tokens_per_rank has %" PRId64 " ranks", query.dp_rank, ranks);
  }
  if (query.attn_tp_size < 1) fail(RCAP_STATUS_OUT_OF_RANGE, "attn_tp_size is %" PRId64 ", it must be at least 1", query.attn_tp_size);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t tokens = query.tokens_per_rank[static_cast<std::size_t>(rank)];
    if (tokens < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "tokens_per_rank[%" PRId64 "] is %" PRId64 ", it must not be negative", rank, tokens);
  }
  switch (query.kind) {
    case RCAP_ROWS_LOCAL: return {0, query.tokens_per_rank[static_cast<std::size_t>(query.dp_rank)]};
    case RCAP_ROWS_CONCATENATED: return concatenated(query);
    case RCAP_ROWS_PADDED: return padded(query);
    default: return shard(query);
  }
}

}  // namespace routecap
