// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <routecap/routecap.h>

#include <cstring>
#include <string>
#include <string_view>

#include "arguments.h"
#include "backend/plugin/loader.h"
#include "backend_handle.h"
#include "guard.h"

using namespace routecap;
using namespace routecap::capi;

extern "C" {

rcap_status rcap_backend_open(const char* name, const rcap_backend_options* options, rcap_backend** backend, rcap_error* err) noexcept {
  return guard(err, [&] {
    require(name, "name");
    require(backend, "backend");
    if (name[0] == '\0') fail(RCAP_STATUS_INVALID_ARGUMENT, "name is empty");
    const rcap_backend_options checked = options == nullptr ? rcap_backend_options{} : sized_in(options, "options");
    auto handle = std::make_unique<BackendHandle>(open_backend(name, checked));
    *backend = reinterpret_cast<rcap_backend*>(handle.release());
  });
}

rcap_status rcap_backend_search(const char* name, void* text, int64_t text_bytes, int64_t* needed, rcap_error* err) noexcept {
  return guard(err, [&] {
    require(name, "name");
    require(needed, "needed");
    const RawArray out = raw(text, text_bytes, "text_bytes");
    if (name[0] == '\0') fail(RCAP_STATUS_INVALID_ARGUMENT, "name is empty");
    if (text == nullptr && text_bytes != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "text is null, text_bytes is %" PRId64, text_bytes);
    const std::string report = std::string_view(name) == "host" ? "host: built in\n" : search_report(name);
    *needed = static_cast<std::int64_t>(report.size()) + 1;
    if (out.bytes < *needed) fail(RCAP_STATUS_OUT_OF_RANGE, "text_bytes is %" PRId64 ", needed are %" PRId64, text_bytes, *needed);
    std::memcpy(text, report.c_str(), report.size() + 1);
  });
}

rcap_status rcap_backend_describe(const rcap_backend* self, rcap_backend_info* info, rcap_error* err) noexcept {
  return guard(err, [&] {
    const BackendHandle& handle = live_backend(self);
    require_out(info, "info");
    rcap_backend_info description{};
    handle.backend->describe(description);
    sized_out(info, description);
  });
}

void rcap_backend_destroy(rcap_backend* self) noexcept {
  guard(nullptr, [&] {
    if (self != nullptr) delete &live<BackendHandle>(self, "backend");
  });
}

}  // extern "C"
