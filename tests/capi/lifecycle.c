/* SPDX-License-Identifier: Apache-2.0 */
/* The whole way of a row in plain C: plan, create, models, taps, seal, capture, end, copy, finalize, read, release, destroy. */
#include "check.h"

static void library(void) {
  rcap_build_info info;
  int32_t status;
  CHECK(strcmp(rcap_status_name(RCAP_STATUS_OK), "RCAP_STATUS_OK") == 0);
  CHECK(strcmp(rcap_status_name(RCAP_STATUS_BUSY), "RCAP_STATUS_BUSY") == 0);
  CHECK(strcmp(rcap_status_name(RCAP_STATUS_INTERNAL), "RCAP_STATUS_INTERNAL") == 0);
  CHECK(strcmp(rcap_status_name(1), "RCAP_STATUS_UNKNOWN") == 0);
  CHECK(strcmp(rcap_status_name(-17), "RCAP_STATUS_UNKNOWN") == 0);
  CHECK(strcmp(rcap_status_name(INT32_MIN), "RCAP_STATUS_UNKNOWN") == 0);
  for (status = RCAP_STATUS_INTERNAL; status <= RCAP_STATUS_OK; ++status) CHECK(strcmp(rcap_status_name(status), "RCAP_STATUS_UNKNOWN") != 0);
  CHECK(rcap_abi_version() >= 1);
  rcap_build_info_init(&info, (int64_t)sizeof info);
  CHECK_STATUS(rcap_build_info_get(&info, NULL), RCAP_STATUS_OK);
  CHECK(info.abi_version == rcap_abi_version());
  CHECK(strcmp(info.version, rcap_version_string()) == 0);
  CHECK(strlen(info.compiler) > 0);
  CHECK(strcmp(info.simd, "scalar") == 0 || strcmp(info.simd, "avx2") == 0 || strcmp(info.simd, "avx512") == 0 || strcmp(info.simd, "neon") == 0);
  CHECK(strstr(info.features, "thrust=") != NULL);
}

static void defaults(void) {
  rcap_capturer_config config;
  rcap_capture_layout capture;
  rcap_forward_layout forward;
  rcap_read_layout read;
  rcap_error error;
  rcap_capturer_config_init(&config, (int64_t)sizeof config);
  CHECK(config.struct_size == (int64_t)sizeof config);
  CHECK(config.pipeline_depth == 2);
  CHECK(config.max_running_requests == 1 && config.dp_size == 1 && config.attn_tp_size == 1 && config.page_size == 1);
  CHECK(config.num_experts == 0 && config.num_slots == 0 && config.tags == 0);
  rcap_capture_layout_init(&capture, (int64_t)sizeof capture);
  CHECK(capture.ids_dtype == RCAP_DTYPE_INT32 && capture.tokens == 0);
  rcap_forward_layout_init(&forward, (int64_t)sizeof forward);
  CHECK(forward.slots_dtype == RCAP_DTYPE_INT64 && forward.rows_dtype == RCAP_DTYPE_INT64 && forward.acceptance == RCAP_ACCEPT_ALL);
  rcap_read_layout_init(&read, (int64_t)sizeof read);
  CHECK(read.slots_dtype == RCAP_DTYPE_INT64 && read.unit == RCAP_UNIT_SLOT);
  rcap_error_init(&error, (int64_t)sizeof error);
  CHECK(error.struct_size == (int64_t)sizeof error && error.code == 0 && error.text[0] == '\0');
}

