/* SPDX-License-Identifier: Apache-2.0 */
/* Structs grow at their end: a caller of an older header passes a smaller struct, one of a newer header a larger one. */
#include <stddef.h>

#include "check.h"

enum { kTail = 24 };

/* Init functions write struct_size and nothing past the bytes they were told of. */
#define CHECK_INIT(type)                                                               \
  do {                                                                                 \
    unsigned char bytes[sizeof(rcap_##type) + 2 * kTail];                              \
    rcap_##type whole;                                                                 \
    int64_t size;                                                                      \
    size_t i;                                                                          \
    rcap_##type##_init(&whole, (int64_t)sizeof whole);                                 \
    for (size = 8; size <= (int64_t)sizeof(rcap_##type) + kTail; size += 8) {          \
      int64_t told = 0;                                                                \
      memset(bytes, 0xC7, sizeof bytes);                                               \
      rcap_##type##_init((rcap_##type*)(void*)bytes, size);                            \
      memcpy(&told, bytes, sizeof told);                                               \
      CHECK(told == size);                                                             \
      for (i = 8; i < (size_t)size; ++i) {                                             \
        CHECK(bytes[i] == (i < sizeof whole ? ((const unsigned char*)&whole)[i] : 0)); \
      }                                                                                \
      for (i = (size_t)size; i < sizeof bytes; ++i) CHECK(bytes[i] == 0xC7);           \
    }                                                                                  \
    memset(bytes, 0xC7, sizeof bytes);                                                 \
    rcap_##type##_init((rcap_##type*)(void*)bytes, 0);                                 \
    rcap_##type##_init((rcap_##type*)(void*)bytes, -8);                                \
    for (i = 0; i < sizeof bytes; ++i) CHECK(bytes[i] == 0xC7);                        \
    rcap_##type##_init(NULL, (int64_t)sizeof whole);                                   \
  } while (0)

static void init_functions(void) {
  CHECK_INIT(error);
  CHECK_INIT(build_info);
  CHECK_INIT(backend_options);
  CHECK_INIT(backend_info);
  CHECK_INIT(capturer_config);
  CHECK_INIT(capturer_plan);
  CHECK_INIT(tap_options);
  CHECK_INIT(capture_layout);
  CHECK_INIT(capturer_stats);
  CHECK_INIT(forward_layout);
  CHECK_INIT(accept_layout);
  CHECK_INIT(summary);
  CHECK_INIT(slots_layout);
  CHECK_INIT(slot_info);
  CHECK_INIT(read_layout);
  CHECK_INIT(read_info);
  CHECK_INIT(record_layout);
  CHECK_INIT(record_info);
}

/* A struct of the library with what a newer header might have behind it. */
#define WITH_TAIL(type)  \
  union {                \
    rcap_##type known;   \
    struct {             \
      rcap_##type known; \
      int64_t newer[3];  \
    } grown;             \
  }

static void in_structs(void) {
  WITH_TAIL(capturer_config) config;
  WITH_TAIL(read_layout) read;
  WITH_TAIL(forward_layout) forward;
  rcap_capturer* capturer = NULL;
  rcap_record* record = NULL;
  rcap_output* output = NULL;
  rcap_capturer_plan plan;
  rcap_error error;
  struct small small;
  const int64_t slot = 1;
  int64_t size;
  int i;

  rcap_error_init(&error, (int64_t)sizeof error);
  rcap_capturer_plan_init(&plan, (int64_t)sizeof plan);

  /* Newer caller: zero bytes that the library does not know are fine, others are refused. */
  memset(&config, 0, sizeof config);
  small_config(&config.known);
  config.known.struct_size = (int64_t)sizeof config.grown;
  CHECK_STATUS(rcap_capturer_plan_get(&config.known, small_layers, kLayers, &plan, &error), RCAP_STATUS_OK);
  for (i = 0; i < 3; ++i) {
    memset(config.grown.newer, 0, sizeof config.grown.newer);
    ((unsigned char*)config.grown.newer)[i * 8 + 7 - i] = 1;
    CHECK_STATUS(rcap_capturer_plan_get(&config.known, small_layers, kLayers, &plan, &error), RCAP_STATUS_UNSUPPORTED);
    CHECK(strlen(error.text) > 0);
    CHECK_STATUS(rcap_capturer_create(&config.known, small_layers, kLayers, NULL, &capturer, &error), RCAP_STATUS_UNSUPPORTED);
    CHECK(capturer == NULL);
  }

  /* Older caller: the fields that it does not have are 0. Without its last field the configuration is the same. */
  small_config(&config.known);
  config.known.busy_timeout_ns = 0x7777777777777777; /* behind the older struct: not the caller's */
  config.known.struct_size = (int64_t)sizeof config.known - 8;
  CHECK_STATUS(rcap_capturer_plan_get(&config.known, small_layers, kLayers, &plan, &error), RCAP_STATUS_OK);
  CHECK(plan.device_rows == kRows);
  /* Without dp_size and what follows these are 0, which is out of their limits: read as given, never guessed. */
  config.known.struct_size = (int64_t)offsetof(rcap_capturer_config, dp_size);
  CHECK_STATUS(rcap_capturer_plan_get(&config.known, small_layers, kLayers, &plan, &error), RCAP_STATUS_OUT_OF_RANGE);
  CHECK(strstr(error.text, "dp_size") != NULL || strstr(error.text, "attn_tp_size") != NULL || strstr(error.text, "page_size") != NULL);

  /* A struct_size that is no size at all. */
  for (size = -8; size < (int64_t)sizeof config.known; ++size) {
    if (size >= 8 && size % 8 == 0) continue;
    config.known.struct_size = size;
    CHECK_STATUS(rcap_capturer_plan_get(&config.known, small_layers, kLayers, &plan, &error), RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(strstr(error.text, "struct_size") != NULL);
  }

  small_config(&config.known);
  small_create(&small, &config.known);
  memset(&read, 0, sizeof read);
  rcap_read_layout_init(&read.known, (int64_t)sizeof read.grown);
  read.known.tokens = 2;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &read.known, &slot, 8, NULL, 0, &record, &error), RCAP_STATUS_OK);
  rcap_record_destroy(record);
  record = NULL;
  read.grown.newer[2] = 1;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &read.known, &slot, 8, NULL, 0, &record, &error), RCAP_STATUS_UNSUPPORTED);
  CHECK(record == NULL);
  /* A read layout that ends before `after_sequence` names none. */
  rcap_read_layout_init(&read.known, (int64_t)sizeof read.known);
  read.known.tokens = 2;
  read.known.after_sequence = 99;
  read.known.timeout_ns = -1;
  read.known.struct_size = (int64_t)sizeof read.known - 16;
  CHECK_STATUS(rcap_capturer_read(small.capturer, &read.known, &slot, 8, NULL, 0, &record, &error), RCAP_STATUS_OK);
  rcap_record_destroy(record);

  memset(&forward, 0, sizeof forward);
  rcap_forward_layout_init(&forward.known, (int64_t)sizeof forward.grown);
  forward.grown.newer[0] = -1;
  CHECK_STATUS(rcap_capturer_end_forward(small.capturer, &forward.known, NULL, 0, NULL, 0, NULL, 0, NULL, &output, &error), RCAP_STATUS_UNSUPPORTED);
  CHECK(output == NULL);
  forward.grown.newer[0] = 0;
  CHECK_STATUS(rcap_capturer_end_forward(small.capturer, &forward.known, NULL, 0, NULL, 0, NULL, 0, NULL, &output, &error), RCAP_STATUS_OK);
  rcap_output_destroy(output);
  rcap_capturer_destroy(small.capturer);
}

