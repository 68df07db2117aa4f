/* SPDX-License-Identifier: Apache-2.0 */
/* After fork(): in the child every call on the capturer answers FORKED, destroying is harmless, records work; the parent notices nothing. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct inherited {
  struct small small;
  rcap_output* pending;
  rcap_output* later;
  rcap_output* settled;
  rcap_record* record;
  rcap_backend* backend;
};

static void in_child(struct inherited* it) {
  rcap_capture_layout capture;
  rcap_forward_layout forward;
  rcap_accept_layout accept;
  rcap_slots_layout list;
  rcap_read_layout read;
  rcap_read_info read_info;
  rcap_slot_info slot_info;
  rcap_capturer_stats stats;
  rcap_summary summary;
  rcap_record_info info;
  rcap_error error;
  rcap_output* output = NULL;
  rcap_record* record = NULL;
  rcap_record* slice = NULL;
  rcap_model* model = NULL;
  rcap_tap* tap = NULL;
  void* rows = NULL;
  const void* data = NULL;
  int64_t bytes = 0;
  int64_t sequence = 0;
  int32_t status = 0;
  int32_t fd = -1;
  const int64_t slot = 1;
  const int32_t ids[kTopK] = {1, 2};
  rcap_capturer* self = it->small.capturer;

  rcap_error_init(&error, (int64_t)sizeof error);
  rcap_capture_layout_init(&capture, (int64_t)sizeof capture);
  capture.columns = kTopK;
  capture.tokens = 1;
  rcap_forward_layout_init(&forward, (int64_t)sizeof forward);
  rcap_accept_layout_init(&accept, (int64_t)sizeof accept);
  rcap_slots_layout_init(&list, (int64_t)sizeof list);
  rcap_read_layout_init(&read, (int64_t)sizeof read);
  read.tokens = 2;
  rcap_read_info_init(&read_info, (int64_t)sizeof read_info);
  rcap_slot_info_init(&slot_info, (int64_t)sizeof slot_info);
  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  rcap_summary_init(&summary, (int64_t)sizeof summary);
  rcap_record_info_init(&info, (int64_t)sizeof info);

  CHECK_STATUS(rcap_capturer_add_model(self, RCAP_ROLE_DRAFT, "draft", &model, &error), RCAP_STATUS_FORKED);
  CHECK(error.code == RCAP_STATUS_FORKED && error.text[0] != '\0');
  CHECK_STATUS(rcap_model_set_capture(it->small.target, RCAP_CAPTURE_ALLOW, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_model_add_tap(it->small.target, 4, NULL, NULL, 0, &tap, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_seal(self, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_tap_capture(it->small.taps[0], &capture, ids, (int64_t)sizeof ids, NULL, 0, NULL, 0, NULL, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_tap_is_enabled(it->small.taps[0], &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_tap_id(it->small.taps[0], &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_tap(self, 0, &tap, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_stats_get(self, &stats, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_end_forward(self, &forward, NULL, 0, NULL, 0, NULL, 0, NULL, &output, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_discard_forward(self, NULL, &error), RCAP_STATUS_FORKED);
  CHECK(rcap_output_sequence(it->pending, &error) == RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_accept(it->later, &accept, NULL, 0, NULL, 0, NULL, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_device_rows(it->pending, &rows, &bytes, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_copy_to_host(it->pending, NULL, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_ready(it->pending, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_wait(it->pending, 5000000000, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_finalize(it->pending, &summary, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_output_finalize(it->settled, &summary, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_completion_fd(self, &fd, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_next_completed(self, 5000000000, &sequence, &status, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_release_slots(self, &list, &slot, 8, NULL, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_release_all(self, NULL, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_copy_slots(self, &list, &slot, 8, &slot, 8, NULL, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_slot_info_get(self, 1, &slot_info, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_read(self, &read, &slot, 8, NULL, 0, &record, &error), RCAP_STATUS_FORKED);
  CHECK_STATUS(rcap_capturer_read_into(self, &read, &slot, 8, NULL, 0, NULL, 0, NULL, 0, NULL, 0, &read_info, &error), RCAP_STATUS_FORKED);
  CHECK(output == NULL && record == NULL && model == NULL && tap == NULL && fd == -1);

  CHECK_STATUS(rcap_record_info_get(it->record, &info, &error), RCAP_STATUS_OK);
  CHECK(info.rows == 3 && info.rows_valid == 3);
  CHECK_STATUS(rcap_record_ids(it->record, &data, &bytes, &error), RCAP_STATUS_OK);
  CHECK(((const uint8_t*)data)[kLayers * kTopK] == (uint8_t)small_id(1, 0, 0));
  CHECK_STATUS(rcap_record_slice(it->record, 1, 2, &slice, &error), RCAP_STATUS_OK);
  rcap_record_destroy(slice);

  rcap_output_destroy(it->pending);
  rcap_output_destroy(it->later);
  {
    rcap_backend_info described;
    rcap_capturer_config config;
    rcap_capturer* made = NULL;
    const int32_t layer = 4;
    rcap_backend_info_init(&described, (int64_t)sizeof described);
    small_config(&config);
    CHECK_STATUS(rcap_backend_describe(it->backend, &described, &error), RCAP_STATUS_FORKED);
    CHECK_STATUS(rcap_capturer_create(&config, &layer, 1, it->backend, &made, &error), RCAP_STATUS_FORKED);
    CHECK(made == NULL);
    rcap_backend_destroy(it->backend);
  }
  rcap_output_destroy(it->settled);
  rcap_record_destroy(it->record);
  rcap_capturer_destroy(self);

  /* A capturer of the child's own works. */
  {
    rcap_capturer_config config;
    struct small mine;
    small_config(&config);
    config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
    small_create(&mine, &config);
    small_capture(&mine, 50, 2);
    output = small_end(&mine, 5, 2);
    CHECK_STATUS(rcap_output_wait(output, 20000000000, NULL), RCAP_STATUS_OK);
    rcap_output_destroy(output);
    CHECK(small_holds(&mine, 5, 50, 2));
    rcap_capturer_destroy(mine.capturer);
  }
}

