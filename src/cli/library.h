// SPDX-License-Identifier: Apache-2.0
//
// The library seen from C++: handles that give themselves back, sized structs, and statuses that are faults thrown as failures.
#pragma once

#include <routecap/routecap.h>

#include <cstdint>
#include <memory>
#include <string>

#include "error.h"

namespace routecap::cli {

struct RecordDeleter {
  void operator()(rcap_record* record) const { rcap_record_destroy(record); }
};
using RecordHandle = std::unique_ptr<rcap_record, RecordDeleter>;

/// A struct with the library's defaults in it.
template <class Struct>
[[nodiscard]] Struct make(void (*init)(Struct*, std::int64_t)) {
  Struct value;
  init(&value, static_cast<std::int64_t>(sizeof(Struct)));
  return value;
}

/// A status below 0, with the library's one-line text.
class LibraryFailure : public Failure {
 public:
  LibraryFailure(rcap_status status, const std::string& text)
      : Failure(status == RCAP_STATUS_OUT_OF_MEMORY ? kInputOutput
                : status == RCAP_STATUS_INTERNAL    ? kInternalError
                                                    : kRefused,
                text),
        status_(status) {}
  [[nodiscard]] rcap_status status() const { return status_; }

 private:
  rcap_status status_;
};

/// Calls `call(rcap_error*)`, which returns an `rcap_status`, and throws what it refuses.
template <class Call>
void require(Call&& call) {
  auto error = make(rcap_error_init);
  const rcap_status status = call(&error);
  if (status < 0) throw LibraryFailure(status, error.text[0] != '\0' ? error.text : rcap_status_name(status));
}

/// Calls `call(rcap_record**, rcap_error*)` and gives the record that it made.
template <class Call>
[[nodiscard]] RecordHandle make_record(Call&& call) {
  rcap_record* record = nullptr;
  require([&](rcap_error* error) { return call(&record, error); });
  return RecordHandle(record);
}

}  // namespace routecap::cli
