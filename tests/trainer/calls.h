// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <routecap/routecap.h>

/// The trainer's calls with lists in place of arrays. Each fails the test where the library refuses; `refused` is for calls that it must refuse.
namespace routecap_trainer {

using Numbers = std::vector<std::int64_t>;
using Layers = std::vector<std::int32_t>;
using Bytes = std::vector<unsigned char>;

/// What a refused call says: "OUT_OF_RANGE: one line". It must say the same status without an error to fill.
std::string refused(const std::function<std::int32_t(rcap_error*)>& call);

inline std::int64_t count(const auto& list) { return static_cast<std::int64_t>(list.size()); }

struct Ranks {
  std::int32_t split = RCAP_SPLIT_CONTIGUOUS;
  std::int32_t cp_size = 1;
  std::int32_t cp_rank = 0;
  std::int32_t sp_size = 1;
  std::int32_t sp_rank = 0;
};
rcap_partition_layout layout_of(const Ranks& ranks);

std::int64_t multiple(const Ranks& ranks);
Numbers pack_offsets(const Numbers& lengths, std::int64_t multiple);
Bytes pad(const Numbers& lengths, const Numbers& offsets, std::int64_t item_bytes, const Bytes& pad, const Bytes& tokens);
Bytes strip(const Numbers& lengths, const Numbers& offsets, std::int64_t item_bytes, const Bytes& packed);

std::int64_t rank_tokens(const Ranks& ranks, const Numbers& offsets);
Numbers indices(const Ranks& ranks, const Numbers& offsets);
Bytes split(const Ranks& ranks, const Numbers& offsets, std::int64_t item_bytes, const Bytes& whole);
Bytes gather(const Ranks& ranks, const Numbers& offsets, std::int64_t item_bytes, const Bytes& parts);

struct Stage {
  std::int32_t num_layers = 1;
  std::int32_t pp_size = 1;
  std::int32_t pp_rank = 0;
  std::int32_t vp_size = 1;
  std::int32_t vp_rank = -1;
  std::int32_t first_layers = 0;
  std::int32_t last_layers = 0;
};
Layers stage_layers(const Stage& stage, const Layers& moe_layers);

Bytes split_layers(const Layers& layers, const Layers& selected, std::int64_t tokens, std::int64_t item_bytes, std::int32_t order,
                   const Bytes& whole);
/// Over what `whole` holds already.
void gather_layers(const Layers& layers, const Layers& selected, std::int64_t tokens, std::int64_t item_bytes, std::int32_t order, const Bytes& part,
                   Bytes& whole);

struct Fill {
  std::int64_t start = 0;
  std::int64_t tokens = 0;
  std::int64_t length = 0;
  std::int64_t first_fill = 0;
  std::int32_t dtype = RCAP_DTYPE_INT64;
  std::int32_t order = RCAP_AXIS_ORDER_TOKENS_FIRST;
  std::int32_t padding = RCAP_PADDING_SPREAD;
  std::int32_t fill_value = 0;
};
rcap_fill_layout layout_of(const Fill& fill);

/// Ids as numbers, whatever their dtype.
struct Filled {
  Numbers ids;
  Bytes row_mask;
  Bytes cell_mask;
  std::int64_t filled = -1;
};
/// No layers: null. No positions: null.
Filled fill(const rcap_record* record, const Fill& fill, const Layers& layers = {}, const Numbers* positions = nullptr);

}  // namespace routecap_trainer
