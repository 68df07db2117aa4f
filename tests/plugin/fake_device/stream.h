// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

namespace fake_device {

/// What all streams of a device share: whether it is held or lost, how much work was done, and by how much everything dawdles.
class Pace {
 public:
  Pace(std::uint64_t seed, std::int64_t delay_ns) : seed_(seed), delay_ns_(delay_ns) {}

  [[nodiscard]] bool failing() const { return failing_.load(std::memory_order_seq_cst); }
  /// From here on no stream begins anything.
  void fail();
  /// Whether it is failing and the last piece of work is over.
  [[nodiscard]] bool lost() const { return failing() && running_.load(std::memory_order_seq_cst) == 0; }
  void hold(bool held);
  [[nodiscard]] bool held() const { return held_.load(std::memory_order_acquire); }

  /// Waits until streams may work; false when the device is failing or `stop` is set.
  bool wait_until_free(const std::atomic<bool>& stop);
  /// Counts a piece of work; false where this one is to fail.
  bool begin();
  void end() { running_.fetch_sub(1, std::memory_order_seq_cst); }
  [[nodiscard]] std::int64_t works() const { return works_.load(std::memory_order_relaxed); }
  void fail_work(std::int64_t work) { work_to_fail_.store(work, std::memory_order_relaxed); }

  [[nodiscard]] std::int64_t delay_ns() const { return delay_ns_; }
  [[nodiscard]] std::uint64_t next_seed() { return seed_ * 0x9E3779B97F4A7C15U + streams_.fetch_add(1, std::memory_order_relaxed); }

  /// Wakes whoever waits for an event, a stream or the device.
  void announce();
  template <class Condition>
  void wait(Condition&& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, std::forward<Condition>(condition));
  }

 private:
  std::uint64_t seed_;
  std::int64_t delay_ns_;
  std::atomic<std::uint64_t> streams_{1};
  std::atomic<bool> failing_{false};
  std::atomic<bool> held_{false};
  std::atomic<std::int64_t> running_{0};
  std::atomic<std::int64_t> works_{0};
  std::atomic<std::int64_t> work_to_fail_{-1};
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Random pauses of one thread.
class Dawdler {
 public:
  Dawdler(std::uint64_t seed, std::int64_t delay_ns) : random_(seed), delay_ns_(delay_ns) {}
  /// Mostly short, at times the whole delay.
  [[nodiscard]] std::chrono::nanoseconds pause();
  [[nodiscard]] bool coin() { return (random_() & 1) != 0; }

 private:
  std::mt19937_64 random_;
  std::int64_t delay_ns_;
};

/// An event: the last record of it that a stream has come to.
class Event {
 public:
  /// The number of a new record.
  std::int64_t record() { return recorded_.fetch_add(1, std::memory_order_relaxed) + 1; }
  [[nodiscard]] std::int64_t recorded() const { return recorded_.load(std::memory_order_relaxed); }
  /// A stream has come to a record; the host sees it late.
  void reach(std::int64_t number, std::chrono::nanoseconds late);
  /// For the device's streams.
  [[nodiscard]] bool reached(std::int64_t number) const { return reached_.load(std::memory_order_acquire) >= number; }
  /// For the host.
  [[nodiscard]] bool seen() const;

 private:
  std::atomic<std::int64_t> recorded_{0};
  std::atomic<std::int64_t> reached_{0};
  std::atomic<std::int64_t> visible_ns_{0};
};

/// Work in order, on a thread of its own.
class Stream {
 public:
  explicit Stream(std::shared_ptr<Pace> pace);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Drops what has not begun where the device is failing, else runs it all.
  ~Stream();

  void queue(std::function<void()> work);
  /// Runs when the stream comes to it, and counts as no work: it is done on a failing device too.
  void queue_always(std::function<void()> work);
  [[nodiscard]] std::int64_t queued() const { return queued_.load(std::memory_order_acquire); }
  [[nodiscard]] std::int64_t done() const { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] std::chrono::nanoseconds lateness();
  [[nodiscard]] bool coin();

 private:
  struct Work {
    std::function<void()> run;
    bool always = false;
  };
  void add(Work work);
  void run();

  std::shared_ptr<Pace> pace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> works_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> queued_{0};
  std::atomic<std::int64_t> done_{0};
  Dawdler dawdler_;
  std::mutex host_mutex_;
  Dawdler host_dawdler_;
  std::thread thread_;
};

}  // namespace fake_device
