// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <array>
#include <cstdint>
#include <exception>

namespace routecap {

/// A `rcap_status` value.
using Status = std::int32_t;

/// A refused call: a status and one line that names what was refused, its value and the limit. Holds its text inline: making one allocates
/// nothing besides the exception object itself.
class Error : public std::exception {
 public:
  static constexpr std::size_t kTextBytes = sizeof(rcap_error::text);

  Error(Status status, const char* text) noexcept;
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.data(); }

 private:
  Status status_;
  std::array<char, kTextBytes> text_{};
};

/// Throws an Error with a printf-formatted text.
[[noreturn]] __attribute__((format(printf, 2, 3))) void fail(Status status, const char* format, ...);

/// An answer that is no fault: OK, or BUSY, NOT_READY, TIMEOUT and the like, with the sequence that is lacking where there is one.
struct Answer {
  Status status = RCAP_STATUS_OK;
  std::int64_t detail = 0;
};

}  // namespace routecap
