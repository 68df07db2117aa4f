// SPDX-License-Identifier: Apache-2.0

/**
 * @file
 * The interface between routecap and a backend plugin: a shared object that captures rows in the memory of a device.
 *
 * A plugin exports one function, RCAP_PLUGIN_ENTRY, and nothing else. It is opened once in a process, with RTLD_NOW and RTLD_LOCAL, and never
 * unloaded. capi/docs/plugins.md is the author's guide, capi/examples/backend_plugin/ a whole plugin.
 *
 * Versions
 *  - The number in the entry's name is that of the interface; within it, structs and tables only grow at their end.
 *  - Every struct begins with `struct_size`. Whoever reads one that another side made takes the smaller of both sizes: fields behind it are not
 * there, and count as 0 or null. A plugin must not read a field that `struct_size` does not cover.
 *
 * Order and time
 *  - "In stream order" means: queued behind everything that was queued on that stream before, and complete before what is queued there later begins.
 *    A stream is the plugin's own kind of handle, as engines pass it to the library; null is its default stream.
 *  - Nothing but `prepare`, `allocate`, `release`, `upload`, `event_wait`, `open` and `close` may wait for the device. `capture`, `snapshot`, `clear`
 *    and `widen` may be recorded into a graph: they keep no state on the host, and load nothing (all of that is `prepare`'s).
 *  - Functions may be called from any thread and at the same time, for other arguments. A plugin leaves the calling thread as it found it: its
 * current device, its pending error, its signal mask.
 *
 * Failures
 *  - Functions answer RCAP_STATUS_OK, or `return host->fail(error, status, "one line")` with a negative `rcap_status`. DEVICE is a fault of the
 * device.
 *  - A call that fails has queued nothing, or has waited until nothing of it runs any more: the library uses its memory for something else at once.
 *  - A device that has failed for good answers DEVICE from every call, and says 1 in `lost`. Then nothing that was queued on it runs any more.
 */
#ifndef ROUTECAP_BACKEND_H
#define ROUTECAP_BACKEND_H

#ifndef ROUTECAP_FLAT_H
#include "routecap.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Number of the interface, and the name that it gives the entry. */
#define RCAP_PLUGIN_INTERFACE 1
#define RCAP_PLUGIN_ENTRY routecap_backend_entry_1
#define RCAP_PLUGIN_ENTRY_NAME "routecap_backend_entry_1"

/** Defines what a plugin exports. */
#if defined(__GNUC__)
#define RCAP_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define RCAP_PLUGIN_EXPORT
#endif

/** Which memory of a device. */
enum rcap_plugin_home {
  /** Memory of the device. The host never touches it; only the functions below do. */
  RCAP_PLUGIN_DEVICE = 0,
  /** Host memory that the device copies to and from without the host's help. The host reads and writes it at any time. */
  RCAP_PLUGIN_PINNED = 1
};

/** Bits of a mark: what one layer did with one row of the cache since the last `clear` or `snapshot`. */
enum rcap_plugin_mark {
  /** The layer captured the row. */
  RCAP_PLUGIN_CAPTURED = 1,
  /** It captured the row more than once; whoever came first keeps the row's ids. */
  RCAP_PLUGIN_REPEATED = 2,
  /** An id outside [0, num_experts), or a physical id outside the map. The row's ids are undefined. */
  RCAP_PLUGIN_BAD_ID = 4
};

/** What the library takes an error's text into. */
typedef struct rcap_plugin_error rcap_plugin_error;

/** A device that a plugin has opened; the plugin's own. */
typedef struct rcap_plugin_device rcap_plugin_device;

/** What the library gives a plugin. It lives as long as the process. Several libraries may load one plugin: keep a host per device, not per process.
 */
typedef struct rcap_plugin_host {
  int64_t struct_size;
  /** Version of the library in words. */
  const char* version;
  /** Zeroed memory for the plugin's own bookkeeping, aligned for any type; null where there is none. */
  void* (*allocate)(int64_t bytes);
  /** Gives it back; null does nothing. */
  void (*release)(void* memory);
  /** Keeps one line of text, cut to fit, and returns `status`. `error` is the one that the failing function was given. */
  int32_t (*fail)(rcap_plugin_error* error, int32_t status, const char* text);
} rcap_plugin_host;

/** How a device is opened: what `rcap_backend_open` was given. */
typedef struct rcap_plugin_options {
  int64_t struct_size;
  /** Which device of the plugin's kind. */
  int32_t device_ordinal;
  /** Threads that the plugin may use for one call; 0 = its default. */
  int32_t threads;
} rcap_plugin_options;