static void errors(void) {
  rcap_capturer_config config;
  rcap_capturer* capturer = NULL;
  rcap_error error;
  rcap_error_init(&error, (int64_t)sizeof error);
  small_config(&config);
  config.top_k = 9;
  CHECK_STATUS(rcap_capturer_create(&config, small_layers, kLayers, NULL, &capturer, &error), RCAP_STATUS_OUT_OF_RANGE);
  CHECK(error.code == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(strstr(error.text, "top_k") != NULL && strchr(error.text, '9') != NULL && strchr(error.text, '8') != NULL);
  CHECK(strchr(error.text, '\n') == NULL);
  config.top_k = 2;
  CHECK_STATUS(rcap_capturer_create(&config, small_layers, kLayers, NULL, &capturer, &error), RCAP_STATUS_OK);
  CHECK(error.code == RCAP_STATUS_OK && error.text[0] == '\0'); /* a success clears what stood there */
  rcap_capturer_destroy(capturer);
  /* An error of a wrong size is not wanted, and not written to. */
  memset(&error, 0x5A, sizeof error);
  error.struct_size = 12;
  capturer = NULL;
  config.top_k = 9;
  CHECK_STATUS(rcap_capturer_create(&config, small_layers, kLayers, NULL, &capturer, &error), RCAP_STATUS_OUT_OF_RANGE);
  CHECK(error.struct_size == 12 && error.code == 0x5A5A5A5A && error.text[0] == 0x5A);
}

static void way_of_a_row(void) {
  rcap_capturer_config config;
  rcap_capturer_plan plan;
  rcap_capturer_stats stats;
  rcap_summary summary;
  rcap_slot_info slot;
  rcap_slots_layout list;
  rcap_read_layout read;
  rcap_record_info info;
  rcap_record* record = NULL;
  rcap_record* tail = NULL;
  rcap_output* output;
  struct small small;
  const void* data = NULL;
  int64_t bytes = 0;
  const int32_t released[1] = {3};
  const int64_t slots[4] = {2, 3, 4, 5};

  small_config(&config);
  rcap_capturer_plan_init(&plan, (int64_t)sizeof plan);
  CHECK_STATUS(rcap_capturer_plan_get(&config, small_layers, kLayers, &plan, NULL), RCAP_STATUS_OK);
  CHECK(plan.device_rows == kRows && plan.ids_dtype == RCAP_DTYPE_UINT8 && plan.num_layers == kLayers && plan.slot_ids_bytes == kLayers * kTopK);

  small_create(&small, &config);
  small_capture(&small, 100, 4);
  output = small_end(&small, 2, 4);
  CHECK(rcap_output_sequence(output, NULL) == 1);
  CHECK_STATUS(rcap_output_finalize(output, NULL, NULL), RCAP_STATUS_NOT_READY);
  CHECK_STATUS(rcap_output_copy_to_host(output, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_wait(output, 1000000000, NULL), RCAP_STATUS_OK);
  rcap_summary_init(&summary, (int64_t)sizeof summary);
  CHECK_STATUS(rcap_output_finalize(output, &summary, NULL), RCAP_STATUS_OK);
  CHECK(summary.sequence == 1 && summary.entries == 4 && summary.rows_stored == 4 && summary.rows_bad == 0 && summary.first_bad_row == -1);
  rcap_output_destroy(output);
  CHECK(small_holds(&small, 2, 100, 4));

  rcap_slots_layout_init(&list, (int64_t)sizeof list);
  list.slots_dtype = RCAP_DTYPE_INT32;
  CHECK_STATUS(rcap_capturer_release_slots(small.capturer, &list, released, (int64_t)sizeof released, NULL, NULL), RCAP_STATUS_OK);
  rcap_slot_info_init(&slot, (int64_t)sizeof slot);
  CHECK_STATUS(rcap_capturer_slot_info_get(small.capturer, 3, &slot, NULL), RCAP_STATUS_OK);
  CHECK(slot.valid == 0 && slot.sequence == 2);
  CHECK(small_holds(&small, 2, 100, 1) && !small_holds(&small, 3, 101, 1) && small_holds(&small, 4, 102, 2));

  rcap_read_layout_init(&read, (int64_t)sizeof read);
  read.tokens = 5;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &read, slots, (int64_t)sizeof slots, NULL, 0, &record, NULL), RCAP_STATUS_OK);
  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  CHECK_STATUS(rcap_capturer_stats_get(small.capturer, &stats, NULL), RCAP_STATUS_OK);
  CHECK(stats.forwards == 1 && stats.finalized == 1 && stats.rows_stored == 4 && stats.slots_released == 1 && stats.last_sequence == 2);
  rcap_capturer_destroy(small.capturer);

  rcap_record_info_init(&info, (int64_t)sizeof info);
  CHECK_STATUS(rcap_record_info_get(record, &info, NULL), RCAP_STATUS_OK);
  CHECK(info.rows == 4 && info.rows_valid == 3 && info.num_layers == kLayers && info.top_k == kTopK && info.num_experts == 8);
  CHECK_STATUS(rcap_record_slice(record, 1, 3, &tail, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_record_ids(tail, &data, &bytes, NULL), RCAP_STATUS_OK);
  CHECK(bytes == 2 * kLayers * kTopK);
  CHECK(((const uint8_t*)data)[0] == 0xFF); /* the released row */
  CHECK(((const uint8_t*)data)[kLayers * kTopK] == (uint8_t)small_id(102, 0, 0));
  rcap_record_destroy(tail);
  rcap_record_destroy(record);
}

/* A layer that ran on some rows only, its list of rows in device memory: what is wrong with the list is told when the forward settles (R14). */
static void partial_layer(void) {
  rcap_capturer_config config;
  rcap_tap_options options;
  rcap_capture_layout layout;
  rcap_summary summary;
  rcap_model* target = NULL;
  rcap_capturer* capturer = NULL;
  rcap_tap* taps[kLayers];
  rcap_output* output;
  struct small small;
  const int32_t ids[4 * kTopK] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int32_t row_ids[4] = {2, kRows, 0, 2}; /* of the first layer: row 2 twice, and a row that the buffer does not have */
  const int64_t slots[3] = {5, 6, 7};
  rcap_read_layout read;
  uint8_t validity[2] = {0, 0};
  uint8_t read_ids[3 * kLayers * kTopK];
  rcap_read_info info;

  small_config(&config);
  rcap_tap_options_init(&options, (int64_t)sizeof options);
  options.flags = RCAP_TAP_PARTIAL;
  CHECK_STATUS(rcap_capturer_create(&config, small_layers, kLayers, NULL, &capturer, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_model_add_tap(target, small_layers[0], &options, NULL, 0, &taps[0], NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_model_add_tap(target, small_layers[1], NULL, NULL, 0, &taps[1], NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_capturer_seal(capturer, NULL), RCAP_STATUS_OK);
  small.capturer = capturer;

  rcap_capture_layout_init(&layout, (int64_t)sizeof layout);
  layout.columns = kTopK;
  layout.tokens = 3;
  CHECK_STATUS(rcap_tap_capture(taps[1], &layout, ids, 3 * kTopK * (int64_t)sizeof ids[0], NULL, 0, NULL, 0, NULL, NULL), RCAP_STATUS_OK);
  layout.tokens = 4;
  CHECK_STATUS(rcap_tap_capture(taps[0], &layout, ids, (int64_t)sizeof ids, NULL, 0, row_ids, 4, NULL, NULL), RCAP_STATUS_OUT_OF_RANGE);
  layout.memory = RCAP_MEMORY_DEVICE;
  CHECK_STATUS(rcap_tap_capture(taps[0], &layout, ids, (int64_t)sizeof ids, NULL, 0, row_ids, 4, NULL, NULL), RCAP_STATUS_OK);
  output = small_end(&small, slots[0], 3);
  CHECK_STATUS(rcap_output_copy_to_host(output, NULL, NULL), RCAP_STATUS_OK);
  rcap_summary_init(&summary, (int64_t)sizeof summary);
  CHECK_STATUS(rcap_output_finalize(output, &summary, NULL), RCAP_STATUS_OK);
  CHECK(summary.rows_stray == 1 && summary.first_stray_layer == small_layers[0]);
  CHECK(summary.rows_stored == 2 && summary.rows_bad == 1 && summary.first_bad_fault == RCAP_FAULT_LAYER_REPEATED);
  CHECK(summary.first_bad_row == 2 && summary.first_bad_slot == slots[2] && summary.first_bad_layer == small_layers[0]);
  rcap_output_destroy(output);

  rcap_read_layout_init(&read, (int64_t)sizeof read);
  rcap_read_info_init(&info, (int64_t)sizeof info);
  read.tokens = 4;
  CHECK_STATUS(rcap_capturer_read_into(capturer, &read, slots, (int64_t)sizeof slots, NULL, 0, read_ids, (int64_t)sizeof read_ids, NULL, 0, validity,
                                       (int64_t)sizeof validity, &info, NULL),
               RCAP_STATUS_OK);
  CHECK(info.rows == 3 && validity[0] == 3 && validity[1] == 0xB);
  CHECK(read_ids[0] == 4 && read_ids[1] == 5);                                    /* row 0, layer 4: the list's third entry */
  CHECK(read_ids[kLayers * kTopK] == 0xFF && read_ids[kLayers * kTopK + 2] == 2); /* row 1: not in the list, layer 7 is there */
  rcap_capturer_destroy(capturer);
}

int main(void) {
  library();
  defaults();
  errors();
  way_of_a_row();
  partial_layer();
  return check_failures != 0;
}
