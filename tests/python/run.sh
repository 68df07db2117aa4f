#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The parts of the Python tests, one per run: run.sh PART. CMakeLists.txt says what is in the environment.
set -euo pipefail

part=$1
package=$ROUTECAP_SOURCE/bindings/python
here=$ROUTECAP_SOURCE/tests/python
venv=$ROUTECAP_SOURCE/build/python/venv
failed() {
  printf '%s\n' "$*" >&2
  exit 1
}
skipped() {
  printf 'skipped: %s\n' "$*"
  exit 0
}

export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$package"

# The environment of all parts, made anew only where what it needs has changed.
if [[ $part == venv ]]; then
  system=${ROUTECAP_PYTHON:-/usr/bin/python3}
  "$system" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skipped "Python 3.10 or newer is not installed ($system)"
  cmp -s "$here/requirements.txt" "$venv/made_of" && exit 0
  rm -f "$venv/made_of"
  "$system" -m venv --clear "$venv" >"$WORK/log" 2>&1 || skipped "$system -m venv does not work (Debian: python3-venv)"
  "$venv/bin/python" -m pip install --quiet -r "$here/requirements.txt" >"$WORK/log" 2>&1 ||
    skipped "what the tests need could not be fetched: $(tail -n 1 "$WORK/log")"
  cp "$here/requirements.txt" "$venv/made_of"
  exit 0
fi

# need_venv: the environment is there and whole.
need_venv() {
  cmp -s "$here/requirements.txt" "$venv/made_of" || skipped "there is no build/python/venv: python.venv says why"
  export ROUTECAP_LIBRARY=$LIBRARY PYTHONPATH=$package
}

# run_pytest PYTHON ARGUMENT...: shows the log of what failed; a test that was skipped, and none at all, are failures.
run_pytest() {
  local python=$1 log=$WORK/log
  shift
  "$python" -X dev -W error -m pytest -q -rs -p no:cacheprovider "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
  tail -n 1 "$log"
  grep -qE '^[0-9]+ passed' "$log" || failed "$(cat "$log")"
}

