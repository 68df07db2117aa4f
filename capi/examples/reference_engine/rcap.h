// SPDX-License-Identifier: Apache-2.0
//
// The library seen from C++: sized structs, handles that give themselves back, and statuses that are faults thrown as exceptions.
#pragma once

#include <routecap/routecap.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace engine {

/// A struct with the library's defaults in it. Every in and out struct begins so: its size tells the library which fields the caller knows.
template <typename Struct>
[[nodiscard]] Struct make(void (*init)(Struct*, std::int64_t)) {
  Struct value;
  init(&value, static_cast<std::int64_t>(sizeof(Struct)));
  return value;
}

/// A status that this engine has no use for; the library's one-line text says which argument, value and limit.
class LibraryError : public std::runtime_error {
 public:
  LibraryError(rcap_status status, const rcap_error& error)
      : std::runtime_error(std::string(rcap_status_name(status)) + (error.text[0] != '\0' ? ": " : "") + error.text) {}
};

/// BUSY, NOT_READY and TIMEOUT are answers and are looked at where they may come; everything else below 0 ends here.
inline void require(rcap_status status, const rcap_error& error) {
  if (status < 0) throw LibraryError(status, error);
}

struct CapturerDeleter {
  void operator()(rcap_capturer* capturer) const { rcap_capturer_destroy(capturer); }
};
struct OutputDeleter {
  void operator()(rcap_output* output) const { rcap_output_destroy(output); }
};
struct RecordDeleter {
  void operator()(rcap_record* record) const { rcap_record_destroy(record); }
};
using CapturerHandle = std::unique_ptr<rcap_capturer, CapturerDeleter>;
using OutputHandle = std::unique_ptr<rcap_output, OutputDeleter>;
using RecordHandle = std::unique_ptr<rcap_record, RecordDeleter>;

/// Bytes of a list, as the API wants them beside every pointer.
template <typename Container>
[[nodiscard]] std::int64_t bytes_of(const Container& container) {
  return static_cast<std::int64_t>(std::size(container) * sizeof(*std::data(container)));
}

}  // namespace engine
