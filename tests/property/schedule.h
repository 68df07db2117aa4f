// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// A random schedule is nothing but numbers: each command carries a list that its interpreter draws from, and an exhausted list gives zeros. Zero is
/// always the plainest choice, so a schedule shrinks by dropping commands, shortening lists and lowering numbers, and every schedule can be run.
namespace routecap_test::property {

enum class Kind : std::uint8_t {
  kNothing,
  kForward,
  kAccept,
  kSettle,  ///< copy and finalize
  kCopyToHost,
  kFinalize,  ///< whatever its state
  kPoll,      ///< ready, wait, device rows
  kDrop,
  kRelease,
  kReleaseAll,
  kCopySlots,
  kDiscard,
  kRead,
  kAlgebra,       ///< read against read, without the model
  kDraft,         ///< captures on a draft's tap
  kStrayCapture,  ///< a capture outside a forward
  kRebalance,     ///< the engine rewrites a physical-to-logical map in place
  kMisuse,        ///< calls that must be refused
  kCount
};

using DrawList = std::vector<std::uint16_t>;

struct Command {
  Kind kind = Kind::kNothing;
  DrawList draws;
  bool operator==(const Command&) const = default;
};

struct Schedule {
  DrawList geometry;
  std::vector<Command> commands;
  bool operator==(const Schedule&) const = default;
};

/// Reads a list of draws; zeros behind its end.
class Draws {
 public:
  explicit Draws(const DrawList& list) : list_(list) {}
  /// A number in [0, limit); 0 where limit is 0 or below.
  std::int64_t below(std::int64_t limit) {
    const std::int64_t value = next_ < list_.size() ? list_[next_] : 0;
    ++next_;
    return limit <= 0 ? 0 : value % limit;
  }
  /// True about so often; a 0 is false.
  bool chance(std::int64_t percent) { return below(100) >= 100 - percent; }

 private:
  const DrawList& list_;
  std::size_t next_ = 0;
};

/// Splitmix64, for contents that need not shrink: ids, weights, garbage.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t value = state_ += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
  }
  std::int64_t below(std::int64_t limit) { return limit <= 0 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit)); }

 private:
  std::uint64_t state_;
};

}  // namespace routecap_test::property
