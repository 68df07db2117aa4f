// SPDX-License-Identifier: Apache-2.0
#include "trainer/calls.h"

#include <cstring>

#include <doctest/doctest.h>

namespace routecap_trainer {
namespace {

/// What no call of these tests writes by chance over a whole array.
constexpr unsigned char kUntouched = 0xA5;

void must(std::int32_t status, const rcap_error& error) { REQUIRE_MESSAGE(status == RCAP_STATUS_OK, std::string(error.text)); }

rcap_error new_error() {
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  return error;
}

std::int64_t dtype_bytes(std::int32_t dtype) {
  if (dtype == RCAP_DTYPE_UINT8) return 1;
  if (dtype == RCAP_DTYPE_UINT16 || dtype == RCAP_DTYPE_INT16) return 2;
  return dtype == RCAP_DTYPE_INT32 ? 4 : 8;
}

template <class Number>
std::int64_t number_at(const Bytes& bytes, std::size_t index) {
  Number number;
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

std::int64_t number_at(const Bytes& bytes, std::size_t index, std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return number_at<std::uint8_t>(bytes, index);
    case RCAP_DTYPE_UINT16: return number_at<std::uint16_t>(bytes, index);
    case RCAP_DTYPE_INT16: return number_at<std::int16_t>(bytes, index);
    case RCAP_DTYPE_INT32: return number_at<std::int32_t>(bytes, index);
    default: return number_at<std::int64_t>(bytes, index);
  }
}

}  // namespace

std::string refused(const std::function<std::int32_t(rcap_error*)>& call) {
  rcap_error error = new_error();
  const std::int32_t status = call(&error);
  CHECK(status != RCAP_STATUS_OK);
  CHECK(error.code == status);
  CHECK(call(nullptr) == status);
  const std::string text = error.text;
  CHECK(text.find('\n') == std::string::npos);
  return std::string(rcap_status_name(status)).substr(std::strlen("RCAP_STATUS_")) + ": " + text;
}

rcap_partition_layout layout_of(const Ranks& ranks) {
  rcap_partition_layout layout;
  rcap_partition_layout_init(&layout, sizeof layout);
  layout.split = ranks.split;
  layout.cp_size = ranks.cp_size;
  layout.cp_rank = ranks.cp_rank;
  layout.sp_size = ranks.sp_size;
  layout.sp_rank = ranks.sp_rank;
  return layout;
}

std::int64_t multiple(const Ranks& ranks) {
  rcap_error error = new_error();
  const rcap_partition_layout layout = layout_of(ranks);
  std::int64_t number = -1;
  must(rcap_partition_multiple(&layout, &number, &error), error);
  return number;
}

Numbers pack_offsets(const Numbers& lengths, std::int64_t multiple) {
  rcap_error error = new_error();
  Numbers offsets(lengths.size() + 1, -1);
  must(rcap_pack_offsets(lengths.data(), count(lengths), multiple, offsets.data(), count(offsets), &error), error);
  return offsets;
}

Bytes pad(const Numbers& lengths, const Numbers& offsets, std::int64_t item_bytes, const Bytes& pad, const Bytes& tokens) {
  rcap_error error = new_error();
  Bytes packed(static_cast<std::size_t>(offsets.back() * item_bytes), kUntouched);
  must(rcap_pack_pad(lengths.data(), count(lengths), offsets.data(), count(offsets), item_bytes, pad.empty() ? nullptr : pad.data(), count(pad),
                     tokens.data(), count(tokens), packed.data(), count(packed), &error),
       error);
  return packed;
}

Bytes strip(const Numbers& lengths, const Numbers& offsets, std::int64_t item_bytes, const Bytes& packed) {
  rcap_error error = new_error();
  std::int64_t tokens = 0;
  for (const std::int64_t length : lengths) tokens += length;
  Bytes bytes(static_cast<std::size_t>(tokens * item_bytes), kUntouched);
  must(rcap_pack_strip(lengths.data(), count(lengths), offsets.data(), count(offsets), item_bytes, packed.data(), count(packed), bytes.data(),
                       count(bytes), &error),
       error);
  return bytes;
}

std::int64_t rank_tokens(const Ranks& ranks, const Numbers& offsets) {
  rcap_error error = new_error();
  const rcap_partition_layout layout = layout_of(ranks);
  std::int64_t tokens = -1;
  must(rcap_partition_tokens(&layout, offsets.data(), count(offsets), &tokens, &error), error);
  return tokens;
}

Numbers indices(const Ranks& ranks, const Numbers& offsets) {
  rcap_error error = new_error();
  const rcap_partition_layout layout = layout_of(ranks);
  Numbers numbers(static_cast<std::size_t>(rank_tokens(ranks, offsets)), -1);
  must(rcap_partition_indices(&layout, offsets.data(), count(offsets), numbers.data(), count(numbers), &error), error);
  return numbers;
}

Bytes split(const Ranks& ranks, const Numbers& offsets, std::int64_t item_bytes, const Bytes& whole) {
  rcap_error error = new_error();
  const rcap_partition_layout layout = layout_of(ranks);
  Bytes part(static_cast<std::size_t>(rank_tokens(ranks, offsets) * item_bytes), kUntouched);
  must(rcap_partition_split(&layout, offsets.data(), count(offsets), item_bytes, whole.data(), count(whole), part.data(), count(part), &error),
       error);
  return part;
}

Bytes gather(const Ranks& ranks, const Numbers& offsets, std::int64_t item_bytes, const Bytes& parts) {
  rcap_error error = new_error();
  const rcap_partition_layout layout = layout_of(ranks);
  Bytes whole(parts.size(), kUntouched);
  must(rcap_partition_gather(&layout, offsets.data(), count(offsets), item_bytes, parts.data(), count(parts), whole.data(), count(whole), &error),
       error);
  return whole;
}

Layers stage_layers(const Stage& stage, const Layers& moe_layers) {
  rcap_error error = new_error();
  const auto call = [&](std::int32_t* layers, std::int64_t capacity, std::int64_t* needed) {
    must(rcap_stage_layers(stage.num_layers, stage.pp_size, stage.pp_rank, stage.vp_size, stage.vp_rank, stage.first_layers, stage.last_layers,
                           moe_layers.data(), count(moe_layers), layers, capacity, needed, &error),
         error);
  };
  std::int64_t needed = -1;
  call(nullptr, 0, &needed);
  Layers layers(static_cast<std::size_t>(needed) + 1, -7);
  std::int64_t written = -1;
  call(layers.data(), count(layers), &written);
  CHECK(written == needed);
  CHECK(layers.back() == -7);
  layers.pop_back();
  return layers;
}

Bytes split_layers(const Layers& layers, const Layers& selected, std::int64_t tokens, std::int64_t item_bytes, std::int32_t order,
                   const Bytes& whole) {
  rcap_error error = new_error();
  Bytes part(static_cast<std::size_t>(tokens * count(selected) * item_bytes), kUntouched);
  must(rcap_layers_split(layers.data(), count(layers), selected.data(), count(selected), tokens, item_bytes, order, whole.data(), count(whole),
                         part.data(), count(part), &error),
       error);
  return part;
}

void gather_layers(const Layers& layers, const Layers& selected, std::int64_t tokens, std::int64_t item_bytes, std::int32_t order, const Bytes& part,
                   Bytes& whole) {
  rcap_error error = new_error();
  must(rcap_layers_gather(layers.data(), count(layers), selected.data(), count(selected), tokens, item_bytes, order, part.data(), count(part),
                          whole.data(), count(whole), &error),
       error);
}

rcap_fill_layout layout_of(const Fill& fill) {
  rcap_fill_layout layout;
  rcap_fill_layout_init(&layout, sizeof layout);
  layout.start = fill.start;
  layout.tokens = fill.tokens;
  layout.length = fill.length;
  layout.first_fill = fill.first_fill;
  layout.dtype = fill.dtype;
  layout.order = fill.order;
  layout.padding = fill.padding;
  layout.fill_value = fill.fill_value;
  return layout;
}

Filled fill(const rcap_record* record, const Fill& fill, const Layers& layers, const Numbers* positions) {
  rcap_error error = new_error();
  rcap_record_info info;
  rcap_record_info_init(&info, sizeof info);
  must(rcap_record_info_get(record, &info, &error), error);
  const std::int64_t cells = fill.tokens * (layers.empty() ? info.num_layers : count(layers));
  Bytes ids(static_cast<std::size_t>(cells * info.top_k * dtype_bytes(fill.dtype)), kUntouched);
  Filled made{.ids = {},
              .row_mask = Bytes(static_cast<std::size_t>(fill.tokens), kUntouched),
              .cell_mask = Bytes(static_cast<std::size_t>(cells), kUntouched)};
  const rcap_fill_layout layout = layout_of(fill);
  must(rcap_record_fill(record, &layout, layers.empty() ? nullptr : layers.data(), count(layers), positions == nullptr ? nullptr : positions->data(),
                        positions == nullptr ? 0 : count(*positions), ids.data(), count(ids), made.row_mask.data(), count(made.row_mask),
                        made.cell_mask.data(), count(made.cell_mask), &made.filled, &error),
       error);
  for (std::size_t i = 0; i < static_cast<std::size_t>(cells * info.top_k); ++i) made.ids.push_back(number_at(ids, i, fill.dtype));
  return made;
}

}  // namespace routecap_trainer
