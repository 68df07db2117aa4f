// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The test program's own operator new: counts, and fails when told to. Linked with the static library, so that what the library allocates counts.
namespace routecap_test {

/// What a failing allocation throws.
enum class Thrown { kBadAlloc, kRuntimeError, kInt };

/// Blocks that are allocated now, by any thread.
[[nodiscard]] long live_allocations();
/// Allocations so far, by any thread.
[[nodiscard]] long total_allocations();

/// While it lives, the n-th allocation of this thread (from 0) and every later one fails.
class FailFrom {
 public:
  FailFrom(long n, Thrown thrown);
  ~FailFrom();
  FailFrom(const FailFrom&) = delete;
  FailFrom& operator=(const FailFrom&) = delete;
  /// Whether one has failed.
  [[nodiscard]] bool fired() const;
};

/// While it lives, the n-th allocation of this thread (from 0) alone fails.
class FailOnly {
 public:
  FailOnly(long n, Thrown thrown);
  ~FailOnly();
  FailOnly(const FailOnly&) = delete;
  FailOnly& operator=(const FailOnly&) = delete;
  [[nodiscard]] bool fired() const;
};

}  // namespace routecap_test
