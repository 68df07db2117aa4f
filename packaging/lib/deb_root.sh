# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The Debian packages in a fresh system of their own, made by debootstrap: installed, used as README says, upgraded, removed. Needs root.

root_suite=bookworm
# What the packages and their tests depend on, so that nothing is fetched later. debootstrap knows no virtual packages: python3-ply is what python3-cffi asks
# for by another name.
root_packages=autopkgtest,cmake,default-jdk-headless,g++,gcc,libc6-dev,libtbb12,libzstd-dev,ninja-build,pkg-config,python3-cffi,python3-numpy,python3-ply

# Makes the system that every run starts from, once.
need_root_base() {
  local base=$package_work/debian-$root_suite
  [[ -e $base.complete && $(<"$base.complete") == "$root_packages" ]] && return 0
  say "debootstrap $root_suite into $base"
  rm -rf "$base"
  # From debootstrap's own mirror, unless another is named.
  debootstrap --variant=minbase --include="$root_packages" "$root_suite" "$base" ${ROUTECAP_DEBIAN_MIRROR:+"$ROUTECAP_DEBIAN_MIRROR"} >"$logs/package.debootstrap" 2>&1 || {
    tail -n 5 "$logs/package.debootstrap" >&2
    fail "debootstrap failed"
  }
  printf '%s' "$root_packages" >"$base.complete"
}

# Every file of the system but what its package manager keeps of itself.
root_files() {
  (cd "$1" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
    -o -path ./debs \) -prune -o -printf '%p %l\n' | grep -v '^./etc/ld.so.cache ' | sort)
}

# in_root COMMAND...: with processes and mounts of its own, whose end it does not outlive.
in_root() {
  # What is single-quoted is the inner shell's.
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$system" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive TERM=dumb "$@"
}

# log_root WHAT COMMAND...: in the root, its words in a log; a failure says WHAT.
log_root() {
  local what=$1
  shift
  in_root "$@" >>"$logs/package.root" 2>&1 || {
    tail -n 20 "$logs/package.root" >&2
    fail "$what; see build/log/package.root"
  }
}

