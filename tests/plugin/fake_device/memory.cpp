// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace fake_device {

std::shared_ptr<TwofoldPages> TwofoldPages::of(std::int64_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t mapped = (static_cast<std::size_t>(bytes) / page + 1) * page;
  const int file = ::memfd_create("fake device", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* given = MAP_FAILED;
  void* inner = MAP_FAILED;
  if (::ftruncate(file, static_cast<off_t>(mapped)) == 0) {
    given = ::mmap(nullptr, mapped, PROT_NONE, MAP_SHARED, file, 0);
    inner = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  ::close(file);
  if (given != MAP_FAILED && inner != MAP_FAILED) {
    return std::shared_ptr<TwofoldPages>(new TwofoldPages(static_cast<std::byte*>(given), static_cast<std::byte*>(inner), bytes, mapped));
  }
  if (given != MAP_FAILED) ::munmap(given, mapped);
  if (inner != MAP_FAILED) ::munmap(inner, mapped);
  return nullptr;
}

TwofoldPages::~TwofoldPages() {
  ::munmap(given_, mapped_);
  ::munmap(inner_, mapped_);
}

void AddressSpace::add(const std::shared_ptr<TwofoldPages>& pages) {
  const std::lock_guard lock(mutex_);
  pages_.emplace(reinterpret_cast<std::uintptr_t>(pages->given()), pages);
}

std::shared_ptr<TwofoldPages> AddressSpace::find(const void* given) const {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(reinterpret_cast<std::uintptr_t>(given));
  return found == pages_.end() ? nullptr : found->second;
}

void AddressSpace::remove(const void* given) {
  const std::lock_guard lock(mutex_);
  pages_.erase(reinterpret_cast<std::uintptr_t>(given));
}

std::byte* AddressSpace::inner(const void* given, std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(given);
  auto found = pages_.upper_bound(address);
  if (found == pages_.begin() || bytes < 0) return nullptr;
  --found;
  const auto offset = static_cast<std::int64_t>(address - found->first);
  const TwofoldPages& pages = *found->second;
  return offset > pages.bytes() || bytes > pages.bytes() - offset ? nullptr : pages.inner() + offset;
}

}  // namespace fake_device
