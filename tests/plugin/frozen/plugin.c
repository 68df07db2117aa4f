// SPDX-License-Identifier: Apache-2.0
//
// A plugin of interface 1 that is never compiled against another one: it takes nothing from the tree's headers. Built twice: with OLDER its table
// ends where the functions that may lack begin; without, it is a newer one that knows more than the library it meets here.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interface_1.h"

enum { OK = 0, OUT_OF_RANGE = -3, OUT_OF_MEMORY = -4, UNSUPPORTED = -9, UINT8 = 1, UINT16 = 2, INT32 = 4, INT64 = 5 };

#ifndef OLDER
// What a later version of interface 1 might append.
typedef struct newer_capture {
  frozen_capture known;
  int64_t lane;
} newer_capture;
typedef struct newer_table {
  frozen_table known;
  void* parallel_for;  // what interface 1 has appended since it was frozen; this plugin has none
  int32_t (*reset)(frozen_device* device, frozen_error* error);
  int32_t (*trim)(frozen_device* device, int64_t bytes, frozen_error* error);
} newer_table;
#endif

struct frozen_device {
  const frozen_host* host;
  _Atomic int64_t held[2];  // bytes of either home; layers are captured from several threads at once
  _Atomic int64_t captures, snapshots;
};

static int32_t probe(const frozen_host* host, frozen_error* error) {
  (void)host, (void)error;
  return OK;
}

static int32_t open_device(const frozen_host* host, const frozen_options* options, frozen_device** device, frozen_error* error) {
  if (options->device_ordinal != 0) return host->fail(error, OUT_OF_RANGE, "device_ordinal: the example has only device 0");
  if (options->threads > 1) return host->fail(error, OUT_OF_RANGE, "threads: the example works on the caller's thread");
  *device = host->allocate(sizeof **device);
  if (*device == NULL) return host->fail(error, OUT_OF_MEMORY, "no memory for a device");
  (*device)->host = host;
  return OK;
}

static void close_device(frozen_device* device) { device->host->release(device); }

static int32_t describe(frozen_device* device, frozen_description* out, frozen_error* error) {
  (void)device, (void)error;
  out->threads = 1;
  out->host_memory = 1;
  strcpy(out->description, "frozen");
  return OK;
}

static int32_t allocate(frozen_device* device, int32_t home, int64_t bytes, void** memory, frozen_error* error) {
  const size_t aligned = ((size_t)bytes + 255) / 256 * 256;
  *memory = aligned_alloc(256, aligned == 0 ? 256 : aligned);
  if (*memory == NULL) return device->host->fail(error, OUT_OF_MEMORY, "malloc has none");
  memset(*memory, 0, aligned);
  device->held[home] += bytes;
  return OK;
}

static void release(frozen_device* device, int32_t home, void* memory, int64_t bytes) {
  device->held[home] -= bytes;
  free(memory);
}

static int32_t upload(frozen_device* device, void* to, const void* from, int64_t bytes, frozen_error* error) {
  (void)device, (void)error;
  memcpy(to, from, (size_t)bytes);
  return OK;
}

// Whatever was recorded is over by the time anyone asks.
static int32_t event_create(frozen_device* device, void** event, frozen_error* error) {
  (void)error;
  *event = device;
  return OK;
}
static void event_destroy(frozen_device* device, void* event) { (void)device, (void)event; }
static int32_t event_record(frozen_device* device, void* event, void* stream, frozen_error* error) {
  (void)device, (void)event, (void)stream, (void)error;
  return OK;
}
static int32_t event_query(frozen_device* device, void* event, frozen_error* error) {
  (void)device, (void)event, (void)error;
  return OK;
}

