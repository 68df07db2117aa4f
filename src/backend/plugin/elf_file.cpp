// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/elf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace routecap {
namespace {

class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The header of the object that this code stands in: what a plugin must be like.
ElfW(Ehdr) own_header() {
  Dl_info info{};
  ElfW(Ehdr) header{};
  if (::dladdr(reinterpret_cast<const void*>(&check_elf_file), &info) == 0) fail(RCAP_STATUS_INTERNAL, "the library cannot find itself");
  std::memcpy(&header, info.dli_fbase, sizeof header);
  return header;
}

}  // namespace

void check_elf_file(const std::string& path) {
  const File file(path);
  if (file.descriptor() < 0) {
    fail(errno == ENOENT || errno == ENOTDIR ? RCAP_STATUS_NOT_FOUND : RCAP_STATUS_INVALID_STATE,
         errno == ENOENT || errno == ENOTDIR ? "no such file" : "cannot be opened (errno %d)", errno);
  }
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) fail(RCAP_STATUS_CORRUPT, "is not a file");
  ElfW(Ehdr) header{};
  const auto read = ::read(file.descriptor(), &header, sizeof header);
  if (read < static_cast<ssize_t>(sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    fail(RCAP_STATUS_CORRUPT, "is not a shared object");
  }
  const ElfW(Ehdr) own = own_header();
  const bool same = header.e_ident[EI_CLASS] == own.e_ident[EI_CLASS] && header.e_ident[EI_DATA] == own.e_ident[EI_DATA];
  if (!same || header.e_machine != own.e_machine) {
    fail(RCAP_STATUS_UNSUPPORTED, "is for another architecture: ELF machine %d (%d bit), this process is %d (%d bit)", header.e_machine,
         header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, own.e_machine, own.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32);
  }
  const auto headers_end = header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize;
  if (header.e_type != ET_DYN || headers_end > static_cast<std::uint64_t>(status.st_size)) {
    fail(RCAP_STATUS_CORRUPT, "is not a whole shared object");
  }
}

}  // namespace routecap
