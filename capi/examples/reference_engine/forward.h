// SPDX-License-Identifier: Apache-2.0
//
// What one data-parallel rank does in one step.
#pragma once

#include <cstdint>
#include <vector>

#include "request.h"

namespace engine {

enum class ForwardKind { kIdle, kPrefill, kDecode, kVerify };

/// How the draft's proposals hang together: a chain, or a tree that is verified in one forward.
enum class DraftShape { kChain, kTree };

/// When the scheduler's host side learns which proposals were accepted (R21).
enum class AcceptanceTime {
  kAtOnce,       // the accept index goes along with end_forward, from device memory where a graph replays
  kOneStepLater  // the next forward is under way by then
};

/// A request's part of a prefill or plain decode forward: its tokens first .. first + tokens - 1.
struct Piece {
  Request* request = nullptr;
  std::int64_t first = 0;
  std::int64_t tokens = 0;
};

/// A request's part of a verify forward: its last token and the draft's proposals, as many rows for everybody.
struct VerifyGroup {
  Request* request = nullptr;
  std::vector<std::int64_t> slots;     // KV slot of every row
  std::vector<std::int32_t> accepted;  // rows of the group on the accepted path, root first: one more than accepted proposals
  std::vector<Token> new_tokens;       // the accepted proposals and the token sampled behind them
  std::int64_t tokens_after = 0;       // tokens of the request once it has these
};

struct Forward {
  ForwardKind kind = ForwardKind::kIdle;
  std::vector<RowSource> rows;
  std::vector<std::int64_t> slots;         // KV slot of every row
  std::vector<std::int32_t> sampled_rows;  // prefill: the rows that a token is sampled behind; the last layer runs on no other
  std::vector<Piece> pieces;               // prefill and plain decode
  std::vector<VerifyGroup> groups;         // verify
  std::int64_t group_rows = 0;             // verify: rows of each group

  [[nodiscard]] std::int64_t tokens() const { return static_cast<std::int64_t>(rows.size()); }
  [[nodiscard]] std::int64_t batch_size() const { return static_cast<std::int64_t>(pieces.size() + groups.size()); }
};

}  // namespace engine
