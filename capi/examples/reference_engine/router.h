// SPDX-License-Identifier: Apache-2.0
//
// The model, as far as this engine needs one: which experts a token is routed to in each layer. A real router depends on the whole prefix, so
// this one is a pure function of a rolling hash of the prefix; whoever knows a request's tokens can tell every row of it afterwards.
#pragma once

#include <cstdint>
#include <span>

#include "model.h"
#include "trace.h"

namespace engine {

using PrefixHash = std::uint64_t;

inline constexpr PrefixHash kEmptyPrefix = 0x6a09e667f3bcc908ULL;
inline constexpr std::int32_t kVocabulary = 129280;

/// Hash of a prefix with one more token behind it.
[[nodiscard]] PrefixHash extend(PrefixHash prefix, std::int32_t token);

/// A token of a sequence. `trace_row` is part of its identity where routes are recorded ones: it names the recorded row that this token,
/// generated at its place, was routed by; -1 leaves it to the synthetic router.
struct Token {
  std::int32_t id = 0;
  std::int32_t trace_row = -1;
};

/// What decides one row: the hash of the prefix that ends with the row's token, or a recorded row.
struct RowSource {
  PrefixHash prefix = kEmptyPrefix;
  std::int32_t trace_row = -1;
  friend bool operator==(const RowSource&, const RowSource&) = default;
};

class Router {
 public:
  /// @param trace  recorded routes, or null; outlives the router
  Router(const ModelShape& shape, const Trace* trace) : experts_(shape.num_experts), top_k_(shape.top_k), trace_(trace) {}

  /// The K distinct experts of one row in one captured layer, in the router's order.
  void route(const RowSource& row, std::int32_t column, std::span<std::int32_t> ids) const;

  /// The weights (bfloat16 bits) beside them.
  void weigh(const RowSource& row, std::int32_t column, std::span<std::uint16_t> weights) const;

 private:
  [[nodiscard]] bool is_traced(const RowSource& row) const { return trace_ != nullptr && row.trace_row >= 0; }

  std::int32_t experts_;
  std::int32_t top_k_;
  const Trace* trace_;
};

}  // namespace engine
