// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "backend/rows/parallel.h"

namespace routecap::rows::testing {

/// Threads that take pieces as they come, and count them.
class TestCrew {
 public:
  explicit TestCrew(std::int32_t threads, std::int64_t least_bytes = 1) : threads_(threads), least_bytes_(least_bytes) {}

  Crew crew() { return {&TestCrew::run, this, threads_, least_bytes_}; }
  [[nodiscard]] std::int64_t jobs() const { return jobs_; }
  [[nodiscard]] std::int64_t pieces() const { return pieces_; }

 private:
  static void run(void* self, std::int64_t pieces, void (*body)(void* context, std::int64_t piece), void* context) {
    auto& crew = *static_cast<TestCrew*>(self);
    ++crew.jobs_;
    crew.pieces_ += pieces;
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
      for (std::int64_t piece = next++; piece < pieces; piece = next++) body(context, piece);
    };
    std::vector<std::thread> others;
    for (std::int32_t i = 1; i < crew.threads_; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }

  std::int32_t threads_;
  std::int64_t least_bytes_;
  std::int64_t jobs_ = 0;
  std::int64_t pieces_ = 0;
};

}  // namespace routecap::rows::testing
