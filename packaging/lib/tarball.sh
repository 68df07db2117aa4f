# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run package tarball`: an install tree that works wherever it is unpacked.

tarball_work=$package_work/tarball

# What the files ask of a system, as a tag that says no more than is so: linux-x86_64-glibc2.34.
platform_tag() {
  local newest
  newest=$(python3 -B tests/abi/elf.py "$@" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort --version-sort | tail -n 1)
  [[ -n $newest ]] || fail "no version of glibc was read from $*"
  printf 'linux-%s-glibc%s' "$(uname -m)" "$newest"
}

# add_notices FOLDER: the licences of what was compiled into the files from other people's headers, as Debian has them.
add_notices() {
  local package
  mkdir -p "$1"
  for package in libcli11-dev libthrust-dev libxxhash-dev nlohmann-json3-dev; do
    cp "/usr/share/doc/$package/copyright" "$1/${package%-dev}.copyright" || fail "$package has no /usr/share/doc/$package/copyright"
  done
}

# Leaves the tarball's path in `tarball`.
build_tarball() {
  local stage=$tarball_work/stage version tag name
  version=$(project_version)
  rm -rf "$tarball_work"
  mkdir -p "$stage" "$logs"
  # Every component that was built, without debug information.
  cmake --install build/release --strip --prefix "$stage" >"$logs/package.tarball"
  strip --strip-debug --enable-deterministic-archives "$stage/lib/libroutecap.a"
  local -a files=("$stage"/lib/libroutecap.so."$version" "$stage"/lib/routecap/backends-*/*.so "$stage/bin/routecap")
  python3 -B tests/abi/elf.py "${files[@]}" >&2 || fail "a file of the tarball asks for what it may not"
  tag=$(platform_tag "${files[@]}")
  name=routecap-$version-$tag
  mv "$stage" "$tarball_work/$name"
  add_notices "$tarball_work/$name/share/doc/routecap/notices"
  write_sbom "$tarball_work/$name/share/doc/routecap/routecap.spdx" routecap-tarball "$tarball_work/$name"
  same_tar "$tarball_work/$name" "$tarball_work/$name.tar.xz"
  rm -rf "${tarball_work:?}/$name"
  tarball=$tarball_work/$name.tar.xz
}

# Unpacked where nobody knew that it would be, by a user who has a compiler and no package of ours.
try_tarball() {
  local place=$tarball_work/elsewhere folder
  mkdir -p "$place"
  tar --extract --file="$tarball" --directory="$place"
  folder=$place/$(basename "$tarball" .tar.xz)
  (
    cd "$place"
    export PKG_CONFIG_PATH=$folder/lib/pkgconfig
    unset LD_LIBRARY_PATH ROUTECAP_LIBRARY ROUTECAP_BACKEND_PATH
    "$folder/bin/routecap" --version >&2
    grep -q 'Permission is hereby granted' "$folder"/share/doc/routecap/notices/nlohmann-json3.copyright
    "$folder/bin/routecap" doctor | grep '^ok     backend tbb ' >&2
    # The flags are words.
    # shellcheck disable=SC2046
    cc -std=c99 "$folder/share/doc/routecap/examples/quickstart.c" -o sample $(pkg-config --cflags --libs routecap)
    LD_LIBRARY_PATH=$folder/lib "$root/packaging/debian/tests/sample-prints" ./sample
    cmake -G Ninja -S "$root/tests/install/package" -B build "-DCMAKE_PREFIX_PATH=$folder" \
      "-DQUICKSTART=$folder/share/doc/routecap/examples/quickstart.c" "-DLOADER_PROGRAM=$root/tests/install/with_loader.c" \
      "-DPLUGIN_EXAMPLE=$root/capi/examples/backend_plugin" >"$logs/package.tarball.user"
    cmake --build build >>"$logs/package.tarball.user"
    "$root/packaging/debian/tests/sample-prints" build/with_shared
    "$root/packaging/debian/tests/sample-prints" build/with_static
    [[ $(ROUTECAP_LIBRARY=$folder/lib/libroutecap.so.0 build/with_loader) == "$(pkg-config --modversion routecap)" ]]
  ) || fail "the tarball does not work where it is unpacked"
  if grep -rl "$root" "$folder" >&2; then fail "these files of the tarball name the folder that it was built in"; fi
}

package_tarball() {
  need_packages build test
  # What is installed, and no test.
  build_without_tests routecap routecap_static routecap_backend_tbb routecap_command routecap_pages
  local tarball
  build_tarball
  try_tarball
  say "the tarball is $tarball"
}
