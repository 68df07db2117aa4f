/* SPDX-License-Identifier: Apache-2.0 */
/* A thousand threads that come and go with 64 KiB of stack, as runtimes make them: every call that works on rows has room, and a thread leaves
 * nothing. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { kThreads = 1000, kAtOnce = 8, kStackBytes = 64 * 1024, kFormBytes = 16 * 1024 };

static const int32_t kForms[] = {RCAP_WIRE_FRAME, RCAP_WIRE_FRAME_BASE64, RCAP_WIRE_SGLANG, RCAP_WIRE_VLLM, RCAP_WIRE_NPY,
                                 RCAP_WIRE_PRIME, RCAP_WIRE_NEMO,         RCAP_WIRE_LISTS,  RCAP_WIRE_CSV};

/* Out and in again in every form, the frame compressed. */
static void forms(const rcap_record* record, unsigned char* buffer) {
  size_t i;
  for (i = 0; i < sizeof kForms / sizeof kForms[0]; ++i) {
    rcap_encode_options options;
    rcap_decode_hints hints;
    rcap_record* again = NULL;
    int64_t needed = 0;
    rcap_encode_options_init(&options, (int64_t)sizeof options);
    if (kForms[i] == RCAP_WIRE_FRAME) options.zstd_level = 19;
    CHECK_STATUS(rcap_record_encode(record, kForms[i], &options, buffer, kFormBytes, &needed, NULL), RCAP_STATUS_OK);
    rcap_decode_hints_init(&hints, (int64_t)sizeof hints);
    hints.num_experts = 8;
    hints.top_k = kTopK;
    hints.rows = 4;
    hints.start = 0;
    CHECK_STATUS(rcap_record_decode(kForms[i], buffer, needed, &hints, small_layers, kLayers, &again, NULL, NULL), RCAP_STATUS_OK);
    rcap_record_destroy(again);
    /* And what is refused, with its text. */
    CHECK(rcap_record_decode(kForms[i], buffer, needed / 2, &hints, small_layers, kLayers, &again, NULL, NULL) < 0);
  }
}

static void algebra(const rcap_record* record) {
  rcap_compare_report report;
  rcap_record* front = NULL;
  rcap_record* back = NULL;
  rcap_record* whole = NULL;
  rcap_compare_report_init(&report, (int64_t)sizeof report);
  CHECK_STATUS(rcap_record_slice(record, 0, 2, &front, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_record_slice(record, 2, 4, &back, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_record_append(front, back, RCAP_OVERLAP_REFUSE, &whole, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_record_compare(whole, record, &report, NULL, 0, NULL), RCAP_STATUS_OK);
  CHECK(report.equal == 1);
  rcap_record_destroy(whole);
  rcap_record_destroy(back);
  rcap_record_destroy(front);
}

static void* life(void* unused) {
  rcap_capturer_config config;
  rcap_read_layout layout;
  rcap_error error;
  struct small small;
  rcap_output* output;
  rcap_record* record = NULL;
  rcap_record* refused = NULL;
  unsigned char* buffer = malloc(kFormBytes);
  const int64_t slots[] = {3, 4, 5, 6};
  (void)unused;
  small_config(&config);
  small_create(&small, &config);
  small_capture(&small, 9, 4);
  output = small_end(&small, 3, 4);
  CHECK_STATUS(rcap_output_copy_to_host(output, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(output, NULL, NULL), RCAP_STATUS_OK);
  CHECK(small_holds(&small, 3, 9, 4));
  rcap_read_layout_init(&layout, (int64_t)sizeof layout);
  layout.tokens = 5;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &layout, slots, (int64_t)sizeof slots, NULL, 0, &record, NULL), RCAP_STATUS_OK);
  forms(record, buffer);
  algebra(record);
  rcap_error_init(&error, (int64_t)sizeof error);
  layout.tokens = -1;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &layout, slots, (int64_t)sizeof slots, NULL, 0, &refused, &error), RCAP_STATUS_OUT_OF_RANGE);
  CHECK(error.text[0] != '\0' && refused == NULL);
  rcap_record_destroy(record);
  rcap_output_destroy(output);
  rcap_capturer_destroy(small.capturer);
  free(buffer);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  int done;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, kStackBytes) == 0);
  for (done = 0; done < kThreads; done += kAtOnce) {
    pthread_t threads[kAtOnce];
    int i;
    for (i = 0; i < kAtOnce; ++i) CHECK(pthread_create(&threads[i], &attributes, life, NULL) == 0);
    for (i = 0; i < kAtOnce; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  }
  pthread_attr_destroy(&attributes);
  return check_failures != 0;
}
