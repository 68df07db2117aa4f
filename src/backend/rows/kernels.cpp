// SPDX-License-Identifier: Apache-2.0
#include "backend/rows/kernels.h"

#include "backend/rows/kernel_bodies.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include "backend/rows/kernels_x86.h"
#elif defined(__aarch64__)
#include "backend/rows/kernels_neon.h"
#endif

namespace routecap::rows {
namespace {

// One wrapper per body and instruction set. A macro, because a target attribute cannot be a template argument.
#define RCAP_KERNEL_SET(SET, TARGET)                                                                                                           \
  struct SET {                                                                                                                                 \
    template <class Id, class In>                                                                                                              \
    TARGET static bool narrow(std::byte* out, const std::byte* in, std::int64_t count, std::uint64_t largest) {                                \
      return bodies::narrow<Id, In>(out, in, count, largest);                                                                                  \
    }                                                                                                                                          \
    TARGET static bool narrow_rows_of_8(std::byte* out, const std::byte* in, std::int64_t rows, std::int64_t stride, std::uint64_t largest) {  \
      return bodies::narrow_rows_of_8(out, in, rows, stride, largest);                                                                         \
    }                                                                                                                                          \
    TARGET static void to_float16(std::byte* out, const std::byte* in, std::int64_t count) { bodies::convert_to_float16(out, in, count); }     \
    TARGET static void to_bfloat16(std::byte* out, const std::byte* in, std::int64_t count) { bodies::convert_to_bfloat16(out, in, count); }   \
    TARGET static MarkSummary summarize_marks(const std::uint8_t* marks, std::int64_t count) { return bodies::summarize_marks(marks, count); } \
  }

RCAP_KERNEL_SET(Baseline, );
#if defined(__x86_64__)
RCAP_KERNEL_SET(PlainAvx2, RCAP_AVX2);
RCAP_KERNEL_SET(PlainAvx512, RCAP_AVX512);
#endif
#undef RCAP_KERNEL_SET

template <class Set, class Id>
constexpr void fill_narrow(NarrowKernel (&row)[5]) {
  row[0] = &Set::template narrow<Id, std::uint8_t>;
  row[1] = &Set::template narrow<Id, std::uint16_t>;
  row[2] = &Set::template narrow<Id, std::int16_t>;
  row[3] = &Set::template narrow<Id, std::int32_t>;
  row[4] = &Set::template narrow<Id, std::int64_t>;
}

template <class Set>
constexpr Kernels make_kernels(SimdLevel level, const char* name) {
  Kernels kernels;
  kernels.level = level;
  kernels.name = name;
  fill_narrow<Set, std::uint8_t>(kernels.narrow[0]);
  fill_narrow<Set, std::uint16_t>(kernels.narrow[1]);
  fill_narrow<Set, std::int32_t>(kernels.narrow[2]);
  kernels.narrow_rows_of_8 = &Set::narrow_rows_of_8;
  kernels.to_float16 = &Set::to_float16;
  kernels.to_bfloat16 = &Set::to_bfloat16;
  kernels.summarize_marks = &Set::summarize_marks;
  kernels.turn_words = &bodies::turn_words;
  kernels.store_words = &bodies::store_words;
  kernels.load_words = &bodies::load_words;
  return kernels;
}

#if defined(__aarch64__)
constexpr Kernels make_neon() {
  Kernels kernels = make_kernels<Baseline>(SimdLevel::kNeon, "neon");
  kernels.narrow[0][3] = &Neon::narrow_int32_to_uint8;
  kernels.narrow_rows_of_8 = &Neon::narrow_rows_of_8;
  return kernels;
}
constexpr Kernels kNeonKernels = make_neon();
#else
constexpr Kernels kScalarKernels = make_kernels<Baseline>(SimdLevel::kScalar, "scalar");
#endif

#if defined(__x86_64__)
/// Compilers' own tests do not all know this feature; that the system saves its registers is told by the one for AVX2.
bool has_f16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

/// What gains nothing, or loses, with vectors wider than AVX2's.
constexpr void take_avx2(Kernels& kernels) {
  kernels.to_float16 = &Avx2::to_float16;
  kernels.turn_words = &Avx2::turn_words;
  if constexpr (RCAP_SANITIZED == 0) {
    kernels.store_words = &Avx2::store_words;
    kernels.load_words = &Avx2::load_words;
  }
}

constexpr Kernels make_avx2() {
  Kernels kernels = make_kernels<PlainAvx2>(SimdLevel::kAvx2, "avx2");
  kernels.narrow[0][3] = &Avx2::narrow_int32_to_uint8;
  kernels.narrow_rows_of_8 = &Avx2::narrow_rows_of_8;
  take_avx2(kernels);
  return kernels;
}
constexpr Kernels kAvx2Kernels = make_avx2();

constexpr Kernels make_avx512() {
  Kernels kernels = make_kernels<PlainAvx512>(SimdLevel::kAvx512, "avx512");
  kernels.narrow[0][3] = &Avx512::narrow_int32_to_uint8;
  kernels.narrow_rows_of_8 = &Avx512::narrow_rows_of_8;
  take_avx2(kernels);
  return kernels;
}
constexpr Kernels kAvx512Kernels = make_avx512();
#endif

}  // namespace

NarrowKernel Kernels::narrow_for(std::int32_t id_bytes, std::int32_t ids_dtype) const {
  static_assert(RCAP_DTYPE_UINT8 == 1 && RCAP_DTYPE_UINT16 == 2 && RCAP_DTYPE_INT16 == 3 && RCAP_DTYPE_INT32 == 4 && RCAP_DTYPE_INT64 == 5);
  return narrow[id_bytes == 4 ? 2 : id_bytes - 1][ids_dtype - 1];
}

const Kernels* kernels_of(SimdLevel level) {
  switch (level) {
#if defined(__x86_64__)
    case SimdLevel::kScalar: return &kScalarKernels;
    case SimdLevel::kAvx2: return __builtin_cpu_supports("avx2") && has_f16c() ? &kAvx2Kernels : nullptr;
    case SimdLevel::kAvx512:
      return kernels_of(SimdLevel::kAvx2) != nullptr && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
                 ? &kAvx512Kernels
                 : nullptr;
#elif defined(__aarch64__)
    case SimdLevel::kNeon: return &kNeonKernels;
#else
    case SimdLevel::kScalar: return &kScalarKernels;
#endif
    default: return nullptr;
  }
}

const Kernels& best_kernels() {
  static const Kernels& best = []() -> const Kernels& {
    for (const SimdLevel level : {SimdLevel::kAvx512, SimdLevel::kAvx2, SimdLevel::kNeon}) {
      if (const Kernels* kernels = kernels_of(level); kernels != nullptr) return *kernels;
    }
    return *kernels_of(SimdLevel::kScalar);
  }();
  return best;
}

}  // namespace routecap::rows
