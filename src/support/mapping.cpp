// SPDX-License-Identifier: Apache-2.0
#include "support/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>

#include "support/error.h"

namespace routecap {

Mapping Mapping::of(std::int64_t bytes, const char* what) {
  Mapping mapping;
  if (bytes == 0) return mapping;
  void* data = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) fail(RCAP_STATUS_OUT_OF_MEMORY, "%s: %" PRId64 " bytes of address space cannot be had (errno %d)", what, bytes, errno);
  mapping.data_ = data;
  mapping.bytes_ = bytes;
  return mapping;
}

void Mapping::prefer_huge_pages() const noexcept {
  if (data_ != nullptr) static_cast<void>(::madvise(data_, static_cast<std::size_t>(bytes_), MADV_HUGEPAGE));
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

ForkGuard::ForkGuard() : page_(Mapping::of(::sysconf(_SC_PAGESIZE), "fork guard")) {
  if (::madvise(page_.data(), static_cast<std::size_t>(page_.bytes()), MADV_WIPEONFORK) != 0) {
    fail(RCAP_STATUS_UNSUPPORTED, "fork guard: this kernel lacks MADV_WIPEONFORK (Linux 4.14 has it; errno %d)", errno);
  }
  *page_.data() = std::byte{1};
}

}  // namespace routecap
