#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks a copy of the API in every way that the gate is there for, and asks the gate itself. A library of stubs stands for each copy: what a symbol
table and debug information say of a function does not depend on what it does.

  breaks.py CMAKE CC SOURCE VERSION WORK
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

cmake, cc, source, version, work = sys.argv[1:3] + [pathlib.Path(sys.argv[3]), sys.argv[4], pathlib.Path(sys.argv[5])]
gate = source / "capi/abi/gate/abi_gate.py"
next_release = f"{version.split('.')[0]}.{int(version.split('.')[1]) + 1}.0"
major_minor = next_release.rsplit(".", 1)[0]
failures = 0


def edit(folder, name, pattern, replacement):
    """Exactly one place of a copied file is changed."""
    file = folder / "api" / name
    text, count = re.subn(pattern, replacement, file.read_text(), flags=re.DOTALL)
    if count != 1:
        sys.exit(f"{name}: {count} places match {pattern}")
    file.write_text(text)


def file_of(folder, needle):
    return next(file.name for file in sorted((folder / "api").glob("*.h.in")) if needle in file.read_text())


def last_function():
    """The function in the last slot: without it the table has no gap, which the generator would refuse."""
    api = json.loads((source / "capi/abi/api.json").read_text())
    return max(api["functions"], key=lambda f: -1 if f.get("slot") is None else f["slot"])


def remove_function(folder):
    name = last_function()["name"]
    edit(folder, file_of(folder, f" {name}("), r"/\*\*(?:(?!\*/).)*\*/\n[^;/]*\b" + name + r"\([^;]*;", "")
    for file in (folder / "api").glob("*.h.in"):
        file.write_text(file.read_text().replace(f"`{name}`", "a function"))


def change_parameter(folder):
    edit(folder, "70_record.h.in", r"(rcap_record_slice\(const rcap_record\* self, )int64_t start", r"\1int32_t start")


def swap_parameters(folder):
    edit(folder, "70_record.h.in", r"(rcap_record_slice\(const rcap_record\* self, )int64_t start, int64_t end", r"\1int64_t end, int64_t start")
    edit(folder, "70_record.h.in", r"( \* @param start [^\n]*\n)( \* @param end [^\n]*\n)(?=(?:(?!\*/).)*\*/\nrcap_status rcap_record_slice)", r"\2\1")


def change_return(folder):
    edit(folder, "10_library.h.in", r"int32_t rcap_abi_version\(", "int64_t rcap_abi_version(")


def move_field(folder):
    """Two fields of the same size change places: no offset of the struct's other fields and no symbol shows it."""
    edit(folder, "60_read.h.in", r"(struct rcap_read_layout \{.*?)(  /\*\* n: tokens.*?int64_t tokens;\n)(  /\*\* First token.*?int64_t start;\n)", r"\1\3\2")


def insert_field(folder):
    edit(folder, "60_read.h.in", r"(struct rcap_read_layout \{.*?)(  /\*\* n: tokens)", r"\1  /** New. */\n  int64_t newer;\n\2")


def retype_field(folder):
    edit(folder, "60_read.h.in", r"(struct rcap_read_layout \{.*?)int64_t( timeout_ns;)", r"\1double\2")


def change_value(folder):
    edit(folder, "80_record_algebra.h.in", r"RCAP_OVERLAP_KEEP_NEW = 2\b", "RCAP_OVERLAP_KEEP_NEW = 3")


def change_default(folder):
    edit(folder, "60_read.h.in", r"(struct rcap_read_layout \{.*?@default )5", r"\g<1>4")


def swap_slots(folder):
    edit(folder, "70_record.h.in", r"@slot 62\b", "@slot XX")
    edit(folder, "70_record.h.in", r"@slot 63\b", "@slot 62")
    edit(folder, "70_record.h.in", r"@slot XX\b", "@slot 63")


def grow(folder):
    """What a release within one ABI may do: a field behind the last, a value beside the others, a function in the next slot."""
    slot = last_function()["slot"] + 1
    edit(folder, "60_read.h.in", r"(struct rcap_read_layout \{.*?int64_t timeout_ns;\n)", r"\1  /** New. */\n  int64_t newer;\n")
    edit(folder, "80_record_algebra.h.in", r"RCAP_OVERLAP_KEEP_NEW = 2\n", "RCAP_OVERLAP_KEEP_NEW = 2,\n  /** New. */\n  RCAP_OVERLAP_NEWER = 3\n")
    (folder / "api/95_newer.h.in").write_text(
        "// SPDX-License-Identifier: Apache-2.0\n\n/**\n * New.\n *\n * @return the number\n * @thread any\n"
        f" * @since {major_minor}\n * @slot {slot}\n */\nint32_t rcap_newer_number(void);\n")


