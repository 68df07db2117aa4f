// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/engine.h"

namespace routecap_bench {

/// Of this thread on a processor.
[[nodiscard]] double thread_microseconds();

/// Median of the quietest round in microseconds, where `prepare` is not counted. Calls that are long beside a scheduler's turn are measured by the
/// time that their thread ran, short ones, which reading that clock would distort, by the wall's clock.
[[nodiscard]] double microseconds(const std::function<void()>& prepare, const std::function<void()>& run);

/// Prints one point of a curve as a line of JSON. `units` is what the time or the size should be proportional to.
void point(const char* curve, const char* what, std::int64_t x, double value, double units, const char* unit);

/// Memory of this process, and what the machine could still give.
[[nodiscard]] std::int64_t resident_bytes();
[[nodiscard]] std::int64_t available_bytes();

/// A router's ids of one forward, and an order of the slots.
class Work {
 public:
  Work(const Shape& shape, std::int64_t most_tokens);
  [[nodiscard]] const std::int32_t* ids() const { return ids_.data(); }
  /// Elements from one layer's ids to the next one's.
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  /// The next slots of a walk in random order.
  const std::int64_t* walk(std::int64_t tokens);
  [[nodiscard]] const std::vector<std::int64_t>& order() const { return order_; }
  /// Every slot gets a row.
  void fill(Engine& engine, std::int64_t tokens) const;

 private:
  std::int64_t stride_;
  std::vector<std::int32_t> ids_;
  std::vector<std::int64_t> order_;
  std::int64_t at_ = 0;
};

}  // namespace routecap_bench