case $part in
  unit)
    need_venv
    run_pytest "$venv/bin/python" tests --ignore-glob 'tests/test_torch*'
    [[ $(sed -nE 's/^([0-9]+) passed.*/\1/p' "$WORK/log") -gt 150 ]] || failed "$(cat "$WORK/log")"
    if grep -E '^SKIPPED' "$WORK/log" >&2; then failed "a test was skipped"; fi
    ;;

  types)
    need_venv
    unset PYTHONPATH
    "$venv/bin/python" -m mypy --cache-dir "$WORK/mypy" >"$WORK/log" || failed "$(cat "$WORK/log")"
    cat "$WORK/log"
    # What users write is checked as theirs is: from outside, the package being somebody else's.
    touch "$WORK/mypy.ini"
    user=("$venv/bin/python" -m mypy --strict --follow-imports silent --cache-dir "$WORK/mypy" --config-file "$WORK/mypy.ini")
    MYPYPATH=$package "${user[@]}" examples/*.py >"$WORK/log" || failed "$(cat "$WORK/log")"
    # Type errors that a user makes are found.
    cat >"$WORK/wrong.py" <<'PYTHON'
import routecap
config = routecap.Config(num_experts="many", top_k=2, layer_ids=[3])
record: routecap.Record = routecap.Capturer(config).read([1], 2, start="first")
record.rows.append(1)
PYTHON
    if MYPYPATH=$package "${user[@]}" "$WORK/wrong.py" >"$WORK/log"; then
      failed "mypy found nothing in a wrong program"
    fi
    [[ $(grep -c ': error: ' "$WORK/log") -eq 3 ]] || failed "$(cat "$WORK/log")"
    for tool in node npm; do
      command -v $tool >/dev/null || skipped "pyright needs Node.js, and there is no $tool (mypy found nothing)"
    done
    export XDG_CACHE_HOME=$ROUTECAP_SOURCE/build/python/cache PYRIGHT_PYTHON_IGNORE_WARNINGS=1
    "$venv/bin/python" -m pyright --version >"$WORK/log" 2>&1 || skipped "pyright could not be fetched: $(tail -n 1 "$WORK/log")"
    "$venv/bin/python" -m pyright --pythonpath "$venv/bin/python" --project . >"$WORK/log" 2>&1 || failed "$(cat "$WORK/log")"
    tail -n 1 "$WORK/log"
    ;;

  serving)
    need_venv
    "$venv/bin/python" examples/serving.py "$WORK/request.frame" >"$WORK/routed"
    [[ $(wc -l <"$WORK/routed") -eq 33 ]] || failed "the example printed $(wc -l <"$WORK/routed") lines"
    # The frame holds what the router chose, says the routecap command.
    [[ -x ${ROUTECAP_COMMAND:-} ]] || skipped "the routecap command is not built"
    "$ROUTECAP_COMMAND" convert "$WORK/request.frame" --to lists -o "$WORK/recorded.json"
    sed -E 's/^token [0-9]+, layer [0-9]+: \[(.*)\]$/\1/' "$WORK/routed" >"$WORK/want"
    python3 - "$WORK/recorded.json" >"$WORK/recorded" <<'PYTHON'
import json, sys
for row in json.load(open(sys.argv[1])):
    for experts in row:
        print(*experts)
PYTHON
    diff "$WORK/want" "$WORK/recorded" || failed "the command reads other rows than the router chose"
    "$ROUTECAP_COMMAND" validate "$WORK/request.frame" >"$WORK/validated"
    ;;

  quickstart)
    need_venv
    "$venv/bin/python" -X dev -W error examples/quickstart.py >"$WORK/printed"
    awk '/^```text$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROUTECAP_SOURCE/README.md" >"$WORK/promised"
    [[ -s $WORK/promised ]] || failed "README.md has no block of output"
    diff "$WORK/promised" "$WORK/printed"
    # And the samples of the package's own README that go on with each other.
    awk '/^## / { trainers = /For trainers/ } /^```python$/ { inside = !seen || trainers; seen = 1; next } /^```$/ { inside = 0 } inside' README.md >"$WORK/readme.py"
    [[ -s $WORK/readme.py ]] || failed "bindings/python/README.md has no sample"
    "$venv/bin/python" -X dev -W error "$WORK/readme.py" >"$WORK/printed"
    grep -q '\[255   0\]' "$WORK/printed" || failed "$(cat "$WORK/printed")"
    grep -q '\[ True False  True False\]' "$WORK/printed" || failed "$(cat "$WORK/printed")"
    ;;

  bench)
    # Briefly: that it runs and what it calls is right. Times are for `tests/bench/python/calls.py`.
    need_venv
    "$venv/bin/python" "$ROUTECAP_SOURCE/tests/bench/python/calls.py" --calls 20 >"$WORK/log"
    cat "$WORK/log"
    [[ $(grep -c ' ns' "$WORK/log") -ge 5 ]] || failed "$(cat "$WORK/log")"
    ;;

  wheel)
    "${ROUTECAP_PYTHON:-/usr/bin/python3}" -c 'import ensurepip' 2>/dev/null || skipped "python3 -m venv does not work (Debian: python3-venv)"
    "$ROUTECAP_SOURCE/packaging/run" --no-install package wheel >"$WORK/log" 2>&1 || {
      if grep -q 'could not be fetched' "$WORK/log"; then skipped "$(grep -m 1 'could not be fetched' "$WORK/log")"; fi
      failed "$(cat "$WORK/log")"
    }
    wheels=("$ROUTECAP_SOURCE"/build/python/dist/*.whl)
    # What auditwheel says is what the symbols say: no version of a symbol is newer than the tag.
    tag=$(sed -nE 's/.*-py3-none-manylinux_([0-9]+_[0-9]+)_.*\.whl/\1/p' <<<"${wheels[0]}")
    [[ ${#wheels[@]} -eq 1 && -n $tag ]] || failed "the wheel is ${wheels[*]}"
    python3 -m zipfile -e "${wheels[0]}" "$WORK/files"
    needed=$(find "$WORK/files" -name '*.so*' -exec objdump -T {} + | sed -nE 's/.*\(?GLIBC_([0-9]+\.[0-9]+).*/\1/p' | sort -V | tail -n 1)
    [[ $(printf '%s\n' "$needed" "${tag/_/.}" | sort -V | tail -n 1) == "${tag/_/.}" ]] || failed "it needs glibc $needed and is tagged $tag"
    readelf -d "$WORK/files/routecap/lib/libroutecap.so.0" | grep -q 'SONAME.*\[libroutecap\.so\.0\]' || failed "the library has another SONAME"
    if readelf -S "$WORK/files/routecap/lib/libroutecap.so.0" | grep -q '\.debug_info'; then failed "the library has debug information"; fi
    for file in routecap/py.typed routecap/lib/NOTICES; do
      [[ -e $WORK/files/$file ]] || failed "the wheel has no $file"
    done
    grep -q 'Apache License' "$WORK"/files/routecap-*.dist-info/licenses/LICENSE
    printf '%s\n' "$(basename "${wheels[0]}")"
    ;;

  on_*)
    # The same wheel on another Python, in an environment of its own.
    version=${part#on_}
    python=$(command -v "python$version" || true)
    if ! "${python:-false}" -c '' 2>/dev/null; then
      python=
      if command -v pyenv >/dev/null; then python=$(compgen -G "$(pyenv root)/versions/$version.*/bin/python" | sort -V | tail -n 1 || true); fi
    fi
    [[ -n $python ]] || skipped "Python $version is not installed"
    wheels=("$ROUTECAP_SOURCE"/build/python/dist/*.whl)
    [[ -e ${wheels[0]} ]] || skipped "there is no wheel: python.wheel says why"
    "$python" -m venv "$WORK/venv"
    "$WORK/venv/bin/python" -m pip install --quiet --only-binary :all: "${wheels[0]}" pytest hypothesis >"$WORK/log" 2>&1 ||
      skipped "what the tests need could not be fetched: $(tail -n 1 "$WORK/log")"
    unset PYTHONPATH ROUTECAP_LIBRARY
    cd tests
    ROUTECAP_PYTHON_EXAMPLES=5 run_pytest "$WORK/venv/bin/python" . --ignore-glob 'test_torch*' --ignore test_library.py
    if grep -E '^SKIPPED' "$WORK/log" | grep -vE 'pyarrow|pandas|ml_dtypes|numpy before|no GIL'; then failed "a test was skipped"; fi
    "$WORK/venv/bin/python" -c 'import routecap; assert routecap.library_info().origin == "bundled"'
    ;;

  torch)
    # torch as `packaging/run check torch` fetched it, beside the tests' own environment.
    need_venv
    peers=$ROUTECAP_SOURCE/build/peers
    [[ -e $peers/torch ]] || failed "torch was not fetched: packaging/run check torch does it"
    export LD_LIBRARY_PATH=$peers/gpu-libraries TORCHINDUCTOR_CACHE_DIR=$WORK/inductor
    "$peers/venv/bin/python" -c 'import pytest, cffi' 2>/dev/null ||
      "$peers/venv/bin/python" -m pip install --quiet "$(grep '^pytest==' "$here/requirements.txt")" "$(grep '^cffi==' "$here/requirements.txt")"
    "$peers/venv/bin/python" -c 'import hypothesis' 2>/dev/null ||
      "$peers/venv/bin/python" -m pip install --quiet "$(grep '^hypothesis==' "$here/requirements.txt")"
    # Two files of it are read, and none of what it needs.
    [[ -e $peers/megatron/megatron/core ]] ||
      "$peers/venv/bin/python" -m pip install --quiet --no-deps --target "$peers/megatron" "$(grep '^megatron-core==' "$here/torch.txt")"
    # torch's own warnings are not ours to mend.
    PYTHONPATH=$PYTHONPATH:$peers/megatron "$peers/venv/bin/python" -X dev -m pytest -q -rs -p no:cacheprovider tests/test_torch*.py >"$WORK/log" 2>&1 || failed "$(cat "$WORK/log")"
    tail -n 1 "$WORK/log"
    [[ $(sed -nE 's/^([0-9]+) passed.*/\1/p' "$WORK/log") -ge 20 ]] || failed "$(cat "$WORK/log")"
    if grep -E '^SKIPPED' "$WORK/log" >&2; then failed "a test was skipped"; fi
    "$peers/venv/bin/python" "$ROUTECAP_SOURCE/tests/bench/python/calls.py" --calls 200
    ;;

  *) failed "no part '$part'" ;;
esac