# try_debs_in_root: `debs` installed, used, upgraded over themselves, removed, beside others of their kind, and tested.
try_debs_in_root() {
  local system=$package_work/system base=$package_work/debian-$root_suite before test
  local -a packages=() tests=()
  mapfile -t packages < <(sed -n 's/^Package: //p' packaging/debian/control)
  mapfile -t tests < <(sed -n 's/^Tests: //p' packaging/debian/tests/control)
  rm -rf "$system"
  cp -a "$base" "$system"
  before=$(root_files "$system")
  mkdir "$system/debs" "$system/tmp/sample"
  cp "$debs"/*.deb "$debs"/*.dsc "$debs"/*.tar.xz "$system/debs"
  rm -f "$system"/debs/*-dbgsym_*
  # The tests' own files: what `apt-get source` gives.
  mkdir "$system/tmp/source"
  tar --extract --file="$(echo "$debs"/*.orig.tar.xz)" --directory="$system/tmp/source" --strip-components=1
  cp -a packaging/debian "$system/tmp/source/debian"
  rm -f "$logs/package.root"

  say "installed into a fresh system, as packaging/run install --deb does it"
  log_root "the packages do not install" sh -c "apt-get $apt_installs /debs/*.deb"
  for test in "${tests[@]}"; do
    log_root "the packages' test '$test' fails there" env AUTOPKGTEST_TMP=/tmp/sample sh "/tmp/source/debian/tests/$test"
  done
  try_cuda_in_root
  say "upgraded over themselves"
  log_root "the packages do not upgrade over themselves" sh -c "apt-get $apt_installs /debs/*.deb"
  in_root dpkg --verify "${packages[@]}" >&2 || fail "files differ after the upgrade"
  say "removed and purged"
  log_root "the packages cannot be removed" dpkg --remove "${packages[@]}"
  log_root "the packages cannot be purged" dpkg --purge "${packages[@]}"
  diff <(printf '%s\n' "$before") <(root_files "$system") >&2 || fail "removal does not leave the system as it was"

  try_debs_side_by_side
  diff <(printf '%s\n' "$before") <(root_files "$system") >&2 || fail "removal does not leave the system as it was"

  say "autopkgtest"
  # Never -U: with this runner it upgrades the machine that it runs on.
  in_root sh -c 'autopkgtest /debs/*.deb /debs/*.dsc -- null' >"$logs/package.autopkgtest" 2>&1 || {
    tail -n 40 "$logs/package.autopkgtest" >&2
    fail "autopkgtest failed; all it said is in build/log/package.autopkgtest"
  }
  for test in "${tests[@]}"; do
    # The summary at the end says it again.
    grep -E "^$test +PASS" "$logs/package.autopkgtest" | tail -n 1 >&2 || fail "autopkgtest says no '$test PASS'"
  done
  rm -rf "$system"
}

# The CUDA plugin's package, where it was built, beside the installed ones: it needs nothing but them, is found, and tells what is missing here.
try_cuda_in_root() {
  local said
  compgen -G "$package_work/deb-cuda/*.deb" >/dev/null || return 0
  say "the CUDA plugin, without a driver"
  mkdir "$system/debs/cuda"
  cp "$package_work"/deb-cuda/libroutecap0-backend-cuda_*.deb "$system/debs/cuda"
  said=$(in_root routecap doctor)
  grep -q '^note   backend cuda .*: no such file' <<<"$said" || fail "without its plugin doctor does not say that the CUDA backend is not there: $said"
  log_root "the CUDA plugin's package does not install" dpkg --install --recursive /debs/cuda
  said=$(in_root routecap doctor)
  grep -q '^note   backend cuda .*: no CUDA driver is installed' <<<"$said" || fail "of the CUDA plugin doctor does not say that there is no driver: $said"
  log_root "the packages' test 'command' fails beside the CUDA plugin" env AUTOPKGTEST_TMP=/tmp/sample sh /tmp/source/debian/tests/command
  log_root "the CUDA plugin's package cannot be purged" dpkg --purge libroutecap0-backend-cuda
  rm -r "$system/debs/cuda"
}

# repack_deb FILE OUTPUT SED_OF_PATHS SED_OF_CONTROL: the same package, but for the names that it uses.
repack_deb() {
  local file=$1 output=$2 of_paths=$3 of_control=$4 folder=$package_work/repacked path other
  rm -rf "$folder"
  dpkg-deb --raw-extract "$file" "$folder"
  # From the innermost to the outermost.
  while IFS= read -r path; do
    other=$(dirname "$path")/$(basename "$path" | sed "$of_paths")
    if [[ -L $path ]]; then ln -sfn "$(readlink "$path" | sed "$of_paths")" "$path"; fi
    [[ $other == "$path" ]] || mv "$path" "$other"
  done < <(find "$folder" -mindepth 1 -depth ! -path "$folder/DEBIAN*")
  rm -f "$folder"/DEBIAN/{md5sums,shlibs,symbols,triggers}
  sed -i "$of_control" "$folder/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$folder" "$output" >/dev/null
  rm -rf "$folder"
}

# A library whose SONAME or architecture is another lies beside this one: dpkg refuses two packages that share a path, or, of one package for two
# architectures, two files of one path that differ. The others are made of these here: no second library and no other architecture is built.
try_debs_side_by_side() {
  local file name installed ours=amd64 theirs=i386 triplet=x86_64-linux-gnu their_triplet=i386-linux-gnu
  local -a foreign=()
  if [[ $(dpkg --print-architecture) != "$ours" ]]; then
    skip packages.side_by_side "packages are repacked for $theirs on $ours only"
    return 0
  fi
  mkdir "$system/debs/next" "$system/debs/foreign"
  for file in "$system"/debs/libroutecap0_*.deb "$system"/debs/libroutecap0-backend-tbb_*.deb; do
    repack_deb "$file" "$system/debs/next/$(basename "$file" | sed 's/libroutecap0/libroutecap1/')" \
      's/libroutecap\.so\.0/libroutecap.so.1/; s/libroutecap0/libroutecap1/; s/^backends-1$/backends-2/' 's/libroutecap0/libroutecap1/g'
  done
  for file in "$system"/debs/*_"$ours.deb"; do
    [[ $(dpkg-deb --field "$file" Multi-Arch) == same ]] || continue
    repack_deb "$file" "$system/debs/foreign/$(basename "$file")" "s/^$triplet\$/$their_triplet/" "s/^Architecture: $ours/Architecture: $theirs/"
  done
  say "beside packages of another SONAME and of another architecture"
  log_root "the packages do not install" sh -c 'dpkg --install /debs/*.deb'
  log_root "packages of two SONAMEs do not install side by side" sh -c 'dpkg --install /debs/next/*.deb'
  log_root "the first one's program does not run beside the second" env AUTOPKGTEST_TMP=/tmp/sample sh /tmp/source/debian/tests/command
  [[ -e $system/usr/lib/$triplet/libroutecap.so.0 && -e $system/usr/lib/$triplet/libroutecap.so.1 ]] || fail "of two SONAMEs one is not there"
  log_root "the second architecture cannot be added" dpkg --add-architecture "$theirs"
  log_root "packages of two architectures do not install side by side" sh -c 'dpkg --force-depends --install /debs/foreign/*.deb'
  for name in "$system"/debs/foreign/*.deb; do
    name=$(dpkg-deb --field "$name" Package)
    # It is dpkg's format.
    # shellcheck disable=SC2016
    installed=$(in_root dpkg-query --show --showformat='${db:Status-Abbrev}' "$name:$ours" "$name:$theirs")
    [[ $installed == 'ii ii ' ]] || fail "of $name one architecture is not installed"
    foreign+=("$name:$theirs")
  done
  # The foreign ones lack what they depend on, and dpkg would look for it.
  log_root "the packages of a second architecture cannot be purged" dpkg --force-depends --purge "${foreign[@]}"
  log_root "the packages of a second SONAME cannot be purged" dpkg --purge libroutecap1 libroutecap1-backend-tbb "${packages[@]}"
  log_root "the second architecture cannot be taken away" dpkg --remove-architecture "$theirs"
  rm -rf "$system/debs/next" "$system/debs/foreign"
}
