// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/host.h"

#include <cstdio>
#include <cstdlib>

namespace routecap {
namespace {

void* allocate(std::int64_t bytes) noexcept { return bytes < 0 ? nullptr : std::calloc(1, static_cast<std::size_t>(bytes)); }

void release(void* memory) noexcept { std::free(memory); }

std::int32_t keep(rcap_plugin_error* error, std::int32_t status, const char* text) noexcept {
  if (error != nullptr) std::snprintf(error->text, sizeof error->text, "%s", text == nullptr ? "" : text);
  return status;
}

/// What a plugin may refuse a call with. The others are answers of the library alone.
bool may_answer(std::int32_t status) {
  switch (status) {
    case RCAP_STATUS_INVALID_ARGUMENT:
    case RCAP_STATUS_INVALID_STATE:
    case RCAP_STATUS_OUT_OF_RANGE:
    case RCAP_STATUS_OUT_OF_MEMORY:
    case RCAP_STATUS_UNSUPPORTED:
    case RCAP_STATUS_VERSION_MISMATCH:
    case RCAP_STATUS_NO_DEVICE:
    case RCAP_STATUS_DEVICE:
    case RCAP_STATUS_INTERNAL: return true;
    default: return false;
  }
}

}  // namespace

const rcap_plugin_host& plugin_host() {
  static constexpr rcap_plugin_host kHost = {sizeof(rcap_plugin_host), RCAP_VERSION_STRING, &allocate, &release, &keep};
  return kHost;
}

void check_plugin_answer(std::int32_t status, const rcap_plugin_error& error, const char* backend, const char* function) {
  if (status == RCAP_STATUS_OK) return;
  if (!may_answer(status)) fail(RCAP_STATUS_INTERNAL, "backend \"%s\": %s answers %d, which it must not: %s", backend, function, status, error.text);
  fail(status, "backend \"%s\": %s: %s", backend, function, error.text[0] == '\0' ? "failed and does not say why" : error.text);
}

}  // namespace routecap
