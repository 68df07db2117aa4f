/* SPDX-License-Identifier: Apache-2.0 */
/* A handle of another type, or none, is told by every function that takes one; every output pointer may be asked for with null. */
#include "check.h"

enum { kKinds = 6 };

/* Every call that takes a handle, on any pointer at all. Where it must answer INVALID_ARGUMENT this is counted. */
struct calls {
  int made;
  int refused;
};

static void note(struct calls* calls, int64_t status, const rcap_error* error) {
  ++calls->made;
  if (status == RCAP_STATUS_INVALID_ARGUMENT && error->code == status && error->text[0] != '\0' && strchr(error->text, '\n') == NULL)
    ++calls->refused;
}

static rcap_error error;

static void as_backend(void* handle, struct calls* calls) {
  rcap_backend_info info;
  rcap_capturer_config config;
  rcap_capturer* capturer = NULL;
  rcap_backend_info_init(&info, (int64_t)sizeof info);
  note(calls, rcap_backend_describe((const rcap_backend*)handle, &info, &error), &error);
  if (handle == NULL) return; /* to create, null is the host */
  small_config(&config);
  note(calls, rcap_capturer_create(&config, small_layers, kLayers, (rcap_backend*)handle, &capturer, &error), &error);
}

static void as_capturer(void* handle, struct calls* calls) {
  rcap_capturer* self = (rcap_capturer*)handle;
  rcap_forward_layout forward;
  rcap_slots_layout list;
  rcap_read_layout read;
  rcap_slot_info slot_info;
  rcap_capturer_stats stats;
  rcap_model* model = NULL;
  rcap_tap* tap = NULL;
  rcap_output* output = NULL;
  rcap_record* record = NULL;
  const int64_t slot = 1;
  int64_t sequence = 0;
  int32_t number = 0;
  uint8_t ids[8];
  rcap_forward_layout_init(&forward, (int64_t)sizeof forward);
  rcap_slots_layout_init(&list, (int64_t)sizeof list);
  rcap_read_layout_init(&read, (int64_t)sizeof read);
  read.tokens = 2;
  rcap_slot_info_init(&slot_info, (int64_t)sizeof slot_info);
  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  note(calls, rcap_capturer_add_model(self, RCAP_ROLE_DRAFT, "x", &model, &error), &error);
  note(calls, rcap_capturer_seal(self, &error), &error);
  note(calls, rcap_capturer_tap(self, 0, &tap, &error), &error);
  note(calls, rcap_capturer_stats_get(self, &stats, &error), &error);
  note(calls, rcap_capturer_end_forward(self, &forward, NULL, 0, NULL, 0, NULL, 0, NULL, &output, &error), &error);
  note(calls, rcap_capturer_discard_forward(self, NULL, &error), &error);
  note(calls, rcap_capturer_completion_fd(self, &number, &error), &error);
  note(calls, rcap_capturer_next_completed(self, 0, &sequence, &number, &error), &error);
  note(calls, rcap_capturer_release_slots(self, &list, &slot, 8, NULL, &error), &error);
  note(calls, rcap_capturer_release_all(self, NULL, &error), &error);
  note(calls, rcap_capturer_copy_slots(self, &list, &slot, 8, &slot, 8, NULL, &error), &error);
  note(calls, rcap_capturer_slot_info_get(self, 1, &slot_info, &error), &error);
  note(calls, rcap_capturer_read(self, &read, &slot, 8, NULL, 0, &record, &error), &error);
  note(calls, rcap_capturer_read_into(self, &read, &slot, 8, NULL, 0, ids, 8, NULL, 0, NULL, 0, NULL, &error), &error);
}

static void as_model(void* handle, struct calls* calls) {
  rcap_tap* tap = NULL;
  note(calls, rcap_model_set_capture((rcap_model*)handle, RCAP_CAPTURE_DENY, &error), &error);
  note(calls, rcap_model_add_tap((rcap_model*)handle, 4, NULL, NULL, 0, &tap, &error), &error);
}