def stubs(api):
    """Definitions of everything that the headers declare. The compiler refuses one that does not fit its declaration."""
    text = '#include "routecap/routecap_table.h"\n'
    for struct in api["structs"]:
        if struct.get("init"):
            text += f"void {struct['init']}({struct['name']}* value, int64_t struct_size) {{ (void)value, (void)struct_size; }}\n"
    for function in api["functions"]:
        parameters = ", ".join(f"{p['type']} {p['name']}" for p in function["parameters"]) or "void"
        result = "" if function["returns"] == "void" else "return 0;"
        uses = "".join(f"(void){p['name']}; " for p in function["parameters"])
        text += f"{function['returns']} {function['name']}({parameters}) {{ {uses}{result} }}\n"
    return text + "const rcap_api* rcap_get_api(int32_t abi_version) { static rcap_api table; (void)abi_version; return &table; }\n"


def make(name, change, flags="-g", release=version):
    """A copy of capi with a change, generated, and its library of stubs."""
    folder = work / name
    (folder / "api").mkdir(parents=True)
    for file in (source / "capi/api").glob("*.h.in"):
        shutil.copyfile(file, folder / "api" / file.name)
    change(folder)
    subprocess.run([cmake, f"-DAPI_DIR={folder / 'api'}", f"-DOUT_DIR={folder}", f"-DVERSION={release}", "-P", source / "capi/cmake/GenerateCapi.cmake"],
                   check=True)
    shutil.copyfile(source / "capi/include/routecap/backend.h", folder / "include/routecap/backend.h")
    api = json.loads((folder / "abi/api.json").read_text())
    (folder / "stubs.c").write_text(stubs(api))
    library = folder / "libroutecap.so"
    subprocess.run([cc, "-std=c11", flags, "-shared", "-fPIC", "-Wall", "-Werror", f"-I{folder / 'include'}", folder / "stubs.c", "-o", library,
                    f"-Wl,--version-script={folder / 'abi/routecap.map'}", f"-Wl,-soname,{api['soname']}"], check=True)
    return folder, library


def expect(name, made, wanted):
    """The gate's answer on a changed copy: with lines wanted it fails and says each of them, without any it passes."""
    global failures
    folder, library = made
    result = subprocess.run([sys.executable, "-B", gate, "compare", "--capi", folder, "--library", library, "--baseline", work / "baseline", "--cc", cc],
                            check=False, capture_output=True, text=True)
    said = result.stdout + result.stderr
    missing = [line for line in wanted if not re.search(line, said, flags=re.MULTILINE)]
    good = not missing and (result.returncode == 1) == bool(wanted) and result.returncode in (0, 1)
    print(f"{'ok    ' if good else 'FAILED'} {name}", flush=True)
    if not good:
        failures += 1
        print(f"  exit {result.returncode}, not said: {missing}\n" + "\n".join("  | " + line for line in said.splitlines()[:40]))


for tool in ("abidw", "abidiff", "nm", "readelf"):
    if not shutil.which(tool):
        print(f"skipped: {tool} is not installed")
        sys.exit(0)
shutil.rmtree(work, ignore_errors=True)
same = make("same", lambda folder: None)
subprocess.run([sys.executable, "-B", gate, "freeze", "--capi", same[0], "--library", same[1], "--baseline", work / "baseline"], check=True)
removed = last_function()["name"]
expect("nothing changed", same, [])
expect("what a release may add", make("grow", grow, release=next_release), [])
expect("function removed", make("remove_function", remove_function),
       [rf"^api.json: function removed: .*{removed}", f"^symbol gone: {removed}@@", rf"^abidiff .*{removed}"])
expect("parameter changed", make("change_parameter", change_parameter), ["^api.json: function changed: .*rcap_record_slice", "^abidiff .*rcap_record_slice"])
expect("parameters swapped", make("swap_parameters", swap_parameters), ["^api.json: function changed: .*rcap_record_slice"])
expect("return type changed", make("change_return", change_return), ["^api.json: function changed: .*rcap_abi_version", "^abidiff .*rcap_abi_version"])
expect("field moved", make("move_field", move_field),
       ["^api.json: field moved: rcap_read_layout.tokens", "^layout: .*rcap_read_layout.tokens", "^abidiff .*tokens"])
expect("field inserted", make("insert_field", insert_field), ["^api.json: field inserted: rcap_read_layout.newer", "^layout: .*rcap_read_layout.tokens"])
expect("field retyped", make("retype_field", retype_field), ["^api.json: field changed: rcap_read_layout.timeout_ns", "^abidiff .*timeout_ns"])
expect("enum value changed", make("change_value", change_value), ["^api.json: enum value changed: RCAP_OVERLAP_KEEP_NEW was 2, is 3"])
expect("default changed", make("change_default", change_default), ["^api.json: field's default changed: rcap_read_layout.slots_dtype was 5, is 4"])
expect("slots swapped", make("swap_slots", swap_slots), ["^api.json: slot moved: "])
expect("no debug information", make("stripped", lambda folder: None, "-g0"), ["has no debug information: build it with -g"])
sys.exit(1 if failures else 0)
