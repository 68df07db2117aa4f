#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses a release whose parts disagree about its version, or whose ABI is not the frozen one.

  release_check.py [--unreleased] [ROOT]      --unreleased: versions and ABI only, before the changelogs are dated

The version is CMakeLists.txt's. Ends with 1 and one line per disagreement; otherwise with the tags to make.
"""

import json
import pathlib
import re
import subprocess
import sys

# What, file, and where the version stands in it; every place that matches must say it.
PLACES = (
    ("header", "capi/include/routecap/routecap.h", r'^#define RCAP_VERSION_STRING "([^"]*)"'),
    ("API description", "capi/abi/api.json", r'^  "version": "([^"]*)"'),
    ("Debian", "packaging/debian/changelog", r"\Aroutecap \(([0-9.]+)-"),
    ("Debian, CUDA plugin", "packaging/debian-cuda/changelog", r"\Aroutecap-cuda \(([0-9.]+)-"),
    ("Debian, CUDA plugin", "packaging/debian-cuda/control", r"^Depends: libroutecap0 \(>= ([0-9.]+)\)"),
    ("RPM", "packaging/rpm/routecap.spec", r"^Version: +(\S+)"),
    ("RPM changelog", "packaging/rpm/routecap.spec", r"^%changelog\n\* .* - ([0-9.]+)-"),
    ("Maven", "bindings/java/pom.xml", r"<artifactId>routecap-parent</artifactId>\s*<version>([^<]*)</version>"),
    ("Maven", "bindings/java/README.md", r"<artifactId>routecap[a-z-]*</artifactId>\s*<version>([^<]*)</version>"),
    ("Cargo", "bindings/rust/Cargo.toml", r'^version = "([^"]*)"'),
    ("Cargo", "bindings/rust/routecap/Cargo.toml", r'^routecap-sys = \{ version = "=([^"]*)"'),
    ("Cargo", "bindings/rust/routecap-sys/src/ffi.rs", r'RCAP_VERSION_STRING: &str = "([^"]*)"'),
    # Crates of this tree alone have no source.
    ("Cargo", "bindings/rust/Cargo.lock", r'^version = "([^"]*)"\n(?!source = )'),
    ("Python", "bindings/python/routecap/__init__.py", r'^__version__ = "([^"]*)"'),
    ("changelog", "CHANGELOG.md", r"\A.*?^## (\S+) - "),
    ("README", "README.md", r"^\| version \| ([0-9.]+)[ ,;]"),
)
# The same of a part of the version: what Cargo is to take, the number of the SONAME, and that of the plugins' folder.
PARTS = (
    ("Cargo", "bindings/rust/README.md", r'^routecap = "([^"]*)"', "minor"),
    ("Debian", "packaging/debian/control", r"^Package: libroutecap(\d+)", "major"),
    ("Debian", "packaging/debian/libroutecap0.symbols", r"^libroutecap\.so\.(\d+) ", "major"),
    ("Debian, CUDA plugin", "packaging/debian-cuda/control", r"^Package: libroutecap(\d+)", "major"),
    ("RPM", "packaging/rpm/routecap.spec", r"^%package -n libroutecap(\d+)", "major"),
    ("RPM", "packaging/rpm/routecap.spec", r"libroutecap\.so\.(\d+)$", "major"),
    ("RPM", "packaging/rpm/routecap.spec", r"/routecap/backends-(\d+)", "ABI"),
    ("README", "README.md", r"`lib/routecap/backends-(\d+)`", "ABI"),
    ("documents", "bindings/java/README.md", r"/routecap/backends-(\d+)[`)]", "ABI"),
    ("documents", "capi/docs/plugins.md", r"`routecap/backends-(\d+)/`", "ABI"),
)
MAVEN_MODULES = "bindings/java/*/pom.xml"


def stated(root, file, pattern):
    return re.findall(pattern, (root / file).read_text(), flags=re.MULTILINE | re.DOTALL if pattern.startswith(r"\A.*?") else re.MULTILINE)


def check_versions(root, version):
    abi = re.search(r"^#define RCAP_ABI_VERSION (\d+)$", (root / "capi/include/routecap/routecap.h").read_text(), flags=re.MULTILINE).group(1)
    values = {"whole": version, "minor": version.rsplit(".", 1)[0], "major": version.split(".")[0], "ABI": abi}
    places = [(*place, "whole") for place in PLACES] + list(PARTS)
    parent = r"<artifactId>routecap-parent</artifactId>\s*<version>([^<]*)</version>"
    places += [("Maven", str(file.relative_to(root)), parent, "whole") for file in sorted(root.glob(MAVEN_MODULES))]
    for what, file, pattern, part in places:
        if not (root / file).exists():
            yield f"{what}: {file} is not there"
            continue
        found = stated(root, file, pattern)
        if not found:
            yield f"{what}: {file} states no version where one is looked for"
        for other in found:
            if other != values[part]:
                yield f"{what}: {file} says {other}, " + (f"routecap.h says ABI {abi}" if part == "ABI" else f"CMakeLists.txt says {version}")


def check_abi(root, version):
    """The frozen folder of this release is this tree's ABI, byte for byte where it is a copy."""
    release = version.rsplit(".", 1)[0]
    baseline = root / "capi/abi/baseline" / release
    again = "run `ninja -C build/release abi-freeze` and commit"
    if not baseline.is_dir():
        yield f"ABI: capi/abi/baseline/{release} is not there; {again}"
        return
    pairs = [(f"include/routecap/{name}", f"capi/include/routecap/{name}") for name in ("backend.h", "routecap.h", "routecap_loader.h", "routecap_table.h")]
    pairs += [("symbols.txt", "capi/abi/symbols.txt"), ("layout_asserts.c", "capi/abi/checks/layout_asserts.c"),
              ("plugin.c", "capi/examples/backend_plugin/plugin.c"), ("program.c", "capi/abi/gate/program.c")]
    # A patch release keeps the frozen folder of its minor: only a release x.y.0 may write it.
    if version.endswith(".0"):
        for frozen, file in pairs:
            if (baseline / frozen).read_bytes() != (root / file).read_bytes():
                yield f"ABI: {file} is not what capi/abi/baseline/{release} froze; {again}"
        names = [sorted(f["name"] for f in json.loads(file.read_text())["functions"]) for file in (baseline / "api.json", root / "capi/abi/api.json")]
        if names[0] != names[1]:
            yield f"ABI: capi/abi/baseline/{release}/api.json lacks {sorted(set(names[1]) - set(names[0]))}; {again}"


