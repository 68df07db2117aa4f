// SPDX-License-Identifier: Apache-2.0
//
// The bodies of FrameKernels. Each file that includes this is compiled for another instruction set, so nothing in here may have external linkage but
// the table: the linker would keep one copy of an inline function for all.

#include <string.h>

#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "wire/frame_kernels.h"

namespace routecap::wire {
namespace {

static inline std::uint64_t checksum_body(const std::byte* in, std::int64_t bytes) { return XXH3_64bits(in, static_cast<size_t>(bytes)); }

// XXH3-64 of long input with the default secret, and the copy in the same loop: hashing by itself is as slow as copying, and both wait for the same
// loads. What this takes from xxhash.h is its inner steps, which stay the same through 0.8; a test compares with XXH3_64bits at every kind of length.
static inline std::uint64_t copy_with_checksum_body(std::byte* out, const std::byte* in, std::int64_t bytes) {
  const std::int64_t stripe = XXH_STRIPE_LEN;
  const std::int64_t block = stripe * ((XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN) / XXH_SECRET_CONSUME_RATE);
  if (bytes <= block) {
    if (bytes > 0) memcpy(out, in, static_cast<size_t>(bytes));
    return checksum_body(in, bytes);
  }
  alignas(64) xxh_u64 sums[8] = XXH3_INIT_ACC;
  const auto* from = reinterpret_cast<const xxh_u8*>(in);
  // The last block, whole or not, is summed up differently.
  const std::int64_t last = (bytes - 1) / block * block;
  for (std::int64_t at = 0; at < last; at += block) {
    for (std::int64_t i = 0; i < block / stripe; ++i) {
      XXH3_accumulate_512(sums, from + at + i * stripe, XXH3_kSecret + i * XXH_SECRET_CONSUME_RATE);
      memcpy(out + at + i * stripe, in + at + i * stripe, static_cast<size_t>(stripe));
    }
    XXH3_scrambleAcc(sums, XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN);
  }
  for (std::int64_t i = 0; i < (bytes - 1 - last) / stripe; ++i) {
    XXH3_accumulate_512(sums, from + last + i * stripe, XXH3_kSecret + i * XXH_SECRET_CONSUME_RATE);
  }
  XXH3_accumulate_512(sums, from + bytes - stripe, XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN - XXH_SECRET_LASTACC_START);
  memcpy(out + last, in + last, static_cast<size_t>(bytes - last));
  return XXH3_mergeAccs(sums, XXH3_kSecret + XXH_SECRET_MERGEACCS_START, static_cast<xxh_u64>(bytes) * XXH_PRIME64_1);
}

}  // namespace

#define RCAP_FRAME_KERNELS \
  { checksum_body, copy_with_checksum_body }

}  // namespace routecap::wire
