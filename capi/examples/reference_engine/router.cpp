// SPDX-License-Identifier: Apache-2.0
#include "router.h"

#include <algorithm>
#include <bit>

#include "support.h"

namespace engine {
namespace {

/// Sixteen bits at a time from a hash of (prefix, layer).
class Draws {
 public:
  Draws(PrefixHash prefix, std::int32_t column, std::uint64_t purpose)
      : state_(mix(prefix ^ (static_cast<std::uint64_t>(column) + 1) * 0xd6e8feb86659fd93ULL ^ purpose)) {}

  std::uint32_t next() {
    if (left_ == 0) {
      state_ += 0x9e3779b97f4a7c15ULL;
      bits_ = mix(state_);
      left_ = 4;
    }
    const auto drawn = static_cast<std::uint32_t>(bits_ & 0xffffU);
    bits_ >>= 16;
    --left_;
    return drawn;
  }

 private:
  std::uint64_t state_;
  std::uint64_t bits_ = 0;
  int left_ = 0;
};

}  // namespace

PrefixHash extend(PrefixHash prefix, std::int32_t token) {
  return mix(prefix * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(static_cast<std::uint32_t>(token)) + 1);
}

void Router::route(const RowSource& row, std::int32_t column, std::span<std::int32_t> ids) const {
  if (is_traced(row)) {
    std::ranges::copy(trace_->ids_of(row.trace_row, column), ids.begin());
    return;
  }
  Draws draws(row.prefix, column, 0);
  for (auto place = ids.begin(); place != ids.end();) {
    const auto id = static_cast<std::int32_t>(draws.next() * static_cast<std::uint32_t>(experts_) >> 16);
    if (std::find(ids.begin(), place, id) == place) *place++ = id;
  }
}

void Router::weigh(const RowSource& row, std::int32_t column, std::span<std::uint16_t> weights) const {
  if (is_traced(row) && trace_->has_weights()) {
    std::ranges::copy(trace_->weights_of(row.trace_row, column), weights.begin());
    return;
  }
  // Renormalized, as the taps say: shares of the row's sum, cut to bfloat16, the same on every machine.
  Draws sizes(row.prefix, column, 0xa5a5a5a5a5a5a5a5ULL);
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) sum += static_cast<double>(1 + (sizes.next() & 0xffU));
  Draws draws(row.prefix, column, 0xa5a5a5a5a5a5a5a5ULL);
  for (std::uint16_t& weight : weights) {
    const auto share = static_cast<float>(static_cast<double>(1 + (draws.next() & 0xffU)) / sum);
    weight = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(share) >> 16);
  }
}

}  // namespace engine
