// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/capture_body.h"
#include "backend/cuda/small_bodies.h"
#include "backend/cuda/snapshot_body.h"

/// Every kernel that there is, by number: the device's compiler makes one of each, and the tests run the same list on the host.
namespace routecap::cuda {

inline constexpr int kGivenTypes = 5;  ///< UINT8, UINT16, INT16, INT32, INT64

/// Of ids that are kept in 1, 2 or 4 bytes, and a given dtype.
constexpr int capture_kernel(std::int32_t id_bytes, std::int32_t ids_dtype) {
  const int kept = id_bytes == 1 ? 0 : (id_bytes == 2 ? 1 : 2);
  return kept * kGivenTypes + (ids_dtype - RCAP_DTYPE_UINT8);
}
inline constexpr int kSnapshotKernels = 3 * kGivenTypes;
/// Of words of 1, 2, 4 or 8 bytes.
constexpr int snapshot_kernel(std::int32_t word) { return kSnapshotKernels + (word == 1 ? 0 : (word == 2 ? 1 : (word == 4 ? 2 : 3))); }
inline constexpr int kClearKernel = kSnapshotKernels + 4;
inline constexpr int kWidenKernel = kClearKernel + 1;
inline constexpr int kPutKernel = kClearKernel + 2;
inline constexpr int kCopyKernel = kClearKernel + 3;
inline constexpr int kKernels = kClearKernel + 4;

static_assert(RCAP_DTYPE_UINT16 == RCAP_DTYPE_UINT8 + 1 && RCAP_DTYPE_INT16 == RCAP_DTYPE_UINT8 + 2 && RCAP_DTYPE_INT32 == RCAP_DTYPE_UINT8 + 3 &&
                  RCAP_DTYPE_INT64 == RCAP_DTYPE_UINT8 + 4,
              "kernels are numbered by the dtypes of ids");

/// Calls `visit<Body>()` for the capture kernels of one kept type; `given` is the kernel's number among them.
template <class Words, class Id, class Visit>
auto with_capture_body(int given, Visit&& visit) {
  switch (given) {
    case 0: return visit.template operator()<CaptureBody<Words, Id, std::uint8_t>>();
    case 1: return visit.template operator()<CaptureBody<Words, Id, std::uint16_t>>();
    case 2: return visit.template operator()<CaptureBody<Words, Id, std::int16_t>>();
    case 3: return visit.template operator()<CaptureBody<Words, Id, std::int32_t>>();
    default: return visit.template operator()<CaptureBody<Words, Id, std::int64_t>>();
  }
}

/// The same for the kernels behind those of capture.
template <class Words, class Visit>
auto with_other_body(int kernel, Visit&& visit) {
  switch (kernel) {
    case snapshot_kernel(1): return visit.template operator()<SnapshotBody<Words, std::uint8_t>>();
    case snapshot_kernel(2): return visit.template operator()<SnapshotBody<Words, std::uint16_t>>();
    case snapshot_kernel(4): return visit.template operator()<SnapshotBody<Words, std::uint32_t>>();
    case snapshot_kernel(8): return visit.template operator()<SnapshotBody<Words, std::uint64_t>>();
    case kClearKernel: return visit.template operator()<ClearBody>();
    case kWidenKernel: return visit.template operator()<WidenBody>();
    case kPutKernel: return visit.template operator()<PutBody>();
    default: return visit.template operator()<CopyBody>();
  }
}

}  // namespace routecap::cuda
