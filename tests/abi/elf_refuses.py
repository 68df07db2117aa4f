#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes libraries that ask for what they must not, and asks elf.py.

  elf_refuses.py CC CXX LIBRARY WORK       LIBRARY is a good one
"""

import pathlib
import re
import shutil
import subprocess
import sys

cc, cxx, good, work = *sys.argv[1:3], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
elf = pathlib.Path(__file__).with_name("elf.py")
PLAIN = "#include <stdio.h>\nint rcap_f(void); int rcap_f(void) { return puts(\"x\"); }\n"
UNIQUE = "template <class T> struct S { static int value; };\ntemplate <class T> int S<T>::value = 1;\nint* rcap_f() { return &S<int>::value; }\n"
THREAD = "static __thread int v; int* rcap_f(void); int* rcap_f(void) { return &v; }\n"
FULL = ["-Wl,-z,relro,-z,now"]
failures = 0


def ask(*files):
    result = subprocess.run([sys.executable, "-B", elf, *files], check=False, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def expect(name, file, pattern):
    global failures
    status, said = ask(file)
    if status != 1 or not re.search(pattern, said):
        failures += 1
        print(f"FAILED {name}: exit {status}, expected {pattern}\n{said}")
    else:
        print(f"ok     {name}")


def library(name, text, *flags, compiler=cc, file="libroutecap.so.0.1.0"):
    folder = work / name
    folder.mkdir(parents=True)
    source = folder / ("source.cpp" if compiler == cxx else "source.c")
    source.write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", source, *flags, "-o", folder / file], check=True, capture_output=True)
    return folder / file


if shutil.which("readelf") is None or shutil.which("strip") is None:
    print("skipped: readelf or strip is not installed")
    sys.exit(0)
shutil.rmtree(work, ignore_errors=True)
status, said = ask(good)
if status != 0:
    sys.exit(f"the good one is refused:\n{said}")
library("other", PLAIN, file="libother.so", *["-Wl,-soname,libother.so"])
expect("another library", library("needs", PLAIN, "-Wl,--no-as-needed", work / "other/libother.so", *FULL), r"needs libother\.so")
expect("a path", library("rpath", PLAIN, "-Wl,-rpath,/opt/lib", *FULL), r"(RPATH|RUNPATH) /opt/lib")
expect("a path from its own place", library("origin", PLAIN, "-Wl,-rpath,$ORIGIN", *FULL), r"(RPATH|RUNPATH) \$ORIGIN")
expect("an executable stack", library("stack", PLAIN, "-Wl,-z,execstack", *FULL), "its stack is executable")
expect("lazy binding", library("lazy", PLAIN, "-Wl,-z,relro,-z,lazy"), "bound lazily")
expect("no RELRO", library("relro", PLAIN, "-Wl,-z,norelro,-z,now"), "no RELRO")
expect("initial-exec thread-local memory", library("tls", THREAD, "-ftls-model=initial-exec", *FULL), "STATIC_TLS")
expect("a symbol of the whole process", library("unique", UNIQUE, *FULL, compiler=cxx), "binds in the whole process")
expect("no note of the backends", library("note", PLAIN, *FULL), r"no \.note\.dlopen")
expect("too large", library("size", PLAIN + "const char rcap_d[2000000] = {1};\n", *FULL), r"2\d{6} bytes stripped; it may have 1500000")
expect("a JNI library that needs another", library("jni", PLAIN, "-Wl,--no-as-needed", work / "other/libother.so", *FULL, file="libroutecapjni.so"),
       r"needs libother\.so")
library("core", PLAIN, "-Wl,-soname,libroutecap.so.0", *FULL)
status, said = ask(library("plain_jni", PLAIN, "-Wl,--no-as-needed", work / "core/libroutecap.so.0.1.0", *FULL, file="libroutecapjni.so"))
if status != 0:
    failures += 1
    print(f"FAILED a JNI library that needs the library is refused:\n{said}")
sys.exit(1 if failures else 0)
