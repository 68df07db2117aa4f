// SPDX-License-Identifier: Apache-2.0
#include "trainer/layers.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "support/checked.h"
#include "trainer/axis_order.h"

namespace routecap {
namespace {

using LayerColumn = std::pair<std::int32_t, std::int64_t>;

/// Layers and their places in the list, by layer number. A layer that stands twice is refused.
std::vector<LayerColumn> sorted(std::span<const std::int32_t> layers, const char* name) {
  std::vector<LayerColumn> places;
  places.reserve(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) places.emplace_back(layers[i], static_cast<std::int64_t>(i));
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != places.end()) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: layer %d stands at %" PRId64 " and at %" PRId64, name, twice->first, twice->second, (twice + 1)->second);
  }
  return places;
}

/// The share of each stage, and of each of its chunks, of the model's layers.
class Stages {
 public:
  explicit Stages(const StageQuery& query) : query_(query) {
    require_range("num_layers", query.num_layers, 1, INT32_MAX);
    require_range("pp_size", query.pp_size, 1, INT32_MAX);
    require_range("pp_rank", query.pp_rank, 0, query.pp_size - 1);
    require_range("vp_size", query.vp_size, 1, INT32_MAX);
    require_range("vp_rank", query.vp_rank, -1, query.vp_size - 1);
    // One stage is first and last at once: it has all layers.
    const std::int32_t most = query.pp_size == 1 ? 0 : query.num_layers;
    require_range("first_layers", query.first_layers, 0, most);
    require_range("last_layers", query.last_layers, 0, most - query.first_layers);
    const std::int32_t given = (query.first_layers > 0 ? 1 : 0) + (query.last_layers > 0 ? 1 : 0);
    const std::int32_t others = query.pp_size - given;
    const std::int32_t left = query.num_layers - query.first_layers - query.last_layers;
    if (others == 0 ? left != 0 : left % others != 0) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%d layers are left for %d stages of the same size (num_layers %d, first_layers %d, last_layers %d)", left,
           others, query.num_layers, query.first_layers, query.last_layers);
    }
    middle_ = others == 0 ? 0 : left / others;
    for (const std::int32_t stage : {0, 1, query.pp_size - 1}) {
      if (stage < query.pp_size && share(stage) % query.vp_size != 0) {
        fail(RCAP_STATUS_OUT_OF_RANGE, "stage %d has %d layers, vp_size is %d", stage, share(stage), query.vp_size);
      }
    }
  }

  /// Whether the stage, and where one is asked for the chunk, has this layer.
  [[nodiscard]] bool has(std::int32_t layer) const {
    const std::int32_t round = query_.num_layers / query_.vp_size;
    const std::int32_t in_round = layer % round;
    const std::int32_t size = share(query_.pp_rank) / query_.vp_size;
    const std::int32_t first = query_.pp_rank == 0 ? 0 : (share(0) + (query_.pp_rank - 1) * middle_) / query_.vp_size;
    return in_round >= first && in_round - first < size && (query_.vp_rank < 0 || layer / round == query_.vp_rank);
  }

 private:
  [[nodiscard]] std::int32_t share(std::int32_t stage) const {
    if (stage == 0 && query_.first_layers > 0) return query_.first_layers;
    return stage == query_.pp_size - 1 && query_.last_layers > 0 ? query_.last_layers : middle_;
  }

  StageQuery query_;
  std::int32_t middle_ = 0;  ///< layers of a stage whose number is not given
};

}  // namespace

std::vector<std::int64_t> find_columns(std::span<const std::int32_t> layer_ids, std::span<const std::int32_t> selected, const char* selected_name) {
  const std::vector<LayerColumn> places = sorted(layer_ids, "layer_ids");
  static_cast<void>(sorted(selected, selected_name));
  std::vector<std::int64_t> columns;
  columns.reserve(selected.size());
  for (const std::int32_t layer : selected) {
    const auto found = std::lower_bound(places.begin(), places.end(), LayerColumn{layer, 0});
    if (found == places.end() || found->first != layer) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%s: layer %d is none of the %zu layers there are (%d .. %d)", selected_name, layer, places.size(),
           places.front().first, places.back().first);
    }
    columns.push_back(found->second);
  }
  return columns;
}

std::vector<std::int32_t> stage_layers(const StageQuery& query, std::span<const std::int32_t> moe_layers) {
  const Stages stages(query);
  std::vector<std::int32_t> layers;
  for (std::size_t i = 0; i < moe_layers.size(); ++i) {
    const std::int32_t layer = moe_layers[i];
    if (layer < 0 || layer >= query.num_layers) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "moe_layers[%zu] is %d, num_layers is %d", i, layer, query.num_layers);
    }
    if (i > 0 && layer <= moe_layers[i - 1]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "moe_layers[%zu] is %d behind %d, they must ascend", i, layer, moe_layers[i - 1]);
    }
    if (stages.has(layer)) layers.push_back(layer);
  }
  return layers;
}

LayerSelection::LayerSelection(std::span<const std::int32_t> layer_ids, std::span<const std::int32_t> selected, std::int64_t tokens,
                               std::int64_t item_bytes, std::int32_t order)
    : columns_(find_columns(layer_ids, selected, "selected")),
      layers_(static_cast<std::int64_t>(layer_ids.size())),
      tokens_(tokens),
      item_bytes_(item_bytes),
      order_(order) {
  require_range("tokens", tokens, 0, INT64_MAX);
  require_range("item_bytes", item_bytes, 1, INT64_MAX);
  check_axis_order("order", order);
  whole_bytes_ = checked_multiply(checked_multiply(tokens, layers_, "tokens * layers"), item_bytes, "tokens * layers * item_bytes");
  part_bytes_ = tokens * static_cast<std::int64_t>(columns_.size()) * item_bytes;  // no more than whole_bytes_
}

template <class Copy>
void LayerSelection::for_each_cell(Copy&& copy) const {
  const AxisStrides strides = axis_strides(order_, tokens_, static_cast<std::int64_t>(columns_.size()));
  for (std::int64_t row = 0; row < tokens_; ++row) {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      copy((row * layers_ + columns_[column]) * item_bytes_, strides.cell(row, static_cast<std::int64_t>(column)) * item_bytes_);
    }
  }
}

void LayerSelection::split(const std::byte* whole, std::byte* part) const {
  for_each_cell(
      [&](std::int64_t in_whole, std::int64_t in_part) { std::memcpy(part + in_part, whole + in_whole, static_cast<std::size_t>(item_bytes_)); });
}

void LayerSelection::gather(const std::byte* part, std::byte* whole) const {
  for_each_cell(
      [&](std::int64_t in_whole, std::int64_t in_part) { std::memcpy(whole + in_whole, part + in_part, static_cast<std::size_t>(item_bytes_)); });
}

}  // namespace routecap
