// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include "backend/backend.h"
#include "backend/rows/views.h"
#include "support/list_view.h"

/// The jobs of the plugin interface and those of the row algorithms say the same: one side of it for the library, the other for the plugins of this
/// project, which run the row algorithms themselves.
namespace routecap::plugin {

inline rcap_plugin_cache to_plugin(const rows::RowShape& shape, const rows::CacheView& cache) {
  rcap_plugin_cache out{};
  out.struct_size = sizeof out;
  out.layers = shape.layers;
  out.top_k = shape.top_k;
  out.id_bytes = shape.id_bytes;
  out.weight_bytes = shape.weight_bytes;
  out.weights_dtype = cache.weights_dtype;
  out.cell_words = shape.cell_words;
  out.num_experts = cache.num_experts;
  out.ids_bytes = shape.ids_bytes;
  out.weights_bytes = shape.weights_bytes;
  out.weights_offset = shape.weights_offset;
  out.cells_offset = shape.cells_offset;
  out.payload_bytes = shape.payload_bytes;
  out.device_rows = cache.device_rows;
  out.ids = cache.ids;
  out.weights = cache.weights;
  out.marks = cache.marks;
  out.notes = cache.extents;
  out.partial = cache.partial;
  return out;
}

/// Points to `cache`, which must outlive the job.
inline rcap_plugin_capture to_plugin(const rows::CaptureJob& job, const rcap_plugin_cache& cache) {
  rcap_plugin_capture out{};
  out.struct_size = sizeof out;
  out.cache = &cache;
  out.layer = job.layer;
  out.memory = job.memory;
  out.ids_dtype = job.ids_dtype;
  out.weights_dtype = job.weights == nullptr ? RCAP_DTYPE_NONE : job.weights_dtype_in;
  out.id_map_dtype = job.id_map == nullptr ? RCAP_DTYPE_NONE : job.id_map_dtype;
  out.id_map_memory = job.id_map_memory;
  out.tokens = job.tokens;
  out.first_row = job.first_row;
  out.ids = job.ids;
  out.ids_stride = job.ids_stride;
  out.weights = job.weights;
  out.weights_stride = job.weights_stride;
  out.id_map = job.id_map;
  out.id_map_entries = job.id_map_entries;
  out.row_ids = job.row_ids;
  return out;
}

inline rcap_plugin_snapshot to_plugin(const rows::SnapshotJob& job, const NamedRows& named, const rcap_plugin_cache& cache) {
  rcap_plugin_snapshot out{};
  out.struct_size = sizeof out;
  out.cache = &cache;
  out.first_row = job.first_row;
  out.tokens = job.tokens;
  out.staged = job.staged;
  out.rows = named.pinned != nullptr ? named.pinned : job.rows;
  out.rows_home = named.pinned != nullptr ? RCAP_PLUGIN_PINNED : RCAP_PLUGIN_DEVICE;
  out.rows_room = named.room;
  out.payload = job.payload;
  out.bad_layer = job.bad_layer;
  out.captured = job.captured;
  out.repeated = job.repeated;
  out.strays = job.strays;
  return out;
}

inline rcap_plugin_list to_plugin(const ListView& list, std::int64_t* out_numbers) {
  rcap_plugin_list out{};
  out.struct_size = sizeof out;
  out.data = list.data;
  out.element_bytes = list.element_bytes;
  out.groups = list.groups;
  out.width = list.width;
  out.stride = list.stride;
  out.out = out_numbers;
  return out;
}

inline rows::RowShape shape_of(const rcap_plugin_cache& cache) {
  rows::RowShape shape;
  shape.layers = cache.layers;
  shape.top_k = cache.top_k;
  shape.id_bytes = cache.id_bytes;
  shape.weight_bytes = cache.weight_bytes;
  shape.cell_words = cache.cell_words;
  shape.ids_bytes = cache.ids_bytes;
  shape.weights_bytes = cache.weights_bytes;
  shape.weights_offset = cache.weights_offset;
  shape.cells_offset = cache.cells_offset;
  shape.payload_bytes = cache.payload_bytes;
  return shape;
}

inline rows::CacheView view_of(const rcap_plugin_cache& cache) {
  rows::CacheView view;
  view.ids = static_cast<std::byte*>(cache.ids);
  view.weights = static_cast<std::byte*>(cache.weights);
  view.marks = cache.marks;
  view.extents = static_cast<rows::LayerExtent*>(cache.notes);
  view.device_rows = cache.device_rows;
  view.partial = cache.partial;
  view.num_experts = cache.num_experts;
  view.weights_dtype = cache.weights_dtype;
  return view;
}

inline rows::CaptureJob from_plugin(const rcap_plugin_capture& job) {
  rows::CaptureJob out;
  out.shape = shape_of(*job.cache);
  out.cache = view_of(*job.cache);
  out.layer = job.layer;
  out.num_experts = job.cache->num_experts;
  out.memory = job.memory;
  out.ids = job.ids;
  out.ids_dtype = job.ids_dtype;
  out.ids_stride = job.ids_stride;
  out.weights = job.weights;
  out.weights_dtype_in = job.weights_dtype;
  out.weights_dtype = job.cache->weights_dtype;
  out.weights_stride = job.weights_stride;
  out.id_map = job.id_map;
  out.id_map_dtype = job.id_map_dtype;
  out.id_map_memory = job.id_map_memory;
  out.id_map_entries = job.id_map_entries;
  out.tokens = job.tokens;
  out.first_row = job.first_row;
  out.row_ids = job.row_ids;
  return out;
}

/// The rows as they are given: PINNED ones are the plugin's to bring to where it can read them.
inline rows::SnapshotJob from_plugin(const rcap_plugin_snapshot& job) {
  rows::SnapshotJob out;
  out.shape = shape_of(*job.cache);
  out.cache = view_of(*job.cache);
  out.first_row = job.first_row;
  out.tokens = job.tokens;
  out.rows = job.rows;
  out.staged = job.staged;
  out.partial = job.cache->partial;
  out.payload = static_cast<std::byte*>(job.payload);
  out.bad_layer = job.bad_layer;
  out.captured = job.captured;
  out.repeated = job.repeated;
  out.strays = job.strays;
  return out;
}

inline ListView from_plugin(const rcap_plugin_list& list) { return {list.data, list.element_bytes, list.groups, list.width, list.stride}; }

}  // namespace routecap::plugin