def check_dates(root, version):
    if not re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE):
        yield f"changelog: CHANGELOG.md gives {version} no date"
    if re.search(rf"^\| version \| {re.escape(version)}, not released yet", (root / "README.md").read_text(), flags=re.MULTILINE):
        yield f"README: it says that {version} is not released"
    if (root / "packaging/debian/changelog").read_text().split("\n", 1)[0].split()[2] == "UNRELEASED;":
        yield "Debian: packaging/debian/changelog says UNRELEASED"
    if (root / ".git").exists():
        git = ["git", "-c", f"safe.directory={root}", "-C", str(root)]
        if subprocess.run([*git, "status", "--porcelain"], check=True, capture_output=True, text=True).stdout:
            yield "git: there are changes that are not committed"
        tags = subprocess.run([*git, "tag"], check=True, capture_output=True, text=True).stdout.split()
        for tag in (f"v{version}", f"bindings/go/v{version}"):
            if tag in tags:
                yield f"git: the tag {tag} is there already"


def main():
    arguments = sys.argv[1:]
    unreleased = "--unreleased" in arguments
    roots = [argument for argument in arguments if argument != "--unreleased"]
    root = pathlib.Path(roots[0]) if roots else pathlib.Path(__file__).resolve().parent.parent
    version = re.search(r"^  VERSION (\d+\.\d+\.\d+)$", (root / "CMakeLists.txt").read_text(), flags=re.MULTILINE).group(1)
    found = [*check_versions(root, version), *check_abi(root, version)]
    if not unreleased:
        found += check_dates(root, version)
    for line in found:
        print(line)
    if found:
        sys.exit(f"{version} is not ready: {len(found)} disagreements")
    # The Go module's version is its tag alone.
    print(f"{version}: all agree; the tags are v{version} and bindings/go/v{version}")


main()
