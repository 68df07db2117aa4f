// SPDX-License-Identifier: Apache-2.0
//
// To be preloaded (LD_PRELOAD) into a process of a runtime whose binding uses the library: some of the library's own allocations with `new` throw,
// nobody else's do. First one that comes throws, then the one behind the next that does not, then the one behind the next two, and so on up to a gap
// of kLongestGap, and again: whoever repeats his calls meets a failure at every place, and gets through in the end.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr int kLongestGap = 300;

std::atomic<int> left = 0;
std::atomic<int> gap = 0;

bool is_ours(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libroutecap.so") != nullptr;
}

bool has_to_fail(const void* caller) {
  if (!is_ours(caller) || left.fetch_sub(1) > 0) return false;
  gap = (gap + 1) % kLongestGap;
  left = gap.load();
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (has_to_fail(caller)) return nullptr;
  const std::size_t size = bytes == 0 ? 1 : bytes;
  return alignment == 0 ? std::malloc(size) : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment, const void* caller) {
  void* const memory = allocate(bytes, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define ROUTECAP_CALLER __builtin_return_address(0)

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 0, ROUTECAP_CALLER); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 0, ROUTECAP_CALLER); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment), ROUTECAP_CALLER);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment), ROUTECAP_CALLER);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0, ROUTECAP_CALLER); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0, ROUTECAP_CALLER); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
