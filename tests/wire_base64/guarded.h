// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace routecap_test {

/// Memory with a page behind it that nobody may touch: whoever reads or writes past the end is stopped by the machine.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::int64_t capacity) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usable_ = (static_cast<std::size_t>(capacity) + page - 1) / page * page;
    mapped_ = usable_ + page;
    void* base = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(base);
    if (mprotect(base_ + usable_, page, PROT_NONE) != 0) throw std::bad_alloc();
  }
  ~GuardedBytes() { munmap(base_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  /// The last `count` bytes.
  [[nodiscard]] std::byte* last(std::int64_t count) const { return base_ + usable_ - count; }
  [[nodiscard]] char* last_chars(std::int64_t count) const { return reinterpret_cast<char*>(last(count)); }

 private:
  std::byte* base_ = nullptr;
  std::size_t usable_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace routecap_test
