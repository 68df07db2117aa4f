// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "error.h"
#include "progress.h"

namespace routecap::cli {
namespace {

/// Bytes read at once, and the room that is made for a stream's next ones.
constexpr std::size_t kPiece = 1 << 20;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : own_(path != "-") {
    number_ = own_ ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (number_ < 0) fail_input_output("cannot read " + path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (own_) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  bool own_;
  int number_ = -1;
};

}  // namespace

Input read_input(const std::string& path) {
  static bool standard_input_read = false;
  if (path.empty()) refuse("an input has no name");
  if (path == "-") {
    if (standard_input_read) refuse("standard input (-) is named twice, it can be read once");
    standard_input_read = true;
  }
  const Descriptor descriptor(path);
  Input input{path == "-" ? "standard input" : path, {}};
  struct stat facts = {};
  if (fstat(descriptor.number(), &facts) != 0) fail_input_output("cannot read " + input.name, errno);
  if (S_ISDIR(facts.st_mode)) fail_input_output("cannot read " + input.name, EISDIR);
  const auto expected = S_ISREG(facts.st_mode) ? static_cast<std::int64_t>(facts.st_size) : std::int64_t{0};
  Progress progress("reading", expected);
  std::size_t size = 0;
  // One byte more than expected, so that the end is seen without making room again.
  input.bytes.resize(static_cast<std::size_t>(expected) + 1);
  for (;;) {
    if (size == input.bytes.size()) input.bytes.resize(size + std::max(kPiece, size / 2));
    const ssize_t got = read(descriptor.number(), input.bytes.data() + size, std::min(kPiece, input.bytes.size() - size));
    if (got < 0) {
      if (errno == EINTR) continue;
      fail_input_output("cannot read " + input.name, errno);
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    progress.advance(got);
  }
  input.bytes.resize(size);
  return input;
}

}  // namespace routecap::cli
