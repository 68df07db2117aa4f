// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "error.h"
#include "interrupt.h"
#include "progress.h"

namespace routecap::cli {
namespace {

constexpr std::size_t kBuffer = 1 << 16;

/// Permissions that a file made by this process has.
mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return static_cast<mode_t>(0666) & ~mask;
}

}  // namespace

Output::Output(const std::string& path) : name_(path) {
  if (path.empty()) refuse("the output has no name");
  if (path == "-") {
    standard_ = true;
    descriptor_ = STDOUT_FILENO;
  } else {
    open_file(path);
  }
}

Output::~Output() {
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    set_temporary({});
  }
  if (!standard_ && descriptor_ >= 0) close(descriptor_);
}

void Output::open_file(const std::string& path) {
  target_ = path;
  mode_t mode = default_mode();
  struct stat found = {};
  if (stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) fail_input_output(what(), EISDIR);
    if (!S_ISREG(found.st_mode)) {
      // Renaming over a device or a pipe would replace it.
      descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) fail_input_output(what(), errno);
      return;
    }
    if (access(path.c_str(), W_OK) != 0) fail_input_output(what(), errno);
    mode = found.st_mode & static_cast<mode_t>(07777);
    // A link stays one: what it points to is replaced.
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(path, ignored);
    if (!ignored) target_ = real.string();
  }
  const std::filesystem::path target(target_);
  std::string temporary = (target.parent_path() / ("." + target.filename().string().substr(0, 200) + ".XXXXXX")).string();
  descriptor_ = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail_input_output(what(), errno);
  temporary_ = temporary;
  set_temporary(temporary_);
  if (fchmod(descriptor_, mode) != 0) fail_input_output(what(), errno);
}

std::string Output::what() const { return standard_ ? "cannot write standard output" : "cannot write " + name_; }

bool Output::is_terminal() const { return isatty(descriptor_) == 1; }

void Output::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() <= kBuffer) {
    buffer_.append(bytes);
    return;
  }
  flush();
  if (bytes.size() < kBuffer) {
    buffer_.append(bytes);
  } else {
    write_all(bytes);
  }
}

void Output::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void Output::write_all(std::string_view bytes) {
  Progress progress("writing", static_cast<std::int64_t>(bytes.size()));
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 20));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_input_output(what(), errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    progress.advance(written);
  }
}

void Output::commit() {
  flush();
  // Some file systems tell a full disk only here.
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (!temporary_.empty() && fsync(descriptor) != 0 && errno != EINVAL) {
    const int error = errno;
    close(descriptor);
    fail_input_output(what(), error);
  }
  if (close(descriptor) != 0) fail_input_output(what(), errno);
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_input_output(what(), errno);
  set_temporary({});
  temporary_.clear();
}

bool is_same_file(const std::string& one, const std::string& other) {
  if (one == "-" || other == "-") return false;
  std::error_code error;
  // Devices and pipes are written to, not replaced.
  if (std::filesystem::exists(one, error) && !std::filesystem::is_regular_file(one, error)) return false;
  const std::filesystem::path left = std::filesystem::weakly_canonical(std::filesystem::absolute(one, error), error);
  if (error) return false;
  const std::filesystem::path right = std::filesystem::weakly_canonical(std::filesystem::absolute(other, error), error);
  return !error && left == right;
}

void write_output(const std::string& path, std::string_view bytes, bool binary) {
  Output output(path);
  write_output(output, bytes, binary);
}

void write_output(Output& output, std::string_view bytes, bool binary) {
  if (output.is_terminal()) {
    if (binary) refuse("this form is binary and standard output is a terminal; name a file with -o, or a text form with --to");
    // The prompt begins on a line of its own.
    output.write(bytes);
    if (!bytes.ends_with('\n')) output.write("\n");
  } else {
    output.write(bytes);
  }
  output.commit();
}

}  // namespace routecap::cli
