/* SPDX-License-Identifier: Apache-2.0 */
/* The program that a release freezes with its headers: what an engine and a client of it do, once on the host and once on the plugin that is named
 * on the command line, linked and through the function table. It checks every value, and a later library must satisfy it as this one does. */
#include <inttypes.h>
#include <routecap/routecap.h>
#include <routecap/routecap_loader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLayers = 2, kTopK = 2, kTokens = 3, kRow = kLayers * kTopK };

static void refuse(int line, const char* what, const char* text) {
  fprintf(stderr, "program.c:%d: %s: %s\n", line, what, text);
  exit(EXIT_FAILURE);
}
#define EXPECT(condition)                                       \
  do {                                                          \
    if (!(condition)) refuse(__LINE__, "is false", #condition); \
  } while (0)
#define OK(call)                                                                      \
  do {                                                                                \
    const int32_t status_ = (int32_t)(call);                                          \
    if (status_ != RCAP_STATUS_OK) refuse(__LINE__, rcap_status_name(status_), text); \
  } while (0)

static rcap_error error;
static const char* const text = error.text;

static const uint8_t expected[kTokens * kRow] = {17, 4, 1, 2, 255, 0, 3, 4, 9, 30, 5, 6};

static void expect_rows(const rcap_record* record, int64_t first, int64_t rows) {
  const void* ids = NULL;
  int64_t bytes = 0;
  OK(rcap_record_ids(record, &ids, &bytes, &error));
  EXPECT(bytes == rows * kRow);
  EXPECT(memcmp(ids, expected + first * kRow, (size_t)bytes) == 0);
}

static void records(const rcap_record* whole) {
  rcap_record* front = NULL;
  rcap_record* back = NULL;
  rcap_record* joined = NULL;
  rcap_record* decoded = NULL;
  rcap_compare_report report;
  rcap_record_info info;
  unsigned char frame[4096];
  int64_t needed = 0;
  int64_t consumed = 0;
  OK(rcap_record_slice(whole, 0, 1, &front, &error));
  OK(rcap_record_slice(whole, 1, kTokens, &back, &error));
  OK(rcap_record_append(front, back, RCAP_OVERLAP_REFUSE, &joined, &error));
  expect_rows(back, 1, kTokens - 1);
  OK(rcap_record_encode(joined, RCAP_WIRE_FRAME, NULL, frame, (int64_t)sizeof frame, &needed, &error));
  OK(rcap_record_decode(RCAP_WIRE_FRAME, frame, needed, NULL, NULL, 0, &decoded, &consumed, &error));
  EXPECT(consumed == needed);
  expect_rows(decoded, 0, kTokens);
  rcap_record_info_init(&info, (int64_t)sizeof info);
  OK(rcap_record_info_get(decoded, &info, &error));
  EXPECT(info.rows == kTokens && info.num_layers == kLayers && info.top_k == kTopK);
  rcap_compare_report_init(&report, (int64_t)sizeof report);
  OK(rcap_record_compare(decoded, whole, &report, NULL, 0, &error));
  EXPECT(rcap_record_append(front, front, RCAP_OVERLAP_REFUSE, &joined, &error) == RCAP_STATUS_OUT_OF_RANGE && text[0] != '\0');
  rcap_record_destroy(front);
  rcap_record_destroy(back);
  rcap_record_destroy(joined);
  rcap_record_destroy(decoded);
}

static void serve(rcap_backend* backend) {
  static const int32_t layers[kLayers] = {3, 4};
  static const int32_t topk[kLayers][kTokens][kTopK] = {{{17, 4}, {255, 0}, {9, 30}}, {{1, 2}, {3, 4}, {5, 6}}};
  static const int64_t slots[kTokens] = {40, 41, 7};
  rcap_capturer_config config;
  rcap_capture_layout capture;
  rcap_forward_layout forward;
  rcap_read_layout range;
  rcap_capturer_stats stats;
  rcap_slots_layout list;
  rcap_capturer* capturer = NULL;
  rcap_model* target = NULL;
  rcap_tap* taps[kLayers];
  rcap_output* output = NULL;
  rcap_record* record = NULL;
  int i;
  rcap_capturer_config_init(&config, (int64_t)sizeof config);
  config.num_experts = 256;
  config.top_k = kTopK;
  config.chunked_prefill_size = 128;
  config.num_slots = 1024;
  OK(rcap_capturer_create(&config, layers, kLayers, backend, &capturer, &error));
  OK(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, &error));
  for (i = 0; i < kLayers; ++i) OK(rcap_model_add_tap(target, layers[i], NULL, NULL, 0, &taps[i], &error));
  OK(rcap_capturer_seal(capturer, &error));

  rcap_capture_layout_init(&capture, (int64_t)sizeof capture);
  capture.columns = kTopK;
  capture.tokens = kTokens;
  for (i = 0; i < kLayers; ++i) OK(rcap_tap_capture(taps[i], &capture, topk[i], (int64_t)sizeof topk[i], NULL, 0, NULL, 0, NULL, &error));
  rcap_forward_layout_init(&forward, (int64_t)sizeof forward);
  forward.tokens = kTokens;
  OK(rcap_capturer_end_forward(capturer, &forward, slots, (int64_t)sizeof slots, NULL, 0, NULL, 0, NULL, &output, &error));
  OK(rcap_output_copy_to_host(output, NULL, &error));
  OK(rcap_output_wait(output, INT64_C(1000000000), &error));
  OK(rcap_output_finalize(output, NULL, &error));
  rcap_output_destroy(output);

  rcap_read_layout_init(&range, (int64_t)sizeof range);
  range.tokens = kTokens + 1;
  OK(rcap_capturer_read(capturer, &range, slots, (int64_t)sizeof slots, NULL, 0, &record, &error));
  expect_rows(record, 0, kTokens);
  records(record);
  rcap_record_destroy(record);

  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  OK(rcap_capturer_stats_get(capturer, &stats, &error));
  EXPECT(stats.forwards == 1 && stats.finalized == 1 && stats.rows_stored == kTokens);
  rcap_slots_layout_init(&list, (int64_t)sizeof list);
  OK(rcap_capturer_release_slots(capturer, &list, slots, (int64_t)sizeof slots, NULL, &error));
  rcap_capturer_destroy(capturer);
}

int main(int argc, char** argv) {
  const rcap_api* api = NULL;
  rcap_backend* backend = NULL;
  char why[512];
  rcap_error_init(&error, (int64_t)sizeof error);
  if (argc != 2) refuse(__LINE__, "usage", "program PLUGIN");
  EXPECT(rcap_abi_version() == RCAP_ABI_VERSION);
  serve(NULL);
  OK(rcap_backend_open(argv[1], NULL, &backend, &error));
  serve(backend);
  rcap_backend_destroy(backend);
  /* The library that is linked is the one that the loader finds by its name. */
  if (rcap_load(NULL, &api, why, (int64_t)sizeof why) != RCAP_STATUS_OK) refuse(__LINE__, "rcap_load", why);
  EXPECT(api->struct_size >= (int64_t)sizeof *api);
  EXPECT(strcmp(api->version_string(), rcap_version_string()) == 0);
  EXPECT(rcap_get_api(RCAP_ABI_VERSION) == api);
  printf("built with %s, ran on %s\n", RCAP_VERSION_STRING, rcap_version_string());
  return EXIT_SUCCESS;
}
