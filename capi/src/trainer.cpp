// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

#include <algorithm>

#include "arguments.h"
#include "guard.h"
#include "support/checked.h"
#include "trainer/fill.h"
#include "trainer/layers.h"
#include "trainer/pack.h"
#include "trainer/partition.h"

using namespace routecap;
using namespace routecap::capi;

namespace {

/// The bytes of an array whose size follows from other arguments; null only where that size is 0.
template <class Pointer>
Pointer exact(Pointer data, std::int64_t size, std::int64_t expected, const char* name, const char* unit) {
  if (size != expected) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_%s is %" PRId64 ", it must be %" PRId64, name, unit, size, expected);
  if (data == nullptr && expected != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, %s_%s is %" PRId64, name, name, unit, size);
  return data;
}

const std::byte* exact_in(const void* data, std::int64_t bytes, std::int64_t expected, const char* name) {
  return static_cast<const std::byte*>(exact(data, bytes, expected, name, "bytes"));
}

std::byte* exact_out(void* data, std::int64_t bytes, std::int64_t expected, const char* name) {
  return static_cast<std::byte*>(exact(data, bytes, expected, name, "bytes"));
}

/// The same for an array that may be left out, with null and 0.
template <class Pointer>
Pointer exact_if_given(Pointer data, std::int64_t size, std::int64_t expected, const char* name, const char* unit) {
  return exact(data, size, data == nullptr ? 0 : expected, name, unit);
}

template <class Number>
std::span<const Number> list(const Number* data, std::int64_t count, const char* name) {
  if (count < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s_count is %" PRId64 ", it must not be negative", name, count);
  if (data == nullptr && count > 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null, %s_count is %" PRId64, name, name, count);
  return {data, static_cast<std::size_t>(count)};
}

/// One more than there are sequences, hence at least one.
std::span<const std::int64_t> offset_list(const std::int64_t* offsets, std::int64_t count) {
  require(offsets, "offsets");
  if (count < 1) fail(RCAP_STATUS_INVALID_ARGUMENT, "offsets_count is %" PRId64 ", it must be at least 1", count);
  return {offsets, static_cast<std::size_t>(count)};
}

rcap_partition_layout checked_partition(const rcap_partition_layout* layout) {
  const rcap_partition_layout checked = sized_in(layout, "layout");
  require_zero(checked.reserved, "layout->reserved");
  return checked;
}

/// A partition in which the layout's ranks exist.
Partition partition_with_ranks(const rcap_partition_layout& layout, std::span<const std::int64_t> offsets) {
  check_ranks(layout);
  return {layout, offsets};
}

std::int64_t bytes_of(std::int64_t tokens, std::int64_t item_bytes) {
  require_range("item_bytes", item_bytes, 1, INT64_MAX);
  return checked_multiply(tokens, item_bytes, "tokens of the pack * item_bytes");
}

Packing packing(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes) {
  const auto sequences = list(lengths, lengths_count, "lengths");
  if (offsets_count - 1 != lengths_count) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "offsets_count is %" PRId64 ", lengths_count is %" PRId64 ": it must be one more", offsets_count,
         lengths_count);
  }
  return {sequences, offset_list(offsets, offsets_count), item_bytes};
}

LayerSelection selection(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected, int64_t selected_count, int64_t tokens,
                         int64_t item_bytes, int32_t order) {
  require(layer_ids, "layer_ids");
  if (layer_ids_count < 1) fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids_count is %" PRId64 ", it must be at least 1", layer_ids_count);
  return {list(layer_ids, layer_ids_count, "layer_ids"), list(selected, selected_count, "selected"), tokens, item_bytes, order};
}

}  // namespace

extern "C" {

rcap_status rcap_record_fill(const rcap_record* self, const rcap_fill_layout* layout, const int32_t* layer_ids, int64_t layer_ids_count,
                             const int64_t* positions, int64_t positions_count, void* ids, int64_t ids_bytes, void* row_mask, int64_t row_mask_bytes,
                             void* cell_mask, int64_t cell_mask_bytes, int64_t* filled, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& record = live<Record>(self, "self");
    const rcap_fill_layout checked = sized_in(layout, "layout");
    const auto layers = list(layer_ids, layer_ids_count, "layer_ids");
    if (layer_ids != nullptr && layers.empty()) fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids_count is 0, it must be at least 1");
    exact_if_given(positions, positions_count, checked.tokens, "positions", "count");
    DenseFill fill(record, checked, layers, positions);
    std::byte* const to = exact_out(ids, ids_bytes, fill.ids_bytes(), "ids");
    void* const rows = exact_if_given(row_mask, row_mask_bytes, checked.tokens, "row_mask", "bytes");
    void* const cells = exact_if_given(cell_mask, cell_mask_bytes, fill.cells(), "cell_mask", "bytes");
    const std::int64_t rows_filled = fill.write(to, static_cast<std::byte*>(rows), static_cast<std::byte*>(cells));
    if (filled != nullptr) *filled = rows_filled;
  });
}

