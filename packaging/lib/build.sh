# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Configuring, building and testing a preset. Build folders are build/<preset>.

jobs=${ROUTECAP_JOBS:-$(nproc)}

configure_preset() {
  local preset=$1
  shift
  mkdir -p "$logs"
  local -a launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  if ! cmake --preset "$preset" ${launcher[@]+"${launcher[@]}"} "$@" >"$logs/configure.$preset" 2>&1; then
    cat "$logs/configure.$preset" >&2
    return 1
  fi
}

build_targets() {
  local preset=$1
  shift
  local -a targets=()
  [[ $# -gt 0 ]] && targets=(--target "$@")
  cmake --build "build/$preset" --parallel "$jobs" ${targets[@]+"${targets[@]}"} >&2
}

# build_preset PRESET [TARGET...]
build_preset() {
  configure_preset "$1"
  build_targets "$@"
}

# The library and the examples need no test packages: a fresh folder is configured without tests, an existing one stays as it is.
build_without_tests() {
  if [[ ! -e build/release/build.ninja ]]; then
    configure_preset release -DROUTECAP_BUILD_TESTS=OFF -DROUTECAP_BUILD_BENCHMARKS=OFF
  fi
  build_targets release "$@"
}

# run_ctest NAME PRESET [CTEST OPTION...]: runs, keeps the log, and turns ctest's skipped tests into skips of the report.
run_ctest() {
  local name=$1 preset=$2 status=0 test
  shift 2
  local log=$logs/$report.$name.ctest
  # One more than there are processors: tests on devices that dawdle sleep most of the time.
  ctest --preset "$preset" --parallel "$((jobs + 1))" --no-tests=error "$@" </dev/null 2>&1 | tee "$log" >&2 || status=$?
  while read -r test; do
    skip "$test" "$(skip_reason "$preset" "$test")"
  done < <(sed -n 's/^[[:space:]]*[0-9]* - \(.*\) (Skipped)$/\1/p' "$log")
  return "$status"
}

# Why a test was skipped is what it said last.
skip_reason() {
  local reason
  reason=$(awk -v wanted="$2" '
    / Testing: / { inside = (substr($0, index($0, " Testing: ") + 10) == wanted); output = 0 }
    inside && /^<end of output>$/ { print line; exit }
    inside && output && NF && !/^-+$/ { line = $0 }
    inside && /^Output:$/ { output = 1 }' "build/$1/Testing/Temporary/LastTest.log")
  reason=${reason##*[sS]kipped: }
  printf '%s' "${reason:-it gave no reason}"
}
