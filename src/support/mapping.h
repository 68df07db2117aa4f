// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace routecap {

/// Anonymous zeroed address space; a page costs memory when it is first touched. Unmapped by the destructor.
class Mapping {
 public:
  Mapping() = default;
  /// Throws OUT_OF_MEMORY naming `what` and the bytes. 0 bytes map nothing.
  static Mapping of(std::int64_t bytes, const char* what);
  /// Asks for pages of 2 MiB where the kernel has them (`madvise` or `always`): memory that is used in no order misses the TLB less often. A wish
  /// that cannot be had changes nothing.
  void prefer_huge_pages() const noexcept;
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Tells a forked child from the process that made the guard, for the price of one load: the kernel hands the child a zeroed page.
class ForkGuard {
 public:
  ForkGuard();
  /// False in a forked child.
  [[nodiscard]] bool same_process() const { return *reinterpret_cast<const volatile std::uint8_t*>(page_.data()) != 0; }

 private:
  Mapping page_;
};

}  // namespace routecap
