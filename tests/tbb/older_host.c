// SPDX-License-Identifier: Apache-2.0
//
// A library of before `parallel_for`: it knows the frozen interface and nothing of the tree's headers. The TBB plugin serves it, and writes no field
// that it does not know.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface_1.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

enum { ROWS = 4096, TOP_K = 8, CANARY = 0x5A };

static void* take(int64_t bytes) { return calloc(1, (size_t)bytes); }
static int32_t keep(frozen_error* error, int32_t status, const char* text) {
  (void)error;
  fprintf(stderr, "%s\n", text);
  return status;
}

static const frozen_table* table;
static frozen_device* device;

static void* memory(int32_t home, int64_t bytes) {
  void* made = NULL;
  CHECK(table->allocate(device, home, bytes, &made, NULL) == 0);
  return made;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  const frozen_table* (*entry)(const frozen_host*, frozen_error*) = NULL;
  *(void**)&entry = dlsym(library, "routecap_backend_entry_1");
  CHECK(entry != NULL);
  const frozen_host host = {sizeof host, "0.1.0", take, free, keep};
  table = entry(&host, NULL);
  CHECK(table != NULL);
  CHECK(table->struct_size > (int64_t)sizeof *table);  // newer than this library
  CHECK(table->probe(&host, NULL) == 0);
  const frozen_options options = {sizeof options, 0, 0};
  CHECK(table->open(&host, &options, &device, NULL) == 0);

  struct {
    frozen_description known;
    unsigned char behind[64];
  } description;
  memset(&description, CANARY, sizeof description);
  description.known.struct_size = sizeof description.known;
  CHECK(table->describe(device, &description.known, NULL) == 0);
  CHECK(description.known.host_memory == 1 && description.known.threads >= 1);
  CHECK(strncmp(description.known.description, "oneTBB ", 7) == 0);
  for (size_t i = 0; i < sizeof description.behind; ++i) CHECK(description.behind[i] == CANARY);

  frozen_cache cache;
  memset(&cache, 0, sizeof cache);
  cache.struct_size = sizeof cache;
  cache.layers = 1;
  cache.top_k = TOP_K;
  cache.id_bytes = 1;
  cache.num_experts = 256;
  cache.ids_bytes = cache.weights_offset = cache.cells_offset = cache.payload_bytes = TOP_K;
  cache.device_rows = ROWS;
  cache.ids = memory(0, ROWS * TOP_K);
  cache.marks = memory(0, ROWS);
  cache.notes = memory(0, 64);
  int32_t* ids = malloc(sizeof(int32_t) * ROWS * TOP_K);
  CHECK(ids != NULL);
  for (int i = 0; i < ROWS * TOP_K; ++i) ids[i] = (i * 7 + i / 8) % 256;
  frozen_capture capture;
  memset(&capture, 0, sizeof capture);
  capture.struct_size = sizeof capture;
  capture.cache = &cache;
  capture.ids_dtype = 4;
  capture.tokens = ROWS;
  capture.ids = ids;
  capture.ids_stride = TOP_K * 4;
  CHECK(table->capture(device, &capture, NULL, NULL) == 0);
  frozen_snapshot snapshot;
  memset(&snapshot, 0, sizeof snapshot);
  snapshot.struct_size = sizeof snapshot;
  snapshot.cache = &cache;
  snapshot.tokens = snapshot.staged = ROWS;
  snapshot.payload = memory(0, ROWS * TOP_K);
  snapshot.bad_layer = memory(0, ROWS * 4);
  snapshot.captured = memory(0, 8);
  snapshot.repeated = memory(0, 8);
  CHECK(table->snapshot(device, &snapshot, NULL, NULL) == 0);
  CHECK(snapshot.captured[0] == ROWS && snapshot.repeated[0] == 0);
  unsigned char* pinned = memory(1, ROWS * TOP_K);
  frozen_copy copy;
  memset(&copy, 0, sizeof copy);
  copy.struct_size = sizeof copy;
  copy.host = pinned;
  copy.device = snapshot.payload;
  copy.bytes = ROWS * TOP_K;
  CHECK(table->event_create(device, &copy.done, NULL) == 0);
  CHECK(table->copy_to_host(device, &copy, NULL, NULL) == 0);
  CHECK(table->event_query(device, copy.done, NULL) == 0);
  for (int i = 0; i < ROWS * TOP_K; ++i) CHECK(pinned[i] == ids[i]);

  frozen_counters counters;
  memset(&counters, 0, sizeof counters);
  counters.struct_size = sizeof counters;
  CHECK(table->counters(device, &counters, NULL) == 0);
  CHECK(counters.captures == 1 && counters.snapshots == 1 && counters.copies == 1 && counters.copied_bytes == ROWS * TOP_K && counters.events == 1);
  table->event_destroy(device, copy.done);
  table->release(device, 0, cache.ids, ROWS * TOP_K);
  table->release(device, 0, cache.marks, ROWS);
  table->release(device, 0, cache.notes, 64);
  table->release(device, 0, snapshot.payload, ROWS * TOP_K);
  table->release(device, 0, snapshot.bad_layer, ROWS * 4);
  table->release(device, 0, snapshot.captured, 8);
  table->release(device, 0, snapshot.repeated, 8);
  table->release(device, 1, pinned, ROWS * TOP_K);
  CHECK(table->counters(device, &counters, NULL) == 0);
  CHECK(counters.device_bytes == 0 && counters.pinned_bytes == 0 && counters.events == 0);
  table->close(device);
  free(ids);
  return 0;
}
