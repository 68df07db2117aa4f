// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <routecap/routecap.h>
#include <stdio.h>
#include <stdlib.h>

// Ends the program with the library's one-line text unless the call succeeded.
static void check(rcap_status status, const rcap_error* error) {
  if (status == RCAP_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", rcap_status_name(status), error->text);
  exit(EXIT_FAILURE);
}

int main(void) {
  rcap_error error;
  rcap_error_init(&error, sizeof error);

  // Once, at start-up: two captured layers of 256 experts, 2 chosen per token, and a store of 1024 KV slots.
  const int32_t layers[2] = {3, 4};
  rcap_capturer_config config;
  rcap_capturer_config_init(&config, sizeof config);
  config.num_experts = 256;
  config.top_k = 2;
  config.chunked_prefill_size = 128;
  config.num_slots = 1024;
  rcap_capturer* capturer;
  rcap_model* target;
  rcap_tap* taps[2];
  check(rcap_capturer_create(&config, layers, 2, NULL, &capturer, &error), &error);
  check(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target, &error), &error);
  for (int i = 0; i < 2; ++i) check(rcap_model_add_tap(target, layers[i], NULL, NULL, 0, &taps[i], &error), &error);
  check(rcap_capturer_seal(capturer, &error), &error);

  // Every forward: each layer hands over its router's top-k ids [tokens, K]; then the rows go to the tokens' KV slots.
  const int32_t topk[2][3][2] = {{{17, 4}, {255, 0}, {9, 30}}, {{1, 2}, {3, 4}, {5, 6}}};
  const int64_t slots[3] = {40, 41, 7};
  rcap_capture_layout capture;
  rcap_capture_layout_init(&capture, sizeof capture);
  capture.columns = 2;
  capture.tokens = 3;
  for (int i = 0; i < 2; ++i) check(rcap_tap_capture(taps[i], &capture, topk[i], sizeof topk[i], NULL, 0, NULL, 0, NULL, &error), &error);
  rcap_forward_layout forward;
  rcap_forward_layout_init(&forward, sizeof forward);
  forward.tokens = 3;
  rcap_output* output;
  check(rcap_capturer_end_forward(capturer, &forward, slots, sizeof slots, NULL, 0, NULL, 0, NULL, &output, &error), &error);

  // Later, on any thread: the rows reach the store.
  check(rcap_output_copy_to_host(output, NULL, &error), &error);
  check(rcap_output_wait(output, INT64_C(1000000000), &error), &error);
  check(rcap_output_finalize(output, NULL, &error), &error);
  rcap_output_destroy(output);

  // When the request ends: a request of 4 tokens has 3 rows, its last token was never an input.
  rcap_read_layout range;
  rcap_read_layout_init(&range, sizeof range);
  range.tokens = 4;
  rcap_record* record;
  check(rcap_capturer_read(capturer, &range, slots, sizeof slots, NULL, 0, &record, &error), &error);
  const void* ids;
  int64_t bytes;
  check(rcap_record_ids(record, &ids, &bytes, &error), &error);
  for (int64_t row = 0; row < 3; ++row) {
    const uint8_t* cell = (const uint8_t*)ids + row * 4;
    printf("token %" PRId64 ": layer 3 -> %d %d, layer 4 -> %d %d\n", row, cell[0], cell[1], cell[2], cell[3]);
  }
  rcap_record_destroy(record);
  rcap_capturer_destroy(capturer);
  return EXIT_SUCCESS;
}
