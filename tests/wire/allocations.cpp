// SPDX-License-Identifier: Apache-2.0
#include "allocations.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local std::int64_t live = 0;
thread_local std::int64_t peak = 0;

void* allocate(std::size_t bytes) {
  void* block = std::malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  live += static_cast<std::int64_t>(malloc_usable_size(block));
  peak = std::max(peak, live);
  return block;
}

void give_back(void* block) noexcept {
  if (block == nullptr) return;
  live -= static_cast<std::int64_t>(malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { give_back(block); }

namespace wire_test {

std::int64_t peak_bytes() { return peak; }

void restart_peak() {
  live = 0;
  peak = 0;
}

}  // namespace wire_test