static void with_mode(int32_t mode) {
  rcap_capturer_config config;
  rcap_forward_layout layout;
  rcap_accept_layout accept;
  rcap_read_layout read;
  rcap_summary summary;
  struct inherited it;
  const int64_t slots[3] = {0, 1, 2};
  pid_t child;
  int code = 0;

  memset(&it, 0, sizeof it);
  small_config(&config);
  config.finalize_mode = mode;
  config.pipeline_depth = 4;
  CHECK_STATUS(rcap_backend_open("host", NULL, &it.backend, NULL), RCAP_STATUS_OK);
  small_create(&it.small, &config);
  small_capture(&it.small, 0, 3);
  it.settled = small_end(&it.small, 0, 3);
  CHECK_STATUS(rcap_output_copy_to_host(it.settled, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_wait(it.settled, 20000000000, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(it.settled, NULL, NULL), RCAP_STATUS_OK);
  rcap_read_layout_init(&read, (int64_t)sizeof read);
  read.tokens = 4;
  CHECK_STATUS(rcap_capturer_read(it.small.capturer, &read, slots, (int64_t)sizeof slots, NULL, 0, &it.record, NULL), RCAP_STATUS_OK);
  small_capture(&it.small, 10, 2);
  rcap_forward_layout_init(&layout, (int64_t)sizeof layout);
  layout.tokens = 2;
  layout.acceptance = RCAP_ACCEPT_LATER;
  CHECK_STATUS(rcap_capturer_end_forward(it.small.capturer, &layout, NULL, 0, NULL, 0, NULL, 0, NULL, &it.later, NULL), RCAP_STATUS_OK);
  small_capture(&it.small, 20, 2);
  it.pending = small_end(&it.small, 8, 2);
  small_capture(&it.small, 30, 1); /* a forward that has begun */

  fflush(stdout);
  fflush(stderr);
  child = fork();
  if (child == 0) {
    in_child(&it);
    _exit(check_failures != 0);
  }
  CHECK(child > 0);
  CHECK(waitpid(child, &code, 0) == child);
  CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 0);

  CHECK_STATUS(rcap_output_copy_to_host(it.pending, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_wait(it.pending, 20000000000, NULL), RCAP_STATUS_OK);
  rcap_summary_init(&summary, (int64_t)sizeof summary);
  CHECK_STATUS(rcap_output_finalize(it.pending, &summary, NULL), RCAP_STATUS_OK);
  CHECK(summary.rows_stored == 2);
  {
    const int64_t rows[1] = {1};
    const int64_t slot[1] = {15};
    rcap_accept_layout_init(&accept, (int64_t)sizeof accept);
    CHECK_STATUS(rcap_output_accept(it.later, &accept, rows, 8, slot, 8, NULL, NULL), RCAP_STATUS_OK);
  }
  CHECK_STATUS(rcap_output_copy_to_host(it.later, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_wait(it.later, 20000000000, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(it.later, NULL, NULL), RCAP_STATUS_OK);
  CHECK(small_holds(&it.small, 0, 0, 3) && small_holds(&it.small, 8, 20, 2) && small_holds(&it.small, 15, 11, 1));
  rcap_output_destroy(it.pending);
  rcap_output_destroy(it.later);
  rcap_output_destroy(it.settled);
  rcap_record_destroy(it.record);
  rcap_backend_destroy(it.backend);
  rcap_capturer_destroy(it.small.capturer);
}

int main(void) {
  with_mode(RCAP_FINALIZE_CALLER);
  with_mode(RCAP_FINALIZE_OWN_THREAD);
  return check_failures != 0;
}
