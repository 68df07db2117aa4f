// SPDX-License-Identifier: Apache-2.0
//
// A host's shared library with routecap linked into it.
#include "copy.h"

#include <stddef.h>

static rcap_capturer* capturer;
static rcap_tap* tap;

static int done(rcap_status status) { return status == RCAP_STATUS_OK ? 0 : 1; }

int copy_start(void) {
  static const int32_t layer = 0;
  rcap_capturer_config config;
  rcap_model* model = NULL;
  rcap_capturer_config_init(&config, (int64_t)sizeof config);
  config.num_experts = 256;
  config.top_k = 1;
  config.chunked_prefill_size = 8;
  config.num_slots = 16;
  return done(rcap_capturer_create(&config, &layer, 1, NULL, &capturer, NULL)) |
         done(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &model, NULL)) |
         done(rcap_model_add_tap(model, 0, NULL, NULL, 0, &tap, NULL)) | done(rcap_capturer_seal(capturer, NULL));
}

int copy_forward(int32_t id, int64_t slot) {
  rcap_capture_layout capture;
  rcap_forward_layout forward;
  rcap_output* output = NULL;
  int bad;
  rcap_capture_layout_init(&capture, (int64_t)sizeof capture);
  capture.columns = 1;
  capture.tokens = 1;
  rcap_forward_layout_init(&forward, (int64_t)sizeof forward);
  forward.tokens = 1;
  bad = done(rcap_tap_capture(tap, &capture, &id, (int64_t)sizeof id, NULL, 0, NULL, 0, NULL, NULL)) |
        done(rcap_capturer_end_forward(capturer, &forward, &slot, (int64_t)sizeof slot, NULL, 0, NULL, 0, NULL, &output, NULL)) |
        done(rcap_output_copy_to_host(output, NULL, NULL)) | done(rcap_output_wait(output, INT64_C(1000000000), NULL)) |
        done(rcap_output_finalize(output, NULL, NULL));
  rcap_output_destroy(output);
  return bad;
}

int copy_id(int64_t slot) {
  rcap_read_layout layout;
  rcap_record* record = NULL;
  const void* ids = NULL;
  int64_t bytes = 0;
  int id = -1;
  rcap_read_layout_init(&layout, (int64_t)sizeof layout);
  layout.tokens = 2;
  if (rcap_capturer_read(capturer, &layout, &slot, (int64_t)sizeof slot, NULL, 0, &record, NULL) == RCAP_STATUS_OK &&
      rcap_record_ids(record, &ids, &bytes, NULL) == RCAP_STATUS_OK && bytes == 1) {
    id = *(const unsigned char*)ids;
  }
  rcap_record_destroy(record);
  return id;
}

void copy_stop(void) {
  rcap_capturer_destroy(capturer);
  capturer = NULL;
}

const void* copy_table(void) { return rcap_get_api(RCAP_ABI_VERSION); }
