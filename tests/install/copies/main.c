// SPDX-License-Identifier: Apache-2.0
//
// A process that links the shared library and loads two hosts with copies of their own, whose calls go to their own copy and whose rows do not meet.
// A third host does not hide its copy's symbols: its calls end in the process's library, which shows that the first two would too.
//
//   static_copies COPY_A COPY_B OPEN_COPY
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "copies/main.c:%d: is false: %s\n", __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                        \
    }                                                                            \
  } while (0)

struct host {
  int (*start)(void);
  int (*forward)(int32_t id, int64_t slot);
  int (*id)(int64_t slot);
  void (*stop)(void);
  const void* (*table)(void);
};

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  EXPECT(found != NULL);
  return found;
}

static struct host open_host(const char* path) {
  struct host host;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  EXPECT(library != NULL);
  // ISO C knows no cast from an object's pointer to a function's.
  void* found = symbol(library, "copy_start");
  memcpy(&host.start, &found, sizeof found);
  found = symbol(library, "copy_forward");
  memcpy(&host.forward, &found, sizeof found);
  found = symbol(library, "copy_id");
  memcpy(&host.id, &found, sizeof found);
  found = symbol(library, "copy_stop");
  memcpy(&host.stop, &found, sizeof found);
  found = symbol(library, "copy_table");
  memcpy(&host.table, &found, sizeof found);
  return host;
}

int main(int argc, char** argv) {
  EXPECT(argc == 4);
  const void* own = rcap_get_api(RCAP_ABI_VERSION);
  const struct host a = open_host(argv[1]);
  const struct host b = open_host(argv[2]);
  const struct host open_one = open_host(argv[3]);
  EXPECT(own != NULL && a.table() != NULL && b.table() != NULL);
  EXPECT(a.table() != own && b.table() != own && a.table() != b.table());
  EXPECT(open_one.table() == own);

  // The same slots at the same time; one ends before the other.
  EXPECT(a.start() == 0 && b.start() == 0 && open_one.start() == 0);
  for (int32_t i = 0; i < 16; ++i) {
    EXPECT(a.forward(i, i) == 0 && b.forward(100 + i, i) == 0 && open_one.forward(200 + i, i) == 0);
    EXPECT(a.id(i) == i && b.id(i) == 100 + i && open_one.id(i) == 200 + i);
  }
  a.stop();
  for (int32_t i = 0; i < 16; ++i) EXPECT(b.id(i) == 100 + i && open_one.id(i) == 200 + i);
  EXPECT(a.start() == 0 && a.id(3) == 0xFF && a.forward(7, 3) == 0 && a.id(3) == 7 && b.id(3) == 103);
  a.stop();
  b.stop();
  open_one.stop();
  puts("static_copies: ok");
  return EXIT_SUCCESS;
}
