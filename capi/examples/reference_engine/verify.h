// SPDX-License-Identifier: Apache-2.0
//
// Speculative decoding: what the draft proposes, what the target accepts, and how that is told to routecap as (row, slot) entries (R21).
#pragma once

#include <cstdint>
#include <vector>

#include "forward.h"
#include "support.h"

namespace engine {

/// Adds one request to a verify forward: its last token and `slots.size() - 1` proposals, some of which the target will accept.
/// Proposals on the accepted path are the tokens that the target samples anyway; the others are wrong, and so is every row behind them.
void propose(Forward& forward, Request& request, std::vector<std::int64_t> slots, DraftShape shape, Random& random);

/// Commit entries of a verify forward. Rows count from the rank's first row; -1 is a hole.
struct CommitEntries {
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> slots;
  std::int64_t groups = 0;
  std::int64_t width = 0;        // entries of a group
  std::int64_t rows_stride = 0;  // elements from group to group
  std::int64_t slots_stride = 0;
  std::int64_t named = 0;  // entries that are no hole
};

/// As a verify kernel leaves them: an accept index of `requests` groups, each one column wider than a group has entries, and the slots beside
/// it. Requests that pad a graph batch have holes only.
[[nodiscard]] CommitEntries accept_index(const Forward& forward, std::int64_t requests);

/// The same entries as a plain list without holes, as a host that walked the results has them.
[[nodiscard]] CommitEntries accepted_list(const Forward& forward);

}  // namespace engine
