// SPDX-License-Identifier: Apache-2.0
//
// The tree's plugin interface begins with the frozen one: every field where it was, of the size it had. Compiled, not run.
#include <routecap/backend.h>
#include <stddef.h>

#include "interface_1.h"

#define SAME(type, field)                                                                                  \
  _Static_assert(offsetof(rcap_plugin_##type, field) == offsetof(frozen_##type, field), #type "." #field); \
  _Static_assert(sizeof(((rcap_plugin_##type*)0)->field) == sizeof(((frozen_##type*)0)->field), #type "." #field)
#define GROWS(type) _Static_assert(sizeof(rcap_plugin_##type) >= sizeof(frozen_##type), #type)
#define VALUE(name) _Static_assert((int)RCAP_PLUGIN_##name == (int)FROZEN_##name, #name)

GROWS(host);
SAME(host, struct_size);
SAME(host, version);
SAME(host, allocate);
SAME(host, release);
SAME(host, fail);

GROWS(options);
SAME(options, struct_size);
SAME(options, device_ordinal);
SAME(options, threads);

GROWS(description);
SAME(description, struct_size);
SAME(description, device_ordinal);
SAME(description, threads);
SAME(description, host_memory);
SAME(description, reserved);
SAME(description, description);

GROWS(counters);
SAME(counters, struct_size);
SAME(counters, device_bytes);
SAME(counters, pinned_bytes);
SAME(counters, events);
SAME(counters, streams);
SAME(counters, captures);
SAME(counters, snapshots);
SAME(counters, copies);
SAME(counters, copied_bytes);

GROWS(cache);
SAME(cache, struct_size);
SAME(cache, layers);
SAME(cache, top_k);
SAME(cache, id_bytes);
SAME(cache, weight_bytes);
SAME(cache, weights_dtype);
SAME(cache, cell_words);
SAME(cache, num_experts);
SAME(cache, reserved);
SAME(cache, ids_bytes);
SAME(cache, weights_bytes);
SAME(cache, weights_offset);
SAME(cache, cells_offset);
SAME(cache, payload_bytes);
SAME(cache, device_rows);
SAME(cache, ids);
SAME(cache, weights);
SAME(cache, marks);
SAME(cache, notes);
SAME(cache, partial);

GROWS(capture);
SAME(capture, struct_size);
SAME(capture, cache);
SAME(capture, layer);
SAME(capture, memory);
SAME(capture, ids_dtype);
SAME(capture, weights_dtype);
SAME(capture, id_map_dtype);
SAME(capture, id_map_memory);
SAME(capture, tokens);
SAME(capture, first_row);
SAME(capture, ids);
SAME(capture, ids_stride);
SAME(capture, weights);
SAME(capture, weights_stride);
SAME(capture, id_map);
SAME(capture, id_map_entries);
SAME(capture, row_ids);

GROWS(snapshot);
SAME(snapshot, struct_size);
SAME(snapshot, cache);
SAME(snapshot, first_row);
SAME(snapshot, tokens);
SAME(snapshot, staged);
SAME(snapshot, rows);
SAME(snapshot, rows_home);
SAME(snapshot, reserved);
SAME(snapshot, rows_room);
SAME(snapshot, payload);
SAME(snapshot, bad_layer);
SAME(snapshot, captured);
SAME(snapshot, repeated);
SAME(snapshot, strays);

GROWS(list);
SAME(list, struct_size);
SAME(list, data);
SAME(list, element_bytes);
SAME(list, reserved);
SAME(list, groups);
SAME(list, width);
SAME(list, stride);
SAME(list, out);

GROWS(copy);
SAME(copy, struct_size);
SAME(copy, host);
SAME(copy, device);
SAME(copy, bytes);
SAME(copy, after);
SAME(copy, done);

GROWS(table);
SAME(table, struct_size);
SAME(table, name);
SAME(table, version);
SAME(table, cache_size);
SAME(table, capture_size);
SAME(table, snapshot_size);
SAME(table, probe);
SAME(table, open);
SAME(table, close);
SAME(table, describe);
SAME(table, allocate);
SAME(table, release);
SAME(table, upload);
SAME(table, event_create);
SAME(table, event_destroy);
SAME(table, event_record);
SAME(table, event_query);
SAME(table, event_wait);
SAME(table, capture);
SAME(table, snapshot);
SAME(table, clear);
SAME(table, widen);
SAME(table, copy_to_host);
SAME(table, lost);
SAME(table, prepare);
SAME(table, stream_create);
SAME(table, stream_destroy);
SAME(table, counters);

VALUE(DEVICE);
VALUE(PINNED);
VALUE(CAPTURED);
VALUE(REPEATED);
VALUE(BAD_ID);
_Static_assert(RCAP_PLUGIN_INTERFACE == 1, "a new interface keeps this test for the old one, and an adapter");
