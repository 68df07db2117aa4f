# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What all packages begin with: the version, the time that they carry, and the tree's own files in a tarball that is the same wherever it is made.

package_work=$root/build/package

project_version() { sed -n 's/^ *VERSION \([0-9][0-9.]*\)$/\1/p' CMakeLists.txt; }

# Seconds of the newest entry of the Debian changelog: what every file in every package is dated.
package_epoch() { date --date="$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)" +%s; }

# copy_sources FOLDER: the files that git knows or would add.
copy_sources() {
  rm -rf "$1"
  mkdir -p "$1"
  sources '*' | tar --create --files-from=- | tar --extract --directory="$1"
}

# same_tar FOLDER OUTPUT: FOLDER, below its own name, as a tarball of the same bytes whoever makes it. OUTPUT's ending chooses the compression.
same_tar() {
  local -a compress=(gzip -9n)
  [[ $2 == *.xz ]] && compress=(xz -6 -T1)
  tar --create --directory="$(dirname "$1")" --sort=name --format=gnu --mtime="@$(package_epoch)" --owner=0 --group=0 --numeric-owner \
    --mode='u+rw,go+r,go-w,a-s' "$(basename "$1")" | "${compress[@]}" >"$2"
}

# use_ccache [anywhere]: compiles again only what has changed; ccache, where there is one. It gives what the compiler would; with `anywhere` also what
# it gave in another folder, whose debug information may name files by other paths.
use_ccache() {
  [[ -d /usr/lib/ccache ]] || return 0
  # Named, because debhelper gives a build a home of its own.
  CCACHE_DIR=$(ccache --get-config cache_dir)
  # Whoever calls this does so in a subshell of its own.
  # shellcheck disable=SC2031
  export PATH=/usr/lib/ccache:$PATH CCACHE_DIR
  unset CCACHE_BASEDIR CCACHE_NOHASHDIR
  [[ ${1:-} != anywhere ]] || export CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1
}

# check_elf_of FOLDER: what the libraries, plugins and commands below it ask of a system, as a package has them.
check_elf_of() {
  local -a files
  mapfile -t files < <(find "$1" -type f \( -name 'libroutecap.so.*' -o -name 'libroutecap_backend_*.so' -o -name libroutecapjni.so -o \
    -path '*/bin/routecap' \))
  [[ ${#files[@]} -eq 0 ]] || python3 -B tests/abi/elf.py "${files[@]}" >&2 || fail "a file of a package asks for what it may not"
}

# write_sbom FILE NAME FOLDER: the SPDX document of a package of that name which installs what FOLDER holds.
write_sbom() { python3 -B packaging/lib/sbom.py "$2" "$(project_version)" "$(package_epoch)" "$3" "$1"; }
