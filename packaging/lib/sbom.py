#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is in a package, as SPDX 2.3 (tag: value).

  sbom.py NAME VERSION SECONDS FOLDER OUTPUT      SECONDS date the document; FOLDER holds what the package installs

Every file with its SHA1 and SHA256, and the libraries that the ELF files need or have compiled in, so that two packages of the same bytes have the
same list.
"""

import datetime
import hashlib
import pathlib
import re
import subprocess
import sys

XXHASH, THRUST = ("xxHash", "BSD-2-Clause"), ("Thrust", "Apache-2.0")
# Compiled in from headers, by the name of the file; what is linked at run time is read from the files.
COMPILED_IN = ((r"libroutecap\.(so[.0-9]*|a)", (XXHASH, THRUST)), (r"libroutecap_backend_tbb\.so", (THRUST,)),
               (r"libroutecap_backend_cuda\.so", (THRUST, ("CUDA Runtime", "LicenseRef-NVIDIA-CUDA-EULA"))), (r"libroutecapjni\.so", ()),
               (r"routecap", (("CLI11", "BSD-3-Clause"), ("nlohmann-json", "MIT"))))
# Licences that SPDX's list does not have.
EXTRACTED = {"LicenseRef-NVIDIA-CUDA-EULA": ("NVIDIA CUDA Toolkit End User License Agreement", "https://docs.nvidia.com/cuda/eula/index.html")}
NEEDED = {"libroutecap.so.0": ("libroutecap", "Apache-2.0"), "libzstd.so.1": ("zstd", "BSD-3-Clause OR GPL-2.0-only"), "libtbb.so.12": ("oneTBB", "Apache-2.0"),
          "libstdc++.so.6": ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1"), "libgcc_s.so.1": ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
          "libc.so.6": ("glibc", "LGPL-2.1-or-later"), "libm.so.6": ("glibc", "LGPL-2.1-or-later"),
          "ld-linux-x86-64.so.2": ("glibc", "LGPL-2.1-or-later"), "ld-linux-aarch64.so.1": ("glibc", "LGPL-2.1-or-later")}


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed_of(path, here):
    """What a file needs, but for libraries that are in the package itself."""
    text = subprocess.run(["readelf", "--dynamic", "--wide", path], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) - here
    if needed - set(NEEDED):
        sys.exit(f"{path} needs {sorted(needed - set(NEEDED))}, which this script has no licence of")
    return [NEEDED[library] for library in needed]


def compiled_into(path):
    for pattern, parts in COMPILED_IN:
        if re.fullmatch(pattern, path.name):
            return parts
    sys.exit(f"{path}: this script does not know what is compiled into it")


def main():
    name, version, seconds, folder, output = sys.argv[1:]
    folder, output = pathlib.Path(folder), pathlib.Path(output)
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink() and p != output)
    if not files:
        sys.exit(f"{folder} holds no files")
    digests = {path: (hashlib.sha1(path.read_bytes()).hexdigest(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files}
    # The specification's verification code: the SHA1 of the sorted SHA1s of the files.
    code = hashlib.sha1("".join(sorted(sha1 for sha1, _ in digests.values())).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = ["SPDXVersion: SPDX-2.3", "DataLicense: CC0-1.0", "SPDXID: SPDXRef-DOCUMENT", f"DocumentName: {name}-{version}",
             f"DocumentNamespace: https://github.com/routecap/routecap/spdx/{name}-{version}-{code}", "Creator: Tool: routecap-packaging",
             f"Created: {created}", "", f"PackageName: {name}", f"SPDXID: {identifier(name)}", f"PackageVersion: {version}",
             "PackageDownloadLocation: NOASSERTION", "FilesAnalyzed: true",
             # The document cannot hold its own sum.
             f"PackageVerificationCode: {code}" + (f" (excludes: ./{output.relative_to(folder)})" if output.is_relative_to(folder) else ""),
             "PackageLicenseConcluded: Apache-2.0", "PackageLicenseInfoFromFiles: Apache-2.0", "PackageLicenseDeclared: Apache-2.0",
             "PackageCopyrightText: Copyright The routecap authors", f"Relationship: SPDXRef-DOCUMENT DESCRIBES {identifier(name)}", ""]
    here = {path.name for path in folder.rglob("*") if ".so" in path.name}
    needed, compiled = {}, {}
    for number, path in enumerate(files):
        place = path.relative_to(folder)
        sha1, sha256 = digests[path]
        # Of characters that an identifier cannot hold several become one: the number tells such names apart.
        lines += [f"FileName: ./{place}", f"SPDXID: {identifier(f'File-{number}-{place}')}", f"FileChecksum: SHA1: {sha1}", f"FileChecksum: SHA256: {sha256}",
                  "LicenseConcluded: Apache-2.0", "LicenseInfoInFile: Apache-2.0", "FileCopyrightText: Copyright The routecap authors", ""]
        if is_elf(path):
            needed.update(needed_of(path, here))
        if is_elf(path) or path.suffix == ".a":
            compiled.update(compiled_into(path))
    for relation, parts in (("DEPENDS_ON", needed), ("CONTAINS", compiled)):
        for part, licence in sorted(parts.items()):
            lines += [f"PackageName: {part}", f"SPDXID: {identifier('Package-' + part)}", "PackageDownloadLocation: NOASSERTION", "FilesAnalyzed: false",
                      "PackageLicenseConcluded: " + licence, "PackageLicenseDeclared: " + licence, "PackageCopyrightText: NOASSERTION",
                      f"Relationship: {identifier(name)} {relation} {identifier('Package-' + part)}", ""]
    for licence in sorted({licence for parts in (needed, compiled) for licence in parts.values()} & set(EXTRACTED)):
        title, address = EXTRACTED[licence]
        lines += [f"LicenseID: {licence}", f"ExtractedText: <text>{title}: {address}</text>", f"LicenseName: {title}", f"LicenseCrossReference: {address}", ""]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(lines))


main()