/** What a device says of itself. */
typedef struct rcap_plugin_description {
  int64_t struct_size;
  int32_t device_ordinal;
  /** Threads that it uses at most. */
  int32_t threads;
  /** 1 if the host can read its memory without a copy, else 0. The library does not rely on it. */
  int32_t host_memory;
  int32_t reserved;
  /** Device and driver in words, zero-terminated. */
  char description[128];
  /** Bytes read and written from which on a job of the library's own is done sooner through `parallel_for`; 0 = never. */
  int64_t parallel_bytes;
  /** 1 if the host reads and writes all of its memory as its own: then the library takes no pinned memory for staged rows, and a copy to the host may
   * be given one address as both ends, moves nothing, and is over when the work before it is. Else 0. */
  int32_t one_memory;
  int32_t reserved2;
} rcap_plugin_description;

/** What a device has done and holds since it was opened. */
typedef struct rcap_plugin_counters {
  int64_t struct_size;
  /** Bytes of memory allocated and not released. */
  int64_t device_bytes;
  int64_t pinned_bytes;
  /** Events and streams created and not destroyed. */
  int64_t events;
  int64_t streams;
  /** Calls that succeeded, and bytes that the copies moved. */
  int64_t captures;
  int64_t snapshots;
  int64_t copies;
  int64_t copied_bytes;
} rcap_plugin_counters;

/**
 * The device side of one capturer, fixed when it is sealed: the cache that its layers are captured into and the shape of a row.
 *
 * The cache is layer-major. A *payload* is a row token-major, in whole 8-byte words: ids [layers, top_k] padded, weights [layers, top_k] padded, then
 * one bit per layer where there are PARTIAL layers.
 */
typedef struct rcap_plugin_cache {
  int64_t struct_size;
  int32_t layers;
  int32_t top_k;
  /** 1, 2 or 4: ids are kept as uint8, uint16 or int32. */
  int32_t id_bytes;
  /** 0 (no weights are kept), 2 or 4. */
  int32_t weight_bytes;
  /** A `rcap_dtype`: FLOAT16, BFLOAT16 or FLOAT32; NONE without weights. */
  int32_t weights_dtype;
  /** 8-byte words of layer bits in a payload; 0 without PARTIAL layers. */
  int32_t cell_words;
  /** Ids are in [0, num_experts). */
  int32_t num_experts;
  int32_t reserved;
  /** layers * top_k * id_bytes, and the same of weights. */
  int64_t ids_bytes;
  int64_t weights_bytes;
  /** Where weights and layer bits begin in a payload. */
  int64_t weights_offset;
  int64_t cells_offset;
  /** Bytes of a payload, a multiple of 8. */
  int64_t payload_bytes;
  /** Rows of a layer in the cache. */
  int64_t device_rows;
  /** [layers][device_rows][top_k] of id_bytes. */
  void* ids;
  /** [layers][device_rows][top_k] of weight_bytes; null without weights. */
  void* weights;
  /** [layers][device_rows]: bits of `rcap_plugin_mark`. */
  uint8_t* marks;
  /** [layers] of 64 bytes, the plugin's to use: for the strays of a PARTIAL layer, and for the range of rows whose marks may be set. Zeroed at first. */
  void* notes;
  /** [layers]: 1 = the layer is PARTIAL; null without such. */
  const uint8_t* partial;
} rcap_plugin_cache;

/**
 * Rows of one layer to capture: each K ids narrowed to id_bytes, weights converted, into row `first_row + i` of the layer. All numbers are checked.
 *
 * What lies in HOST memory (`rcap_memory`) is read before the call returns; a plugin that cannot answers UNSUPPORTED. What lies in DEVICE memory is
 * read in stream order. Arrays have any alignment.
 */
typedef struct rcap_plugin_capture {
  int64_t struct_size;
  const rcap_plugin_cache* cache;
  /** Column of the layer, in [0, layers). */
  int32_t layer;
  /** A `rcap_memory`: where ids, weights and row_ids lie. */
  int32_t memory;
  /** A `rcap_dtype`: INT64, INT32, INT16, UINT16 or UINT8. */
  int32_t ids_dtype;
  /** A `rcap_dtype`: FLOAT32, or the one that is kept. */
  int32_t weights_dtype;
  /** A `rcap_dtype`: INT32 or INT64; NONE without a map. */
  int32_t id_map_dtype;
  /** A `rcap_memory`. */
  int32_t id_map_memory;
  /** Rows, and the first of them in the cache. */
  int64_t tokens;
  int64_t first_row;
  /** [tokens] of at least top_k ids, `ids_stride` bytes apart. What stands behind the top_k is not read. */
  const void* ids;
  int64_t ids_stride;
  /** The same of weights; null where none are kept. */
  const void* weights;
  int64_t weights_stride;
  /** [id_map_entries]: logical id of each physical one, or null. An id outside the map is bad. */
  const void* id_map;
  int64_t id_map_entries;
  /** [tokens]: given row i goes to row first_row + row_ids[i]; one outside the cache is skipped, and counted as a stray. Null = first_row + i. */
  const int32_t* row_ids;
} rcap_plugin_capture;

