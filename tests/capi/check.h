/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ROUTECAP_TESTS_CAPI_CHECK_H
#define ROUTECAP_TESTS_CAPI_CHECK_H

/* What the C programs share: a check that goes on and counts, and a small capturer. Everything else is spelled out in each program, as a C user
 * would write it. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <routecap/routecap.h>

static int check_failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++check_failures;                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

#define CHECK_STATUS(call, expected)                                                                                            \
  do {                                                                                                                          \
    const int32_t check_status = (int32_t)(call);                                                                               \
    if (check_status != (expected)) {                                                                                           \
      ++check_failures;                                                                                                         \
      fprintf(stderr, "%s:%d: %s answered %s, not %s\n", __FILE__, __LINE__, #call, rcap_status_name(check_status), #expected); \
    }                                                                                                                           \
  } while (0)

enum { kLayers = 2, kTopK = 2, kSlots = 16, kRows = 8 };

/* Two layers (4 and 7) of eight experts, two of them chosen; sixteen slots; eight device rows. */
static inline void small_config(rcap_capturer_config* config) {
  rcap_capturer_config_init(config, (int64_t)sizeof *config);
  config->num_experts = 8;
  config->top_k = kTopK;
  config->chunked_prefill_size = kRows;
  config->num_slots = kSlots;
}

static const int32_t small_layers[kLayers] = {4, 7};

struct small {
  rcap_capturer* capturer;
  rcap_model* target;
  rcap_tap* taps[kLayers];
};

/* Creates and seals. */
static inline void small_create(struct small* small, const rcap_capturer_config* config) {
  int i;
  memset(small, 0, sizeof *small);
  CHECK_STATUS(rcap_capturer_create(config, small_layers, kLayers, NULL, &small->capturer, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_capturer_add_model(small->capturer, RCAP_ROLE_TARGET, "target", &small->target, NULL), RCAP_STATUS_OK);
  for (i = 0; i < kLayers; ++i) {
    CHECK_STATUS(rcap_model_add_tap(small->target, small_layers[i], NULL, NULL, 0, &small->taps[i], NULL), RCAP_STATUS_OK);
  }
  CHECK_STATUS(rcap_capturer_seal(small->capturer, NULL), RCAP_STATUS_OK);
}

/* The id that layer `layer` chose as its k-th for token `token`. */
static inline int32_t small_id(int64_t token, int layer, int k) { return (int32_t)((token * 3 + layer * 5 + k) % 8); }

static inline void small_capture(struct small* small, int64_t first_token, int64_t tokens) {
  rcap_capture_layout layout;
  int32_t ids[kRows * kTopK];
  int layer;
  rcap_capture_layout_init(&layout, (int64_t)sizeof layout);
  layout.columns = kTopK;
  layout.tokens = tokens;
  for (layer = 0; layer < kLayers; ++layer) {
    int64_t i;
    for (i = 0; i < tokens * kTopK; ++i) ids[i] = small_id(first_token + i / kTopK, layer, (int)(i % kTopK));
    CHECK_STATUS(rcap_tap_capture(small->taps[layer], &layout, ids, tokens * kTopK * (int64_t)sizeof ids[0], NULL, 0, NULL, 0, NULL, NULL),
                 RCAP_STATUS_OK);
  }
}

/* Ends a forward whose token i goes to slot first_slot + i. */
static inline rcap_output* small_end(struct small* small, int64_t first_slot, int64_t tokens) {
  rcap_forward_layout layout;
  rcap_output* output = NULL;
  int64_t slots[kRows];
  int64_t i;
  rcap_forward_layout_init(&layout, (int64_t)sizeof layout);
  layout.tokens = tokens;
  for (i = 0; i < tokens; ++i) slots[i] = first_slot + i;
  CHECK_STATUS(rcap_capturer_end_forward(small->capturer, &layout, slots, tokens * (int64_t)sizeof slots[0], NULL, 0, NULL, 0, NULL, &output, NULL),
               RCAP_STATUS_OK);
  return output;
}

/* Reads slots first_slot .. first_slot + count - 1: 1 if all hold the rows of tokens first_token .., else 0. */
static inline int small_holds(const struct small* small, int64_t first_slot, int64_t first_token, int64_t count) {
  rcap_read_layout layout;
  rcap_read_info info;
  uint8_t ids[kRows * kLayers * kTopK];
  uint8_t validity = 0;
  int64_t slots[kRows];
  int64_t i;
  rcap_read_layout_init(&layout, (int64_t)sizeof layout);
  rcap_read_info_init(&info, (int64_t)sizeof info);
  layout.tokens = count + 1;
  for (i = 0; i < count; ++i) slots[i] = first_slot + i;
  if (rcap_capturer_read_into(small->capturer, &layout, slots, count * (int64_t)sizeof slots[0], NULL, 0, ids, (int64_t)sizeof ids, NULL, 0,
                              &validity, 1, &info, NULL) != RCAP_STATUS_OK) {
    return 0;
  }
  if (info.rows != count || info.rows_valid != count || validity != (1U << count) - 1U) return 0;
  for (i = 0; i < count * kLayers * kTopK; ++i) {
    const int64_t token = first_token + i / (kLayers * kTopK);
    if (ids[i] != small_id(token, (int)(i / kTopK % kLayers), (int)(i % kTopK))) return 0;
  }
  return 1;
}

#endif
