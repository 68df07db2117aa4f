// SPDX-License-Identifier: Apache-2.0
#include "unit/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace routecap_test {
namespace {

std::atomic<long> live{0};
std::atomic<long> total{0};

/// Trivial, so that it is there before and after every constructor of the program.
struct Plan {
  bool armed;
  bool once;
  bool fired;
  long left;
  Thrown thrown;
};
thread_local Plan plan{};

void* allocate(std::size_t size, std::size_t alignment) {
  if (plan.armed && plan.left-- <= 0) {
    plan.fired = true;
    const Thrown thrown = plan.thrown;
    const Plan saved = plan;
    plan.armed = false;  // what the exception itself needs is not refused
    if (thrown == Thrown::kRuntimeError) {
      std::runtime_error error("allocation hook");
      plan = saved;
      plan.armed = !saved.once;
      throw error;
    }
    plan.armed = !saved.once;
    if (thrown == Thrown::kInt) throw 42;  // NOLINT(hicpp-exception-baseclass): what no library expects
    throw std::bad_alloc();
  }
  void* memory = alignment <= alignof(::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  live.fetch_add(1, std::memory_order_relaxed);
  total.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  try {
    return allocate(size, alignment);
  } catch (...) {
    return nullptr;
  }
}

void arm(long n, Thrown thrown, bool once) { plan = Plan{.armed = true, .once = once, .fired = false, .left = n, .thrown = thrown}; }

}  // namespace

long live_allocations() { return live.load(std::memory_order_relaxed); }
long total_allocations() { return total.load(std::memory_order_relaxed); }

FailFrom::FailFrom(long n, Thrown thrown) { arm(n, thrown, false); }
FailFrom::~FailFrom() { plan.armed = false; }
bool FailFrom::fired() const { return plan.fired; }
FailOnly::FailOnly(long n, Thrown thrown) { arm(n, thrown, true); }
FailOnly::~FailOnly() { plan.armed = false; }
bool FailOnly::fired() const { return plan.fired; }

}  // namespace routecap_test

namespace rt = routecap_test;
constexpr std::size_t kPlain = alignof(::max_align_t);
void* operator new(std::size_t size) { return rt::allocate(size, kPlain); }
void* operator new[](std::size_t size) { return rt::allocate(size, kPlain); }
void* operator new(std::size_t size, std::align_val_t alignment) { return rt::allocate(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return rt::allocate(size, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return rt::allocate_or_null(size, kPlain); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return rt::allocate_or_null(size, kPlain); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return rt::allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return rt::allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { rt::release(memory); }
void operator delete[](void* memory) noexcept { rt::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { rt::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { rt::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { rt::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { rt::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { rt::release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { rt::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { rt::release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { rt::release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { rt::release(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { rt::release(memory); }
