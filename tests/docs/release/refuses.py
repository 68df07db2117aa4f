#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one version after the other in a copy of the tree's files, and asks the release check.

  refuses.py SOURCE WORK
"""

import pathlib
import re
import shutil
import subprocess
import sys

source, work = map(pathlib.Path, sys.argv[1:])
script = source / "packaging/release_check.py"
text = script.read_text()
files = set(re.findall(r'"((?:capi|packaging|bindings)/[\w./-]+\.\w+|packaging/debian(?:-cuda)?/(?:changelog|control)|CHANGELOG\.md|README\.md|'
                       r'bindings/rust/Cargo\.\w+)"', text))
files |= {str(file.relative_to(source)) for file in source.glob("bindings/java/*/pom.xml")}
files = {file for file in files if (source / file).exists()} | {"CMakeLists.txt"}
failures = 0


def fresh():
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source / "capi", work / "capi")
    for file in files:
        (work / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file, work / file)


def ask(*options):
    result = subprocess.run([sys.executable, "-B", script, *options, work], check=False, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def expect(name, wanted, *options):
    global failures
    status, said = ask(*options)
    if (status == 0) != (wanted is None) or (wanted and wanted not in said):
        failures += 1
        print(f"FAILED {name}: exit {status}, expected {wanted or 'none'}\n{said}")


fresh()
expect("as it is", None, "--unreleased")
status, said = ask("--unreleased")
version = re.match(r"\d+\.\d+\.\d+", said).group(0)
changed = 0
for file in sorted(files):
    original = (work / file).read_text()
    # Every place in the file, one by one, as a person who forgets one leaves it. The versions of symbols are docs.debian_symbols' to look at.
    for match in re.finditer(re.escape(version), original) if not file.endswith(".symbols") else ():
        (work / file).write_text(original[:match.start()] + "9.8.7" + original[match.end():])
        status, said = ask("--unreleased")
        if status != 0:
            changed += 1
            if file != "CMakeLists.txt" and file not in said:
                failures += 1
                print(f"FAILED {file}: refused without being named\n{said}")
    (work / file).write_text(original)
    # And the numbers that only a part of the version makes: of the SONAME, of the plugins' folder.
    for match in re.finditer(r"(?<=^Package: libroutecap)0|(?<=^%package -n libroutecap)0|(?<=/backends-)1|(?<=^routecap = \")0\.1|"
                             r"(?<=libroutecap\.so\.)0$", original, flags=re.MULTILINE):
        (work / file).write_text(original[:match.start()] + "9" + original[match.end():])
        expect(f"{file} says 9 at {match.start()}", file, "--unreleased")
        changed += 1
        (work / file).write_text(original)
    if version in original and file != "CHANGELOG.md" and not file.endswith(".symbols"):
        (work / file).write_text(original.replace(version, "9.8.7"))
        expect(f"{file} says 9.8.7", "9.8.7", "--unreleased")
        (work / file).write_text(original)
fresh()
header = work / "capi/include/routecap/routecap.h"
header.write_text(header.read_text() + "\n/* more */\n")
expect("a header that is not the frozen one", "routecap.h is not what")
fresh()
shutil.rmtree(work / "capi/abi/baseline")
expect("no frozen ABI", "is not there", "--unreleased")
fresh()
changelog = work / "CHANGELOG.md"
changelog.write_text(re.sub(rf"^## {version} - .*$", f"## {version} - unreleased", changelog.read_text(), flags=re.MULTILINE))
expect("no date", "gives " + version + " no date")
# A place that nobody looks at: a line with the version in a file that the check does not read, and that neither gives an example nor means a past
# release.
PAST = ("capi/abi/baseline/", "tests/abi/elf_refuses.py", "tests/abi/generator/", "tests/tbb/older_host.c", "tests/wire/golden/",
        "capi/cmake/GenerateCapi.cmake", "bindings/rust/routecap-sys/build.rs")
looked_at = 0
for folder in (".ci", "bindings", "capi", "packaging", "src", "tests", "*.md", "CMake*"):
    for file in sorted(path for found in source.glob(folder) for path in (found.rglob("*") if found.is_dir() else [found])):
        name = str(file.relative_to(source))
        if not file.is_file() or name in files or name.startswith(PAST) or re.search(r"(^|/)(target|__pycache__|node_modules|build|\.[a-z_]+)/", name):
            continue
        looked_at += 1
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            if re.search(rf"(?<![\w.]){re.escape(version)}(?![\w.]*\d)", line) and "for example" not in line:
                failures += 1
                print(f"FAILED {name}:{number} states the version, and the check does not look: {line.strip()}")
if looked_at < 500:
    failures += 1
    print(f"FAILED only {looked_at} files were looked at for more places")
if changed < 35:
    failures += 1
    print(f"FAILED only {changed} places were found that matter")
print(f"{changed} places, {len(files)} files")
sys.exit(1 if failures else 0)
