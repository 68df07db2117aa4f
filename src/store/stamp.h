// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "support/backoff.h"

namespace routecap {

/// Number of a forward, release or copy; all of a capturer count together from 1 (R9). 0 is "never".
using Sequence = std::int64_t;

/// What a slot's 64-bit stamp says: the number of the operation that decided the slot, and what kind of state it left.
///
/// The stamp orders writers: whatever order operations are applied in, the highest number wins (R9, R10). It also guards readers: a writer
/// sets WRITING before the first byte of the row and clears it after the last, so a reader that sees WRITING, or two different
/// stamps around its copy, tries again. Writers never wait for readers (R36).
class Stamp {
 public:
  static constexpr std::uint64_t kWriting = 1;   ///< a writer is between the two stores of this stamp
  static constexpr std::uint64_t kValid = 2;     ///< the slot holds a row
  static constexpr std::uint64_t kPending = 4;   ///< target of a copy that waits for a forward (R12)
  static constexpr std::uint64_t kExtended = 8;  ///< the slot's extension holds the row's own number and weight version

  constexpr Stamp() = default;
  constexpr explicit Stamp(std::uint64_t bits) : bits_(bits) {}
  constexpr Stamp(Sequence sequence, std::uint64_t flags) : bits_((static_cast<std::uint64_t>(sequence) << kFlagBits) | flags) {}

  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  [[nodiscard]] constexpr Sequence sequence() const { return static_cast<Sequence>(bits_ >> kFlagBits); }
  [[nodiscard]] constexpr bool writing() const { return (bits_ & kWriting) != 0; }
  [[nodiscard]] constexpr bool valid() const { return (bits_ & kValid) != 0; }
  [[nodiscard]] constexpr bool pending() const { return (bits_ & kPending) != 0; }
  [[nodiscard]] constexpr bool extended() const { return (bits_ & kExtended) != 0; }
  friend constexpr bool operator==(Stamp, Stamp) = default;

 private:
  static constexpr int kFlagBits = 4;
  std::uint64_t bits_ = 0;
};

/// Takes the slot for an operation numbered `sequence`, unless a newer or equal one has decided it already.
///
/// @return true: this thread owns the row until `publish`; false: the slot is newer, nothing was changed
/// Two writers of one slot meet only when an engine names a slot in two forwards in flight; the second then spins for one row's time.
inline bool claim(std::uint64_t& word, Sequence sequence) {
  const std::atomic_ref<std::uint64_t> stamp(word);
  std::uint64_t seen = stamp.load(std::memory_order_acquire);
  for (Backoff backoff;;) {
    const Stamp current(seen);
    if (current.sequence() >= sequence) return false;
    if (current.writing()) {
      backoff.pause();
      seen = stamp.load(std::memory_order_acquire);
      continue;
    }
    if (stamp.compare_exchange_weak(seen, seen | Stamp::kWriting, std::memory_order_acq_rel, std::memory_order_acquire)) {
      // The row's stores below are relaxed: this keeps them behind the WRITING bit for a reader's eyes.
      std::atomic_thread_fence(std::memory_order_release);
      return true;
    }
  }
}

/// Ends a claim: the slot now shows `stamp`.
inline void publish(std::uint64_t& word, Stamp stamp) { std::atomic_ref<std::uint64_t>(word).store(stamp.bits(), std::memory_order_release); }

}  // namespace routecap
