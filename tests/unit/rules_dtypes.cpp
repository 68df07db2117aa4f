// SPDX-License-Identifier: Apache-2.0
// R28: how wide an id is kept, from every width that it can come in, at any stride and alignment.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

const std::vector<std::int32_t> kExperts = {1, 2, 127, 128, 129, 255, 256, 257, 384, 512, 65535, 65536, 65537};
const std::vector<std::int32_t> kDtypes = {RCAP_DTYPE_INT64, RCAP_DTYPE_INT32, RCAP_DTYPE_INT16, RCAP_DTYPE_UINT16, RCAP_DTYPE_UINT8};

std::int64_t largest(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return 255;
    case RCAP_DTYPE_INT16: return 32767;
    case RCAP_DTYPE_UINT16: return 65535;
    case RCAP_DTYPE_INT32: return INT32_MAX;
    default: return INT64_MAX;
  }
}

std::int32_t kept_as(std::int32_t experts) {
  if (experts <= 256) return RCAP_DTYPE_UINT8;
  return experts <= 65536 ? RCAP_DTYPE_UINT16 : RCAP_DTYPE_INT32;
}

/// Ids of every width and both ends: [tokens, K] for one layer, all in [0, E) and in the dtype.
std::vector<std::int64_t> ids_for(std::int32_t experts, std::int32_t dtype, std::int32_t top_k, std::int64_t tokens, std::int64_t salt) {
  const std::int64_t bound = std::min<std::int64_t>(experts - 1, largest(dtype));
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < tokens * top_k; ++i) {
    const std::vector<std::int64_t> corners = {0,
                                               bound,
                                               std::min<std::int64_t>(bound, 127),
                                               std::min<std::int64_t>(bound, 128),
                                               std::min<std::int64_t>(bound, 255),
                                               std::min<std::int64_t>(bound, 256)};
    const std::uint64_t random = mix(i, salt);
    ids.push_back(random % 3 == 0 ? corners[random / 3 % corners.size()]
                                  : static_cast<std::int64_t>(random / 3 % static_cast<std::uint64_t>(bound + 1)));
  }
  return ids;
}

}  // namespace

TEST_CASE("R28: dtype by E: up to 256 uint8, up to 65536 uint16, else int32, chosen once and told by plan, read and record") {
  for (const std::int32_t experts : kExperts) {
    CAPTURE(experts);
    Setup setup;
    setup.config.num_experts = experts;
    setup.config.top_k = 1;
    Rig rig(setup);
    auto plan = make<rcap_capturer_plan>();
    REQUIRE(rcap_capturer_plan_get(&setup.config, setup.layer_ids.data(), 3, &plan, nullptr) == RCAP_STATUS_OK);
    CHECK(plan.ids_dtype == kept_as(experts));
    CHECK(plan.slot_ids_bytes == 3 * size_of(kept_as(experts)));
    const Rows rows = rig.read({.slots = {0}});
    CHECK(rows.info.ids_dtype == kept_as(experts));
    CHECK(rows.record_info.ids_dtype == kept_as(experts));
    CHECK(rows.record_info.num_experts == experts);
  }
}

