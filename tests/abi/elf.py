#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What installed ELF files ask of a system, and what they must not ask.

  elf.py FILE...      libroutecap.so.*, libroutecap_backend_*.so, libroutecapjni.so or the command
"""

import json
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

C_RUNTIME = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Kind of file: the libraries that it may need beside the C and C++ runtimes, and the bytes that it may have when stripped.
KINDS = {
    "library": ({"libzstd.so.1"}, 1_500_000),
    "tbb": ({"libtbb.so.12"}, 700_000),
    "cuda": (set(), 30_000_000),
    "command": ({"libroutecap.so.0"}, 4_000_000),
    "jni": ({"libroutecap.so.0"}, 200_000),
}
# The newest versions of the system's libraries that a file may ask for, where it is built on the oldest system that releases are built on (glibc 2.36,
# gcc 12): glibc from 2.34 (2021) on, libstdc++ from gcc 12.1 (2022) on.
CEILINGS = {"GLIBC": "2.34", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "4.2.0"}
BUILD_SYSTEM = "2.36"
FEATURES = {"tbb": "libroutecap_backend_tbb.so", "cuda": "libroutecap_backend_cuda.so"}

faults = []


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stdout


def number(version):
    return tuple(int(part) for part in version.split("."))


def kind_of(file):
    if file.name == "routecap":
        return "command"
    if file.name == "libroutecapjni.so":
        return "jni"
    plugin = re.fullmatch(r"libroutecap_backend_(\w+)\.so", file.name)
    return plugin.group(1) if plugin else "library"


def check_dynamic(file, kind):
    text = run("readelf", "--dynamic", "--wide", file)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    if not needed:
        faults.append(f"{file}: no needed library was read")
    for library in sorted(needed - C_RUNTIME - KINDS[kind][0]):
        faults.append(f"{file}: needs {library}; beside the C and C++ runtimes it may need {sorted(KINDS[kind][0]) or 'nothing'}")
    for tag, path in re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", text):
        if kind != "command" or not re.fullmatch(r"\$ORIGIN(/\.\.)*(/[\w.-]+)*", path):
            faults.append(f"{file}: {tag} {path}; only the command has one, and only from $ORIGIN")
    if re.search(r"TEXTREL", text):
        faults.append(f"{file}: relocations in its code (TEXTREL)")
    if re.search(r"STATIC_TLS", text):
        faults.append(f"{file}: thread-local memory that a late dlopen may not get (STATIC_TLS)")
    if not re.search(r"\((BIND_NOW|FLAGS)\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", text) and kind != "command":
        faults.append(f"{file}: symbols are bound lazily (no BIND_NOW), so that its RELRO is partial")


def check_segments(file):
    text = run("readelf", "--program-headers", "--wide", file)
    if not re.search(r"GNU_STACK .* RW ", text):
        faults.append(f"{file}: its stack is executable, or not said not to be")
    if "GNU_RELRO" not in text:
        faults.append(f"{file}: no RELRO")
    if re.search(r"LOAD .* RWE ", text):
        faults.append(f"{file}: a segment is writable and executable")


def check_symbols(file):
    text = run("readelf", "--dyn-syms", "--wide", file)
    for line in text.splitlines():
        if " UNIQUE " in line:
            faults.append(f"{file}: a symbol that binds in the whole process: {line.split()[-1]}")
    asked = {}
    for family, version in re.findall(r"@(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)", text):
        asked[family] = max(asked.get(family, "0"), version, key=number)
    if "GLIBC" not in asked:
        faults.append(f"{file}: no version of glibc was read")
    for family, version in asked.items():
        if number(platform.libc_ver()[1]) <= number(BUILD_SYSTEM) and number(version) > number(CEILINGS[family]):
            faults.append(f"{file}: asks for {family}_{version}; the newest that a release may ask for is {family}_{CEILINGS[family]}")
    return asked


def check_note(file):
    """The section .note.dlopen, read as its specification says."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["objcopy", "--dump-section", f".note.dlopen={out.name}", file, "/dev/null"], check=False, capture_output=True)
        section = pathlib.Path(out.name).read_bytes()
    if len(section) < 16:
        faults.append(f"{file}: no .note.dlopen names the backends")
        return
    name_bytes, text_bytes, kind = struct.unpack_from("<III", section)
    text = section[16:16 + text_bytes]
    if (section[12:12 + name_bytes], kind) != (b"FDO\0", 0x407C0C0A) or not text.endswith(b"\0"):
        faults.append(f"{file}: .note.dlopen is none of type 0x407c0c0a by FDO")
        return
    # What readers of notes make of the section: one that is aligned to more than 8 bytes is passed over. (readelf ends with 1 at a type of others.)
    if not re.search(r"FDO\s+0x0*%x\b" % text_bytes, subprocess.run(["readelf", "--notes", "--wide", file], check=False, capture_output=True, text=True).stdout):
        faults.append(f"{file}: readelf cannot read .note.dlopen as a note")
    modules = {module["feature"]: module for module in json.loads(text.rstrip(b"\0"))}
    if {feature: module["soname"] for feature, module in modules.items()} != {feature: [name] for feature, name in FEATURES.items()}:
        faults.append(f"{file}: .note.dlopen names {modules}")
    if any(module["priority"] != "suggested" or not module["description"] for module in modules.values()):
        faults.append(f"{file}: a backend of .note.dlopen is more than suggested, or not described")
    if not re.search(r"\.note\.dlopen +NOTE .* A ", run("readelf", "--sections", "--wide", file)):
        faults.append(f"{file}: .note.dlopen is no allocated note, and strip may take it")


def check_size(file, kind):
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / "stripped"
        run("strip", "--strip-unneeded", "-o", stripped, file)
        size = stripped.stat().st_size
        if kind == "library":
            check_note(stripped)
    if size > KINDS[kind][1]:
        faults.append(f"{file}: {size} bytes stripped; it may have {KINDS[kind][1]}")
    return size


for tool in ("readelf", "objcopy", "strip"):
    if not shutil.which(tool):
        print(f"skipped: {tool} is not installed")
        sys.exit(0)
files = [pathlib.Path(name) for name in sys.argv[1:]]
if not files:
    sys.exit("no file was named")
for elf in files:
    what = kind_of(elf)
    check_dynamic(elf, what)
    check_segments(elf)
    versions = check_symbols(elf)
    print(f"{elf.name}: {check_size(elf, what)} bytes stripped; " + ", ".join(f"{family}_{version}" for family, version in sorted(versions.items())))
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
