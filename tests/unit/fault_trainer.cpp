// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "unit/fault_entries.h"

namespace routecap_test {
namespace {

constexpr std::int64_t kLengths[2] = {3, 1};
constexpr std::int64_t kOffsets[3] = {0, 4, 8};
constexpr std::int32_t kLayers[3] = {3, 5, 9};
constexpr std::int32_t kSelected[2] = {9, 3};

rcap_partition_layout four_ranks() {
  auto layout = make<rcap_partition_layout>();
  layout.split = RCAP_SPLIT_ZIGZAG;
  layout.cp_size = 2;
  layout.sp_size = 2;
  return layout;
}

}  // namespace

void add_trainer_entries(std::vector<Entry>& all) {
  const auto add = [&all](const char* function, std::function<std::int32_t(World&)> call) { all.push_back({function, std::move(call), true}); };
  add("rcap_record_fill", [](World& w) {
    auto layout = make<rcap_fill_layout>();
    layout.tokens = 4;
    layout.length = 3;
    layout.dtype = RCAP_DTYPE_UINT8;
    std::int64_t filled = 0;
    return rcap_record_fill(w.given.get(), &layout, kSelected, 2, nullptr, 0, w.buffer.data(), 4 * 2 * std::int64_t{w.info.top_k}, nullptr, 0,
                            nullptr, 0, &filled, w.error);
  });
  add("rcap_pack_offsets", [](World& w) {
    std::int64_t offsets[3];
    return rcap_pack_offsets(kLengths, 2, 4, offsets, 3, w.error);
  });
  add("rcap_pack_pad",
      [](World& w) { return rcap_pack_pad(kLengths, 2, kOffsets, 3, 2, nullptr, 0, w.buffer.data(), 8, w.buffer.data() + 64, 16, w.error); });
  add("rcap_pack_strip",
      [](World& w) { return rcap_pack_strip(kLengths, 2, kOffsets, 3, 2, w.buffer.data() + 64, 16, w.buffer.data(), 8, w.error); });
  add("rcap_partition_multiple", [](World& w) {
    const rcap_partition_layout layout = four_ranks();
    std::int64_t multiple = 0;
    return rcap_partition_multiple(&layout, &multiple, w.error);
  });
  add("rcap_partition_tokens", [](World& w) {
    const rcap_partition_layout layout = four_ranks();
    std::int64_t tokens = 0;
    return rcap_partition_tokens(&layout, kOffsets, 3, &tokens, w.error);
  });
  add("rcap_partition_indices", [](World& w) {
    const rcap_partition_layout layout = four_ranks();
    std::int64_t indices[2];
    return rcap_partition_indices(&layout, kOffsets, 3, indices, 2, w.error);
  });
  add("rcap_partition_split", [](World& w) {
    const rcap_partition_layout layout = four_ranks();
    return rcap_partition_split(&layout, kOffsets, 3, 1, w.buffer.data(), 8, w.buffer.data() + 64, 2, w.error);
  });
  add("rcap_partition_gather", [](World& w) {
    const rcap_partition_layout layout = four_ranks();
    return rcap_partition_gather(&layout, kOffsets, 3, 1, w.buffer.data(), 8, w.buffer.data() + 64, 8, w.error);
  });
  add("rcap_stage_layers", [](World& w) {
    std::int32_t layers[3];
    std::int64_t needed = 0;
    return rcap_stage_layers(10, 2, 1, 1, -1, 0, 0, kLayers, 3, layers, 3, &needed, w.error);
  });
  add("rcap_layers_split", [](World& w) {
    return rcap_layers_split(kLayers, 3, kSelected, 2, 2, 1, RCAP_AXIS_ORDER_LAYERS_FIRST, w.buffer.data(), 6, w.buffer.data() + 64, 4, w.error);
  });
  add("rcap_layers_gather", [](World& w) {
    return rcap_layers_gather(kLayers, 3, kSelected, 2, 2, 1, RCAP_AXIS_ORDER_LAYERS_FIRST, w.buffer.data() + 64, 4, w.buffer.data(), 6, w.error);
  });
}

}  // namespace routecap_test
