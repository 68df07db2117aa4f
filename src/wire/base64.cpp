// SPDX-License-Identifier: Apache-2.0
#include "wire/base64.h"

#include "wire/base64_alphabet.h"
#include "wire/base64_kernels.h"

#if defined(__x86_64__)
#include "wire/base64_x86.h"
#elif defined(__aarch64__)
#include "wire/base64_neon.h"
#endif

namespace routecap::base64 {
namespace {

std::uint32_t byte_at(const std::byte* in, std::int64_t index) { return static_cast<std::uint32_t>(in[index]); }
std::uint32_t value_at(const char* in, std::int64_t index) { return kValues[static_cast<std::uint8_t>(in[index])]; }

std::int64_t encode_scalar(const std::byte* in, std::int64_t bytes, char* out) {
  std::int64_t taken = 0;
  for (; taken + 3 <= bytes; taken += 3, out += 4) {
    const std::uint32_t group = byte_at(in, taken) << 16 | byte_at(in, taken + 1) << 8 | byte_at(in, taken + 2);
    out[0] = kAlphabet[group >> 18];
    out[1] = kAlphabet[group >> 12 & 63];
    out[2] = kAlphabet[group >> 6 & 63];
    out[3] = kAlphabet[group & 63];
  }
  return taken;
}

std::int64_t decode_scalar(const char* in, std::int64_t chars, std::byte* out) {
  std::int64_t taken = 0;
  for (; taken + 4 <= chars; taken += 4, out += 3) {
    const std::uint32_t a = value_at(in, taken);
    const std::uint32_t b = value_at(in, taken + 1);
    const std::uint32_t c = value_at(in, taken + 2);
    const std::uint32_t d = value_at(in, taken + 3);
    if (((a | b | c | d) & kBad) != 0) break;
    const std::uint32_t group = a << 18 | b << 12 | c << 6 | d;
    out[0] = static_cast<std::byte>(group >> 16);
    out[1] = static_cast<std::byte>(group >> 8);
    out[2] = static_cast<std::byte>(group);
  }
  return taken;
}

constexpr Kernels kScalarKernels{"scalar", &encode_scalar, &decode_scalar};
#if defined(__x86_64__)
constexpr Kernels kAvx2Kernels{"avx2", &Avx2::encode, &Avx2::decode};
constexpr Kernels kAvx512Kernels{"avx512", &Avx512::encode, &Avx512::decode};
#elif defined(__aarch64__)
constexpr Kernels kNeonKernels{"neon", &Neon::encode, &Neon::decode};
#endif

Base64Result bad(std::int64_t offset, const char* reason) { return {0, offset, reason}; }

/// The first character of [from, to) that is none of the alphabet, or `to`.
std::int64_t first_bad(const char* in, std::int64_t from, std::int64_t to) {
  while (from < to && value_at(in, from) != kBad) ++from;
  return from;
}

Base64Result bad_character(const char* in, std::int64_t offset) {
  return bad(offset, in[offset] == '=' ? "padding that does not close the text" : "not a character of the base64 alphabet");
}

/// The last group where it ends in `padding` (1 or 2) characters of it.
Base64Result decode_padded(const char* in, std::int64_t chars, std::int64_t padding, std::byte* out) {
  const std::int64_t first = chars - 4;
  const std::int64_t behind = chars - padding;
  const std::int64_t offset = first_bad(in, first, behind);
  if (offset < behind) return bad_character(in, offset);
  const std::uint32_t unused = padding == 2 ? 15U : 3U;
  if ((value_at(in, behind - 1) & unused) != 0) return bad(behind - 1, "bits behind the last byte are not zero");
  const std::uint32_t head = value_at(in, first) << 18 | value_at(in, first + 1) << 12;
  const std::uint32_t group = padding == 2 ? head : head | value_at(in, first + 2) << 6;
  const std::int64_t at = first / 4 * 3;
  out[at] = static_cast<std::byte>(group >> 16);
  if (padding == 1) out[at + 1] = static_cast<std::byte>(group >> 8);
  return {at + 3 - padding, -1, nullptr};
}

}  // namespace

const Kernels* kernels_for(rows::SimdLevel level) {
  switch (level) {
    case rows::SimdLevel::kScalar: return &kScalarKernels;
#if defined(__x86_64__)
    case rows::SimdLevel::kAvx2: return __builtin_cpu_supports("avx2") ? &kAvx2Kernels : nullptr;
    case rows::SimdLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") ? &kAvx512Kernels
                                                                                                                             : nullptr;
#elif defined(__aarch64__)
    case rows::SimdLevel::kNeon: return &kNeonKernels;
#endif
    default: return nullptr;
  }
}

const Kernels& best_kernels() {
  static const Kernels& best = []() -> const Kernels& {
    for (const rows::SimdLevel level : {rows::SimdLevel::kAvx512, rows::SimdLevel::kAvx2, rows::SimdLevel::kNeon}) {
      if (const Kernels* kernels = kernels_for(level); kernels != nullptr) return *kernels;
    }
    return kScalarKernels;
  }();
  return best;
}

void encode_with(const Kernels& kernels, const std::byte* in, std::int64_t bytes, char* out) {
  std::int64_t taken = kernels.encode(in, bytes, out);
  taken += encode_scalar(in + taken, bytes - taken, out + taken / 3 * 4);
  out += taken / 3 * 4;
  if (bytes - taken == 0) return;
  const bool two = bytes - taken == 2;
  const std::uint32_t group = byte_at(in, taken) << 16 | (two ? byte_at(in, taken + 1) << 8 : 0U);
  out[0] = kAlphabet[group >> 18];
  out[1] = kAlphabet[group >> 12 & 63];
  out[2] = two ? kAlphabet[group >> 6 & 63] : '=';
  out[3] = '=';
}

Base64Result decode_with(const Kernels& kernels, const char* in, std::int64_t chars, std::byte* out) {
  if (chars == 0) return {};
  std::int64_t padding = 0;
  if (chars % 4 == 0 && in[chars - 1] == '=') padding = in[chars - 2] == '=' ? 2 : 1;
  const std::int64_t whole = padding == 0 ? chars / 4 * 4 : chars - 4;
  std::int64_t taken = kernels.decode(in, whole, out);
  taken += decode_scalar(in + taken, whole - taken, out + taken / 4 * 3);
  if (taken < whole) return bad_character(in, first_bad(in, taken, whole));
  if (padding != 0) return decode_padded(in, chars, padding, out);
  if (whole == chars) return {whole / 4 * 3, -1, nullptr};
  const std::int64_t offset = first_bad(in, whole, chars);
  return offset < chars ? bad_character(in, offset) : bad(chars, "the text ends inside a group of four characters");
}

}  // namespace routecap::base64

namespace routecap {

void base64_encode(const std::byte* in, std::int64_t bytes, char* out) { base64::encode_with(base64::best_kernels(), in, bytes, out); }

Base64Result base64_decode(const char* in, std::int64_t chars, std::byte* out) { return base64::decode_with(base64::best_kernels(), in, chars, out); }

}  // namespace routecap
