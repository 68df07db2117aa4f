// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 takes the deliberately undefined operands inside its own AVX-512 headers for mistakes (its bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include "backend/rows/kernel_bodies.h"

/// The pairs that engines use and compilers do not vectorize well enough. Packing saturates where the plain loops cut off: only bad ids differ, and
/// those are done over. Always called with at least one id.
namespace routecap::rows {

#define RCAP_AVX2 [[gnu::target("avx2,f16c")]]
#define RCAP_AVX512 [[gnu::target("avx2,f16c,avx512f,avx512bw,avx512vl,avx512dq")]]

struct Avx2 {
  RCAP_AVX2 static __m256i load(const std::byte* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }

  RCAP_AVX2 static bool at_most(__m256i worst, std::uint32_t largest) {
    const __m256i limit = _mm256_set1_epi32(static_cast<int>(largest));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(worst, limit), limit)) == -1;
  }

  /// Eight int32 to eight bytes.
  RCAP_AVX2 static void store_8(std::byte* out, __m256i ids) {
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(ids), _mm256_extracti128_si256(ids, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(words, words));
  }

  RCAP_AVX2 static bool narrow_int32_to_uint8(std::byte* out, const std::byte* in, std::int64_t count, std::uint64_t largest) {
    // Packing works within 128-bit halves; this puts the groups of four back in order.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i worst = _mm256_setzero_si256();
    std::int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
      const __m256i a = load(in + i * 4);
      const __m256i b = load(in + i * 4 + 32);
      const __m256i c = load(in + i * 4 + 64);
      const __m256i d = load(in + i * 4 + 96);
      worst = _mm256_max_epu32(worst, _mm256_max_epu32(_mm256_max_epu32(a, b), _mm256_max_epu32(c, d)));
      const __m256i bytes = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permutevar8x32_epi32(bytes, order));
    }
    for (; i + 8 <= count; i += 8) {
      const __m256i ids = load(in + i * 4);
      worst = _mm256_max_epu32(worst, ids);
      store_8(out + i, ids);
    }
    const bool good = at_most(worst, static_cast<std::uint32_t>(largest));
    return bodies::narrow<std::uint8_t, std::int32_t>(out + i, in + i * 4, count - i, largest) && good;
  }

  RCAP_AVX2 static bool narrow_rows_of_8(std::byte* out, const std::byte* in, std::int64_t rows, std::int64_t stride, std::uint64_t largest) {
    __m256i worst = _mm256_setzero_si256();
    for (std::int64_t row = 0; row < rows; ++row) {
      const __m256i ids = load(in + row * stride);
      worst = _mm256_max_epu32(worst, ids);
      store_8(out + row * 8, ids);
    }
    return at_most(worst, static_cast<std::uint32_t>(largest));
  }

  RCAP_AVX2 static void to_float16(std::byte* out, const std::byte* in, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      const __m256 weights = _mm256_loadu_ps(reinterpret_cast<const float*>(in + i * 4));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * 2), _mm256_cvtps_ph(weights, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
    bodies::convert_to_float16(out + i * 2, in + i * 4, count - i);
  }
};

struct Avx512 {
  RCAP_AVX512 static __m512i load(const std::byte* at) { return _mm512_loadu_si512(at); }

  RCAP_AVX512 static bool narrow_int32_to_uint8(std::byte* out, const std::byte* in, std::int64_t count, std::uint64_t largest) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i worst = _mm512_setzero_si512();
    std::int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
      const __m512i a = load(in + i * 4);
      const __m512i b = load(in + i * 4 + 64);
      const __m512i c = load(in + i * 4 + 128);
      const __m512i d = load(in + i * 4 + 192);
      worst = _mm512_max_epu32(worst, _mm512_max_epu32(_mm512_max_epu32(a, b), _mm512_max_epu32(c, d)));
      const __m512i bytes = _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
      _mm512_storeu_si512(out + i, _mm512_permutexvar_epi32(order, bytes));
    }
    for (; i < count; i += 16) {
      const __mmask16 lanes = count - i >= 16 ? __mmask16{0xFFFF} : static_cast<__mmask16>((1U << (count - i)) - 1U);
      const __m512i ids = _mm512_maskz_loadu_epi32(lanes, in + i * 4);
      worst = _mm512_max_epu32(worst, ids);
      _mm512_mask_cvtepi32_storeu_epi8(out + i, lanes, ids);
    }
    return _mm512_cmpgt_epu32_mask(worst, _mm512_set1_epi32(static_cast<int>(largest))) == 0;
  }

  RCAP_AVX512 static bool narrow_rows_of_8(std::byte* out, const std::byte* in, std::int64_t rows, std::int64_t stride, std::uint64_t largest) {
    __m256i worst = _mm256_setzero_si256();
    for (std::int64_t row = 0; row < rows; ++row) {
      const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + row * stride));
      worst = _mm256_max_epu32(worst, ids);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out + row * 8), _mm256_cvtepi32_epi8(ids));
    }
    return _mm256_cmpgt_epu32_mask(worst, _mm256_set1_epi32(static_cast<int>(largest))) == 0;
  }
};

}  // namespace routecap::rows

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
