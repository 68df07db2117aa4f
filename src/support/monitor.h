// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace routecap {

using Deadline = std::chrono::steady_clock::time_point;

/// Now plus `timeout_ns` (>= 0), or the end of time where that overflows.
inline Deadline deadline_after(std::int64_t timeout_ns) {
  const Deadline now = std::chrono::steady_clock::now();
  const auto room = std::chrono::duration_cast<std::chrono::nanoseconds>(Deadline::max() - now).count();
  return timeout_ns >= room ? Deadline::max() : now + std::chrono::nanoseconds(timeout_ns);
}

/// Lets threads wait for a condition that other threads make true without taking a lock. Announcing costs one atomic addition while nobody waits.
class Monitor {
 public:
  /// Waits until `condition()` is true or the deadline has passed; returns the last answer of `condition()`.
  template <class Condition>
  bool wait_until(Deadline deadline, Condition&& condition) {
    if (condition()) return true;
    const Waiting waiting(waiters_);
    bool met = false;
    for (bool in_time = true; in_time;) {
      // Read before the condition: an announcement between the two ends the wait below at once.
      const std::uint64_t seen = epoch_.load(std::memory_order_seq_cst);
      met = condition();
      if (met) break;
      std::unique_lock<std::mutex> lock(mutex_);
      while (in_time && epoch_.load(std::memory_order_seq_cst) == seen) {
        in_time = changed_.wait_until(lock, deadline) == std::cv_status::no_timeout;
      }
      lock.unlock();
      if (!in_time) met = condition();
    }
    return met;
  }

  /// Call after the change that a waiter may be waiting for.
  void announce() {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    if (waiters_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard<std::mutex> lock(mutex_); }
    changed_.notify_all();
  }

 private:
  class Waiting {
   public:
    explicit Waiting(std::atomic<std::int64_t>& waiters) : waiters_(waiters) { waiters_.fetch_add(1, std::memory_order_seq_cst); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { waiters_.fetch_sub(1, std::memory_order_seq_cst); }

   private:
    std::atomic<std::int64_t>& waiters_;
  };

  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::int64_t> waiters_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace routecap
