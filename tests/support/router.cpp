// SPDX-License-Identifier: Apache-2.0
#include "support/router.h"

#include <numeric>

namespace routecap_test {

std::uint64_t mix(std::int64_t a, std::int64_t b) {
  std::uint64_t x = static_cast<std::uint64_t>(a) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(b) * 0xC2B2AE3D27D4EB4FU + 0x165667B19E3779F9U;
  for (int round = 0; round < 2; ++round) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93U;
  }
  return x ^ (x >> 32);
}

std::vector<std::int32_t> Router::ids(std::int64_t seed, std::int32_t layer_number) const {
  const auto experts = static_cast<std::uint64_t>(num_experts_);
  const std::uint64_t hash = mix(seed, layer_number);
  // A stride coprime to E visits every expert once before it repeats, so K <= E ids are different.
  std::uint64_t stride = experts > 1 ? 1 + (hash >> 32) % (experts - 1) : 1;
  while (std::gcd(stride, experts) != 1) stride = stride % experts + 1;
  std::vector<std::int32_t> result;
  for (std::int32_t k = 0; k < top_k_; ++k) {
    result.push_back(static_cast<std::int32_t>((hash % experts + static_cast<std::uint64_t>(k) * stride) % experts));
  }
  return result;
}

std::vector<float> Router::weights(std::int64_t seed, std::int32_t layer_number) const {
  std::vector<float> result;
  for (std::int32_t k = 0; k < top_k_; ++k) {
    result.push_back(static_cast<float>(1 + mix(seed * 64 + k, layer_number + 1000) % 128) / 128.0F);
  }
  return result;
}

}  // namespace routecap_test
