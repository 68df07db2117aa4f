// SPDX-License-Identifier: Apache-2.0
//
// A whole backend plugin in C11: its device is ordinary memory, its streams are program order. What a plugin for real hardware does differently is
// said in capi/docs/plugins.md. It keeps no weights, to show how a plugin refuses a shape.
#include <routecap/backend.h>
#include <stdlib.h>
#include <string.h>

struct rcap_plugin_device {
  const rcap_plugin_host* host;
  _Atomic int64_t held[2];  // bytes of either home; layers are captured from several threads at once
  _Atomic int64_t captures, snapshots;
};

static int32_t probe(const rcap_plugin_host* host, rcap_plugin_error* error) {
  (void)host, (void)error;  // a driver would be asked here: `return host->fail(error, RCAP_STATUS_NO_DEVICE, "no such card")`
  return RCAP_STATUS_OK;
}

static int32_t open_device(const rcap_plugin_host* host, const rcap_plugin_options* options, rcap_plugin_device** device, rcap_plugin_error* error) {
  if (options->device_ordinal != 0) return host->fail(error, RCAP_STATUS_OUT_OF_RANGE, "device_ordinal: the example has only device 0");
  if (options->threads > 1) return host->fail(error, RCAP_STATUS_OUT_OF_RANGE, "threads: the example works on the caller's thread");
  *device = host->allocate(sizeof **device);
  if (*device == NULL) return host->fail(error, RCAP_STATUS_OUT_OF_MEMORY, "no memory for a device");
  (*device)->host = host;
  return RCAP_STATUS_OK;
}

static void close_device(rcap_plugin_device* device) { device->host->release(device); }

static int32_t describe(rcap_plugin_device* device, rcap_plugin_description* out, rcap_plugin_error* error) {
  (void)device, (void)error;
  out->threads = 1;
  out->host_memory = 1;
  strcpy(out->description, "host memory, as an example");
  return RCAP_STATUS_OK;
}

static int32_t allocate(rcap_plugin_device* device, int32_t home, int64_t bytes, void** memory, rcap_plugin_error* error) {
  const size_t aligned = ((size_t)bytes + 255) / 256 * 256;
  *memory = aligned_alloc(256, aligned == 0 ? 256 : aligned);
  if (*memory == NULL) return device->host->fail(error, RCAP_STATUS_OUT_OF_MEMORY, "malloc has none");
  memset(*memory, 0, aligned);
  device->held[home] += bytes;
  return RCAP_STATUS_OK;
}

static void release(rcap_plugin_device* device, int32_t home, void* memory, int64_t bytes) {
  device->held[home] -= bytes;
  free(memory);
}

static int32_t upload(rcap_plugin_device* device, void* to, const void* from, int64_t bytes, rcap_plugin_error* error) {
  return memcpy(to, from, (size_t)bytes), (void)device, (void)error, RCAP_STATUS_OK;
}

// Whatever was recorded is over by the time anyone asks.
static int32_t event_create(rcap_plugin_device* device, void** event, rcap_plugin_error* error) {
  return *event = device, (void)error, RCAP_STATUS_OK;
}
static void event_destroy(rcap_plugin_device* device, void* event) { (void)device, (void)event; }
static int32_t event_record(rcap_plugin_device* device, void* event, void* stream, rcap_plugin_error* error) {
  return (void)device, (void)event, (void)stream, (void)error, RCAP_STATUS_OK;
}
static int32_t event_query(rcap_plugin_device* device, void* event, rcap_plugin_error* error) {
  return (void)device, (void)event, (void)error, RCAP_STATUS_OK;
}

