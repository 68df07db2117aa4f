#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the libraries alone, from a copy of the source in another folder, and compares them with those of this build: the same bytes.

  rebuilt.py SOURCE BUILD WORK LIBRARY...       LIBRARY is a file of BUILD

No compiler's cache is used, and time zone, language and file mode are others. Prints how long it took: an engine that takes the source into its own
build waits that long, and CI keeps the figure. It is not judged: what else the machine does would decide.
"""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

# What the libraries are made of, and what configuring reads besides.
PARTS = ("CMakeLists.txt", "README.md", "capi", "src", "packaging")
# What decides the bytes of the libraries, and is not the project's own.
SETTINGS = r"^(CMAKE_(?:C|CXX)_(?:COMPILER|FLAGS\w*)|CMAKE_BUILD_TYPE|CMAKE_(?:AR|RANLIB|STRIP)|CMAKE_(?:SHARED|STATIC)_LINKER_FLAGS\w*|" \
           r"CMAKE_INSTALL_(?:PREFIX|LIBDIR)|ROUTECAP_\w+_INCLUDE_DIR|ROUTECAP_WARNINGS_AS_ERRORS):[A-Z]+=(.*)$"


def cache_of(build):
    return dict(re.findall(SETTINGS, (build / "CMakeCache.txt").read_text(), flags=re.MULTILINE))


def generator_of(build):
    return re.search(r"^CMAKE_GENERATOR:INTERNAL=(.*)$", (build / "CMakeCache.txt").read_text(), flags=re.MULTILINE).group(1)


def run(*command):
    environment = dict(os.environ, CCACHE_DISABLE="1", SOURCE_DATE_EPOCH="86400", TZ="Pacific/Kiritimati", LC_ALL="C.UTF-8")
    result = subprocess.run([str(part) for part in command], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stdout[-4000:]}")
    return result.stdout


def rebuild(source, build, folder):
    """The libraries of another build, below `folder`; the seconds of the clock and of processors that it took."""
    copy = folder / "source of another name"
    copy.mkdir(parents=True)
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, copy / part)
        else:
            shutil.copyfile(source / part, copy / part)
    settings = [f"-D{name}={value}" for name, value in cache_of(build).items()]
    parts = [f"-DROUTECAP_BUILD_{part}=OFF" for part in ("TESTS", "BENCHMARKS", "EXAMPLES", "TBB", "CLI", "JAVA")]
    run("cmake", "-G", generator_of(build), "-S", copy, "-B", folder / "out", *settings, *parts)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run("cmake", "--build", folder / "out", "--parallel", "2", "--target", "routecap", "routecap_static")
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return folder / "out", seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def has_relative_paths(file):
    """A compiler's cache with a base folder makes the paths that the compiler gets relative, and so has other debug information than the compiler."""
    return re.search(rb"\0(\.\./)+(src|capi)\b", file.read_bytes()) is not None


def main():
    source, build, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    files = [pathlib.Path(argument).resolve() for argument in sys.argv[4:]]
    if not files:
        sys.exit(__doc__)
    shutil.rmtree(work, ignore_errors=True)
    os.umask(0o077)
    again, seconds, processors = rebuild(source, build, work / "one folder")
    print(f"the libraries alone were built in {seconds:.1f} s, {processors:.1f} s of processors")
    folders = [source, build, work]
    if any(map(has_relative_paths, files)):
        print("this build's compiler has a cache that rewrites paths; compared with a second build instead")
        other = rebuild(source, build, work / "yet/another/folder")[0]
        files = [other / file.relative_to(build) for file in files]
    faults = []
    for file in files:
        mine, theirs = file.read_bytes(), next(again.rglob(file.name)).read_bytes()
        if mine != theirs:
            place = next((i for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), min(len(mine), len(theirs)))
            faults.append(f"{file.name}: two builds in two folders differ from byte {place} on ({len(mine)} and {len(theirs)} bytes)")
        faults += [f"{file.name} names the folder {folder}" for folder in folders if os.fsencode(folder) in theirs]
        print(f"{file.name}: {len(theirs)} bytes")
    if faults:
        sys.exit("\n".join(faults))
    shutil.rmtree(work)


main()
