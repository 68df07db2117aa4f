# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# `packaging/run package rpm`: the RPM packages, from the spec that a distribution would use. On Debian the packages that it is built with go by other
# names, so that rpmbuild is told not to ask for them.

rpm_work=$package_work/rpm

# Leaves the folder of the packages in `rpms`.
build_rpms() {
  local version source compile="-O3 -g -DNDEBUG"
  version=$(project_version)
  source=$rpm_work/routecap-$version
  rm -rf "$rpm_work"
  mkdir -p "$rpm_work"/{SOURCES,SPECS,BUILD,RPMS,SRPMS} "$logs"
  copy_sources "$source"
  same_tar "$source" "$rpm_work/SOURCES/routecap-$version.tar.xz"
  rm -rf "$source"
  cp packaging/rpm/routecap.spec "$rpm_work/SPECS/"
  (
    # The packages have no debug information.
    use_ccache anywhere
    SOURCE_DATE_EPOCH=$(package_epoch) rpmbuild --nodeps -ba "$rpm_work/SPECS/routecap.spec" --define "_topdir $rpm_work" --define "optflags $compile" \
      --define "_lib lib64" --define "_libdir %{_prefix}/lib64" --define "_smp_mflags --parallel $jobs" --define "debug_package %{nil}" \
      --define "routecap_cmake -DROUTECAP_WARNINGS_AS_ERRORS=ON" \
      --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "_buildhost localhost"
  ) >"$logs/package.rpm" 2>&1 || {
    tail -n 40 "$logs/package.rpm" >&2
    fail "rpmbuild failed; all it said is in build/log/package.rpm"
  }
  rpms=$rpm_work/RPMS
}

# What the packages give and want: symbols by their nodes, and files in the folders of a 64-bit RPM system alone.
check_rpms() {
  local given wanted
  local -a of_library=("$rpms"/*/libroutecap0-0*.rpm) of_command=("$rpms"/*/routecap-0*.rpm) of_tbb=("$rpms"/*/libroutecap0-backend-tbb-*.rpm)
  given=$(rpm --query --package --provides "${of_library[0]}")
  for wanted in 'libroutecap.so.0()(64bit)' 'libroutecap.so.0(RCAP_0.1)(64bit)'; do
    grep -qxF "$wanted" <<<"$given" || fail "libroutecap0 does not provide $wanted: $given"
  done
  rpm --query --package --requires "${of_command[0]}" | grep -qxF 'libroutecap.so.0(RCAP_0.1)(64bit)' || fail "the command does not require the library's node"
  rpm --query --package --requires "${of_tbb[0]}" | grep -q '^libtbb\.so\.12' || fail "the TBB backend does not require libtbb.so.12"
  if rpm --query --package --list "$rpms"/*/*.rpm | grep -vE '^/usr/(bin|include|lib64|share)(/|$)|^/usr/lib/\.build-id'; then
    fail "the files above lie where none of an RPM system's should"
  fi
  # Its noise is told, not obeyed: Debian's rpmlint knows no distribution's rules.
  if command -v rpmlint >/dev/null; then rpmlint "$rpms"/*/*.rpm >"$logs/package.rpmlint" 2>&1 || true; fi
}

package_rpm() {
  need_packages build rpm
  local rpms
  build_rpms
  check_rpms
  write_rpm_sboms
  say "the RPM packages are in $rpms"
}

write_rpm_sboms() {
  local file folder=$rpm_work/sbom
  for file in "$rpms"/*/*.rpm; do
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && rpm2cpio "$file" | cpio --extract --make-directories --quiet)
    write_sbom "${file%.rpm}.spdx" "$(rpm --query --package --queryformat '%{NAME}' "$file")" "$folder"
    check_elf_of "$folder"
  done
  rm -rf "$folder"
}
