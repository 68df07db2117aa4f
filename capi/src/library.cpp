// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

#include <cstdio>

#include "arguments.h"
#include "backend/rows/rows.h"
#include "config/rows_layout.h"
#include "guard.h"

using namespace routecap;
using namespace routecap::capi;

extern "C" {

const char* rcap_version_string(void) noexcept { return RCAP_VERSION_STRING; }

int32_t rcap_abi_version(void) noexcept { return RCAP_ABI_VERSION; }

const char* rcap_status_name(int32_t status) noexcept {
  switch (status) {
    case RCAP_STATUS_OK: return "RCAP_STATUS_OK";
    case RCAP_STATUS_INVALID_ARGUMENT: return "RCAP_STATUS_INVALID_ARGUMENT";
    case RCAP_STATUS_INVALID_STATE: return "RCAP_STATUS_INVALID_STATE";
    case RCAP_STATUS_OUT_OF_RANGE: return "RCAP_STATUS_OUT_OF_RANGE";
    case RCAP_STATUS_OUT_OF_MEMORY: return "RCAP_STATUS_OUT_OF_MEMORY";
    case RCAP_STATUS_NOT_READY: return "RCAP_STATUS_NOT_READY";
    case RCAP_STATUS_BUSY: return "RCAP_STATUS_BUSY";
    case RCAP_STATUS_TIMEOUT: return "RCAP_STATUS_TIMEOUT";
    case RCAP_STATUS_CLOSED: return "RCAP_STATUS_CLOSED";
    case RCAP_STATUS_UNSUPPORTED: return "RCAP_STATUS_UNSUPPORTED";
    case RCAP_STATUS_VERSION_MISMATCH: return "RCAP_STATUS_VERSION_MISMATCH";
    case RCAP_STATUS_CORRUPT: return "RCAP_STATUS_CORRUPT";
    case RCAP_STATUS_NOT_FOUND: return "RCAP_STATUS_NOT_FOUND";
    case RCAP_STATUS_NO_DEVICE: return "RCAP_STATUS_NO_DEVICE";
    case RCAP_STATUS_DEVICE: return "RCAP_STATUS_DEVICE";
    case RCAP_STATUS_FORKED: return "RCAP_STATUS_FORKED";
    case RCAP_STATUS_INTERNAL: return "RCAP_STATUS_INTERNAL";
    default: return "RCAP_STATUS_UNKNOWN";
  }
}

rcap_status rcap_build_info_get(rcap_build_info* info, rcap_error* err) noexcept {
  return guard(err, [&] {
    require_out(info, "info");
    rcap_build_info built{};
    built.abi_version = RCAP_ABI_VERSION;
    std::snprintf(built.version, sizeof built.version, "%s", RCAP_VERSION_STRING);
#if defined(__clang__)
    std::snprintf(built.compiler, sizeof built.compiler, "clang %s", __clang_version__);
#else
    std::snprintf(built.compiler, sizeof built.compiler, "gcc %s", __VERSION__);
#endif
    std::snprintf(built.simd, sizeof built.simd, "%s", rows::simd_level());
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr const char* kSanitized = " sanitized";
#else
    constexpr const char* kSanitized = "";
#endif
#if defined(NDEBUG)
    constexpr const char* kChecks = "asserts=off";
#else
    constexpr const char* kChecks = "asserts=on";
#endif
    std::snprintf(built.features, sizeof built.features, "thrust=%d.%d.%d %s%s", rows::thrust_version() / 100000, rows::thrust_version() / 100 % 1000,
                  rows::thrust_version() % 100, kChecks, kSanitized);
    sized_out(info, built);
  });
}

rcap_status rcap_layout_rows(int32_t kind, const int64_t* tokens_per_rank, int64_t tokens_per_rank_count, int64_t dp_rank, int64_t attn_tp_size,
                             int64_t attn_tp_rank, int64_t padded_tokens_per_rank, int64_t* first_row, int64_t* tokens, rcap_error* err) noexcept {
  return guard(err, [&] {
    require(tokens_per_rank, "tokens_per_rank");
    require(first_row, "first_row");
    require(tokens, "tokens");
    if (tokens_per_rank_count < 1) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "tokens_per_rank_count is %" PRId64 ", it must be at least 1", tokens_per_rank_count);
    }
    const RankRows rows = locate_rank_rows(
        {kind, {tokens_per_rank, static_cast<std::size_t>(tokens_per_rank_count)}, dp_rank, attn_tp_size, attn_tp_rank, padded_tokens_per_rank});
    *first_row = rows.first_row;
    *tokens = rows.tokens;
  });
}

}  // extern "C"
