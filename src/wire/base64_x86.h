// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 takes the deliberately undefined operands inside its own AVX-512 headers for mistakes (its bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/base64_alphabet.h"

/// Both ways of both sets go by 32-bit lanes: three bytes are spread to a lane's four and cut into four times six bits, or put together again.
namespace routecap::base64 {

#define RCAP_BASE64_AVX2 [[gnu::target("avx2")]]
#define RCAP_BASE64_AVX512 [[gnu::target("avx512f,avx512bw,avx512vbmi")]]

/// 24 bytes to 32 characters and back (the method of W. Mula and D. Lemire).
struct Avx2 {
  RCAP_BASE64_AVX2 static std::int64_t encode(const std::byte* in, std::int64_t bytes, char* out) {
    // Byte order 1 0 2 1 in every lane: each six bits then lie within one 16-bit half and a multiplication moves them to their byte.
    const __m256i spread = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
    // What to add to a value for its character, by class: a-z, ten digits, '+', '/', A-Z.
    const __m256i offsets = _mm256_broadcastsi128_si256(_mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                                                      '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0));
    std::int64_t taken = 0;
    for (; taken + 28 <= bytes; taken += 24, out += 32) {  // the second load reads four bytes more than it uses
      const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + taken));
      const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + taken + 12));
      const __m256i lanes = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), spread);
      const __m256i first_third = _mm256_mulhi_epu16(_mm256_and_si256(lanes, _mm256_set1_epi32(0x0FC0FC00)), _mm256_set1_epi32(0x04000040));
      const __m256i second_fourth = _mm256_mullo_epi16(_mm256_and_si256(lanes, _mm256_set1_epi32(0x003F03F0)), _mm256_set1_epi32(0x01000010));
      const __m256i values = _mm256_or_si256(first_third, second_fourth);
      const __m256i upper_case = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), values);
      const __m256i above = _mm256_subs_epu8(values, _mm256_set1_epi8(51));
      const __m256i kind = _mm256_or_si256(above, _mm256_and_si256(upper_case, _mm256_set1_epi8(13)));
      const __m256i characters = _mm256_add_epi8(values, _mm256_shuffle_epi8(offsets, kind));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), characters);
    }
    return taken;
  }

  RCAP_BASE64_AVX2 static std::int64_t decode(const char* in, std::int64_t chars, std::byte* out) {
    // A character is of the alphabet where the bit of its high nibble's row is clear in the set of its low nibble.
    const __m256i low_sets =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1A, 0x1B, 0x1B, 0x1B, 0x1A));
    const __m256i high_bits =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10));
    // What to add to a character for its value, by high nibble; '/' shares its nibble with '+' and takes the entry below.
    const __m256i offsets =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    const __m256i gather = _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7);
    std::int64_t taken = 0;
    for (; taken + 44 <= chars; taken += 32, out += 24) {  // 32 bytes are stored, 24 count: there is room for all
      const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + taken));
      const __m256i high = _mm256_and_si256(_mm256_srli_epi32(text, 4), nibble);
      const __m256i bad = _mm256_and_si256(_mm256_shuffle_epi8(low_sets, _mm256_and_si256(text, nibble)), _mm256_shuffle_epi8(high_bits, high));
      if (_mm256_testz_si256(bad, bad) == 0) break;
      const __m256i slash = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('/'));
      const __m256i values = _mm256_add_epi8(text, _mm256_shuffle_epi8(offsets, _mm256_add_epi8(high, slash)));
      const __m256i pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
      const __m256i lanes = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
      const __m256i joined = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(lanes, gather), join);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), joined);
    }
    return taken;
  }
};

/// 48 bytes to 64 characters and back; VBMI has a look-up among 64 or 128 bytes and cuts six bits out of any place.
///
/// Stores that cross cache lines cost more than loads that do: the first groups go one by one until `out` is aligned.
class Avx512 {
 public:
  RCAP_BASE64_AVX512 static std::int64_t encode(const std::byte* in, std::int64_t bytes, char* out) {
    const Encoder encoder;
    const std::int64_t groups = bytes / 3;
    std::int64_t taken = 0;
    if (const std::int64_t misaligned = misalignment(out); misaligned % 4 == 0) {
      taken = std::min((kVector - misaligned) % kVector / 4, groups);
      if (taken > 0) encoder.some(in, taken, out);
    }
    for (; taken * 3 + kVector <= bytes; taken += 16) _mm512_storeu_si512(out + taken * 4, encoder.text(load(in + taken * 3)));
    for (std::int64_t some = 0; taken < groups; taken += some) {
      some = std::min<std::int64_t>(groups - taken, 16);
      encoder.some(in + taken * 3, some, out + taken * 4);
    }
    return taken * 3;
  }

  RCAP_BASE64_AVX512 static std::int64_t decode(const char* in, std::int64_t chars, std::byte* out) {
    const Decoder decoder;
    const std::int64_t groups = chars / 4;
    // 3 * 43 = 1 modulo 64: so many groups of three bytes lead to the next whole vector.
    const std::int64_t lead = std::min((kVector - misalignment(out)) * 43 % kVector, groups);
    std::int64_t taken = 0;
    for (std::int64_t some = 0; taken < lead; taken += some) {
      some = std::min<std::int64_t>(lead - taken, 16);
      if (!decoder.some(in + taken * 4, some, out + taken * 3)) return taken * 4;
    }
    while (taken + 64 <= groups && decoder.four(in + taken * 4, out + taken * 3)) taken += 64;
    for (std::int64_t some = 0; taken < groups; taken += some) {
      some = std::min<std::int64_t>(groups - taken, 16);
      if (!decoder.some(in + taken * 4, some, out + taken * 3)) break;
    }
    return taken * 4;
  }

