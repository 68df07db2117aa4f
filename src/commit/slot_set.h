// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "support/mapping.h"

namespace routecap {

/// A set of numbers in [0, 2^43), emptied in constant time. One thread changes it; others may probe it meanwhile and are told by a
/// version of its owner (see Block) whether what they saw still counts.
class SlotSet {
 public:
  SlotSet() = default;
  /// With room for `most` numbers.
  explicit SlotSet(std::int64_t most) : capacity_bits_(bits_for(most)), table_(Mapping::of(std::int64_t{8} << capacity_bits_, "set of slots")) {}

  /// Empties the set and makes it ready for `count` numbers, at most as many as it was made for. A small set stays in cache.
  void clear(std::int64_t count) {
    std::uint64_t epoch = (state_.load(std::memory_order_relaxed) >> kBitsBits) + 1;
    if (epoch > kLastEpoch) {
      // Every 2^20 sets: entries of old sets would count again.
      for (std::int64_t i = 0; i < (std::int64_t{1} << capacity_bits_); ++i) entry(i).store(0, std::memory_order_relaxed);
      epoch = 1;
    }
    const int bits = bits_for(count);
    state_.store(epoch << kBitsBits | static_cast<std::uint64_t>(bits), std::memory_order_relaxed);
    filled_ = {epoch << kNumberBits, 64 - bits, (std::int64_t{1} << bits) - 1};
  }

  /// False if the number was there already.
  bool insert(std::int64_t number) {
    const Filling set = filled_;
    const std::uint64_t wanted = set.epoch | static_cast<std::uint64_t>(number);
    for (std::int64_t at = hashed(number, set.shift);; at = (at + 1) & set.last) {
      const std::uint64_t found = entry(at).load(std::memory_order_relaxed);
      if ((found ^ set.epoch) >> kNumberBits != 0) {
        entry(at).store(wanted, std::memory_order_relaxed);
        return true;
      }
      if (found == wanted) return false;
    }
  }

  [[nodiscard]] bool contains(std::int64_t number) const {
    const std::uint64_t wanted = word(number);
    // Bounded for a prober who meets a set in the middle of a change.
    std::int64_t at = home(number);
    for (std::int64_t tries = std::int64_t{1} << bits(); tries > 0; --tries, at = next(at)) {
      const std::uint64_t found = entry(at).load(std::memory_order_relaxed);
      if (found == wanted) return true;
      if ((found >> kNumberBits) != epoch()) return false;
    }
    return false;
  }

 private:
  // An entry is the epoch of the set it belongs to (20 bits) and the number (44 bits); any other epoch means empty.
  static constexpr int kNumberBits = 44;
  static constexpr int kBitsBits = 6;
  static constexpr std::uint64_t kLastEpoch = (1U << 20) - 1;

  /// The present set as the thread that fills it knows it, so that it need not ask the atomic for each number.
  struct Filling {
    std::uint64_t epoch = 0;  ///< in its place
    int shift = 61;
    std::int64_t last = 7;
  };

  /// A quarter full at most: with 8192 random numbers in a table half full, a third of them meets another one, and the branches that nobody foresees
  /// take as long as the rest.
  static int bits_for(std::int64_t count) {
    const auto room = static_cast<std::uint64_t>(count < 2 ? 8 : 4 * count);
    return static_cast<int>(std::bit_width(room - 1));
  }
  [[nodiscard]] int bits() const { return static_cast<int>(state_.load(std::memory_order_relaxed) & ((1U << kBitsBits) - 1)); }
  [[nodiscard]] std::uint64_t epoch() const { return state_.load(std::memory_order_relaxed) >> kBitsBits; }
  [[nodiscard]] std::uint64_t word(std::int64_t number) const { return epoch() << kNumberBits | static_cast<std::uint64_t>(number); }
  [[nodiscard]] static std::int64_t hashed(std::int64_t number, int shift) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15U >> shift);
  }
  [[nodiscard]] std::int64_t home(std::int64_t number) const { return hashed(number, 64 - bits()); }
  [[nodiscard]] std::int64_t next(std::int64_t at) const { return (at + 1) & ((std::int64_t{1} << bits()) - 1); }
  [[nodiscard]] std::atomic_ref<std::uint64_t> entry(std::int64_t at) const {
    return std::atomic_ref<std::uint64_t>(reinterpret_cast<std::uint64_t*>(table_.data())[at]);
  }

  int capacity_bits_ = 0;
  Mapping table_;
  std::atomic<std::uint64_t> state_{3};  ///< epoch and bits of the present set
  Filling filled_;
};

}  // namespace routecap
