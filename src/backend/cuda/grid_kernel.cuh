// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "backend/cuda/kernel_list.h"
#include "backend/cuda/kernels.h"

namespace routecap::cuda {

/// Memory that other threads of the device touch at the same time, on any of its streams.
struct DeviceWords {
  /// Sets bits of a byte; returns the byte before. The word around it lies in the same allocation: those are whole words.
  static __device__ std::uint8_t set_bits(std::uint8_t& byte, std::uint8_t bits) {
    const auto address = reinterpret_cast<std::uintptr_t>(&byte);
    const auto shift = static_cast<unsigned int>(address % 4 * 8);
    auto* word = reinterpret_cast<unsigned int*>(address - address % 4);
    return static_cast<std::uint8_t>(atomicOr(word, static_cast<unsigned int>(bits) << shift) >> shift);
  }

  static __device__ void add(std::int64_t& counter, std::int64_t value) {
    static_assert(sizeof(unsigned long long) == sizeof(std::int64_t));
    atomicAdd(reinterpret_cast<unsigned long long*>(&counter), static_cast<unsigned long long>(value));
  }
};

/// A body as a kernel. Its shared memory is raw: nothing is constructed in it.
template <class Body>
__global__ void __launch_bounds__(kBlockThreads) grid_kernel(const __grid_constant__ typename Body::Args args) {
  using Shared = typename Body::Shared;
  static_assert(std::is_trivially_default_constructible_v<Shared>);
  __shared__ Shared shared;
  const GridThread thread{static_cast<std::int64_t>(blockIdx.x), static_cast<std::int32_t>(threadIdx.x), static_cast<std::int32_t>(blockDim.x)};
#pragma unroll
  for (int phase = 0; phase < Body::kPhases; ++phase) {
    if (phase != 0) __syncthreads();
    Body::run(phase, args, thread, shared);
  }
}

/// Gives the address of the kernel that a body becomes.
struct AddressOfKernel {
  template <class Body>
  const void* operator()() const {
    return reinterpret_cast<const void*>(&grid_kernel<Body>);
  }
};

}  // namespace routecap::cuda
