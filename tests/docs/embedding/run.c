// SPDX-License-Identifier: Apache-2.0
//
// Runs the engine that capi/docs/embedding.md is made of: BLOCKS is every block of C on that page, in order.
#include BLOCKS

#include <string.h>

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "run.c:%d: is false: %s\n", __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                \
    }                                                                    \
  } while (0)

// Ids of row `row` in layer `layer`; no two rows have the same.
static int32_t id(int layer, int64_t row, int k) { return (int32_t)(layer * 100 + row * TOP_K + k); }

static void forward(struct engine* engine, int64_t first_id, int64_t tokens, int64_t first_row) {
  int32_t topk[64][TOP_K];
  for (int layer = 0; layer < LAYERS; ++layer) {
    for (int64_t row = 0; row < tokens; ++row) {
      for (int k = 0; k < TOP_K; ++k) topk[row][k] = id(layer, first_id + row, k);
    }
    on_router(engine->taps[layer], &topk[0][0], tokens, first_row, NULL);
    // The draft's layer runs in between, with ids of its own.
    memset(topk, 0x11, sizeof topk);
    on_router(engine->draft_tap, &topk[0][0], tokens, first_row, NULL);
  }
}

// The record's rows are those of the forwards, row by row; -1 is a missing one.
static void expect_rows(rcap_record* record, const int64_t* rows, int64_t count) {
  rcap_error error;
  rcap_record_info info;
  const void* ids = NULL;
  const void* validity = NULL;
  int64_t bytes = 0;
  rcap_error_init(&error, (int64_t)sizeof error);
  rcap_record_info_init(&info, (int64_t)sizeof info);
  check(rcap_record_info_get(record, &info, &error), &error);
  EXPECT(info.rows == count);
  check(rcap_record_ids(record, &ids, &bytes, &error), &error);
  EXPECT(bytes == count * LAYERS * TOP_K);
  check(rcap_record_row_validity(record, &validity, &bytes, &error), &error);
  for (int64_t row = 0; row < count; ++row) {
    const int valid = (((const unsigned char*)validity)[row / 8] >> (row % 8)) & 1;
    EXPECT(valid == (rows[row] >= 0));
    for (int layer = 0; layer < LAYERS && valid; ++layer) {
      for (int k = 0; k < TOP_K; ++k) EXPECT(((const unsigned char*)ids)[(row * LAYERS + layer) * TOP_K + k] == id(layer, rows[row], k));
    }
  }
  rcap_record_destroy(record);
}

int main(void) {
  struct engine engine;
  const int64_t first[3] = {40, 41, 7};
  const int64_t drafts[VERIFY] = {8, 9, 10, 11};
  const int64_t whole[6] = {40, 41, 7, 8, 9, 10};
  const int64_t moved[6] = {140, 141, 107, 108, 109, 110};
  const int64_t per_rank[2] = {5, 3};
  int64_t first_row = -1;
  int64_t tokens = -1;
  rcap_error error;
  rcap_capturer_stats stats;
  rcap_output* outputs[2];
  start(&engine);

  // Prefill of three tokens, on the second of two data-parallel ranks: behind the first one's rows, which are rounded up to 8.
  my_rows(per_rank, 2, 1, 4, &first_row, &tokens);
  EXPECT(first_row == 8 && tokens == 3);
  stop(&engine);
  start(&engine);
  forward(&engine, 0, 3, 0);
  outputs[0] = end_forward(&engine, first, 3, 0, 1, NULL);
  EXPECT(outputs[0] != NULL);
  // Verification of the last token and three drafts, of which one is accepted; then the output of the prefill, late.
  forward(&engine, 3, VERIFY, 0);
  verify(&engine, drafts, VERIFY, 1, NULL);
  settle(outputs[0]);
  // Slots 10 and 11 were rejected: the sixth row is missing.
  expect_rows(finish(&engine, whole, 7 - 1), (const int64_t[]){0, 1, 2, 3, 4}, 5);

  move_slots(&engine, whole, moved, 6, NULL);
  expect_rows(finish(&engine, moved, 6), (const int64_t[]){0, 1, 2, 3, 4}, 5);
  expect_rows(finish(&engine, whole, 6), (const int64_t[]){-1, -1, -1, -1, -1}, 5);

  // Two blocks: a third forward is told to wait, and nothing is lost.
  forward(&engine, 10, 1, 0);
  outputs[0] = end_forward(&engine, &first[0], 1, 0, 2, NULL);
  forward(&engine, 11, 1, 0);
  outputs[1] = end_forward(&engine, &first[1], 1, 0, 3, NULL);
  forward(&engine, 12, 1, 0);
  EXPECT(end_forward(&engine, &first[2], 1, 0, 4, NULL) == NULL);
  settle(outputs[0]);
  outputs[0] = end_forward(&engine, &first[2], 1, 0, 4, NULL);
  EXPECT(outputs[0] != NULL);
  settle(outputs[1]);
  settle(outputs[0]);
  expect_rows(finish(&engine, first, 4 - 1), (const int64_t[]){10, 11}, 2);

  rcap_error_init(&error, (int64_t)sizeof error);
  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  check(rcap_capturer_stats_get(engine.capturer, &stats, &error), &error);
  EXPECT(stats.suppressed == 5 * LAYERS && stats.busy == 1 && stats.rows_bad == 0);
  stop(&engine);
  puts("embedding: ok");
  return EXIT_SUCCESS;
}
