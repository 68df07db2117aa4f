// SPDX-License-Identifier: Apache-2.0
//
// Failures of a command: one line each, shown on standard error as `routecap: ...`, with the exit code that goes with it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include "exit_codes.h"

namespace routecap::cli {

/// Ends the command with a one-line text.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The parts written one behind the other.
template <class... Parts>
[[nodiscard]] std::string text_of(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// What the user asked for, or what an input holds, cannot be taken.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Failure(kRefused, text_of(parts...));
}

/// Reading or writing failed. @param error_number an errno
[[noreturn]] void fail_input_output(const std::string& what, int error_number);

/// Shows a failure on standard error: one line, whatever stands in the text.
void tell(const std::string& text);

}  // namespace routecap::cli