static void out_structs(void) {
  unsigned char bytes[sizeof(rcap_capturer_stats) + 2 * kTail];
  rcap_capturer_config config;
  rcap_capturer_stats stats;
  struct small small;
  int64_t size;
  size_t i;
  rcap_error error;

  rcap_error_init(&error, (int64_t)sizeof error);
  small_config(&config);
  small_create(&small, &config);
  small_capture(&small, 0, 2);
  rcap_output_destroy(small_end(&small, 0, 2));
  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  CHECK_STATUS(rcap_capturer_stats_get(small.capturer, &stats, NULL), RCAP_STATUS_OK);
  CHECK(stats.forwards == 1 && stats.dropped == 1 && stats.last_sequence == 1);
  /* The smaller of both sizes is written, the rest of the caller's is zeroed, nothing past it is touched. */
  for (size = 16; size <= (int64_t)sizeof stats + kTail; size += 8) {
    memset(bytes, 0xC7, sizeof bytes);
    memcpy(bytes, &size, sizeof size);
    CHECK_STATUS(rcap_capturer_stats_get(small.capturer, (rcap_capturer_stats*)(void*)bytes, &error), RCAP_STATUS_OK);
    CHECK(memcmp(bytes, &size, sizeof size) == 0);
    for (i = 8; i < (size_t)size; ++i) CHECK(bytes[i] == (i < sizeof stats ? ((const unsigned char*)&stats)[i] : 0));
    for (i = (size_t)size; i < sizeof bytes; ++i) CHECK(bytes[i] == 0xC7);
  }
  for (size = -16; size < 8; ++size) {
    memset(bytes, 0xC7, sizeof bytes);
    memcpy(bytes, &size, sizeof size);
    CHECK_STATUS(rcap_capturer_stats_get(small.capturer, (rcap_capturer_stats*)(void*)bytes, &error), RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(strstr(error.text, "struct_size") != NULL);
    for (i = 8; i < sizeof bytes; ++i) CHECK(bytes[i] == 0xC7);
  }
  rcap_capturer_destroy(small.capturer);
}

int main(void) {
  init_functions();
  in_structs();
  out_structs();
  return check_failures != 0;
}