static void as_tap(void* handle, struct calls* calls) {
  rcap_capture_layout layout;
  const int32_t ids[2] = {1, 2};
  rcap_capture_layout_init(&layout, (int64_t)sizeof layout);
  layout.columns = kTopK;
  layout.tokens = 1;
  note(calls, rcap_tap_capture((rcap_tap*)handle, &layout, ids, 8, NULL, 0, NULL, 0, NULL, &error), &error);
  note(calls, rcap_tap_is_enabled((const rcap_tap*)handle, &error), &error);
  note(calls, rcap_tap_id((const rcap_tap*)handle, &error), &error);
}

static void as_output(void* handle, struct calls* calls) {
  rcap_output* self = (rcap_output*)handle;
  rcap_accept_layout accept;
  rcap_summary summary;
  void* data = NULL;
  int64_t bytes = 0;
  rcap_accept_layout_init(&accept, (int64_t)sizeof accept);
  rcap_summary_init(&summary, (int64_t)sizeof summary);
  note(calls, rcap_output_sequence(self, &error), &error);
  note(calls, rcap_output_accept(self, &accept, NULL, 0, NULL, 0, NULL, &error), &error);
  note(calls, rcap_output_device_rows(self, &data, &bytes, &error), &error);
  note(calls, rcap_output_copy_to_host(self, NULL, &error), &error);
  note(calls, rcap_output_ready(self, &error), &error);
  note(calls, rcap_output_wait(self, 0, &error), &error);
  note(calls, rcap_output_finalize(self, &summary, &error), &error);
}

static void as_record(void* handle, struct calls* calls) {
  const rcap_record* self = (const rcap_record*)handle;
  rcap_record_info info;
  const void* data = NULL;
  const int32_t* numbers = NULL;
  const int64_t* starts = NULL;
  const int64_t* versions = NULL;
  int64_t count = 0;
  rcap_record* slice = NULL;
  rcap_record_info_init(&info, (int64_t)sizeof info);
  note(calls, rcap_record_info_get(self, &info, &error), &error);
  note(calls, rcap_record_ids(self, &data, &count, &error), &error);
  note(calls, rcap_record_weights(self, &data, &count, &error), &error);
  note(calls, rcap_record_row_validity(self, &data, &count, &error), &error);
  note(calls, rcap_record_cell_validity(self, &data, &count, &error), &error);
  note(calls, rcap_record_layer_ids(self, &numbers, &count, &error), &error);
  note(calls, rcap_record_layer_flags(self, &numbers, &count, &error), &error);
  note(calls, rcap_record_version_spans(self, &starts, &versions, &count, &error), &error);
  note(calls, rcap_record_slice(self, 0, 0, &slice, &error), &error);
}

typedef void (*as_kind)(void*, struct calls*);

static void null_outputs(struct small* small, rcap_output* output, rcap_record* record) {
  struct calls calls = {0, 0};
  rcap_forward_layout forward;
  rcap_read_layout read;
  int64_t number = 0;
  const void* data = NULL;
  const int64_t* longs = NULL;
  int64_t first = 0;
  const int64_t tokens[1] = {1};
  rcap_forward_layout_init(&forward, (int64_t)sizeof forward);
  rcap_read_layout_init(&read, (int64_t)sizeof read);
  note(&calls, rcap_build_info_get(NULL, &error), &error);
  note(&calls, rcap_layout_rows(RCAP_ROWS_LOCAL, NULL, 1, 0, 1, 0, 0, &first, &number, &error), &error);
  note(&calls, rcap_layout_rows(RCAP_ROWS_LOCAL, tokens, 1, 0, 1, 0, 0, NULL, &number, &error), &error);
  note(&calls, rcap_layout_rows(RCAP_ROWS_LOCAL, tokens, 1, 0, 1, 0, 0, &first, NULL, &error), &error);
  note(&calls, rcap_capturer_tap(small->capturer, 0, NULL, &error), &error);
  note(&calls, rcap_capturer_stats_get(small->capturer, NULL, &error), &error);
  note(&calls, rcap_capturer_end_forward(small->capturer, &forward, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, &error), &error);
  note(&calls, rcap_output_device_rows(output, NULL, &number, &error), &error);
  note(&calls, rcap_capturer_slot_info_get(small->capturer, 1, NULL, &error), &error);
  note(&calls, rcap_capturer_read(small->capturer, &read, NULL, 0, NULL, 0, NULL, &error), &error);
  note(&calls, rcap_record_info_get(record, NULL, &error), &error);
  note(&calls, rcap_record_ids(record, NULL, &number, &error), &error);
  note(&calls, rcap_record_ids(record, &data, NULL, &error), &error);
  note(&calls, rcap_record_weights(record, NULL, &number, &error), &error);
  note(&calls, rcap_record_row_validity(record, NULL, &number, &error), &error);
  note(&calls, rcap_record_cell_validity(record, NULL, &number, &error), &error);
  note(&calls, rcap_record_layer_ids(record, NULL, &number, &error), &error);
  note(&calls, rcap_record_layer_flags(record, NULL, &number, &error), &error);
  note(&calls, rcap_record_version_spans(record, NULL, &longs, &number, &error), &error);
  note(&calls, rcap_record_version_spans(record, &longs, NULL, &number, &error), &error);
  note(&calls, rcap_record_version_spans(record, &longs, &longs, NULL, &error), &error);
  note(&calls, rcap_record_slice(record, 0, 1, NULL, &error), &error);
  CHECK(calls.made == 22);
  CHECK(calls.refused == calls.made);
}

