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

/// Sanitizers see what compilers emit, not what assembly does: under them words are copied by the plain loops.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define RCAP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define RCAP_SANITIZED 1
#endif
#endif
#if !defined(RCAP_SANITIZED)
#define RCAP_SANITIZED 0
#endif

#define RCAP_AVX2 [[gnu::target("avx2,f16c")]]
#define RCAP_AVX512 [[gnu::target("avx2,f16c,avx512f,avx512bw,avx512vl,avx512dq")]]

struct Avx2 {
  RCAP_AVX2 static __m256i load(const std::byte* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }

  RCAP_AVX2 static void store(std::byte* at, __m256i value) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), value); }

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
      store(out + i, _mm256_permutevar8x32_epi32(bytes, order));
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

  /// Four rows of four layers at a time. Blocks at the ends overlap their neighbours instead of being smaller.
  RCAP_AVX2 static void turn_words(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride, std::int64_t layers,
                                   std::int64_t rows, bool more) {
    if (layers < 4 || rows < 4) return bodies::turn_words(out, out_stride, in, in_stride, layers, rows, more);
    for (std::int64_t layer = 0; layer < layers; layer += 4) {
      const std::int64_t at_layer = layer <= layers - 4 ? layer : layers - 4;
      for (std::int64_t row = 0; row < rows; row += 4) {
        const std::int64_t at_row = row <= rows - 4 ? row : rows - 4;
        const std::byte* from = in + at_layer * in_stride + at_row * 8;
        std::byte* to = out + at_row * out_stride + at_layer * 8;
        if (more) fetch_next_tile(to, out_stride, from, in_stride, layer, row);
        turn_block(to, out_stride, from, in_stride);
      }
    }
  }

  /// The same block of the next tile. No hardware follows so many streams: of a forward too large for the caches this saves a third. A line holds
  /// eight rows of a layer, or eight layers of a row, so every second block has fetched it already.
  [[gnu::always_inline]] static void fetch_next_tile(const std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride,
                                                     std::int64_t layer, std::int64_t row) {
    if (row % 8 == 0) {
      const std::byte* next = in + bodies::kTurnedRows * 8;
      for (int i = 0; i < 4; ++i) __builtin_prefetch(next + i * in_stride, 0, 3);
    }
    if (layer % 8 == 0) {
      const std::byte* next = out + bodies::kTurnedRows * out_stride;
      for (int i = 0; i < 4; ++i) __builtin_prefetch(next + i * out_stride, 1, 3);
    }
  }

  RCAP_AVX2 static void turn_block(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride) {
    const __m256i a = load(in);
    const __m256i b = load(in + in_stride);
    const __m256i c = load(in + 2 * in_stride);
    const __m256i d = load(in + 3 * in_stride);
    const __m256i even_ab = _mm256_unpacklo_epi64(a, b);
    const __m256i odd_ab = _mm256_unpackhi_epi64(a, b);
    const __m256i even_cd = _mm256_unpacklo_epi64(c, d);
    const __m256i odd_cd = _mm256_unpackhi_epi64(c, d);
    store(out, _mm256_permute2x128_si256(even_ab, even_cd, 0x20));
    store(out + out_stride, _mm256_permute2x128_si256(odd_ab, odd_cd, 0x20));
    store(out + 2 * out_stride, _mm256_permute2x128_si256(even_ab, even_cd, 0x31));
    store(out + 3 * out_stride, _mm256_permute2x128_si256(odd_ab, odd_cd, 0x31));
  }

  /// Four words at a time, as assembly: to the compiler it is no access that others' could race with. The processor keeps the order that the stamp
  /// needs, since x86-64 neither reorders stores with stores nor loads with loads, whatever their width, and splits no aligned word.
  RCAP_AVX2 static void copy_words(void* out, const void* in, std::int64_t words) {
    auto* to = static_cast<std::byte*>(out);
    const auto* from = static_cast<const std::byte*>(in);
    for (; words >= 8; words -= 8, from += 64, to += 64) {
      asm volatile(
          "vmovdqu (%0), %%ymm0\n\t"
          "vmovdqu 32(%0), %%ymm1\n\t"
          "vmovdqu %%ymm0, (%1)\n\t"
          "vmovdqu %%ymm1, 32(%1)"
          :
          : "r"(from), "r"(to)
          : "xmm0", "xmm1", "memory");
    }
    asm volatile("vzeroupper" : : : "xmm0", "xmm1");
  }

  static void store_words(std::uint64_t* slot, const std::byte* in, std::int64_t words) {
    const std::int64_t wide = words / 8 * 8;
    copy_words(slot, in, wide);
    bodies::store_words(slot + wide, in + wide * 8, words - wide);
  }

  static void load_words(std::byte* out, const std::uint64_t* slot, std::int64_t words) {
    const std::int64_t wide = words / 8 * 8;
    copy_words(out, slot, wide);
    bodies::load_words(out + wide * 8, slot + wide, words - wide);
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
