#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents of packaging/lib/sbom.py hold what SPDX 2.3 (tag: value) asks of them.

  sbom.py SCRIPT LIBRARY COMMAND WORK      LIBRARY and COMMAND are the core library and the command as they were built
"""

import collections
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

script, library, command, work = map(pathlib.Path, sys.argv[1:])
# Each field once in its part of the document, but where the standard says otherwise.
DOCUMENT = {"SPDXVersion", "DataLicense", "SPDXID", "DocumentName", "DocumentNamespace", "Creator", "Created"}
PACKAGE = {"PackageName", "SPDXID", "PackageDownloadLocation", "FilesAnalyzed", "PackageLicenseConcluded", "PackageLicenseDeclared", "PackageCopyrightText"}
FILE = {"FileName", "SPDXID", "FileChecksum", "LicenseConcluded", "LicenseInfoInFile", "FileCopyrightText"}
LICENCE = {"LicenseID", "ExtractedText", "LicenseName"}
failures = []


def check(holds, words):
    if not holds:
        failures.append(words)


def parts_of(text):
    """The document's parts: each a list of (field, value)."""
    return [[tuple(line.split(": ", 1)) for line in part.splitlines()] for part in text.strip().split("\n\n")]


def look_at(name, folder, output, licences):
    subprocess.run([sys.executable, "-B", script, name, "1.2.3", "1700000000", folder, output], check=True)
    text = output.read_text()
    first, *others = parts_of(text)
    wanted = {"DocumentName": DOCUMENT, "PackageName": PACKAGE, "FileName": FILE, "LicenseID": LICENCE}
    for part in [first, *others]:
        fields = {field for field, _ in part}
        kind = next((kind for kind in wanted if kind in fields), None)
        check(kind, f"{name}: a part of no kind: {part}")
        if kind:
            check(wanted[kind] <= fields, f"{name}: {part[0]} lacks {sorted(wanted[kind] - fields)}")
        check(all(value for _, value in part), f"{name}: {part[0]} has a field without a value")
    check(dict(first)["Created"] == "2023-11-14T22:13:20Z", f"{name}: is not dated as it was told")

    identifiers = collections.Counter(value for part in [first, *others] for field, value in part if field == "SPDXID")
    for identifier, count in identifiers.items():
        check(count == 1, f"{name}: {count} elements are {identifier}")
        check(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identifier), f"{name}: {identifier} is no identifier")
    for source, _, target in (value.split() for part in others for field, value in part if field == "Relationship"):
        check(source in identifiers and target in identifiers, f"{name}: a relationship of {source} and {target}, which are not both there")

    used = set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", "\n".join(line for line in text.splitlines() if not line.startswith("LicenseID: "))))
    defined = set(re.findall(r"^LicenseID: (.*)$", text, re.MULTILINE))
    check(used == defined == licences, f"{name}: uses the licences {sorted(used)}, defines {sorted(defined)}, should {sorted(licences)}")

    digests = {"./" + str(path.relative_to(folder)): hashlib.sha1(path.read_bytes()).hexdigest()
               for path in folder.rglob("*") if path.is_file() and path != output}
    listed = {dict(part)["FileName"]: dict(part[::-1])["FileChecksum"] for part in others if part[0][0] == "FileName"}
    check(listed == {path: f"SHA1: {digest}" for path, digest in digests.items()}, f"{name}: lists {listed}, holds {digests}")
    code = hashlib.sha1("".join(sorted(digests.values())).encode()).hexdigest()
    check(re.search(rf"^PackageVerificationCode: {code}( \(excludes: \./{re.escape(output.name)}\))?$", text, re.MULTILINE), f"{name}: verification code")
    return text


shutil.rmtree(work, ignore_errors=True)
core, plugin = work / "core", work / "plugin"
for folder in (core, plugin):
    folder.mkdir(parents=True)
shutil.copyfile(library, core / "libroutecap.so.1.2.3")
# Names that differ in what an identifier cannot hold.
for other in ("a_b", "a-b", "a b"):
    (core / other).write_text(other)
text = look_at("core", core, core / "core.spdx", set())
check("PackageName: xxHash" in text and "PackageName: glibc" in text, "core: does not say what is compiled in and what is needed")
# Of the plugin's file only the name is looked at, and what it needs.
shutil.copyfile(library, plugin / "libroutecap_backend_cuda.so")
look_at("plugin", plugin, work / "plugin.spdx", {"LicenseRef-NVIDIA-CUDA-EULA"})
# A package of ours that needs another one says so, and one that has both in it does not.
ours = "Relationship: SPDXRef-command DEPENDS_ON SPDXRef-Package-libroutecap"
folder = work / "command"
folder.mkdir()
shutil.copyfile(command, folder / "routecap")
check(ours in look_at("command", folder, work / "command.spdx", set()).splitlines(), "command: does not say that it needs the library")
shutil.copyfile(library, folder / "libroutecap.so.0")
check(ours not in look_at("command", folder, work / "command.spdx", set()), "command: needs a library that it holds")
for failure in failures:
    print(f"FAILED {failure}")
sys.exit(1 if failures else 0)
