// SPDX-License-Identifier: Apache-2.0
// R29: routing weights travel with the ids.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/floats.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

constexpr std::int32_t kTopK = 4;

Setup weighted(std::int32_t dtype) {
  Setup setup;
  setup.config.weights_dtype = dtype;
  setup.config.weights_kind = RCAP_WEIGHTS_RENORMALIZED;
  setup.layer_ids = {6};
  return setup;
}

/// Numbers that rounding gets wrong: every exponent's halves and neighbours, subnormals, overflow, signs and infinities.
std::vector<float> corner_numbers() {
  std::vector<float> numbers = {0.0F,
                                -0.0F,
                                1.0F,
                                -1.0F,
                                65504.0F,
                                65519.996F,
                                65520.0F,
                                65536.0F,
                                -65520.0F,
                                3.4e38F,
                                -3.4e38F,
                                1e-40F,
                                -1e-45F,
                                6.1e-5F,
                                5.96e-8F,
                                2.98e-8F,
                                2.9802322e-8F,
                                2.9802326e-8F,
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min(),
                                std::numeric_limits<float>::min()};
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    // Around the half of a bfloat16 step (bit 15) and of a binary16 step (bit 12), over an even and an odd last place.
    for (const std::uint32_t mantissa : {0x000000U, 0x007FFFU, 0x008000U, 0x008001U, 0x018000U, 0x017FFFU, 0x000FFFU, 0x001000U, 0x001001U, 0x003000U,
                                         0x7FFFFFU, 0x7F8000U, 0x7FF000U}) {
      numbers.push_back(float32_of(exponent << 23 | mantissa));
      numbers.push_back(float32_of(0x80000000U | exponent << 23 | mantissa));
    }
  }
  for (std::int64_t i = 0; i < 20000; ++i) {
    const float number = float32_of(static_cast<std::uint32_t>(mix(i, 77)));
    if (!std::isnan(number)) numbers.push_back(number);
  }
  while (numbers.size() % kTopK != 0) numbers.push_back(0.5F);
  return numbers;
}

/// Stores weights [rows, K] given as bytes and returns their bytes as read back.
std::vector<std::byte> through(Rig& rig, const std::vector<std::byte>& weights, std::int32_t dtype, std::int64_t stride = 0) {
  const std::int64_t row_bytes = kTopK * size_of(dtype);
  const std::int64_t rows =
      stride == 0 ? static_cast<std::int64_t>(weights.size()) / row_bytes : (static_cast<std::int64_t>(weights.size()) - row_bytes) / stride + 1;
  std::vector<std::byte> result;
  for (std::int64_t done = 0; done < rows; done += 64) {
    const std::int64_t count = std::min<std::int64_t>(64, rows - done);
    const std::int64_t step = stride == 0 ? row_bytes : stride;
    std::vector<std::int32_t> ids;
    Slots slots;
    for (std::int64_t i = 0; i < count; ++i) {
      ids.insert(ids.end(), {1, 2, 3, 4});
      slots.push_back(i);
    }
    auto layout = make<rcap_capture_layout>();
    layout.columns = kTopK;
    layout.tokens = count;
    layout.weights_dtype = dtype;
    layout.weights_row_stride = stride;
    Error error;
    const std::int32_t status = rcap_tap_capture(rig.tap(0), &layout, ids.data(), count * 16, weights.data() + done * step,
                                                 (count - 1) * step + row_bytes, nullptr, 0, nullptr, error);
    require_ok(status, "capture", error.text(), __FILE__, __LINE__);
    rig.settle(rig.end({.tokens = count, .slots = slots}));
    const Rows read = rig.read({.slots = slots});
    result.insert(result.end(), read.weights.begin(), read.weights.end());
  }
  return result;
}

std::vector<std::byte> bytes_of(const std::vector<float>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::uint16_t half_at(const std::vector<std::byte>& bytes, std::size_t index) {
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data() + index * 2, 2);
  return half;
}

}  // namespace