 private:
  static constexpr std::int64_t kVector = 64;
  using Table = std::array<std::uint8_t, 64>;

  RCAP_BASE64_AVX512 static __m512i load(const void* at) { return _mm512_loadu_si512(at); }
  static std::int64_t misalignment(const void* at) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % 64); }
  /// Mask of the lowest 1 .. 64 bytes.
  static __mmask64 lowest(std::int64_t bytes) { return ~std::uint64_t{0} >> (64 - bytes); }

  class Encoder {
   public:
    RCAP_BASE64_AVX512 Encoder() : spread_(load(kSpread.data())), alphabet_(load(kAlphabet)), shifts_(_mm512_set1_epi64(0x3036242A1016040A)) {}

    /// The first 48 bytes as text.
    [[nodiscard]] RCAP_BASE64_AVX512 __m512i text(__m512i bytes) const {
      const __m512i lanes = _mm512_permutexvar_epi8(spread_, bytes);
      return _mm512_permutexvar_epi8(_mm512_multishift_epi64_epi8(shifts_, lanes), alphabet_);
    }

    /// 1 .. 16 groups.
    RCAP_BASE64_AVX512 void some(const std::byte* in, std::int64_t groups, char* out) const {
      _mm512_mask_storeu_epi8(out, lowest(groups * 4), text(_mm512_maskz_loadu_epi8(lowest(groups * 3), in)));
    }

   private:
    /// Byte order 1 0 2 1 in every lane: each six bits then lie together.
    static constexpr Table kSpread = [] {
      constexpr std::uint8_t kOrder[4] = {1, 0, 2, 1};
      Table order{};
      for (std::size_t i = 0; i < 64; ++i) order[i] = static_cast<std::uint8_t>(i / 4 * 3 + kOrder[i % 4]);
      return order;
    }();

    __m512i spread_;
    __m512i alphabet_;
    __m512i shifts_;  ///< where they begin: 10, 4, 22, 16, and the same in the upper lane of 32 bits
  };

  class Decoder {
   public:
    RCAP_BASE64_AVX512 Decoder()
        : low_values_(load(kValues.data())),
          high_values_(load(kValues.data() + 64)),
          join_0_1_(load(kJoin[0].data())),
          join_1_2_(load(kJoin[1].data())),
          join_2_3_(load(kJoin[2].data())) {}

    /// 1 .. 16 groups. @return whether all are good; nothing is written else
    RCAP_BASE64_AVX512 bool some(const char* in, std::int64_t groups, std::byte* out) const {
      const __m512i text = _mm512_mask_loadu_epi8(_mm512_set1_epi8('A'), lowest(groups * 4), in);
      const __m512i values = values_of(text);
      if (_mm512_movepi8_mask(_mm512_or_si512(values, text)) != 0) return false;
      _mm512_mask_storeu_epi8(out, lowest(groups * 3), _mm512_permutexvar_epi8(join_0_1_, pack(values)));
      return true;
    }

    /// 64 groups: four times 48 bytes are three whole stores.
    RCAP_BASE64_AVX512 bool four(const char* in, std::byte* out) const {
      const __m512i text_0 = load(in);
      const __m512i text_1 = load(in + 64);
      const __m512i text_2 = load(in + 128);
      const __m512i text_3 = load(in + 192);
      const __m512i values_0 = values_of(text_0);
      const __m512i values_1 = values_of(text_1);
      const __m512i values_2 = values_of(text_2);
      const __m512i values_3 = values_of(text_3);
      // The look-up goes by seven bits: a character above them shows in the text itself.
      const __m512i signs = any_of(any_of(text_0, text_1, text_2), any_of(text_3, values_0, values_1), _mm512_or_si512(values_2, values_3));
      if (_mm512_movepi8_mask(signs) != 0) return false;
      const __m512i lanes_1 = pack(values_1);
      const __m512i lanes_2 = pack(values_2);
      _mm512_storeu_si512(out, _mm512_permutex2var_epi8(pack(values_0), join_0_1_, lanes_1));
      _mm512_storeu_si512(out + 64, _mm512_permutex2var_epi8(lanes_1, join_1_2_, lanes_2));
      _mm512_storeu_si512(out + 128, _mm512_permutex2var_epi8(lanes_2, join_2_3_, pack(values_3)));
      return true;
    }

   private:
    /// What each of three stores takes from two vectors of lanes whose three bytes stand last first.
    static constexpr std::array<Table, 3> kJoin = [] {
      std::array<Table, 3> tables{};
      for (std::size_t i = 0; i < 192; ++i) tables[i / 64][i % 64] = static_cast<std::uint8_t>(i / 3 * 4 + 2 - i % 3 - i / 64 * 64);
      return tables;
    }();

    [[nodiscard]] RCAP_BASE64_AVX512 __m512i values_of(__m512i text) const { return _mm512_permutex2var_epi8(low_values_, text, high_values_); }
    RCAP_BASE64_AVX512 static __m512i any_of(__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi64(a, b, c, 0xFE); }

    /// Four times six bits to 24 in every lane.
    RCAP_BASE64_AVX512 static __m512i pack(__m512i values) {
      const __m512i pairs = _mm512_maddubs_epi16(values, _mm512_set1_epi32(0x01400140));
      return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00011000));
    }

    __m512i low_values_;
    __m512i high_values_;
    __m512i join_0_1_;
    __m512i join_1_2_;
    __m512i join_2_3_;
  };
};

}  // namespace routecap::base64

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
