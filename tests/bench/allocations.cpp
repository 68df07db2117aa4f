// SPDX-License-Identifier: Apache-2.0
#include "bench/allocations.h"

#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RCAP_COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define RCAP_COUNTED 0
#endif
#endif
#if !defined(RCAP_COUNTED)
#if defined(__GLIBC__)
#define RCAP_COUNTED 1
#else
#define RCAP_COUNTED 0
#endif
#endif

#if RCAP_COUNTED

namespace {
thread_local std::int64_t counted = 0;
}

// NOLINTBEGIN(bugprone-reserved-identifier)
// What the program defines takes the place of the C library's allocator for every library in it; glibc keeps its own under these names.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) {
  ++counted;
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
  ++counted;
  return __libc_calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) {
  ++counted;
  return __libc_realloc(block, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  ++counted;
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
}

std::int64_t routecap_bench::allocations() { return counted; }

#else

std::int64_t routecap_bench::allocations() { return -1; }

#endif
