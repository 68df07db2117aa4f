#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freezes the ABI of a release, and compares a build with what was frozen.

  abi_gate.py freeze  --capi capi --library libroutecap.so --plugin plugin.so --program program.c --plugin-source plugin.c --baseline FOLDER
  abi_gate.py compare --capi capi --library libroutecap.so [--plugin plugin.so] --baseline FOLDER [--cc gcc]

`compare` ends with 1 and a line per difference where a program or a plugin built with the frozen release would not work with this build. Three looks
that do not see the same: the API's description (values and defaults, which no symbol shows), the symbols with their nodes, and what the debug
information says of types. abidiff's bit 8 ("incompatible") misses a changed signature, so any difference but an added symbol counts; and it finds
nothing in a file without debug information, so that is looked at first.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from api_diff import compare_apis, grown_structs

# What programs and plugins include. routecap_flat.h is for generators of bindings and says nothing that these do not.
HEADERS = ("backend.h", "routecap.h", "routecap_loader.h", "routecap_table.h")
# Only what is exported and what that leads to: the dump stays small and knows none of the library's insides.
DUMP = ("--exported-interfaces-only", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--drop-undefined-syms", "--no-elf-needed")


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def without_prose(node):
    """api.json without its documentation, which is no part of the ABI."""
    if isinstance(node, dict):
        return {key: without_prose(value) for key, value in node.items() if key not in ("doc", "return_doc", "thread_note", "generated")}
    return [without_prose(item) for item in node] if isinstance(node, list) else node


def has_debug_information(file):
    return " .debug_info" in run("readelf", "--section-headers", "--wide", file)


def dump(file, symbol):
    """The ABI of a file as text, or an exit that says why there is none."""
    if not has_debug_information(file):
        sys.exit(f"{file} has no debug information: build it with -g")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "dump.abi"
        run("abidw", *DUMP, "--out-file", out, file)
        text = out.read_text()
    if not re.search(rf"<function-decl name='{symbol}' [^>]*elf-symbol-id='{symbol}", text):
        sys.exit(f"abidw sees no declaration of {symbol} in {file}")
    return text


def symbols_of(file):
    """Exported names with their nodes."""
    lines = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", file).splitlines()
    return {fields[2] for fields in map(str.split, lines) if len(fields) == 3 and fields[1] != "A"}


def growing_layout(text):
    """The layout asserts of a release, for a later one: a struct may be larger than it was, its fields stay."""
    return re.sub(r"^(_Static_assert\(sizeof\(rcap_\w+\)) == ", r"\1 >= ", text, flags=re.MULTILINE)


def compare_layout(arguments, baseline):
    """The frozen layout asserts against the headers of today: the compiler's own word."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layout.c"
        source.write_text(growing_layout((baseline / "layout_asserts.c").read_text()))
        command = [arguments.cc, "-std=c11", "-fsyntax-only", "-DRCAP_DEPRECATED(text)=", f"-I{arguments.capi / 'include'}", str(source)]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
    lines = [line for line in result.stderr.splitlines() if "error" in line]
    return [f"layout: {line.split('error: ', 1)[-1]}" for line in lines] or ([] if result.returncode == 0 else ["layout: it does not compile"])


def suppressions(grown):
    text = ""
    for name in grown:
        text += f"[suppress_type]\n  name = {name}\n  has_data_member_inserted_at = end\n\n"
    return text


def compare_dump(baseline_dump, text, grown, what):
    with tempfile.TemporaryDirectory() as folder:
        now = pathlib.Path(folder) / "now.abi"
        now.write_text(text)
        rules = pathlib.Path(folder) / "grown.suppr"
        rules.write_text(suppressions(grown))
        command = ["abidiff", "--no-added-syms", "--harmless", "--suppressions", str(rules), str(baseline_dump), str(now)]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode == 0:
        return []
    said = [line.strip() for line in result.stdout.splitlines() if line.strip()] or [result.stderr.strip()]
    return [f"abidiff ({what}, {result.returncode}): {line}" for line in said]


def compare(arguments):
    baseline = arguments.baseline
    old = json.loads((baseline / "api.json").read_text())
    new = json.loads((arguments.capi / "abi" / "api.json").read_text())
    found = [f"api.json: {line}" for line in compare_apis(old, new)]
    exported = symbols_of(arguments.library)
    frozen = (baseline / "symbols.txt").read_text().split()
    if not frozen:
        sys.exit(f"{baseline}/symbols.txt is empty")
    found += [f"symbol gone: {symbol}" for symbol in frozen if symbol not in exported]
    found += compare_layout(arguments, baseline)
    # The function table grows with every function; its slots were compared above.
    grown = [*grown_structs(old, new), "rcap_api"]
    found += compare_dump(baseline / "library.abi", dump(arguments.library, "rcap_abi_version"), grown, "library")
    if arguments.plugin:
        # Interface 1 grows at its structs' ends; that what was there stays is for tests/plugin/frozen to say.
        interface = re.findall(r"\bstruct (rcap_plugin_\w+) \{", (baseline / "include/routecap/backend.h").read_text())
        found += compare_dump(baseline / "plugin.abi", dump(arguments.plugin, "routecap_backend_entry_1"), interface, "plugin")
    for line in found:
        print(line)
    print(f"{arguments.library} against {baseline}: {len(found)} differences, {len(frozen)} symbols, {len(old['functions'])} functions")
    return 1 if found else 0


def freeze(arguments):
    baseline = arguments.baseline
    shutil.rmtree(baseline, ignore_errors=True)
    (baseline / "include/routecap").mkdir(parents=True)
    for header in HEADERS:
        shutil.copyfile(arguments.capi / "include/routecap" / header, baseline / "include/routecap" / header)
    api = without_prose(json.loads((arguments.capi / "abi/api.json").read_text()))
    # One line for each function, struct and enum: differences stay readable.
    lines = [f'  "{key}": {json.dumps(value)}' if not isinstance(value, list) else
             f'  "{key}": [\n    ' + ",\n    ".join(json.dumps(item) for item in value) + "\n  ]" for key, value in api.items()]
    (baseline / "api.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    shutil.copyfile(arguments.capi / "abi/symbols.txt", baseline / "symbols.txt")
    shutil.copyfile(arguments.capi / "abi/checks/layout_asserts.c", baseline / "layout_asserts.c")
    (baseline / "library.abi").write_text(dump(arguments.library, "rcap_abi_version"))
    if arguments.plugin:
        (baseline / "plugin.abi").write_text(dump(arguments.plugin, "routecap_backend_entry_1"))
    for source, name in ((arguments.program, "program.c"), (arguments.plugin_source, "plugin.c")):
        if source:
            shutil.copyfile(source, baseline / name)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("freeze", "compare"))
    for name, required in (("capi", True), ("library", True), ("baseline", True), ("plugin", False), ("program", False), ("plugin-source", False)):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=required)
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    return {"freeze": freeze, "compare": compare}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
