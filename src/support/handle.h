// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "support/error.h"

namespace routecap {

/// First base of every object that the C API hands out: a pointer of another type, or to a handle given back, is told by its first 8 bytes as
/// long as the memory is readable (a freed handle is the caller's fault; this only makes it likely to be found).
template <std::uint64_t Magic>
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] bool is_live() const { return magic_ == Magic; }

 protected:
  ~Handle() { retire(); }
  void retire() { static_cast<volatile std::uint64_t&>(magic_) = 0; }
  void revive() { magic_ = Magic; }

 private:
  std::uint64_t magic_ = Magic;
};

}  // namespace routecap
