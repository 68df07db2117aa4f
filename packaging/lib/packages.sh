# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian packages, and how to see that what they bring is there already. Only what is missing is installed.

# Each line: package, then a command (plain word) or a file pattern (with a slash) that shows it is present.
packages_of() {
  case $1 in
    build)
      cat <<'LIST'
g++                g++
cmake              cmake
ninja-build        ninja
ccache             ccache
libthrust-dev      /usr/include/thrust/version.h
libxxhash-dev      /usr/include/xxhash.h
libzstd-dev        /usr/include/zstd.h
libtbb-dev         /usr/include/oneapi/tbb.h
libcli11-dev       /usr/include/CLI/CLI.hpp
nlohmann-json3-dev /usr/include/nlohmann/json.hpp
LIST
      ;;
    test)
      cat <<'LIST'
doctest-dev       /usr/include/doctest/doctest.h
librapidcheck-dev /usr/include/rapidcheck.h
libbenchmark-dev  /usr/include/benchmark/benchmark.h
pkg-config        pkg-config
git               git
python3-venv      python3
python3-numpy     /usr/lib/python3/dist-packages/numpy/__init__.py
LIST
      ;;
    clang)
      cat <<'LIST'
clang             clang++
libclang-rt-dev   /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a
LIST
      ;;
    format) echo "clang-format clang-format" ;;
    tidy) echo "clang-tidy clang-tidy" ;;
    shell) echo "shellcheck shellcheck" ;;
    spelling) echo "codespell codespell" ;;
    valgrind) echo "valgrind valgrind" ;;
    abi) echo "abigail-tools abidiff" ;;
    coverage) echo "gcovr gcovr" ;;
    browser) echo "chromium chromium" ;;
    java)
      cat <<'LIST'
openjdk-17-jdk-headless javac
maven                   mvn
LIST
      ;;
    python) echo "python3-venv /usr/lib/python3*/ensurepip/__init__.py" ;;
    rpm)
      cat <<'LIST'
rpm  rpmbuild
cpio cpio
LIST
      ;;
    root) echo "debootstrap /usr/sbin/debootstrap" ;;
    debian)
      cat <<'LIST'
debhelper                dh
dpkg-dev                 dpkg-buildpackage
lintian                  lintian
default-jdk-headless     /usr/share/doc/default-jdk-headless/copyright
dh-python                dh_python3
maven-repo-helper        mh_installpoms
pybuild-plugin-pyproject /usr/share/doc/pybuild-plugin-pyproject/copyright
python3-all              /usr/share/doc/python3-all/copyright
python3-cffi             /usr/lib/python3/dist-packages/cffi/__init__.py
python3-hatchling        /usr/lib/python3/dist-packages/hatchling/__init__.py
python3-numpy            /usr/lib/python3/dist-packages/numpy/__init__.py
LIST
      ;;
    swig) echo "python3-venv /usr/lib/python3*/ensurepip/__init__.py" ;;
  esac
}

is_present() {
  if [[ $1 == */* ]]; then
    compgen -G "$1" >/dev/null
  else
    command -v "$1" >/dev/null
  fi
}

# Prints the packages of the given groups that are missing.
missing_packages() {
  local group package probe
  for group in "$@"; do
    while read -r package probe; do
      is_present "$probe" || printf '%s\n' "$package"
    done < <(packages_of "$group")
  done
}

# need_packages GROUP...: afterwards they are there, or the script has ended.
need_packages() {
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] && return 0
  [[ $install_packages == no ]] && fail "missing Debian packages: ${missing[*]}"
  install_missing "${missing[@]}"
}

# want_packages PART GROUP...: like need_packages, but with --no-install a part that lacks something is skipped.
want_packages() {
  local part=$1
  shift
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] && return 0
  if [[ $install_packages == no ]]; then
    skip "$part" "missing Debian packages: ${missing[*]}"
    return 1
  fi
  install_missing "${missing[@]}"
}

install_missing() {
  local -a as_root=()
  if [[ $EUID -ne 0 ]]; then
    # Without a terminal nobody can type a password.
    as_root=(sudo)
    [[ -t 0 ]] || as_root=(sudo -n)
    if ! command -v sudo >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
      fail "missing Debian packages, and neither root nor sudo to install them; as root: apt-get install --no-install-recommends $*"
    fi
  fi
  command -v apt-get >/dev/null || fail "no apt-get on this system; install what these Debian packages hold: $*"
  say "installing Debian packages: $*"
  local -a get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  # Package lists may be absent or old: fetch them only where the first try shows so.
  if ! "${get[@]}" install -y --no-install-recommends "$@" >/dev/null 2>&1 </dev/null; then
    "${get[@]}" update >&2 </dev/null
    "${get[@]}" install -y --no-install-recommends "$@" >/dev/null </dev/null
  fi
}
