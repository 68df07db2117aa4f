// SPDX-License-Identifier: Apache-2.0
// generated from capi/api by capi/cmake/GenerateCapi.cmake; change those and run the target `capi-update`
// clang-format off

#include <cstdint>

// Every function has a slot for good, those too that callers should leave.
#define RCAP_DEPRECATED(text)
#include "routecap/routecap_table.h"

namespace {

constexpr rcap_api kApi = {
    sizeof(rcap_api), RCAP_ABI_VERSION, 0,
    rcap_error_init,
    rcap_build_info_init,
    rcap_version_string,
    rcap_abi_version,
    rcap_status_name,
    rcap_build_info_get,
    rcap_layout_rows,
    rcap_backend_options_init,
    rcap_backend_info_init,
    rcap_backend_open,
    rcap_backend_describe,
    rcap_backend_destroy,
    rcap_capturer_config_init,
    rcap_capturer_plan_init,
    rcap_tap_options_init,
    rcap_capture_layout_init,
    rcap_capturer_stats_init,
    rcap_capturer_plan_get,
    rcap_capturer_create,
    rcap_capturer_destroy,
    rcap_capturer_add_model,
    rcap_model_set_capture,
    rcap_model_add_tap,
    rcap_capturer_seal,
    rcap_tap_capture,
    rcap_tap_is_enabled,
    rcap_tap_id,
    rcap_capturer_tap,
    rcap_capturer_stats_get,
    rcap_forward_layout_init,
    rcap_accept_layout_init,
    rcap_summary_init,
    rcap_capturer_end_forward,
    rcap_capturer_discard_forward,
    rcap_output_sequence,
    rcap_output_accept,
    rcap_output_device_rows,
    rcap_output_copy_to_host,
    rcap_output_ready,
    rcap_output_wait,
    rcap_output_finalize,
    rcap_output_destroy,
    rcap_capturer_completion_fd,
    rcap_capturer_next_completed,
    rcap_slots_layout_init,
    rcap_slot_info_init,
    rcap_capturer_release_slots,
    rcap_capturer_release_all,
    rcap_capturer_copy_slots,
    rcap_capturer_slot_info_get,
    rcap_read_layout_init,
    rcap_read_info_init,
    rcap_capturer_read,
    rcap_capturer_read_into,
    rcap_record_layout_init,
    rcap_record_info_init,
    rcap_record_create,
    rcap_record_destroy,
    rcap_record_info_get,
    rcap_record_ids,
    rcap_record_weights,
    rcap_record_row_validity,
    rcap_record_cell_validity,
    rcap_record_layer_ids,
    rcap_record_layer_flags,
    rcap_record_version_spans,
    rcap_record_slice,
};

}  // namespace

extern "C" const rcap_api* rcap_get_api(std::int32_t abi_version) noexcept {
  return abi_version >= 1 && abi_version <= RCAP_ABI_VERSION ? &kApi : nullptr;
}
