// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

namespace routecap {

/// For loops that wait for another thread's few hundred nanoseconds: spins, and lets other threads run where that one may have lost its core.
class Backoff {
 public:
  void pause() {
    if (++turns_ >= kTurnsBeforeYield) std::this_thread::yield();
  }

 private:
  static constexpr int kTurnsBeforeYield = 256;
  int turns_ = 0;
};

}  // namespace routecap
