// SPDX-License-Identifier: Apache-2.0
// Every instruction set of the frame's loops, at every kind of length.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "case.h"
#include "wire/frame_kernels.h"

using namespace wire_test;
using routecap::wire::FrameKernels;

namespace {

std::vector<const FrameKernels*> kernels() {
  std::vector<const FrameKernels*> all{&routecap::wire::kFrameKernelsBaseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) all.push_back(&routecap::wire::kFrameKernelsAvx2);
#endif
  return all;
}

Text random_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  Text bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

TEST_CASE("a checksum is XXH3-64: values that another implementation gave") {
  for (const FrameKernels* set : kernels()) {
    CHECK(set->checksum(nullptr, 0) == 0x2D06800538D394C2U);
    const Text text = text_of("routecap");
    CHECK(set->checksum(text.data(), 8) == 0xCE61D161ED9E119FU);
    const Text zeros(5000);
    CHECK(set->checksum(zeros.data(), 5000) == 0x95929931B75A6D9FU);
  }
}

TEST_CASE("copying gives the same checksum as looking, and the same bytes, at any length and place") {
  const Text bytes = random_bytes(70000);
  for (const FrameKernels* set : kernels()) {
    for (std::int64_t length = 0; length < 70000; length += length < 5200 ? 1 : 997) {
      const std::int64_t at = length % 9;
      if (at + length > 70000) break;
      Text copy(static_cast<std::size_t>(length) + 16, std::byte{0xA5});
      const std::uint64_t expected = routecap::wire::kFrameKernelsBaseline.checksum(bytes.data() + at, length);
      CHECK(set->checksum(bytes.data() + at, length) == expected);
      CHECK(set->copy_with_checksum(copy.data() + 3, bytes.data() + at, length) == expected);
      CHECK(std::equal(copy.begin() + 3, copy.begin() + 3 + length, bytes.begin() + at));
      CHECK(copy[2] == std::byte{0xA5});
      CHECK(copy[static_cast<std::size_t>(length) + 3] == std::byte{0xA5});
    }
  }
}
