// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace routecap::tbb_backend {

/// Where threads wait for a job, and take its pieces.
///
/// A thread that comes stays for a while after the last job, awake, and a job that finds it there costs no dispatch. One job at a time; whoever comes
/// with a second is refused, and does it alone. Everything is the station's own: it knows nothing of where the threads come from.
class Station {
 public:
  using Body = void (*)(void* context, std::int64_t piece);

  /// How long a thread stays awake without a job.
  static constexpr std::int64_t kPatienceNs = 50'000;
  static constexpr std::int64_t kMostPieces = 64;
  static constexpr std::int32_t kMostSeats = 63;

  /// @param seats  threads that may attend, beside the one that brings the job
  explicit Station(std::int32_t seats) : seats_(seats) {}
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  /// Opens a job, unless there is one. Whoever opened it calls `finish`, and nobody else may until then.
  /// @param pieces  1 .. kMostPieces
  /// @return false: another job is there
  bool open(std::int64_t pieces, Body body, void* context);
  /// Works on the opened job until all of its pieces are done.
  void finish();

  /// Threads that have been announced and have not left; for the holder of a job.
  [[nodiscard]] std::int32_t expected() const { return expected_.load(std::memory_order_acquire); }
  /// A thread is on its way: it will call `attend`. Only the holder of a job announces.
  void announce() { expected_.fetch_add(1, std::memory_order_relaxed); }
  /// One that was announced does not come.
  void cancel() { expected_.fetch_sub(1, std::memory_order_relaxed); }

  /// A thread's stay. It has been announced.
  void attend();
  /// Sends everyone home, and waits until nobody is here. Who comes later leaves at once.
  void close();

  /// When the last job was over, by the steady clock; 0 = there was none.
  [[nodiscard]] std::int64_t last_end_ns() const { return last_end_ns_.load(std::memory_order_relaxed); }
  static std::int64_t now_ns();

 private:
  /// Does pieces that nobody has claimed, those of the seat first: what a seat did in one job it does in the next, and its core's caches still hold
  /// it.
  void work(std::int32_t seat);
  [[nodiscard]] bool claim(std::int64_t piece);
  std::int32_t take_seat();

  const std::int32_t seats_;
  std::atomic<bool> held_{false};  ///< somebody has a job here
  // Written by the holder while the job is closed and nobody is inside.
  Body body_ = nullptr;
  void* context_ = nullptr;
  std::int64_t pieces_ = 0;
  std::atomic<std::uint64_t> claimed_{0};  ///< bit i: piece i is somebody's

  alignas(64) std::atomic<std::uint64_t> job_{0};    ///< odd: a job is open; each has a number of its own
  alignas(64) std::atomic<std::int32_t> inside_{0};  ///< threads that may touch the job
  std::atomic<std::int32_t> expected_{0};
  std::atomic<std::uint64_t> taken_{0};  ///< bit i: seat i is taken
  std::atomic<bool> closed_{false};
  std::atomic<std::int64_t> last_end_ns_{0};
};

}  // namespace routecap::tbb_backend