rcap_status rcap_pack_offsets(const int64_t* lengths, int64_t lengths_count, int64_t multiple, int64_t* offsets, int64_t offsets_count,
                              rcap_error* err) noexcept {
  return guard(err, [&] {
    const auto sequences = list(lengths, lengths_count, "lengths");
    require(offsets, "offsets");
    if (offsets_count - 1 != lengths_count) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "offsets_count is %" PRId64 ", lengths_count is %" PRId64 ": it must be one more", offsets_count,
           lengths_count);
    }
    const std::vector<std::int64_t> made = pack_offsets(sequences, multiple);
    std::copy(made.begin(), made.end(), offsets);
  });
}

rcap_status rcap_pack_pad(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                          const void* pad, int64_t pad_bytes, const void* tokens, int64_t tokens_bytes, void* packed, int64_t packed_bytes,
                          rcap_error* err) noexcept {
  return guard(err, [&] {
    const Packing pack = packing(lengths, lengths_count, offsets, offsets_count, item_bytes);
    const void* item = exact_if_given(pad, pad_bytes, item_bytes, "pad", "bytes");
    const std::byte* from = exact_in(tokens, tokens_bytes, pack.tokens_bytes(), "tokens");
    pack.pad(static_cast<const std::byte*>(item), from, exact_out(packed, packed_bytes, pack.packed_bytes(), "packed"));
  });
}

rcap_status rcap_pack_strip(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                            const void* packed, int64_t packed_bytes, void* tokens, int64_t tokens_bytes, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Packing pack = packing(lengths, lengths_count, offsets, offsets_count, item_bytes);
    const std::byte* from = exact_in(packed, packed_bytes, pack.packed_bytes(), "packed");
    pack.strip(from, exact_out(tokens, tokens_bytes, pack.tokens_bytes(), "tokens"));
  });
}

rcap_status rcap_partition_multiple(const rcap_partition_layout* layout, int64_t* multiple, rcap_error* err) noexcept {
  return guard(err, [&] {
    const rcap_partition_layout sizes = checked_partition(layout);
    require(multiple, "multiple");
    *multiple = partition_multiple(sizes);
  });
}

rcap_status rcap_partition_tokens(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t* tokens,
                                  rcap_error* err) noexcept {
  return guard(err, [&] {
    const rcap_partition_layout checked = checked_partition(layout);
    require(tokens, "tokens");
    *tokens = partition_with_ranks(checked, offset_list(offsets, offsets_count)).rank_tokens();
  });
}

rcap_status rcap_partition_indices(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t* indices,
                                   int64_t indices_count, rcap_error* err) noexcept {
  return guard(err, [&] {
    const rcap_partition_layout checked = checked_partition(layout);
    const Partition partition = partition_with_ranks(checked, offset_list(offsets, offsets_count));
    partition.indices(checked.cp_rank, checked.sp_rank, exact(indices, indices_count, partition.rank_tokens(), "indices", "count"));
  });
}

