# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# llama.cpp for capi/examples/llama.cpp: prebuilt libraries and headers of one release, from two packages of the npm registry. Nothing of either is part
# of the tree; all of it lies under build/llama.cpp and is fetched once.

llama_work=$root/build/llama.cpp
llama_version=3.22.1
# What npm may hand over, and nothing else.
llama_libraries_sha256=0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0
llama_sources_sha256=a0d9dd80eacd2ab1cfe71aee57ac8a806487fd70b3d2a38fbec637752d9e5c5f

# Why llama.cpp cannot be had here, on stdout; nothing where it can.
llama_obstacle() {
  local tool
  [[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || {
    printf 'its prebuilt libraries are for Linux x86-64'
    return
  }
  [[ -e $llama_work/lib && -e $llama_work/include ]] && return
  for tool in npm git tar; do
    command -v "$tool" >/dev/null || {
      printf '%s is not installed' "$tool"
      return
    }
  done
}

# fetch_npm PACKAGE FILE SHA256 FOLDER: the package's tarball, through npm and the registry that it is configured for.
fetch_npm() {
  local package=$1 file=$2 sum=$3 folder=$4
  (cd "$folder" && npm pack --silent --ignore-scripts "$package@$llama_version" >/dev/null) || return
  printf '%s  %s\n' "$sum" "$folder/$file" | sha256sum --check --status || {
    say "$package@$llama_version is not the package that was expected (sha256)"
    return 1
  }
}

# Leaves lib/ and include/ in build/llama.cpp. Returns 1 where a package cannot be fetched.
fetch_llama_cpp() {
  [[ -e $llama_work/lib && -e $llama_work/include ]] && return
  local fresh=$llama_work/fresh
  rm -rf "$fresh" "${llama_work:?}/lib" "${llama_work:?}/include"
  mkdir -p "$fresh"
  say "fetching llama.cpp's libraries and headers (npm: node-llama-cpp $llama_version) into build/llama.cpp"
  fetch_npm @node-llama-cpp/linux-x64 "node-llama-cpp-linux-x64-$llama_version.tgz" "$llama_libraries_sha256" "$fresh" || return
  fetch_npm node-llama-cpp "node-llama-cpp-$llama_version.tgz" "$llama_sources_sha256" "$fresh" || return
  tar -xzf "$fresh/node-llama-cpp-linux-x64-$llama_version.tgz" -C "$fresh" package/bins/linux-x64 || return
  # The sources are a git bundle inside the package; of them only the headers are wanted.
  tar -xzf "$fresh/node-llama-cpp-$llama_version.tgz" -C "$fresh" package/llama/gitRelease.bundle || return
  git clone --quiet --bare "$fresh/package/llama/gitRelease.bundle" "$fresh/sources" || return
  git -C "$fresh/sources" archive HEAD include ggml/include | tar -x -C "$fresh" || return
  cp "$fresh"/ggml/include/*.h "$fresh/include/" || return
  mv "$fresh/include" "$llama_work/include"
  mv "$fresh/package/bins/linux-x64" "$llama_work/lib"
  rm -rf "$fresh"
}

# build_llama_cpp LIBRARY: the example, against that libroutecap.so. Leaves its path in `llama_program`.
build_llama_cpp() {
  local library=$1 log=$llama_work/configure.log warnings='-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Werror'
  local -a launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake -S "$root/capi/examples/llama.cpp" -B "$llama_work/build" -G Ninja ${launcher[@]+"${launcher[@]}"} \
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" -DLLAMA_CPP_INCLUDE_DIR="$llama_work/include" \
    -DROUTECAP_LIBRARY="$library" -DROUTECAP_INCLUDE_DIR="$root/capi/include" "-DROUTECAP_WARNINGS=$warnings" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  cmake --build "$llama_work/build" --parallel "${ROUTECAP_JOBS:-$(nproc)}" >&2 || return
  llama_program=$llama_work/build/routecap_llama_cpp
}
