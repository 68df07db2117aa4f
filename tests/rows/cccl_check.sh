#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cccl_check.sh SOURCE WORK CXX...: compiles the row algorithms with CCCL 3's Thrust, taken from its Python wheel into a virtual environment under WORK.
# Exits 77 (skipped) where the wheel cannot be had.
set -eu

source_dir=$1
work_dir=$2
shift 2
version=13.0.85

headers() {
  find "$work_dir/venv" -path '*cccl/thrust/version.h' 2>/dev/null | head -n 1
}

if [ -z "$(headers)" ]; then
  mkdir -p "$work_dir"
  if ! { python3 -m venv "$work_dir/venv" && "$work_dir/venv/bin/pip" --quiet --disable-pip-version-check install "nvidia-cuda-cccl==$version"; } \
    >"$work_dir/pip.log" 2>&1; then
    rm -rf "$work_dir/venv"
    echo "SKIPPED: nvidia-cuda-cccl $version cannot be installed: $(tail -n 1 "$work_dir/pip.log")"
    exit 77
  fi
fi
cccl=$(dirname "$(dirname "$(headers)")")
echo "CCCL in $cccl"

for file in "$source_dir/tests/rows/cccl_check.cpp" "$source_dir/src/backend/rows/capture.cpp"; do
  echo "compiling $file"
  "$@" -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -isystem "$cccl" -I "$source_dir/src" -I "$source_dir/capi/include" \
    -c "$file" -o "$work_dir/$(basename "$file").o"
done
echo "compiled"