rcap_status rcap_partition_split(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                                 const void* whole, int64_t whole_bytes, void* part, int64_t part_bytes, rcap_error* err) noexcept {
  return guard(err, [&] {
    const rcap_partition_layout checked = checked_partition(layout);
    const Partition partition = partition_with_ranks(checked, offset_list(offsets, offsets_count));
    const std::byte* from = exact_in(whole, whole_bytes, bytes_of(partition.whole_tokens(), item_bytes), "whole");
    std::byte* const to = exact_out(part, part_bytes, partition.rank_tokens() * item_bytes, "part");
    partition.split(checked.cp_rank, checked.sp_rank, item_bytes, from, to);
  });
}

rcap_status rcap_partition_gather(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                                  const void* parts, int64_t parts_bytes, void* whole, int64_t whole_bytes, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Partition partition(checked_partition(layout), offset_list(offsets, offsets_count));
    const std::int64_t bytes = bytes_of(partition.whole_tokens(), item_bytes);
    const std::byte* from = exact_in(parts, parts_bytes, bytes, "parts");
    partition.gather(item_bytes, from, exact_out(whole, whole_bytes, bytes, "whole"));
  });
}

rcap_status rcap_stage_layers(int32_t num_layers, int32_t pp_size, int32_t pp_rank, int32_t vp_size, int32_t vp_rank, int32_t first_layers,
                              int32_t last_layers, const int32_t* moe_layers, int64_t moe_layers_count, int32_t* layer_ids, int64_t layer_ids_count,
                              int64_t* needed, rcap_error* err) noexcept {
  return guard(err, [&] {
    const auto moe = list(moe_layers, moe_layers_count, "moe_layers");
    require(needed, "needed");
    static_cast<void>(list<std::int32_t>(layer_ids, layer_ids_count, "layer_ids"));
    const std::vector<std::int32_t> layers = stage_layers({num_layers, pp_size, pp_rank, vp_size, vp_rank, first_layers, last_layers}, moe);
    const auto count = static_cast<std::int64_t>(layers.size());
    *needed = count;
    if (layer_ids == nullptr) return;
    if (layer_ids_count < count)
      fail(RCAP_STATUS_OUT_OF_RANGE, "layer_ids_count is %" PRId64 ", the stage has %" PRId64 " MoE layers", layer_ids_count, count);
    std::copy(layers.begin(), layers.end(), layer_ids);
  });
}

rcap_status rcap_layers_split(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected, int64_t selected_count, int64_t tokens,
                              int64_t item_bytes, int32_t order, const void* whole, int64_t whole_bytes, void* part, int64_t part_bytes,
                              rcap_error* err) noexcept {
  return guard(err, [&] {
    const LayerSelection columns = selection(layer_ids, layer_ids_count, selected, selected_count, tokens, item_bytes, order);
    const std::byte* from = exact_in(whole, whole_bytes, columns.whole_bytes(), "whole");
    columns.split(from, exact_out(part, part_bytes, columns.part_bytes(), "part"));
  });
}

rcap_status rcap_layers_gather(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected, int64_t selected_count, int64_t tokens,
                               int64_t item_bytes, int32_t order, const void* part, int64_t part_bytes, void* whole, int64_t whole_bytes,
                               rcap_error* err) noexcept {
  return guard(err, [&] {
    const LayerSelection columns = selection(layer_ids, layer_ids_count, selected, selected_count, tokens, item_bytes, order);
    const std::byte* from = exact_in(part, part_bytes, columns.part_bytes(), "part");
    columns.gather(from, exact_out(whole, whole_bytes, columns.whole_bytes(), "whole"));
  });
}

}  // extern "C"