TEST_CASE("R28: every id dtype into every kept dtype, value by value, at every stride and alignment") {
  struct Spacing {
    std::int64_t extra;  // bytes behind each row
    std::size_t offset;  // of the first row from an aligned address
  };
  const std::vector<Spacing> spacings = {{0, 0}, {64, 0}, {0, 1}, {3, 1}, {1, 0}, {13, 7}};
  for (const std::int32_t experts : kExperts) {
    for (const std::int32_t dtype : kDtypes) {
      const std::int32_t top_k = std::min<std::int32_t>(experts, 7);
      Setup setup;
      setup.config.num_experts = experts;
      setup.config.top_k = top_k;
      setup.layer_ids = {2, 3};
      Rig rig(setup);
      for (const Spacing& spacing : spacings) {
        CAPTURE(experts);
        CAPTURE(dtype);
        CAPTURE(spacing.extra);
        CAPTURE(spacing.offset);
        constexpr std::int64_t kRows = 37;
        const std::int64_t row_bytes = top_k * size_of(dtype);
        const std::int64_t stride = row_bytes + spacing.extra;
        std::vector<std::vector<std::int64_t>> expected;
        for (std::size_t column = 0; column < 2; ++column) {
          const auto ids = ids_for(experts, dtype, top_k, kRows, experts * 100 + dtype * 10 + static_cast<std::int64_t>(column));
          const auto bytes = packed(ids, dtype);
          // Exactly as long as the last row needs: what stands behind it is not ours to read.
          std::vector<std::byte> buffer(spacing.offset + static_cast<std::size_t>((kRows - 1) * stride + row_bytes), std::byte{0xEE});
          for (std::int64_t row = 0; row < kRows; ++row) {
            std::memcpy(buffer.data() + spacing.offset + row * stride, bytes.data() + row * row_bytes, static_cast<std::size_t>(row_bytes));
          }
          auto layout = make<rcap_capture_layout>();
          layout.ids_dtype = dtype;
          layout.columns = top_k;
          layout.tokens = kRows;
          layout.first_row = 5;
          layout.ids_row_stride = spacing.extra == 0 ? 0 : stride;
          REQUIRE(rcap_tap_capture(rig.tap(column), &layout, buffer.data() + spacing.offset,
                                   static_cast<std::int64_t>(buffer.size() - spacing.offset), nullptr, 0, nullptr, 0, nullptr,
                                   nullptr) == RCAP_STATUS_OK);
          expected.push_back(ids);
        }
        Slots slots;
        for (std::int64_t row = 0; row < kRows; ++row) slots.push_back(90 - row);
        REQUIRE(rig.settle(rig.end({.tokens = kRows, .first_row = 5, .slots = slots})).rows_stored == kRows);
        const Rows rows = rig.read({.slots = slots});
        for (std::int64_t row = 0; row < kRows; ++row) {
          for (std::int32_t column = 0; column < 2; ++column) {
            const auto& all = expected[static_cast<std::size_t>(column)];
            const std::vector<std::int32_t> ids(all.begin() + row * top_k, all.begin() + (row + 1) * top_k);
            REQUIRE(rows.ids_of(row, column) == ids);
          }
        }
      }
    }
  }
}

TEST_CASE("R28: ids as a view of an argsort: K columns of rows E wide, from every number of rows") {
  Setup setup;
  setup.config.num_experts = 128;
  setup.config.top_k = 8;
  Rig rig(setup);
  for (const std::int64_t tokens : {1, 2, 3, 15, 16, 17, 31, 33, 64}) {
    CAPTURE(tokens);
    Slots slots;
    std::vector<std::int32_t> order(static_cast<std::size_t>((tokens - 1) * 128 + 8));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>((i * 37 + static_cast<std::size_t>(tokens)) % 128);
    auto layout = make<rcap_capture_layout>();
    layout.columns = 8;
    layout.tokens = tokens;
    layout.ids_row_stride = 4 * 128;
    for (std::size_t column = 0; column < 3; ++column) {
      REQUIRE(rcap_tap_capture(rig.tap(column), &layout, order.data(), static_cast<std::int64_t>(order.size() * 4), nullptr, 0, nullptr, 0, nullptr,
                               nullptr) == RCAP_STATUS_OK);
    }
    for (std::int64_t row = 0; row < tokens; ++row) slots.push_back(row);
    rig.settle(rig.end({.tokens = tokens, .slots = slots}));
    const Rows rows = rig.read({.slots = slots});
    for (std::int64_t row = 0; row < tokens; ++row) {
      const std::vector<std::int32_t> expected(order.begin() + row * 128, order.begin() + row * 128 + 8);
      for (std::int32_t column = 0; column < 3; ++column) REQUIRE(rows.ids_of(row, column) == expected);
    }
  }
}

TEST_CASE("R28: K from 1 to 22, and up to E, with one layer or many") {
  for (const std::int32_t layers : {1, 2, 7, 58}) {
    for (std::int32_t top_k = 1; top_k <= 22; ++top_k) {
      CAPTURE(layers);
      CAPTURE(top_k);
      Setup setup;
      setup.config.num_experts = 4099;
      setup.config.top_k = top_k;
      setup.layer_ids.clear();
      for (std::int32_t layer = 0; layer < layers; ++layer) setup.layer_ids.push_back(layer);
      Rig rig(setup);
      rig.store({top_k, 100, 200}, {1, 127, 64});
      REQUIRE(rig.show({127, 64, 1, 0}) == "100 200 " + std::to_string(top_k) + " -");
    }
  }
  Setup whole;
  whole.config.num_experts = 16;
  whole.config.top_k = 16;
  Rig rig(whole);
  rig.store({1, 2}, {3, 4});
  CHECK(rig.show({3, 4}) == "1 2");
}