TEST_CASE("R29: f32 weights are rounded to the nearest f16 or bf16, ties to even, overflow to infinity") {
  const std::vector<float> numbers = corner_numbers();
  for (const std::int32_t dtype : {RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16}) {
    Rig rig(weighted(dtype));
    const auto kept = through(rig, bytes_of(numbers), RCAP_DTYPE_FLOAT32);
    REQUIRE(kept.size() == numbers.size() * 2);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint16_t expected = dtype == RCAP_DTYPE_FLOAT16 ? nearest_float16(numbers[i]) : nearest_bfloat16(numbers[i]);
      if (half_at(kept, i) == expected) continue;
      CAPTURE(dtype);
      CAPTURE(numbers[i]);
      CHECK(half_at(kept, i) == expected);
    }
  }
}

TEST_CASE("R29: NaN stays NaN, with its sign, also where rounding would carry it into infinity") {
  const std::vector<std::uint32_t> patterns = {0x7FC00000, 0xFFC00000, 0x7F800001, 0x7F8000FF, 0xFF800001, 0x7FFFFFFF,
                                               0xFFFFFFFF, 0x7F807FFF, 0x7F808000, 0x7FA00000, 0x7F801000, 0x7F80FFFF};
  std::vector<std::byte> bytes(patterns.size() * 4);
  std::memcpy(bytes.data(), patterns.data(), bytes.size());
  for (const std::int32_t dtype : {RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16}) {
    Rig rig(weighted(dtype));
    const auto kept = through(rig, bytes, RCAP_DTYPE_FLOAT32);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      CAPTURE(patterns[i]);
      const std::uint16_t half = half_at(kept, i);
      CHECK((dtype == RCAP_DTYPE_FLOAT16 ? float16_is_nan(half) : bfloat16_is_nan(half)));
      CHECK((half & 0x8000) == (patterns[i] >> 16 & 0x8000));
    }
  }
  Rig rig(weighted(RCAP_DTYPE_FLOAT32));
  CHECK(through(rig, bytes, RCAP_DTYPE_FLOAT32) == bytes);
}

TEST_CASE("R29: weights in the dtype that is kept pass bit for bit, at any stride and alignment") {
  for (const std::int32_t dtype : {RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16, RCAP_DTYPE_FLOAT32}) {
    for (const std::int64_t extra : {0, 1, 6, 64}) {
      CAPTURE(dtype);
      CAPTURE(extra);
      Rig rig(weighted(dtype));
      const std::int64_t row_bytes = kTopK * size_of(dtype);
      constexpr std::int64_t kRows = 50;
      std::vector<std::byte> given(static_cast<std::size_t>((kRows - 1) * (row_bytes + extra) + row_bytes));
      for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::byte>(mix(static_cast<std::int64_t>(i), dtype) & 0xFF);
      std::vector<std::byte> expected;
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto at = given.begin() + row * (row_bytes + extra);
        expected.insert(expected.end(), at, at + row_bytes);
      }
      CHECK(through(rig, given, dtype, row_bytes + extra) == expected);
    }
  }
}

TEST_CASE("R29: weights stand in the same rows and the same order as their ids, with the same validity, and shared columns' are dropped") {
  for (const std::int32_t dtype : {RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16, RCAP_DTYPE_FLOAT32}) {
    CAPTURE(dtype);
    Setup setup;
    setup.config.weights_dtype = dtype;
    setup.config.num_fused_shared_experts = 1;
    Rig rig(setup);
    rig.store({1, 2, 3}, {12, 10, 11});
    const Rows rows = rig.read({.slots = {10, 13, 12, 11}});
    CHECK(rig.words(rows) == "2 - 1 3");  // compares ids and weights
    CHECK(rows.info.weights_dtype == dtype);
    CHECK(rows.info.weights_bytes == 4 * 3 * 4 * size_of(dtype));
  }
}

TEST_CASE("R29: the kind of weights is stated with the record") {
  for (const std::int32_t kind : {RCAP_WEIGHTS_AS_ROUTED, RCAP_WEIGHTS_RENORMALIZED, RCAP_WEIGHTS_SCALED}) {
    Setup setup;
    setup.config.weights_dtype = RCAP_DTYPE_BFLOAT16;
    setup.config.weights_kind = kind;
    Rig rig(setup);
    rig.store({1}, {10});
    const Rows rows = rig.read({.slots = {10}});
    CHECK(rows.record_info.weights_kind == kind);
    CHECK(rows.record_info.weights_dtype == RCAP_DTYPE_BFLOAT16);
  }
}