// A number of any dtype of ids, lists or maps; engines' arrays have any alignment. Little-endian, and shifts of negative numbers keep their sign.
static int64_t number(const void* array, int64_t index, int32_t dtype) {
  static const int32_t sizes[] = {0, 1, 2, 2, 4, 8};  // by rcap_dtype: NONE, UINT8, UINT16, INT16, INT32, INT64
  const int32_t size = sizes[dtype];
  uint64_t bits = 0;
  memcpy(&bits, (const char*)array + index * size, (size_t)size);
  if (dtype == RCAP_DTYPE_UINT8 || dtype == RCAP_DTYPE_UINT16) return (int64_t)bits;
  return (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
}

// Of the 64 bytes that a layer has to itself, the first 8 count its strays.
static int64_t* strays_of(const rcap_plugin_cache* cache, int64_t layer) { return (int64_t*)cache->notes + layer * 8; }

static int32_t capture(rcap_plugin_device* device, const rcap_plugin_capture* job, void* stream, rcap_plugin_error* error) {
  (void)stream, (void)error;
  const rcap_plugin_cache* cache = job->cache;
  for (int64_t i = 0; i < job->tokens; ++i) {
    const int64_t offset = job->row_ids == NULL ? i : number(job->row_ids, i, RCAP_DTYPE_INT32);
    if (offset < 0 || offset >= cache->device_rows - job->first_row) {
      ++*strays_of(cache, job->layer);  // one caller for each layer at a time (R14)
      continue;
    }
    const int64_t row = job->layer * cache->device_rows + job->first_row + offset;
    if (cache->marks[row] != 0) {  // whoever came first keeps the row (R27)
      cache->marks[row] |= RCAP_PLUGIN_REPEATED;
      continue;
    }
    cache->marks[row] = RCAP_PLUGIN_CAPTURED;
    for (int64_t k = 0; k < cache->top_k; ++k) {
      int64_t id = number((const char*)job->ids + i * job->ids_stride, k, job->ids_dtype);
      if (job->id_map != NULL) id = id < 0 || id >= job->id_map_entries ? -1 : number(job->id_map, id, job->id_map_dtype);
      if (id < 0 || id >= cache->num_experts) cache->marks[row] |= RCAP_PLUGIN_BAD_ID;  // narrowing destroys the evidence (R22)
      const int32_t kept = (int32_t)id;
      const uint16_t kept16 = (uint16_t)id;
      char* out = (char*)cache->ids + (row * cache->top_k + k) * cache->id_bytes;
      if (cache->id_bytes == 1) *out = (char)id;
      if (cache->id_bytes == 2) memcpy(out, &kept16, 2);
      if (cache->id_bytes == 4) memcpy(out, &kept, 4);
    }
  }
  ++device->captures;
  return RCAP_STATUS_OK;
}

static int32_t clear(rcap_plugin_device* device, const rcap_plugin_cache* cache, void* stream, rcap_plugin_error* error) {
  (void)device, (void)stream, (void)error;
  memset(cache->marks, 0, (size_t)(cache->layers * cache->device_rows));
  memset(cache->notes, 0, (size_t)cache->layers * 64);
  return RCAP_STATUS_OK;
}

static int32_t snapshot(rcap_plugin_device* device, const rcap_plugin_snapshot* job, void* stream, rcap_plugin_error* error) {
  const rcap_plugin_cache* cache = job->cache;
  const int64_t cell = (int64_t)cache->top_k * cache->id_bytes;
  for (int64_t layer = 0; layer < cache->layers; ++layer) {
    const uint8_t* marks = cache->marks + layer * cache->device_rows + job->first_row;
    job->captured[layer] = job->repeated[layer] = 0;
    if (job->strays != NULL) job->strays[layer] = *strays_of(cache, layer);
    for (int64_t row = 0; row < job->tokens; ++row) {
      job->captured[layer] += (marks[row] & RCAP_PLUGIN_CAPTURED) != 0;
      job->repeated[layer] += (marks[row] & RCAP_PLUGIN_REPEATED) != 0;
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
      if (job->bad_layer[i] >= 0 && partial && (mark & RCAP_PLUGIN_REPEATED)) job->bad_layer[i] = -1 - layer;
      if (job->bad_layer[i] == 0 && (mark & RCAP_PLUGIN_BAD_ID)) job->bad_layer[i] = 1 + layer;
      const int stale = partial && !(mark & RCAP_PLUGIN_CAPTURED);
      memcpy(payload + layer * cell, (const char*)cache->ids + row * cell, (size_t)cell);
      if (stale) memset(payload + layer * cell, 0xFF, (size_t)cell);  // another forward's ids stand there (R7)
      if (cache->cell_words != 0 && (mark & RCAP_PLUGIN_CAPTURED)) ((uint64_t*)(payload + cache->cells_offset))[layer / 64] |= 1ULL << (layer % 64);
    }
  }
  ++device->snapshots;
  return clear(device, cache, stream, error);
}

static int32_t widen(rcap_plugin_device* device, const rcap_plugin_list* list, void* stream, rcap_plugin_error* error) {
  (void)device, (void)stream, (void)error;
  const int32_t dtype = list->element_bytes == 4 ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
  for (int64_t i = 0; i < list->groups * list->width; ++i) list->out[i] = number(list->data, i / list->width * list->stride + i % list->width, dtype);
  return RCAP_STATUS_OK;
}

static int32_t copy_to_host(rcap_plugin_device* device, const rcap_plugin_copy* job, void* stream, rcap_plugin_error* error) {
  (void)device, (void)stream, (void)error;
  memcpy(job->host, job->device, (size_t)job->bytes);
  return RCAP_STATUS_OK;
}

static int32_t prepare(rcap_plugin_device* device, const rcap_plugin_cache* cache, rcap_plugin_error* error) {
  if (cache->weight_bytes != 0) return device->host->fail(error, RCAP_STATUS_UNSUPPORTED, "weights_dtype: the example keeps no weights");
  return RCAP_STATUS_OK;
}

static int32_t lost(rcap_plugin_device* device) { return (void)device, 0; }

static int32_t counters(rcap_plugin_device* device, rcap_plugin_counters* out, rcap_plugin_error* error) {
  (void)error;
  const int64_t known = (int64_t)sizeof(rcap_plugin_counters);
  rcap_plugin_counters counts = {0};  // what is not counted is 0
  counts.struct_size = out->struct_size;
  counts.device_bytes = device->held[RCAP_PLUGIN_DEVICE];
  counts.pinned_bytes = device->held[RCAP_PLUGIN_PINNED];
  counts.captures = device->captures;
  counts.snapshots = device->snapshots;
  memcpy(out, &counts, (size_t)(out->struct_size < known ? out->struct_size : known));
  return RCAP_STATUS_OK;
}

RCAP_PLUGIN_EXPORT const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* host, rcap_plugin_error* error);

const rcap_plugin_table* RCAP_PLUGIN_ENTRY(const rcap_plugin_host* host, rcap_plugin_error* error) {
  // clang-format off
  static const rcap_plugin_table table = {
      sizeof table, "example", "1", sizeof(rcap_plugin_cache), sizeof(rcap_plugin_capture), sizeof(rcap_plugin_snapshot),
      probe, open_device, close_device, describe, allocate, release, upload,
      event_create, event_destroy, event_record, event_query, /* event_wait: */ event_query,
      capture, snapshot, clear, widen, copy_to_host, lost, prepare, /* streams: */ NULL, NULL, counters, /* threads to share: */ NULL};
  // clang-format on
  (void)host, (void)error;
  return &table;
}
