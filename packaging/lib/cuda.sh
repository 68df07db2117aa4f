# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run cuda`: the CUDA backend plugin, with the nvcc that there is or one from PyPI. Needs no GPU; nothing here runs on one.

cuda_venv=$root/build/cuda-toolkit/venv
# These go together: compiler, its headers, its back end, the runtime, and Thrust's headers.
cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.88 nvidia-cuda-cccl==13.0.85)

# Leaves the path of an nvcc in `nvcc`: ROUTECAP_NVCC, that of the path or of the usual folder, or one from PyPI, which is fetched once.
need_nvcc() {
  nvcc=${ROUTECAP_NVCC:-$(command -v nvcc || compgen -G '/usr/local/cuda/bin/nvcc' || true)}
  if [[ -z $nvcc ]]; then
    nvcc=$(compgen -G "$cuda_venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc" || true)
    if [[ -z $nvcc || ! -e $cuda_venv/complete ]]; then
      say "fetching ${cuda_wheels[*]} from PyPI into build/cuda-toolkit/venv"
      python3 -m venv --clear "$cuda_venv" >&2 || fail "python3 -m venv does not work; as root: apt-get install python3-venv"
      "$cuda_venv/bin/pip" install --quiet --disable-pip-version-check "${cuda_wheels[@]}" >&2 ||
        fail "the wheels of nvcc could not be fetched; ROUTECAP_NVCC=PATH names an nvcc that is there"
      nvcc=$(compgen -G "$cuda_venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc") || fail "the wheels hold no nvcc where it was looked for"
      # nvcc looks for its libraries where a toolkit has them.
      ln -sfn lib "${nvcc%/bin/nvcc}/lib64"
      touch "$cuda_venv/complete"
    fi
  fi
  "$nvcc" --version >/dev/null || fail "$nvcc does not run"
}

# configure_cuda PRESET [ARCHITECTURES]
configure_cuda() {
  need_nvcc
  # Another nvcc than that of the last build needs a fresh folder: CMake keeps the first.
  if [[ $(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "build/$1/CMakeCache.txt" 2>/dev/null) != "$nvcc" ]]; then rm -rf "build/$1"; fi
  local -a options=("-DCMAKE_CUDA_COMPILER=$nvcc" "-DROUTECAP_CUDA_ARCHITECTURES=${ROUTECAP_CUDA_ARCHITECTURES:-${2:-80;90;100;120}}")
  command -v ccache >/dev/null && options+=(-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  configure_preset "$1" "${options[@]}"
}

# build_cuda [ARCHITECTURES]: leaves the plugin's path in `cuda_plugin`.
build_cuda() {
  configure_cuda cuda "$@"
  build_targets cuda routecap_backend_cuda
  cuda_plugin=$root/build/cuda/src/backend/cuda/libroutecap_backend_cuda.so
}

# What tests/cuda/run runs: code for the GPU of this machine alone, where there is one.
build_cuda_gpu() {
  local architecture
  architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d . || true)
  configure_cuda cuda-gpu "${architecture:-90}"
  build_targets cuda-gpu routecap routecap_backend_cuda libroutecap_backend_cuda_on_gpu cuda_gpu_checks unit_rules unit_threads property_tests fake_device_async
}

run_cuda() {
  build_cuda
  say "built $cuda_plugin with $("$nvcc" --version | sed -n 's/^Cuda compilation tools, //p'); it has not been run on a GPU"
  say "to have it found: ROUTECAP_BACKEND_PATH=${cuda_plugin%/*}; on a machine with a GPU: tests/cuda/run"
}

# host_compiles INCLUDE...: the plugin's host side, and the fake runtime of its tests, against the headers in these folders.
host_compiles() {
  local folder file
  local -a flags=(-std=c++20 -fsyntax-only -Wall -Wextra -Werror -DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP
    -Isrc -Icapi/include -Itests/plugin/fake_device)
  for folder in "$@"; do flags+=(-isystem "$folder"); done
  for file in src/backend/cuda/*.cpp tests/plugin/fake_cudart/cudart.cpp; do "${CXX:-c++}" "${flags[@]}" "$file"; done
}

# PyPI has headers of CUDA 12 but no whole compiler of it: its front end is not in the wheel.
cuda12_compiles() {
  local folder=$root/build/cuda-toolkit/headers-12.1
  if [[ ! -e $folder/complete ]]; then
    rm -rf "$folder"
    python3 -m venv --clear "$root/build/cuda-toolkit/pip" >&2
    "$root/build/cuda-toolkit/pip/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder" nvidia-cuda-runtime-cu12==12.1.105 \
      nvidia-cuda-nvcc-cu12==12.1.105 >&2
    touch "$folder/complete"
  fi
  host_compiles "$folder/nvidia/cuda_runtime/include" "$folder/nvidia/cuda_nvcc/include"
}

# The plugin for one architecture, and what can be seen of it without a GPU. The fake runtime of the tests is held to the real headers.
check_cuda() {
  build_cuda 90
  local include=${nvcc%/bin/nvcc}/include
  if [[ -e $include/cuda_runtime_api.h ]]; then host_compiles "$include" "$include/cccl"; fi
  cuda12_compiles
  configure_preset release
  build_targets release routecap routecap_command cuda_no_device
  ROUTECAP_TEST_CUDA_PLUGIN=$cuda_plugin ROUTECAP_TEST_CUDA_BUILD=$root/build/cuda run_ctest cuda release --build-config Cuda --label-regex '^cuda$'
}