// A number of any dtype of ids, lists or maps; engines' arrays have any alignment. Little-endian, and shifts of negative numbers keep their sign.
static int64_t number(const void* array, int64_t index, int32_t dtype) {
  static const int32_t sizes[] = {0, 1, 2, 2, 4, 8};  // by rcap_dtype: NONE, UINT8, UINT16, INT16, INT32, INT64
  const int32_t size = sizes[dtype];
  uint64_t bits = 0;
  memcpy(&bits, (const char*)array + index * size, (size_t)size);
  if (dtype == UINT8 || dtype == UINT16) return (int64_t)bits;
  return (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
}

// Of the 64 bytes that a layer has to itself, the first 8 count its strays.
static int64_t* strays_of(const frozen_cache* cache, int64_t layer) { return (int64_t*)cache->notes + layer * 8; }

static int32_t capture(frozen_device* device, const frozen_capture* job, void* stream, frozen_error* error) {
  (void)stream, (void)error;
  const frozen_cache* cache = job->cache;
#ifndef OLDER
  // A library that does not know the field hands a smaller job: then it counts as 0, whatever stands behind it.
  const int64_t lane = job->struct_size >= (int64_t)sizeof(newer_capture) ? ((const newer_capture*)job)->lane : 0;
  if (lane != 0) return device->host->fail(error, UNSUPPORTED, "lane");
#endif
  for (int64_t i = 0; i < job->tokens; ++i) {
    const int64_t offset = job->row_ids == NULL ? i : number(job->row_ids, i, INT32);
    if (offset < 0 || offset >= cache->device_rows - job->first_row) {
      ++*strays_of(cache, job->layer);  // one caller for each layer at a time (R14)
      continue;
    }
    const int64_t row = job->layer * cache->device_rows + job->first_row + offset;
    if (cache->marks[row] != 0) {  // whoever came first keeps the row (R27)
      cache->marks[row] |= FROZEN_REPEATED;
      continue;
    }
    cache->marks[row] = FROZEN_CAPTURED;
    for (int64_t k = 0; k < cache->top_k; ++k) {
      int64_t id = number((const char*)job->ids + i * job->ids_stride, k, job->ids_dtype);
      if (job->id_map != NULL) id = id < 0 || id >= job->id_map_entries ? -1 : number(job->id_map, id, job->id_map_dtype);
      if (id < 0 || id >= cache->num_experts) cache->marks[row] |= FROZEN_BAD_ID;  // narrowing destroys the evidence (R22)
      const int32_t kept = (int32_t)id;
      const uint16_t kept16 = (uint16_t)id;
      char* out = (char*)cache->ids + (row * cache->top_k + k) * cache->id_bytes;
      if (cache->id_bytes == 1) *out = (char)id;
      if (cache->id_bytes == 2) memcpy(out, &kept16, 2);
      if (cache->id_bytes == 4) memcpy(out, &kept, 4);
    }
  }
  ++device->captures;
  return OK;
}

static int32_t clear(frozen_device* device, const frozen_cache* cache, void* stream, frozen_error* error) {
  (void)device, (void)stream, (void)error;
  memset(cache->marks, 0, (size_t)(cache->layers * cache->device_rows));
  memset(cache->notes, 0, (size_t)cache->layers * 64);
  return OK;
}

static int32_t snapshot(frozen_device* device, const frozen_snapshot* job, void* stream, frozen_error* error) {
  const frozen_cache* cache = job->cache;
  const int64_t cell = (int64_t)cache->top_k * cache->id_bytes;
  for (int64_t layer = 0; layer < cache->layers; ++layer) {
    const uint8_t* marks = cache->marks + layer * cache->device_rows + job->first_row;
    job->captured[layer] = job->repeated[layer] = 0;
    if (job->strays != NULL) job->strays[layer] = *strays_of(cache, layer);
    for (int64_t row = 0; row < job->tokens; ++row) {
      job->captured[layer] += (marks[row] & FROZEN_CAPTURED) != 0;
      job->repeated[layer] += (marks[row] & FROZEN_REPEATED) != 0;
    }
  }
  for (int64_t i = 0; i < job->staged; ++i) {
    const int64_t named = job->rows == NULL ? i : job->rows[i];  // PINNED rows are as good as any here: the memory is one
    job->bad_layer[i] = 0;
    if (named < 0 || named >= job->tokens) continue;
    char* payload = (char*)job->payload + i * cache->payload_bytes;
    memset(payload, 0, (size_t)cache->payload_bytes);
    for (int32_t layer = 0; layer < cache->layers; ++layer) {
      const int64_t row = layer * cache->device_rows + job->first_row + named;
      const uint8_t mark = cache->marks[row];
      const int partial = cache->cell_words != 0 && cache->partial[layer];
      if (job->bad_layer[i] >= 0 && partial && (mark & FROZEN_REPEATED)) job->bad_layer[i] = -1 - layer;
      if (job->bad_layer[i] == 0 && (mark & FROZEN_BAD_ID)) job->bad_layer[i] = 1 + layer;
      const int stale = partial && !(mark & FROZEN_CAPTURED);
      memcpy(payload + layer * cell, (const char*)cache->ids + row * cell, (size_t)cell);
      if (stale) memset(payload + layer * cell, 0xFF, (size_t)cell);  // another forward's ids stand there (R7)
      if (cache->cell_words != 0 && (mark & FROZEN_CAPTURED)) ((uint64_t*)(payload + cache->cells_offset))[layer / 64] |= 1ULL << (layer % 64);
    }
  }
  ++device->snapshots;
  return clear(device, cache, stream, error);
}

static int32_t widen(frozen_device* device, const frozen_list* list, void* stream, frozen_error* error) {
  (void)device, (void)stream, (void)error;
  const int32_t dtype = list->element_bytes == 4 ? INT32 : INT64;
  for (int64_t i = 0; i < list->groups * list->width; ++i) list->out[i] = number(list->data, i / list->width * list->stride + i % list->width, dtype);
  return OK;
}

static int32_t copy_to_host(frozen_device* device, const frozen_copy* job, void* stream, frozen_error* error) {
  (void)device, (void)stream, (void)error;
  memcpy(job->host, job->device, (size_t)job->bytes);
  return OK;
}

#ifndef OLDER
static int32_t prepare(frozen_device* device, const frozen_cache* cache, frozen_error* error) {
  if (cache->weight_bytes != 0) return device->host->fail(error, UNSUPPORTED, "weights_dtype: the example keeps no weights");
  return OK;
}

static int32_t lost(frozen_device* device) { return (void)device, 0; }

static int32_t counters(frozen_device* device, frozen_counters* out, frozen_error* error) {
  (void)error;
  const int64_t known = (int64_t)sizeof(frozen_counters);
  frozen_counters counts = {0};  // what is not counted is 0
  counts.struct_size = out->struct_size;
  counts.device_bytes = device->held[FROZEN_DEVICE];
  counts.pinned_bytes = device->held[FROZEN_PINNED];
  counts.captures = device->captures;
  counts.snapshots = device->snapshots;
  memcpy(out, &counts, (size_t)(out->struct_size < known ? out->struct_size : known));
  return OK;
}
#endif

#ifdef OLDER
static void trap(void) { abort(); }
#else
static int32_t reset(frozen_device* device, frozen_error* error) { return (void)device, (void)error, OK; }
static int32_t trim(frozen_device* device, int64_t bytes, frozen_error* error) { return (void)device, (void)bytes, (void)error, OK; }
#endif

__attribute__((visibility("default"))) const frozen_table* routecap_backend_entry_1(const frozen_host* host, frozen_error* error);

const frozen_table* routecap_backend_entry_1(const frozen_host* host, frozen_error* error) {
  // clang-format off
#ifdef OLDER
  static const frozen_table table = {
      offsetof(frozen_table, lost), "older", "1", sizeof(frozen_cache), sizeof(frozen_capture), sizeof(frozen_snapshot),
      probe, open_device, close_device, describe, allocate, release, upload,
      event_create, event_destroy, event_record, event_query, /* event_wait: */ event_query,
      capture, snapshot, clear, widen, copy_to_host,
      // Behind the size that the table states: whoever calls these reads too far.
      (int32_t (*)(frozen_device*))trap, (int32_t (*)(frozen_device*, const frozen_cache*, frozen_error*))trap,
      (int32_t (*)(frozen_device*, void**, frozen_error*))trap, (void (*)(frozen_device*, void*))trap,
      (int32_t (*)(frozen_device*, frozen_counters*, frozen_error*))trap};
  (void)host, (void)error;
  return &table;
#else
  static const newer_table table = {{
      sizeof table, "newer", "7", sizeof(frozen_cache) + 32, sizeof(newer_capture), sizeof(frozen_snapshot) + 8,
      probe, open_device, close_device, describe, allocate, release, upload,
      event_create, event_destroy, event_record, event_query, /* event_wait: */ event_query,
      capture, snapshot, clear, widen, copy_to_host, lost, prepare, /* streams: */ NULL, NULL, counters}, NULL, reset, trim};
  (void)host, (void)error;
  return &table.known;
#endif
  // clang-format on
}