int main(void) {
  static const as_kind kinds[kKinds] = {as_backend, as_capturer, as_model, as_tap, as_output, as_record};
  static const char* const names[kKinds] = {"backend", "capturer", "model", "tap", "output", "record"};
  static int64_t memory[64]; /* no handle at all: zeros */
  rcap_capturer_config config;
  rcap_capturer_stats before;
  rcap_capturer_stats after;
  rcap_backend* backend = NULL;
  rcap_read_layout read;
  rcap_record* record = NULL;
  rcap_output* output;
  struct small small;
  void* handles[kKinds + 2];
  const int64_t slot = 3;
  int kind;
  int given;

  rcap_error_init(&error, (int64_t)sizeof error);
  CHECK_STATUS(rcap_backend_open("host", NULL, &backend, NULL), RCAP_STATUS_OK);
  small_config(&config);
  small_create(&small, &config);
  small_capture(&small, 9, 1);
  output = small_end(&small, 3, 1);
  CHECK_STATUS(rcap_output_copy_to_host(output, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(output, NULL, NULL), RCAP_STATUS_OK);
  rcap_read_layout_init(&read, (int64_t)sizeof read);
  read.tokens = 2;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &read, &slot, 8, NULL, 0, &record, NULL), RCAP_STATUS_OK);
  rcap_capturer_stats_init(&before, (int64_t)sizeof before);
  rcap_capturer_stats_init(&after, (int64_t)sizeof after);
  CHECK_STATUS(rcap_capturer_stats_get(small.capturer, &before, NULL), RCAP_STATUS_OK);

  handles[0] = backend;
  handles[1] = small.capturer;
  handles[2] = small.target;
  handles[3] = small.taps[0];
  handles[4] = output;
  handles[5] = record;
  handles[6] = memory;
  handles[7] = NULL;
  for (kind = 0; kind < kKinds; ++kind) {
    for (given = 0; given < kKinds + 2; ++given) {
      struct calls calls = {0, 0};
      if (given == kind) continue;
      kinds[kind](handles[given], &calls);
      if (calls.refused != calls.made) {
        ++check_failures;
        fprintf(stderr, "%d of %d calls on a %s took something else (%d) for one\n", calls.made - calls.refused, calls.made, names[kind], given);
      }
    }
  }

  CHECK_STATUS(rcap_capturer_stats_get(small.capturer, &after, NULL), RCAP_STATUS_OK);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
  CHECK(small_holds(&small, 3, 9, 1));
  rcap_output_destroy(output);
  small_capture(&small, 0, 1);
  output = small_end(&small, 4, 1);
  null_outputs(&small, output, record);

  rcap_output_destroy(output);
  rcap_record_destroy(record);
  rcap_capturer_destroy(small.capturer);
  rcap_backend_destroy(backend);
  return check_failures != 0;
}
