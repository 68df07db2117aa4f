// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace routecap::wire {

/// The caller's buffer: takes bytes while they fit and counts them all, so that one encoder answers both "how many" and "write them".
class Output {
 public:
  Output(std::byte* out, std::int64_t capacity) : out_(out), capacity_(capacity) {}

  void put(const void* bytes, std::int64_t count) {
    if (std::byte* at = reserve(count); at != nullptr && count > 0) std::memcpy(at, bytes, static_cast<std::size_t>(count));
  }
  void put(std::string_view text) { put(text.data(), static_cast<std::int64_t>(text.size())); }
  /// The place for the next `count` bytes, or null where they do not fit.
  std::byte* reserve(std::int64_t count) {
    std::byte* at = fits(count) ? out_ + size_ : nullptr;
    size_ += count;
    return at;
  }
  [[nodiscard]] bool fits(std::int64_t count) const { return out_ != nullptr && size_ <= capacity_ && count <= capacity_ - size_; }
  /// Bytes put so far, whether they did fit or not.
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  std::byte* out_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
};

}  // namespace routecap::wire
