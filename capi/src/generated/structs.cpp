// SPDX-License-Identifier: Apache-2.0
// generated from capi/api by capi/cmake/GenerateCapi.cmake; change those and run the target `capi-update`
// clang-format off

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "routecap/routecap.h"

namespace {

// The caller's struct may be older (shorter) or newer (longer) than the library's; only its own bytes are its to write.
template <typename Struct>
void init(Struct* value, std::int64_t struct_size, const Struct& defaults) noexcept {
  if (value == nullptr || struct_size < std::int64_t{sizeof struct_size}) {
    return;
  }
  const auto size = static_cast<std::size_t>(struct_size);
  const auto known = std::min(size, sizeof defaults);
  auto* const bytes = static_cast<unsigned char*>(static_cast<void*>(value));
  std::memcpy(bytes, &defaults, known);
  std::memset(bytes + known, 0, size - known);
  std::memcpy(bytes, &struct_size, sizeof struct_size);
}

}  // namespace

extern "C" void rcap_error_init(rcap_error* value, std::int64_t struct_size) noexcept {
  init<rcap_error>(value, struct_size, RCAP_ERROR_INIT);
}

extern "C" void rcap_build_info_init(rcap_build_info* value, std::int64_t struct_size) noexcept {
  init<rcap_build_info>(value, struct_size, RCAP_BUILD_INFO_INIT);
}

extern "C" void rcap_backend_options_init(rcap_backend_options* value, std::int64_t struct_size) noexcept {
  init<rcap_backend_options>(value, struct_size, RCAP_BACKEND_OPTIONS_INIT);
}

extern "C" void rcap_backend_info_init(rcap_backend_info* value, std::int64_t struct_size) noexcept {
  init<rcap_backend_info>(value, struct_size, RCAP_BACKEND_INFO_INIT);
}

extern "C" void rcap_capturer_config_init(rcap_capturer_config* value, std::int64_t struct_size) noexcept {
  init<rcap_capturer_config>(value, struct_size, RCAP_CAPTURER_CONFIG_INIT);
}

extern "C" void rcap_capturer_plan_init(rcap_capturer_plan* value, std::int64_t struct_size) noexcept {
  init<rcap_capturer_plan>(value, struct_size, RCAP_CAPTURER_PLAN_INIT);
}

extern "C" void rcap_tap_options_init(rcap_tap_options* value, std::int64_t struct_size) noexcept {
  init<rcap_tap_options>(value, struct_size, RCAP_TAP_OPTIONS_INIT);
}

extern "C" void rcap_capture_layout_init(rcap_capture_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_capture_layout>(value, struct_size, RCAP_CAPTURE_LAYOUT_INIT);
}

extern "C" void rcap_capturer_stats_init(rcap_capturer_stats* value, std::int64_t struct_size) noexcept {
  init<rcap_capturer_stats>(value, struct_size, RCAP_CAPTURER_STATS_INIT);
}

extern "C" void rcap_forward_layout_init(rcap_forward_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_forward_layout>(value, struct_size, RCAP_FORWARD_LAYOUT_INIT);
}

extern "C" void rcap_accept_layout_init(rcap_accept_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_accept_layout>(value, struct_size, RCAP_ACCEPT_LAYOUT_INIT);
}

extern "C" void rcap_summary_init(rcap_summary* value, std::int64_t struct_size) noexcept {
  init<rcap_summary>(value, struct_size, RCAP_SUMMARY_INIT);
}

extern "C" void rcap_slots_layout_init(rcap_slots_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_slots_layout>(value, struct_size, RCAP_SLOTS_LAYOUT_INIT);
}

extern "C" void rcap_slot_info_init(rcap_slot_info* value, std::int64_t struct_size) noexcept {
  init<rcap_slot_info>(value, struct_size, RCAP_SLOT_INFO_INIT);
}

extern "C" void rcap_read_layout_init(rcap_read_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_read_layout>(value, struct_size, RCAP_READ_LAYOUT_INIT);
}

extern "C" void rcap_read_info_init(rcap_read_info* value, std::int64_t struct_size) noexcept {
  init<rcap_read_info>(value, struct_size, RCAP_READ_INFO_INIT);
}

extern "C" void rcap_record_layout_init(rcap_record_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_record_layout>(value, struct_size, RCAP_RECORD_LAYOUT_INIT);
}

extern "C" void rcap_record_info_init(rcap_record_info* value, std::int64_t struct_size) noexcept {
  init<rcap_record_info>(value, struct_size, RCAP_RECORD_INFO_INIT);
}

extern "C" void rcap_compare_report_init(rcap_compare_report* value, std::int64_t struct_size) noexcept {
  init<rcap_compare_report>(value, struct_size, RCAP_COMPARE_REPORT_INIT);
}

extern "C" void rcap_fill_layout_init(rcap_fill_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_fill_layout>(value, struct_size, RCAP_FILL_LAYOUT_INIT);
}

extern "C" void rcap_partition_layout_init(rcap_partition_layout* value, std::int64_t struct_size) noexcept {
  init<rcap_partition_layout>(value, struct_size, RCAP_PARTITION_LAYOUT_INIT);
}

extern "C" void rcap_encode_options_init(rcap_encode_options* value, std::int64_t struct_size) noexcept {
  init<rcap_encode_options>(value, struct_size, RCAP_ENCODE_OPTIONS_INIT);
}

extern "C" void rcap_decode_hints_init(rcap_decode_hints* value, std::int64_t struct_size) noexcept {
  init<rcap_decode_hints>(value, struct_size, RCAP_DECODE_HINTS_INIT);
}

