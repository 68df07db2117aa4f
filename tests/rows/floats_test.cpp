// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <vector>

#include "rows/fixture.h"
#include "rows/naive.h"

namespace routecap::rows::testing {
namespace {

/// Both sides of every value that a 16-bit float can take, of every half-way point between two, and the corners of binary32.
std::vector<std::uint32_t> interesting(int fraction) {
  std::vector<std::uint32_t> all;
  const auto around = [&all](std::uint32_t bits) {
    for (const std::uint32_t sign : {0U, 0x80000000U}) {
      for (const std::uint32_t step : {0xFFFFFFFFU, 0U, 1U}) all.push_back((bits + step) ^ sign);
    }
  };
  if (fraction == 10) {
    for (std::uint32_t magnitude = 0; magnitude < 0x7C00U; ++magnitude) {
      const std::uint32_t exponent = magnitude >> 10;
      const float scale = exponent == 0 ? 0x1p-24F : std::bit_cast<float>((exponent + 102U) << 23);
      const float units = static_cast<float>(exponent == 0 ? magnitude : (magnitude & 0x3FFU) + 1024U);
      around(std::bit_cast<std::uint32_t>(units * scale));
      around(std::bit_cast<std::uint32_t>((units + 0.5F) * scale));
    }
  } else {
    for (std::uint32_t upper = 0; upper < 0x8000U; ++upper) {
      around(upper << 16);
      around((upper << 16) | 0x8000U);
    }
  }
  for (const std::uint32_t bits : {0U, 1U, 0x007FFFFFU, 0x00800000U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0x7F801FFFU,
                                   0x7F802000U, 0x7FA00000U, 0x477FEFFFU, 0x477FF000U, 0x33000000U, 0x32FFFFFFU}) {
    around(bits);
  }
  Random random(7);
  for (int i = 0; i < 100000; ++i) all.push_back(static_cast<std::uint32_t>(random.bits()));
  return all;
}

void check(WeightKernel convert, const std::vector<std::uint32_t>& given, std::uint16_t (*expected)(std::uint32_t)) {
  std::vector<std::uint16_t> got(given.size());
  convert(reinterpret_cast<std::byte*>(got.data()), reinterpret_cast<const std::byte*>(given.data()), static_cast<std::int64_t>(given.size()));
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (got[i] == expected(given[i])) continue;
    CAPTURE(given[i]);
    CHECK(got[i] == expected(given[i]));
    return;
  }
}

}  // namespace

TEST_CASE("R29: binary32 weights become binary16 by rounding to nearest even, NaN kept") {
  const std::vector<std::uint32_t> given = interesting(10);
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    check(kernels->to_float16, given, &nearest_float16);
  }
  CHECK(to_float16(0x3F800000U) == 0x3C00U);
  CHECK(to_float16(0xFF800000U) == 0xFC00U);
  CHECK(to_float16(0x7F800001U) == 0x7E00U);
  CHECK(to_float16(0xFFFFFFFFU) == 0xFFFFU);
  CHECK(to_float16(0x33000000U) == 0U);
  CHECK(to_float16(0x33000001U) == 1U);
}

TEST_CASE("R29: binary32 weights become bfloat16 by rounding to nearest even, NaN kept") {
  const std::vector<std::uint32_t> given = interesting(7);
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    check(kernels->to_bfloat16, given, &nearest_bfloat16);
  }
  CHECK(to_bfloat16(0x3F808000U) == 0x3F80U);
  CHECK(to_bfloat16(0x3F818000U) == 0x3F82U);
  CHECK(to_bfloat16(0x7F7FFFFFU) == 0x7F80U);
  CHECK(to_bfloat16(0x7F800001U) == 0x7FC0U);
  CHECK(to_bfloat16(0x00000001U) == 0U);
}

TEST_CASE("weights convert at every length around a vector and at every alignment") {
  Random random(8);
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    for (std::int64_t count = 0; count < 70; ++count) {
      const std::int64_t shift = random.between(0, 7);
      Fenced in(count * 4 + shift, random);
      Fenced out(count * 2, random);
      kernels->to_float16(out.data(), in.data() + shift, count);
      REQUIRE(out.intact());
      for (std::int64_t i = 0; i < count; ++i) {
        REQUIRE(load_as<std::uint16_t>(out.data() + i * 2) == nearest_float16(load_as<std::uint32_t>(in.data() + shift + i * 4)));
      }
      kernels->to_bfloat16(out.data(), in.data() + shift, count);
      REQUIRE(out.intact());
      for (std::int64_t i = 0; i < count; ++i) {
        REQUIRE(load_as<std::uint16_t>(out.data() + i * 2) == nearest_bfloat16(load_as<std::uint32_t>(in.data() + shift + i * 4)));
      }
    }
  }
}

}  // namespace routecap::rows::testing