TEST_CASE("R29: where weights are configured, a capture without them is refused and writes nothing") {
  Rig rig(weighted(RCAP_DTYPE_FLOAT16));
  const std::vector<std::int32_t> ids = {1, 2, 3, 4};
  auto layout = make<rcap_capture_layout>();
  layout.columns = 4;
  layout.tokens = 1;
  layout.weights_dtype = RCAP_DTYPE_FLOAT32;
  Error error;
  CHECK(name(rcap_tap_capture(rig.tap(0), &layout, ids.data(), 16, nullptr, 0, nullptr, 0, nullptr, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(error.text().find("weights") != std::string::npos);
  const std::vector<float> weights(4, 0.5F);
  CHECK(name(rcap_tap_capture(rig.tap(0), &layout, ids.data(), 16, weights.data(), 15, nullptr, 0, nullptr, error)) ==
        "RCAP_STATUS_INVALID_ARGUMENT");
  layout.weights_row_stride = 8;  // smaller than a row
  layout.tokens = 2;
  CHECK(name(rcap_tap_capture(rig.tap(0), &layout, ids.data(), 32, weights.data(), 24, nullptr, 0, nullptr, error)) ==
        "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(rig.settle(rig.end({.tokens = 1, .slots = {3}})).layer_rows_captured == 0);
}

TEST_CASE("R29: a pair of dtypes without a conversion is refused") {
  struct Case {
    std::int32_t kept, given;
    std::int32_t status;
  };
  for (const Case& c : std::vector<Case>{{RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16, RCAP_STATUS_UNSUPPORTED},
                                         {RCAP_DTYPE_BFLOAT16, RCAP_DTYPE_FLOAT16, RCAP_STATUS_UNSUPPORTED},
                                         {RCAP_DTYPE_FLOAT32, RCAP_DTYPE_FLOAT16, RCAP_STATUS_UNSUPPORTED},
                                         {RCAP_DTYPE_FLOAT32, RCAP_DTYPE_BFLOAT16, RCAP_STATUS_UNSUPPORTED}}) {
    CAPTURE(c.kept);
    CAPTURE(c.given);
    Rig rig(weighted(c.kept));
    const std::vector<std::int32_t> ids = {1, 2, 3, 4};
    const std::vector<float> weights(4, 0.5F);
    auto layout = make<rcap_capture_layout>();
    layout.columns = 4;
    layout.tokens = 1;
    layout.weights_dtype = c.given;
    Error error;
    CHECK(name(rcap_tap_capture(rig.tap(0), &layout, ids.data(), 16, weights.data(), 16, nullptr, 0, nullptr, error)) == name(c.status));
    CHECK_FALSE(error.text().empty());
  }
}

TEST_CASE("R29: where weights are not configured, given ones are ignored, whatever they are") {
  Rig rig;
  for (std::size_t column = 0; column < 3; ++column) {
    const auto ids = rig.router().ids(1, rig.setup().layer_ids[column]);
    auto layout = make<rcap_capture_layout>();
    layout.columns = 4;
    layout.tokens = 1;
    layout.weights_dtype = RCAP_DTYPE_FLOAT32;
    layout.weights_row_stride = 1;
    const float weight = 0.25F;  // too few bytes: not looked at
    REQUIRE(rcap_tap_capture(rig.tap(column), &layout, ids.data(), 16, &weight, 4, nullptr, 0, nullptr, nullptr) == RCAP_STATUS_OK);
  }
  rig.settle(rig.end({.tokens = 1, .slots = {10}}));
  const Rows rows = rig.read({.slots = {10}});
  CHECK(rows.row(0) == rig.expected(1));
  CHECK(rows.info.weights_dtype == RCAP_DTYPE_NONE);
  CHECK(rows.info.weights_bytes == 0);
}
