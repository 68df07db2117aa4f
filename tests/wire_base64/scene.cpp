// SPDX-License-Identifier: Apache-2.0
#include "scene.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <utility>

namespace routecap_test {

Scene::Scene(std::uint64_t seed) : Choice(seed), rig_(chosen_setup()) {
  const int events = pick(0, 14);
  for (int event = 0; event < events; ++event) happen();
}

Asked Scene::ask() {
  Asked asked;
  rcap_read_layout& layout = asked.layout;
  const rcap_capturer_config& config = rig_.setup().config;
  const bool pages = chance(30);
  layout.unit = pages ? RCAP_UNIT_PAGE : RCAP_UNIT_SLOT;
  layout.slots_dtype = one_of<std::int32_t>({RCAP_DTYPE_INT32, RCAP_DTYPE_INT64});
  layout.tokens = pick<std::int64_t>(0, config.num_slots);
  layout.start = chance(50) ? 0 : pick<std::int64_t>(0, layout.tokens);
  layout.flags = chance(50) ? RCAP_READ_INCLUDE_LAST : 0;
  layout.after_sequence = chance(50) ? 0 : pick<std::int64_t>(0, rig_.last_sequence());
  const std::int64_t page = pages ? config.page_size : 1;
  const std::int64_t fewest = (std::max<std::int64_t>(layout.tokens - 1, 0) + page - 1) / page;
  const std::int64_t count = fewest + pick<std::int64_t>(0, 2);
  std::vector<std::int64_t> numbers;
  const bool known = chance(70);  // mostly slots that hold something: else nearly every read has holes
  for (std::int64_t i = 0; i < count; ++i) {
    const bool hole = chance(3);
    const std::int64_t slot = known && !pages && !stored_.empty() ? one_of(stored_) : pick<std::int64_t>(0, config.num_slots / page - 1);
    numbers.push_back(hole ? -1 : slot);
  }
  asked.slots = packed(numbers, layout.slots_dtype);
  if (config.tags != 0 && chance(50)) {
    for (std::int64_t token = 0; token < layout.tokens; ++token) {
      const std::int64_t index = token / page;
      const std::int64_t slot =
          index < count && numbers[static_cast<std::size_t>(index)] >= 0 ? numbers[static_cast<std::size_t>(index)] * page + token % page : -1;
      const auto kept = tag_of_.find(slot);
      asked.tags.push_back(chance(5) || kept == tag_of_.end() ? 12345 : kept->second);
    }
  }
  return asked;
}

rcap_encode_options Scene::choose(std::int32_t format) {
  rcap_encode_options options = default_options();
  if (format == RCAP_WIRE_SGLANG) options.dtype = one_of<std::int32_t>({RCAP_DTYPE_NONE, RCAP_DTYPE_INT32, RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16});
  if (format == RCAP_WIRE_VLLM || format == RCAP_WIRE_NPY) {
    options.dtype =
        one_of<std::int32_t>({RCAP_DTYPE_NONE, RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64});
  }
  if (format >= RCAP_WIRE_SGLANG && format <= RCAP_WIRE_LISTS) {
    options.missing = one_of<std::int32_t>({RCAP_MISSING_REFUSE, RCAP_MISSING_MINUS_ONE, RCAP_MISSING_FILL});
    if (options.missing == RCAP_MISSING_FILL) options.fill_id = pick(0, rig_.setup().config.num_experts - 1);
  }
  if (format <= RCAP_WIRE_FRAME_BASE64 && chance(20)) options.zstd_level = 1;
  if (format == RCAP_WIRE_CSV) options.decode_start = pick<std::int64_t>(-1, 5);
  return options;
}

Setup Scene::chosen_setup() {
  Setup setup;
  setup.config.num_experts = one_of<std::int32_t>({1, 2, 8, 127, 128, 129, 256, 257, 300, 32768, 32769, 65536, 65537});
  setup.config.top_k = std::min(setup.config.num_experts, pick(1, 6));
  setup.config.page_size = one_of<std::int64_t>({1, 4});
  setup.config.reserved_slots = one_of<std::int64_t>({0, 1});
  setup.config.tags = chance(40) ? 1 : 0;
  setup.config.weights_dtype = one_of<std::int32_t>({RCAP_DTYPE_NONE, RCAP_DTYPE_NONE, RCAP_DTYPE_FLOAT16, RCAP_DTYPE_FLOAT32});
  // The many layers make rows so long that one request takes several pieces.
  setup.layer_ids.resize(static_cast<std::size_t>(one_of<int>({1, 3, 70})));
  std::iota(setup.layer_ids.begin(), setup.layer_ids.end(), 2);
  setup.tap_flags.assign(setup.layer_ids.size(), 0);
  if (chance(25)) setup.tap_flags.back() = RCAP_TAP_PARTIAL;
  return setup;
}

Slots Scene::some_slots(int most) {
  std::set<std::int64_t> chosen;
  const int count = pick(1, most);
  for (int i = 0; i < count; ++i) chosen.insert(pick<std::int64_t>(0, rig_.setup().config.num_slots - 1));
  return {chosen.begin(), chosen.end()};
}

void Scene::happen() {
  const int kind = pick(0, 99);
  if (kind < 60) {
    forward(kind < 45);
  } else if (kind < 72 && !unsettled_.empty()) {
    rig_.settle(unsettled_.front());
    unsettled_.erase(unsettled_.begin());
  } else if (kind < 85) {
    rig_.release(some_slots(4));
  } else if (kind < 98) {
    const Slots to = some_slots(4);
    Slots from;
    for (std::size_t i = 0; i < to.size(); ++i) from.push_back(pick<std::int64_t>(0, rig_.setup().config.num_slots - 1));
    rig_.copy(from, to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (tag_of_.count(from[i]) != 0) tag_of_[to[i]] = tag_of_[from[i]];
      stored_.push_back(to[i]);
    }
  } else {
    rig_.release_all();
  }
}

void Scene::forward(bool settled) {
  if (!settled && unsettled_.size() == 3) return;  // one block is left for those that settle at once
  const Slots slots = some_slots(chance(20) ? 60 : 12);
  Seeds seeds;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::int64_t seed = pick<std::int64_t>(0, 5000);
    seeds.push_back(canonical_.emplace(rig_.expected(seed), seed).first->second);
  }
  for (std::size_t column = 0; column < rig_.setup().layer_ids.size(); ++column) {
    if (rig_.setup().tap_flags[column] == 0 || chance(50)) {
      REQUIRE(rig_.capture(column, seeds) == RCAP_STATUS_OK);
      continue;
    }
    Seeds some;
    std::vector<std::int32_t> rows;
    for (std::size_t row = 0; row < seeds.size(); ++row) {
      if (!chance(60)) continue;
      some.push_back(seeds[row]);
      rows.push_back(static_cast<std::int32_t>(row));
    }
    if (!some.empty()) REQUIRE(rig_.capture_rows(column, some, rows) == RCAP_STATUS_OK);
  }
  Forward forward{.tokens = static_cast<std::int64_t>(seeds.size()), .slots = slots};
  forward.weight_version = pick<std::int64_t>(0, 2);
  for (std::size_t row = 0; row < seeds.size() && rig_.setup().config.tags != 0; ++row) {
    forward.tags.push_back(Rig::tag(seeds[row]));
    tag_of_[slots[row]] = forward.tags.back();
  }
  Output output = rig_.end(forward);
  stored_.insert(stored_.end(), slots.begin(), slots.end());
  if (settled) {
    rig_.settle(output);
  } else {
    unsettled_.push_back(std::move(output));
  }
}

}  // namespace routecap_test