/** What a forward takes out of the cache. After it every mark is 0 and no stray is counted, in stream order. */
typedef struct rcap_plugin_snapshot {
  int64_t struct_size;
  const rcap_plugin_cache* cache;
  /** The forward's rows are [first_row, first_row + tokens) of the cache. */
  int64_t first_row;
  int64_t tokens;
  /** Rows to take. */
  int64_t staged;
  /** [staged]: row i taken is row first_row + rows[i]; one outside [0, tokens) is skipped. Null = first_row + i. */
  const int64_t* rows;
  /** A `rcap_plugin_home`: where rows lie. PINNED ones stay as they are until the stream has passed this call. */
  int32_t rows_home;
  int32_t reserved;
  /** With PINNED rows: device memory for `staged` numbers, for a plugin that copies them before it reads them; else null. */
  int64_t* rows_room;
  /** Out, device memory: [staged] payloads. Padding is 0; the cell of a PARTIAL layer that did not capture the row is 0xFF and its bit 0. */
  void* payload;
  /**
   * Out, device memory [staged]: what is wrong with the row. -1 - column of the first PARTIAL layer that captured it more than once; else 1 + column of
   * the first layer with BAD_ID; else 0, as for a skipped row.
   */
  int32_t* bad_layer;
  /** Out, device memory [layers]: rows of the forward's whole range with CAPTURED, and with REPEATED. */
  int64_t* captured;
  int64_t* repeated;
  /** Out, device memory [layers]: entries of row_ids that named no row of the cache, since the last snapshot or clear; null without PARTIAL layers. */
  int64_t* strays;
} rcap_plugin_snapshot;

/** Numbers in device memory to widen: groups of int32 or int64, a stride apart. What stands between two groups is not read. */
typedef struct rcap_plugin_list {
  int64_t struct_size;
  const void* data;
  /** Bytes of a number: 4 or 8. */
  int32_t element_bytes;
  int32_t reserved;
  int64_t groups;
  /** Numbers of a group, and numbers between the starts of two groups. */
  int64_t width;
  int64_t stride;
  /** Out, device memory [groups * width]. */
  int64_t* out;
} rcap_plugin_list;

/** Bytes to bring to the host. */
typedef struct rcap_plugin_copy {
  int64_t struct_size;
  /** PINNED memory. */
  void* host;
  const void* device;
  int64_t bytes;
  /** Event that the copy waits for, on the device; null = none. It was recorded before. */
  void* after;
  /** Event that is recorded behind the copy. */
  void* done;
} rcap_plugin_copy;

/**
 * What a plugin gives the library: static, never changed, never freed. Functions up to `copy_to_host` are required; those behind it may be null, or
 * lie behind `struct_size`.
 */
