// SPDX-License-Identifier: Apache-2.0
//
// Interface 1 as it was first released, for plugins that are never compiled again. Nothing here is changed any more: what the tree's backend.h says
// may only grow behind it (layout.c compares the two).
#ifndef ROUTECAP_TESTS_FROZEN_INTERFACE_1_H
#define ROUTECAP_TESTS_FROZEN_INTERFACE_1_H

#include <stdint.h>

enum frozen_home { FROZEN_DEVICE = 0, FROZEN_PINNED = 1 };

enum frozen_mark { FROZEN_CAPTURED = 1, FROZEN_REPEATED = 2, FROZEN_BAD_ID = 4 };

typedef struct frozen_error frozen_error;
typedef struct frozen_device frozen_device;
typedef struct frozen_host {
  int64_t struct_size;
  const char* version;
  void* (*allocate)(int64_t bytes);
  void (*release)(void* memory);
  int32_t (*fail)(frozen_error* error, int32_t status, const char* text);
} frozen_host;

typedef struct frozen_options {
  int64_t struct_size;
  int32_t device_ordinal;
  int32_t threads;
} frozen_options;

typedef struct frozen_description {
  int64_t struct_size;
  int32_t device_ordinal;
  int32_t threads;
  int32_t host_memory;
  int32_t reserved;
  char description[128];
} frozen_description;

typedef struct frozen_counters {
  int64_t struct_size;
  int64_t device_bytes;
  int64_t pinned_bytes;
  int64_t events;
  int64_t streams;
  int64_t captures;
  int64_t snapshots;
  int64_t copies;
  int64_t copied_bytes;
} frozen_counters;

typedef struct frozen_cache {
  int64_t struct_size;
  int32_t layers;
  int32_t top_k;
  int32_t id_bytes;
  int32_t weight_bytes;
  int32_t weights_dtype;
  int32_t cell_words;
  int32_t num_experts;
  int32_t reserved;
  int64_t ids_bytes;
  int64_t weights_bytes;
  int64_t weights_offset;
  int64_t cells_offset;
  int64_t payload_bytes;
  int64_t device_rows;
  void* ids;
  void* weights;
  uint8_t* marks;
  void* notes;
  const uint8_t* partial;
} frozen_cache;

typedef struct frozen_capture {
  int64_t struct_size;
  const frozen_cache* cache;
  int32_t layer;
  int32_t memory;
  int32_t ids_dtype;
  int32_t weights_dtype;
  int32_t id_map_dtype;
  int32_t id_map_memory;
  int64_t tokens;
  int64_t first_row;
  const void* ids;
  int64_t ids_stride;
  const void* weights;
  int64_t weights_stride;
  const void* id_map;
  int64_t id_map_entries;
  const int32_t* row_ids;
} frozen_capture;

typedef struct frozen_snapshot {
  int64_t struct_size;
  const frozen_cache* cache;
  int64_t first_row;
  int64_t tokens;
  int64_t staged;
  const int64_t* rows;
  int32_t rows_home;
  int32_t reserved;
  int64_t* rows_room;
  void* payload;
  int32_t* bad_layer;
  int64_t* captured;
  int64_t* repeated;
  int64_t* strays;
} frozen_snapshot;

typedef struct frozen_list {
  int64_t struct_size;
  const void* data;
  int32_t element_bytes;
  int32_t reserved;
  int64_t groups;
  int64_t width;
  int64_t stride;
  int64_t* out;
} frozen_list;

typedef struct frozen_copy {
  int64_t struct_size;
  void* host;
  const void* device;
  int64_t bytes;
  void* after;
  void* done;
} frozen_copy;

typedef struct frozen_table {
  int64_t struct_size;
  const char* name;
  const char* version;
  int64_t cache_size;
  int64_t capture_size;
  int64_t snapshot_size;
  int32_t (*probe)(const frozen_host* host, frozen_error* error);
  int32_t (*open)(const frozen_host* host, const frozen_options* options, frozen_device** device, frozen_error* error);
  void (*close)(frozen_device* device);
  int32_t (*describe)(frozen_device* device, frozen_description* description, frozen_error* error);
  int32_t (*allocate)(frozen_device* device, int32_t home, int64_t bytes, void** memory, frozen_error* error);
  void (*release)(frozen_device* device, int32_t home, void* memory, int64_t bytes);
  int32_t (*upload)(frozen_device* device, void* to, const void* from, int64_t bytes, frozen_error* error);
  int32_t (*event_create)(frozen_device* device, void** event, frozen_error* error);
  void (*event_destroy)(frozen_device* device, void* event);
  int32_t (*event_record)(frozen_device* device, void* event, void* stream, frozen_error* error);
  int32_t (*event_query)(frozen_device* device, void* event, frozen_error* error);
  int32_t (*event_wait)(frozen_device* device, void* event, frozen_error* error);
  int32_t (*capture)(frozen_device* device, const frozen_capture* job, void* stream, frozen_error* error);
  int32_t (*snapshot)(frozen_device* device, const frozen_snapshot* job, void* stream, frozen_error* error);
  int32_t (*clear)(frozen_device* device, const frozen_cache* cache, void* stream, frozen_error* error);
  int32_t (*widen)(frozen_device* device, const frozen_list* list, void* stream, frozen_error* error);
  int32_t (*copy_to_host)(frozen_device* device, const frozen_copy* job, void* stream, frozen_error* error);
  int32_t (*lost)(frozen_device* device);
  int32_t (*prepare)(frozen_device* device, const frozen_cache* cache, frozen_error* error);
  int32_t (*stream_create)(frozen_device* device, void** stream, frozen_error* error);
  void (*stream_destroy)(frozen_device* device, void* stream);
  int32_t (*counters)(frozen_device* device, frozen_counters* counters, frozen_error* error);
} frozen_table;

typedef const frozen_table* (*frozen_entry)(const frozen_host* host, frozen_error* error);

#endif
