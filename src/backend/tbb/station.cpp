// SPDX-License-Identifier: Apache-2.0
#include "backend/tbb/station.h"

#include <bit>
#include <chrono>
#include <thread>

#include "support/backoff.h"

namespace routecap::tbb_backend {
namespace {

/// Turns of an idle thread between two looks at the clock.
constexpr int kTurnsPerLook = 32;

/// A turn of a loop that waits awake: leaves the core's other half alone.
inline void breathe() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr bool is_open(std::uint64_t job) { return (job & 1U) != 0; }

}  // namespace

std::int64_t Station::now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool Station::open(std::int64_t pieces, Body body, void* context) {
  if (held_.load(std::memory_order_relaxed) || held_.exchange(true, std::memory_order_acquire)) return false;
  body_ = body;
  context_ = context;
  pieces_ = pieces;
  claimed_.store(0, std::memory_order_relaxed);
  job_.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

void Station::finish() {
  work(0);
  // Every piece is somebody's by now. A thread that enters from here on sees that the job is closed; one that is inside is waited for. Both sides
  // write before they read, in one order for all: never do both overlook the other.
  job_.fetch_add(1, std::memory_order_seq_cst);
  for (Backoff backoff; inside_.load(std::memory_order_seq_cst) != 0; backoff.pause()) breathe();
  last_end_ns_.store(now_ns(), std::memory_order_relaxed);
  held_.store(false, std::memory_order_release);
}

bool Station::claim(std::int64_t piece) {
  const std::uint64_t bit = std::uint64_t{1} << piece;
  return (claimed_.load(std::memory_order_relaxed) & bit) == 0 && (claimed_.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

void Station::work(std::int32_t seat) {
  const std::int64_t first = pieces_ * seat / (seats_ + 1);
  for (std::int64_t turn = 0; turn < pieces_; ++turn) {
    const std::int64_t piece = (first + turn) % pieces_;
    if (claim(piece)) body_(context_, piece);
  }
}

std::int32_t Station::take_seat() {
  for (std::uint64_t taken = taken_.load(std::memory_order_relaxed);;) {
    const std::int32_t seat = std::countr_one(taken);
    if (taken_.compare_exchange_weak(taken, taken | (std::uint64_t{1} << seat), std::memory_order_relaxed)) return seat;
  }
}

void Station::attend() {
  const std::int32_t seat = take_seat();
  std::uint64_t seen = 0;
  std::int64_t since = 0;  // 0: the clock has not been looked at since the last job
  for (int turn = 1; !closed_.load(std::memory_order_relaxed); ++turn) {
    const std::uint64_t job = job_.load(std::memory_order_relaxed);
    if (is_open(job) && job != seen) {
      inside_.fetch_add(1, std::memory_order_seq_cst);
      if (job_.load(std::memory_order_seq_cst) == job) work(seat + 1);
      inside_.fetch_sub(1, std::memory_order_release);
      seen = job;
      since = 0;
      continue;
    }
    breathe();
    if (turn % kTurnsPerLook != 0) continue;
    const std::int64_t now = now_ns();
    if (since == 0) since = now;
    if (now - since > kPatienceNs) break;
  }
  // In this order: no more seats are taken than threads are expected.
  taken_.fetch_and(~(std::uint64_t{1} << seat), std::memory_order_release);
  expected_.fetch_sub(1, std::memory_order_release);
}

void Station::close() {
  closed_.store(true, std::memory_order_relaxed);
  while (taken_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace routecap::tbb_backend
