// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace routecap {

/// Column of each layer of `selected` among `layer_ids`. Refuses a layer that is not there and one that stands twice in either, naming it;
/// `selected_name` is what the caller calls the second list.
[[nodiscard]] std::vector<std::int64_t> find_columns(std::span<const std::int32_t> layer_ids, std::span<const std::int32_t> selected,
                                                     const char* selected_name);

/// How a model's layers are dealt out over pipeline stages.
struct StageQuery {
  std::int32_t num_layers = 0;
  std::int32_t pp_size = 1;
  std::int32_t pp_rank = 0;
  std::int32_t vp_size = 1;
  std::int32_t vp_rank = -1;      ///< -1: every chunk of the stage
  std::int32_t first_layers = 0;  ///< 0: as many as the stages between
  std::int32_t last_layers = 0;
};

/// Those of the model's MoE layers that a stage has (R43). Throws naming value and limit.
[[nodiscard]] std::vector<std::int32_t> stage_layers(const StageQuery& query, std::span<const std::int32_t> moe_layers);

/// Some columns of an array [tokens, layers] of items, and the same as an array of their own.
class LayerSelection {
 public:
  LayerSelection(std::span<const std::int32_t> layer_ids, std::span<const std::int32_t> selected, std::int64_t tokens, std::int64_t item_bytes,
                 std::int32_t order);

  [[nodiscard]] std::int64_t whole_bytes() const { return whole_bytes_; }
  [[nodiscard]] std::int64_t part_bytes() const { return part_bytes_; }
  void split(const std::byte* whole, std::byte* part) const;
  /// Leaves the other columns of `whole` alone.
  void gather(const std::byte* part, std::byte* whole) const;

 private:
  template <class Copy>
  void for_each_cell(Copy&& copy) const;

  std::vector<std::int64_t> columns_;
  std::int64_t layers_;
  std::int64_t tokens_;
  std::int64_t item_bytes_;
  std::int32_t order_;
  std::int64_t whole_bytes_ = 0;
  std::int64_t part_bytes_ = 0;
};

}  // namespace routecap
