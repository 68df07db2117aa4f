// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/elf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

namespace routecap {
namespace {

class File {
 public:
  /// Without waiting: a FIFO of that name would do so until somebody writes into it.
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
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

void require_within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t file_bytes, const char* what) {
  if (offset <= file_bytes && bytes <= file_bytes - offset) return;
  fail(RCAP_STATUS_CORRUPT, "is not a whole shared object: %s of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64, what, bytes, offset,
       file_bytes);
}

/// The dynamic linker maps what the program headers name and touches it: beyond the end of a file that was cut short the kernel answers with SIGBUS.
void check_segments(int descriptor, const ElfW(Ehdr) & header, std::uint64_t file_bytes) {
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum == 0) {
    fail(RCAP_STATUS_CORRUPT, "is not a whole shared object: %d program headers of %d bytes", header.e_phnum, header.e_phentsize);
  }
  const std::uint64_t headers_bytes = std::uint64_t{header.e_phnum} * sizeof(ElfW(Phdr));
  require_within(header.e_phoff, headers_bytes, file_bytes, "program headers");
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (::pread(descriptor, segments.data(), headers_bytes, static_cast<off_t>(header.e_phoff)) != static_cast<ssize_t>(headers_bytes)) {
    fail(RCAP_STATUS_CORRUPT, "is not a whole shared object: its program headers cannot be read");
  }
  bool loads = false;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
    require_within(segment.p_offset, segment.p_filesz, file_bytes, "a segment");
    loads = loads || segment.p_type == PT_LOAD;
  }
  if (!loads) fail(RCAP_STATUS_CORRUPT, "is not a whole shared object: no segment to load");
}

}  // namespace

void check_elf_file(const std::string& path) {
  const File file(path);
  if (file.descriptor() < 0) {
    const int why = errno;
    if (why == ENXIO) fail(RCAP_STATUS_CORRUPT, "is not a file");  // a socket
    if (why == ENOENT || why == ENOTDIR) fail(RCAP_STATUS_NOT_FOUND, "no such file");
    if (why == ENAMETOOLONG) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "its path has %zu bytes, this system opens at most %d, %d a name", path.size(), PATH_MAX - 1, NAME_MAX);
    }
    fail(RCAP_STATUS_INVALID_STATE, "cannot be opened (errno %d, %s)", why, std::generic_category().message(why).c_str());
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
  if (header.e_type != ET_DYN) fail(RCAP_STATUS_CORRUPT, "is not a whole shared object: ELF type %d, one has %d", header.e_type, ET_DYN);
  check_segments(file.descriptor(), header, static_cast<std::uint64_t>(status.st_size));
}

}  // namespace routecap
