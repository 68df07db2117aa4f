// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// The oracle: a router whose choice is a pure function of a row's seed and the layer's number in its model. What a test captures and what it expects
/// to read come from here and from nowhere else.
namespace routecap_test {

class Router {
 public:
  Router(std::int32_t num_experts, std::int32_t top_k) : num_experts_(num_experts), top_k_(top_k) {}

  /// K pairwise different ids in [0, E), in an order that is not sorted.
  [[nodiscard]] std::vector<std::int32_t> ids(std::int64_t seed, std::int32_t layer_number) const;
  /// K weights, multiples of 1/128 in (0, 1]: exact in f16, bf16 and f32, so that they mean the same whatever is kept.
  [[nodiscard]] std::vector<float> weights(std::int64_t seed, std::int32_t layer_number) const;
  [[nodiscard]] std::int32_t num_experts() const { return num_experts_; }
  [[nodiscard]] std::int32_t top_k() const { return top_k_; }

 private:
  std::int32_t num_experts_;
  std::int32_t top_k_;
};

/// A well-mixed 64-bit function of two numbers.
[[nodiscard]] std::uint64_t mix(std::int64_t a, std::int64_t b);

}  // namespace routecap_test
