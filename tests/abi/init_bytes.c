// SPDX-License-Identifier: Apache-2.0
// Every struct's init function: writes the caller's size and not a byte more, gives the macro's bytes, and keeps away from what is no struct.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routecap/routecap.h"

#define CANARY 0xA5

typedef void (*init_function)(void* value, int64_t struct_size);

typedef struct {
  const char* name;
  init_function init;
  const void* initializer;
  size_t size;
} sized_struct;

static int failures = 0;

static void expect(int holds, const char* what, const char* name, size_t size) {
  if (!holds) {
    printf("FAILED %s: %s at size %zu\n", name, what, size);
    ++failures;
  }
}

/* The functions take a struct of their own; through these the table can hold them all. */
#define RCAP_STRUCT(type, initializer)                        \
  static void type##_call(void* value, int64_t struct_size) { \
    type* typed = value;                                      \
    type##_init(typed, struct_size);                          \
  }                                                           \
  static const type type##_macro = initializer;
#include "structs.inc"
#undef RCAP_STRUCT

static const sized_struct kStructs[] = {
#define RCAP_STRUCT(type, initializer) {#type, type##_call, &type##_macro, sizeof(type)},
#include "structs.inc"
#undef RCAP_STRUCT
};

static int all_bytes(const unsigned char* bytes, size_t count, unsigned char value) {
  size_t i;
  for (i = 0; i < count; ++i) {
    if (bytes[i] != value) {
      return 0;
    }
  }
  return 1;
}

/* A caller's struct of any size from 8 bytes to twice the library's, in memory that ends where the struct ends, so that valgrind and the address
 * sanitizer see a write behind it too. */
static void check_size(const sized_struct* s, size_t size) {
  unsigned char* bytes = malloc(size + 8);
  size_t known = size < s->size ? size : s->size;
  int64_t struct_size;
  if (bytes == NULL) {
    abort();
  }
  memset(bytes, CANARY, size + 8);
  s->init(bytes, (int64_t)size);
  memcpy(&struct_size, bytes, sizeof struct_size);
  expect(struct_size == (int64_t)size, "struct_size is not the caller's", s->name, size);
  expect(memcmp(bytes + 8, (const unsigned char*)s->initializer + 8, known - 8) == 0, "differs from the macro", s->name, size);
  expect(all_bytes(bytes + known, size - known, 0), "bytes behind the known fields are not zero", s->name, size);
  expect(all_bytes(bytes + size, 8, CANARY), "wrote past the struct", s->name, size);
  free(bytes);

  bytes = malloc(size);
  if (bytes == NULL) {
    abort();
  }
  s->init(bytes, (int64_t)size);
  free(bytes);
}

static void check_no_struct(const sized_struct* s, int64_t struct_size) {
  unsigned char bytes[64];
  memset(bytes, CANARY, sizeof bytes);
  s->init(bytes, struct_size);
  expect(all_bytes(bytes, sizeof bytes, CANARY), "wrote although the size is below 8", s->name, (size_t)struct_size);
}

int main(void) {
  const size_t count = sizeof kStructs / sizeof kStructs[0];
  size_t i;
  size_t size;
  int64_t macro_size;
  for (i = 0; i < count; ++i) {
    const sized_struct* s = &kStructs[i];
    memcpy(&macro_size, s->initializer, sizeof macro_size);
    expect(macro_size == (int64_t)s->size, "the macro's struct_size is not sizeof", s->name, s->size);
    for (size = 8; size <= 2 * s->size; ++size) {
      check_size(s, size);
    }
    for (size = 0; size < 8; ++size) {
      check_no_struct(s, (int64_t)size);
    }
    check_no_struct(s, -1);
    check_no_struct(s, INT64_MIN);
    s->init(NULL, (int64_t)s->size);
    s->init(NULL, 0);
  }
  printf("%zu structs, %d failures\n", count, failures);
  return failures == 0 && count > 0 ? 0 : 1;
}
