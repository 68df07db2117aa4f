// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/rows/hd.h"
#include "store/stamp.h"

/// Plain views of the memory that the row algorithms work on, and the jobs they are given. Whoever makes a job has checked it: nothing in this
/// folder checks again (R14), except what only the data can tell (ids, slots and rows that came from device memory).
namespace routecap::rows {

/// Shape of a row in its three homes. The *payload* of a row is the same bytes in the staging block and in its slot, all in whole 8-byte words:
/// ids [L, K] padded, weights [L, K] padded, and with PARTIAL layers one bit per layer (1 = this layer captured the row).
struct RowShape {
  std::int32_t layers = 0;
  std::int32_t top_k = 0;
  std::int32_t id_bytes = 0;        ///< 1, 2 or 4 (R28)
  std::int32_t weight_bytes = 0;    ///< 0 (none), 2 or 4
  std::int32_t cell_words = 0;      ///< 0, or ceil(L / 64) with PARTIAL layers
  std::int64_t ids_bytes = 0;       ///< L * K * id_bytes, unpadded
  std::int64_t weights_bytes = 0;   ///< L * K * weight_bytes, unpadded
  std::int64_t weights_offset = 0;  ///< of the weights in the payload
  std::int64_t cells_offset = 0;    ///< of the cell bits in the payload
  std::int64_t payload_bytes = 0;   ///< multiple of 8
};

/// Bits of a mark: what one layer did with one row of the device cache in this forward.
inline constexpr std::uint8_t kMarkCaptured = 1;
inline constexpr std::uint8_t kMarkRepeated = 2;  ///< captured more than once (R27)
inline constexpr std::uint8_t kMarkBadId = 4;     ///< an id outside [0, E) or a physical id outside the map (R22)

/// What one layer captured since the last snapshot or `forget`: rows [first, end) are those whose marks may be set. On its own cache line: layers are
/// captured from different threads.
struct alignas(64) LayerExtent {
  std::int64_t first = 0;
  std::int64_t end = 0;     ///< first == end: nothing captured
  std::int64_t strays = 0;  ///< entries of row_ids that named no row of the cache (R14)
};

/// The layer-major device cache.
struct CacheView {
  std::byte* ids = nullptr;        ///< [L][device_rows][K] of id_bytes
  std::byte* weights = nullptr;    ///< [L][device_rows][K] of weight_bytes, or null
  std::uint8_t* marks = nullptr;   ///< [L][device_rows]
  LayerExtent* extents = nullptr;  ///< [L]
  std::int64_t device_rows = 0;
  const std::uint8_t* partial = nullptr;  ///< [L] 1 = the layer is PARTIAL; null without such
  std::int32_t num_experts = 0;
  std::int32_t weights_dtype = 0;  ///< as kept; 0 without weights
};

/// dtype codes are `rcap_dtype` of the public header.
struct CaptureJob {
  RowShape shape;
  CacheView cache;
  std::int32_t layer = 0;  ///< column of the layer
  std::int32_t num_experts = 0;
  std::int32_t memory = 0;            ///< a `rcap_memory`: of ids, weights and row_ids; what a host loop reads is host memory either way
  const void* ids = nullptr;          ///< [tokens] rows of at least K columns, any alignment
  std::int32_t ids_dtype = 0;         ///< INT64, INT32, INT16, UINT16, UINT8
  std::int64_t ids_stride = 0;        ///< bytes
  const void* weights = nullptr;      ///< null where the shape keeps none
  std::int32_t weights_dtype_in = 0;  ///< FLOAT32, or equal to weights_dtype
  std::int32_t weights_dtype = 0;     ///< as kept: FLOAT16, BFLOAT16, FLOAT32
  std::int64_t weights_stride = 0;    ///< bytes
  const void* id_map = nullptr;       ///< physical -> logical, or null
  std::int32_t id_map_dtype = 0;      ///< INT32 or INT64
  std::int32_t id_map_memory = 0;     ///< a `rcap_memory`
  std::int64_t id_map_entries = 0;
  std::int64_t tokens = 0;
  std::int64_t first_row = 0;
  const std::int32_t* row_ids =
      nullptr;  ///< given row i -> device row first_row + row_ids[i]; null = first_row + i. An entry outside the cache is counted as a stray
};

/// Values of `SnapshotJob::bad_layer`: the first layer that has a bad id in the row, or the first PARTIAL layer that captured the row more than once,
/// which goes before any bad id. What another layer captured twice spoils the whole forward and is told by its count (R27).
RCAP_HD constexpr std::int32_t bad_id_in(std::int32_t column) { return 1 + column; }
RCAP_HD constexpr std::int32_t repeated_in(std::int32_t column) { return -1 - column; }

/// Which rows a snapshot takes, and where it puts them.
struct SnapshotJob {
  RowShape shape;
  CacheView cache;
  std::int64_t first_row = 0;  ///< the forward's rows are [first_row, first_row + tokens) of the cache
  std::int64_t tokens = 0;
  const std::int64_t* rows = nullptr;     ///< staged row i is forward row rows[i]; null = i. An entry outside [0, tokens) is skipped
  std::int64_t staged = 0;                ///< staged rows
  const std::uint8_t* partial = nullptr;  ///< [L] 1 = the layer is PARTIAL; read where shape.cell_words > 0
  std::byte* payload = nullptr;           ///< out [staged][payload_bytes]; padding bytes are written as zero
  std::int32_t* bad_layer = nullptr;      ///< out [staged]: what is wrong with that row, see `bad_id_in` and `repeated_in`; 0 = nothing
  std::int64_t* captured = nullptr;       ///< out [L]: rows of the forward that the layer captured
  std::int64_t* repeated = nullptr;       ///< out [L]: rows of the forward that the layer captured more than once
  std::int64_t* strays = nullptr;         ///< out [L]: the extents' strays; written where shape.cell_words > 0
};

/// Extension of a slot, used where its stamp says EXTENDED.
struct SlotExtension {
  std::int64_t row_sequence = 0;
  std::int64_t weight_version = 0;
};

/// The slot store: slot s is `slot_stride` bytes at base + s * slot_stride: stamp (8), tag (8, if kept), payload.
struct StoreView {
  std::byte* base = nullptr;
  SlotExtension* extensions = nullptr;  ///< [num_slots]; pages touched only where used
  std::int64_t num_slots = 0;
  std::int64_t slot_stride = 0;
  bool tags = false;
  [[nodiscard]] std::int64_t payload_offset() const { return tags ? 16 : 8; }
};

/// One row to store.
struct ScatterEntry {
  std::int64_t slot = 0;        ///< in range
  std::int64_t staged_row = 0;  ///< row of the payload; -1 = settle the slot as missing (R33)
};

struct ScatterJob {
  RowShape shape;
  StoreView store;
  const std::byte* payload = nullptr;     ///< [staged][payload_bytes]
  const std::int64_t* tags = nullptr;     ///< [staged], where tags are kept
  const ScatterEntry* entries = nullptr;  ///< slots are pairwise different
  std::int64_t count = 0;
  Sequence sequence = 0;
  std::int64_t weight_version = 0;  ///< not 0: written to the extension
};

struct ScatterResult {
  std::int64_t stored = 0;    ///< rows now in their slots
  std::int64_t missing = 0;   ///< entries settled as missing
  std::int64_t outdated = 0;  ///< entries with a row whose slot was newer (R10)
};

/// Reading rows of slots. `Slots` of the template is a callable i -> slot for i in [0, rows): -1 and reserved slots read as missing.
struct GatherJob {
  RowShape shape;
  StoreView store;
  std::int64_t rows = 0;
  std::int64_t reserved_slots = 0;
  Sequence floor = 0;                     ///< stamps numbered up to this were released by release_all
  const std::int64_t* tags = nullptr;     ///< [rows] or null
  std::byte* ids = nullptr;               ///< out [rows][ids_bytes], unpadded; 0xFF where missing
  std::byte* weights = nullptr;           ///< out [rows][weights_bytes] or null; 0xFF where missing
  std::uint8_t* row_validity = nullptr;   ///< out bitmap or null
  std::uint8_t* cell_validity = nullptr;  ///< out bitmap or null; bit row * L + layer
  std::int64_t* versions = nullptr;       ///< out [rows] weight version of valid rows, or null
};

struct GatherResult {
  std::int64_t valid = 0;
  std::int64_t pending_row = -1;  ///< first row whose slot waits for a copy (R12): the rest was not read
  std::int64_t version_min = 0;   ///< of the valid rows
  std::int64_t version_max = 0;
};

}  // namespace routecap::rows
