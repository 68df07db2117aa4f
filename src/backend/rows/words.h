// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "store/stamp.h"

namespace routecap::rows {

/// How the host touches memory that others touch at the same time. The algorithms take such a type as a parameter, because a device has other means.
///
/// Words of a slot are only read and written through it, each by itself; the stamp makes a row of them (see stamp.h).
struct HostWords {
  static std::uint64_t load(const std::uint64_t& word) { return ref(word).load(std::memory_order_relaxed); }
  static void store(std::uint64_t& word, std::uint64_t value) { ref(word).store(value, std::memory_order_relaxed); }

  static std::uint64_t load_stamp(const std::uint64_t& word) { return ref(word).load(std::memory_order_acquire); }

  /// The stamp again, after the row: the fence keeps the row's loads in front of it.
  static std::uint64_t reload_stamp(const std::uint64_t& word) {
    std::atomic_thread_fence(std::memory_order_acquire);
    return ref(word).load(std::memory_order_relaxed);
  }

  static bool claim(std::uint64_t& word, Sequence sequence) { return routecap::claim(word, sequence); }
  static void publish(std::uint64_t& word, Stamp stamp) { routecap::publish(word, stamp); }

  /// Sets bits of a byte that other rows share or that a row named twice meets; returns the byte before.
  static std::uint8_t set_bits(std::uint8_t& byte, std::uint8_t bits) {
    return std::atomic_ref<std::uint8_t>(byte).fetch_or(bits, std::memory_order_relaxed);
  }

  static void clear_bits(std::uint8_t& byte, std::uint8_t bits) {
    std::atomic_ref<std::uint8_t>(byte).fetch_and(static_cast<std::uint8_t>(~bits), std::memory_order_relaxed);
  }

  /// Adds to a counter that other rows of the layer add to.
  static void add(std::int64_t& counter, std::int64_t value) { std::atomic_ref<std::int64_t>(counter).fetch_add(value, std::memory_order_relaxed); }

  /// A writer is inside the row: it needs a few hundred nanoseconds, unless it lost its core.
  static void wait(int turn) {
    if (turn >= kTurnsBeforeYield) std::this_thread::yield();
  }

 private:
  static constexpr int kTurnsBeforeYield = 256;
  static std::atomic_ref<std::uint64_t> ref(const std::uint64_t& word) { return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word)); }
};

}  // namespace routecap::rows
