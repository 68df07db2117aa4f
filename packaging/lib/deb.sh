# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run package deb`: the Debian packages, from a source package as distributions build it.

deb_work=$package_work/deb

# debian_source FOLDER NAME DEBIAN: the sources of a Debian package NAME below FOLDER, with its folder `debian`; leaves where they are in `source`.
debian_source() {
  local version
  version=$(project_version)
  source=$1/$2-$version
  rm -rf "$1"
  mkdir -p "$1" "$logs"
  copy_sources "$source"
  same_tar "$source" "$1/$2_$version.orig.tar.xz"
  cp -a "$3" "$source/debian"
}

# build_package LOG [OPTION...]: dpkg-buildpackage in `source`.
build_package() {
  local log=$1
  shift
  (
    cd "$source"
    export DEB_BUILD_OPTIONS="parallel=$jobs ${DEB_BUILD_OPTIONS:-}" DEB_BUILD_PROFILES=${DEB_BUILD_PROFILES:-}
    dpkg-buildpackage --no-sign "$@"
  ) >"$logs/$log" 2>&1 || {
    tail -n 60 "$logs/$log" >&2
    fail "dpkg-buildpackage failed; all it said is in build/log/$log"
  }
}

# build_debs FOLDER [afresh]: leaves it in `debs`. `afresh` compiles everything, whatever has been compiled before.
build_debs() {
  local compiler=${2:-} source
  python3 -B packaging/debian_symbols.py --check >&2 || fail "the list of symbols is old"
  debian_source "$1" routecap packaging/debian
  (
    # The system's own tools, whatever other Pythons and JDKs a user has: those are what the build depends on.
    # shellcheck disable=SC2030
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin
    unset JAVA_HOME PYTHONPATH
    [[ $compiler == afresh ]] || use_ccache
    build_package package.deb
  ) || exit
  debs=$1
}

# The CUDA plugin's source package, whose nvcc Debian 12 does not have: built with the one that `packaging/run cuda` uses.
build_cuda_debs() {
  local source nvcc debs=$package_work/deb-cuda
  debian_source "$debs" routecap-cuda packaging/debian-cuda
  need_nvcc
  say "the CUDA plugin's Debian packages, with $nvcc"
  CUDACXX=$nvcc build_package package.deb-cuda --no-check-builddeps
  lint_debs
  check_deb_paths
  write_deb_sboms
}

# No error, no warning, and everything else is said.
lint_debs() {
  local changes
  changes=$(echo "$debs"/*.changes)
  lintian --allow-root --display-experimental --display-info --pedantic --show-overrides --fail-on error,warning "$changes" >&2 ||
    fail "lintian has errors or warnings"
}

# Files for one architecture lie in its own folder, so that two of them can be installed side by side.
check_deb_paths() {
  local file other triplet
  triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  for file in "$debs"/libroutecap*_"$(dpkg --print-architecture)".deb; do
    other=$(dpkg-deb --fsys-tarfile "$file" | tar --list | grep -vE "/$|^\./usr/(share|include)/|^\./usr/lib/($triplet|debug)/") || true
    [[ -z $other ]] || fail "$(basename "$file") has files outside the folder of its architecture: $other"
  done
}

# Beside the packages, not inside: files that differ between architectures have no place in the folder of documents, which they share.
write_deb_sboms() {
  local file folder=$debs/sbom
  for file in "$debs"/*.deb; do
    [[ $file != *-dbgsym_* ]] || continue
    rm -rf "$folder"
    dpkg-deb --extract "$file" "$folder"
    write_sbom "${file%.deb}.spdx" "$(dpkg-deb --field "$file" Package)" "$folder"
    check_elf_of "$folder"
  done
  rm -rf "$folder"
}

# The same source in another folder gives the same bytes.
compare_debs() {
  local first=$deb_work file
  build_debs "$package_work/deb-again" afresh
  for file in "$first"/*.deb "$first"/*.dsc; do
    cmp "$file" "$debs/$(basename "$file")" >&2 || fail "two builds in two folders gave two different $(basename "$file")"
  done
  say "two builds in two folders gave the same packages"
  rm -rf "$debs"
  debs=$first
}

package_deb() {
  need_packages build debian
  build_debs "$deb_work"
  lint_debs
  check_deb_paths
  write_deb_sboms
  say "the Debian packages are in $debs"
}

# How packages in files are installed. Of one with the same version, which may be of another tree, apt would say that it is there already.
apt_installs='install -y --reinstall --allow-downgrades --no-install-recommends'

# For `packaging/run install --deb`.
install_debs() {
  need_packages build debian
  build_debs "$deb_work"
  local -a as_root=() files=()
  [[ $EUID -eq 0 ]] || as_root=(sudo)
  mapfile -t files < <(find "$debs" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' | sort)
  # Options are words.
  # shellcheck disable=SC2086
  "${as_root[@]}" apt-get $apt_installs "${files[@]}" >&2
}