typedef struct rcap_plugin_table {
  int64_t struct_size;
  /** Name as for `rcap_backend_open`, up to 31 bytes; version of the plugin in words. */
  const char* name;
  const char* version;
  /** sizeof of the structs that the plugin was compiled with: the library asks nothing of a plugin that it could not have read. */
  int64_t cache_size;
  int64_t capture_size;
  int64_t snapshot_size;
  /** Whether there is a device: OK, or NO_DEVICE and why. Opens nothing, may be called at any time. */
  int32_t (*probe)(const rcap_plugin_host* host, rcap_plugin_error* error);
  /** Opens one device; OUT_OF_RANGE for an ordinal or a number of threads that it does not have. */
  int32_t (*open)(const rcap_plugin_host* host, const rcap_plugin_options* options, rcap_plugin_device** device, rcap_plugin_error* error);
  /** Gives it back; everything that was made with it is given back by now. */
  void (*close)(rcap_plugin_device* device);
  /** Fills what `struct_size` of the description covers. */
  int32_t (*describe)(rcap_plugin_device* device, rcap_plugin_description* description, rcap_plugin_error* error);
  /** Memory of a `rcap_plugin_home`, zeroed when the call returns, at least 256-byte aligned. OUT_OF_MEMORY where there is none. */
  int32_t (*allocate)(rcap_plugin_device* device, int32_t home, int64_t bytes, void** memory, rcap_plugin_error* error);
  /** Gives memory back. What was queued and may touch it has run before anyone else gets it: the plugin waits, or knows better. */
  void (*release)(rcap_plugin_device* device, int32_t home, void* memory, int64_t bytes);
  /** Copies host memory of any kind to device memory; complete when the call returns. Only while a capturer is sealed. */
  int32_t (*upload)(rcap_plugin_device* device, void* to, const void* from, int64_t bytes, rcap_plugin_error* error);
  /** An event can be recorded any number of times; it stands for the last. It may be destroyed while it is pending. */
  int32_t (*event_create)(rcap_plugin_device* device, void** event, rcap_plugin_error* error);
  void (*event_destroy)(rcap_plugin_device* device, void* event);
  /** In stream order. */
  int32_t (*event_record)(rcap_plugin_device* device, void* event, void* stream, rcap_plugin_error* error);
  /** OK = what stood before it has run, and the host sees its bytes; NOT_READY; DEVICE. Never waits, and never disturbs a graph's capture. */
  int32_t (*event_query)(rcap_plugin_device* device, void* event, rcap_plugin_error* error);
  /** As event_query, after waiting until it is not NOT_READY; a lost device ends the wait. Only threads of the library wait. */
  int32_t (*event_wait)(rcap_plugin_device* device, void* event, rcap_plugin_error* error);
  /**
   * In stream order. Captures of one layer may be on two streams, which run them at the same time: two halves of a batch (R27), or rows that both name.
   * So what captures change for a layer is changed atomically: a row's mark (who finds CAPTURED clear and sets it has the row; whoever comes later
   * changes no byte of it and sets REPEATED), the strays, and whatever else the plugin keeps in `notes`. Neighbouring marks share words. `snapshot` and
   * `clear` run beside no capture of their cache: the engine orders its streams before it asks for them.
   */
  int32_t (*capture)(rcap_plugin_device* device, const rcap_plugin_capture* job, void* stream, rcap_plugin_error* error);
  int32_t (*snapshot)(rcap_plugin_device* device, const rcap_plugin_snapshot* job, void* stream, rcap_plugin_error* error);
  /** Sets every mark of the cache to 0, and the strays of every layer. */
  int32_t (*clear)(rcap_plugin_device* device, const rcap_plugin_cache* cache, void* stream, rcap_plugin_error* error);
  int32_t (*widen)(rcap_plugin_device* device, const rcap_plugin_list* list, void* stream, rcap_plugin_error* error);
  /** Waits for `after` on the device, copies, records `done`, all in stream order. */
  int32_t (*copy_to_host)(rcap_plugin_device* device, const rcap_plugin_copy* job, void* stream, rcap_plugin_error* error);

  /** 1 if the device has failed for good, else 0. Without it a failed query counts as that. */
  int32_t (*lost)(rcap_plugin_device* device);
  /** Called when a capturer is sealed: loads everything that capture, snapshot, clear and widen will need for this cache. UNSUPPORTED refuses its
   * shape. */
  int32_t (*prepare)(rcap_plugin_device* device, const rcap_plugin_cache* cache, rcap_plugin_error* error);
  /** A stream for copies of the library's own, which waits for no other stream by itself. Without it they go to the default stream. */
  int32_t (*stream_create)(rcap_plugin_device* device, void** stream, rcap_plugin_error* error);
  void (*stream_destroy)(rcap_plugin_device* device, void* stream);
  /** Fills what `struct_size` of the counters covers. */
  int32_t (*counters)(rcap_plugin_device* device, rcap_plugin_counters* counters, rcap_plugin_error* error);
  /**
   * Calls body(context, i) for every i in [0, pieces), each once, on the caller's thread and on at most `threads` - 1 others (of the description), and
   * returns when all have returned. Never fails: where no other thread is free the caller's does it alone. `body` works in host memory, waits for
   * nothing, and calls nothing of the plugin. What the library does itself, storing rows in their slots and reading them back, is divided so.
   */
  void (*parallel_for)(rcap_plugin_device* device, int64_t pieces, void (*body)(void* context, int64_t piece), void* context);
} rcap_plugin_table;

/** The entry's type. Returns the plugin's table, or null and why not: then this plugin cannot serve such a host. Called each time a backend is
 * opened. */
typedef const rcap_plugin_table* (*rcap_plugin_entry)(const rcap_plugin_host* host, rcap_plugin_error* error);

#ifdef __cplusplus
}
#endif

#endif
