# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of `packaging/run check`.

all_lint=(format headers tidy shell spelling licence)
all_parts=("${all_lint[@]}" asan tsan valgrind property fuzz abi package debs bindings torch cuda)

run_check() {
  local part
  local -a wanted=()
  [[ $# -eq 0 ]] && set -- "${all_parts[@]}"
  for part in "$@"; do
    case " lint ${all_parts[*]} coverage soak packages " in
      *" $part "*) ;;
      *) fail "check has no part '$part'; it has: lint ${all_parts[*]} coverage soak packages" ;;
    esac
    if [[ $part == lint ]]; then
      wanted+=("${all_lint[@]}")
    else
      wanted+=("$part")
    fi
  done
  start_report check
  # All packages at once: one look at the registry instead of one per part.
  if [[ $install_packages == yes ]]; then
    local -a groups=()
    for part in "${wanted[@]}"; do
      read -ra more <<<"$(groups_of "$part")"
      groups+=("${more[@]}")
    done
    need_packages ${groups[@]+"${groups[@]}"}
  fi
  for part in "${wanted[@]}"; do
    read -ra more <<<"$(groups_of "$part")"
    if want_packages "$part" ${more[@]+"${more[@]}"}; then
      run_part "$part" "check_$part"
    fi
  done
  finish_report
}

groups_of() {
  case $1 in
    format) echo format ;;
    headers) echo build clang ;;
    tidy) echo build test clang tidy ;;
    shell) echo shell ;;
    spelling) echo spelling ;;
    licence) ;;
    asan | tsan | fuzz) echo build test clang ;;
    valgrind) echo build test valgrind ;;
    property | package | soak | cuda) echo build test ;;
    abi) echo build test abi ;;
    debs) echo build debian ;;
    packages) echo build test debian rpm root ;;
    coverage) echo build test coverage ;;
    bindings) echo swig ;;
    torch) echo build test python ;;
  esac
}

check_format() { lint_format; }
check_headers() { lint_headers; }
check_tidy() { lint_tidy; }
check_shell() { lint_shell; }
check_spelling() { lint_spelling; }
check_licence() { lint_licence; }

check_asan() {
  build_preset asan
  run_ctest asan asan
}

check_tsan() {
  build_preset tsan
  run_ctest tsan tsan
}

# The tests registered for ctest's configuration `Valgrind` only: the C programs, once more, under it.
check_valgrind() {
  build_preset release
  run_ctest valgrind release --build-config Valgrind --label-regex '^valgrind$'
}

check_property() {
  build_preset release
  ROUTECAP_PROPERTY_SCALE=${ROUTECAP_PROPERTY_SCALE:-10} run_ctest property release --tests-regex '^property'
}

# The random schedules without an end, for ROUTECAP_SOAK_SECONDS (300).
check_soak() {
  build_preset release property_soak
  ROUTECAP_SOAK_SECONDS=${ROUTECAP_SOAK_SECONDS:-300} run_ctest soak release --tests-regex '^soak'
}

# Every decoder for ROUTECAP_FUZZ_SECONDS (30), one on each processor.
check_fuzz() {
  build_preset fuzz fuzzers
  run_ctest fuzz fuzz
}

check_package() {
  build_preset release
  run_ctest package release --tests-regex '^(install|package)[.]'
}

# The Debian packages, looked at, and made again elsewhere: the same bytes.
check_debs() {
  package_deb
  compare_debs
}

# All packages, as distributions and users would have them: made, looked at, installed into a system of their own, and made again elsewhere.
check_packages() {
  package_tarball
  package_rpm
  package_deb
  compare_debs
  build_cuda_debs
  if [[ $EUID -eq 0 ]]; then
    need_root_base
    try_debs_in_root
  else
    skip packages.system "installing into a fresh system needs root"
  fi
}

check_bindings() {
  if [[ -z ${ROUTECAP_SWIG:-} ]] && ! (need_swig); then
    skip bindings "SWIG $swig_version is not there and could not be fetched"
    return 0
  fi
  run_bindings --check
}

# The Python package's tests with torch, which are registered for ctest's configuration `Torch` only.
check_torch() {
  if ! (prepare_torch); then
    skip torch "torch $peers_torch could not be fetched"
    return 0
  fi
  build_preset release routecap
  run_ctest torch release --build-config Torch --label-regex '^torch$'
}

check_abi() {
  build_preset release
  run_ctest abi release --label-regex '^abi$'
}

check_coverage() {
  build_preset coverage
  run_ctest coverage coverage
  build_targets coverage coverage-report
}
