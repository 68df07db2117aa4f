# SPDX-License-Identifier: Apache-2.0
"""Second opinion on the generator: clang reads routecap.h, and what it sees is compared with api.json.

    header_matches_json.py CLANG INCLUDE_DIR API_JSON
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def syntax_tree(clang, include_dir):
    """Declarations of routecap.h whose names are the library's."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "header.c"
        source.write_text("#include <routecap/routecap.h>\n")
        command = [clang, "-std=c11", f"-I{include_dir}", "-fsyntax-only", "-Xclang", "-ast-dump=json", str(source)]
        tree = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [node for node in tree["inner"] if node.get("name", "").startswith("rcap_")]


def spelled(qual_type):
    """clang writes `const rcap_tap *`; api.json `const rcap_tap*`."""
    return re.sub(r" (?=\*)", "", re.sub(r"\bstruct (?=rcap_)", "", qual_type))


def functions_of(declarations):
    functions = {}
    for node in declarations:
        if node["kind"] != "FunctionDecl":
            continue
        parameters = [(child.get("name", ""), spelled(child["type"]["qualType"])) for child in node.get("inner", []) if child["kind"] == "ParmVarDecl"]
        returns = spelled(re.match(r"(.*?) ?\(", node["type"]["qualType"]).group(1))
        functions[node["name"]] = (returns, parameters)
    return functions


def structs_of(declarations):
    structs = {}
    for node in declarations:
        if node["kind"] == "RecordDecl" and node.get("completeDefinition"):
            structs[node["name"]] = [(child["name"], child["type"]["qualType"]) for child in node["inner"] if child["kind"] == "FieldDecl"]
    return structs


def handles_of(declarations, structs):
    return {node["name"] for node in declarations if node["kind"] == "RecordDecl"} - set(structs)


def constant(node):
    """The value of an enumerator's expression, which clang has folded."""
    if "value" in node:
        return int(node["value"])
    return next(constant(child) for child in node["inner"])


def enums_of(declarations):
    enums = {}
    for node in declarations:
        if node["kind"] == "EnumDecl":
            enums[node["name"]] = [(child["name"], constant(child)) for child in node["inner"] if child["kind"] == "EnumConstantDecl"]
    return enums


def described(api):
    functions = {}
    for function in api["functions"]:
        functions[function["name"]] = (function["returns"], [(item["name"], item["type"]) for item in function["parameters"]])
    structs = {}
    for struct in api["structs"]:
        structs[struct["name"]] = [
            (field["name"], f"{field['type']}[{field['count']}]" if "count" in field else field["type"]) for field in struct["fields"]
        ]
        functions[struct["init"]] = ("void", [("value", f"{struct['name']}*"), ("struct_size", "int64_t")])
    enums = {f"{enum['name']}_value": [(value["name"], value["value"]) for value in enum["values"]] for enum in api["enums"]}
    return {"functions": functions, "structs": structs, "enums": enums, "handles": {name: True for name in (item["name"] for item in api["handles"])}}


def seen(declarations):
    structs = structs_of(declarations)
    return {
        "functions": functions_of(declarations),
        "structs": structs,
        "enums": enums_of(declarations),
        "handles": {name: True for name in handles_of(declarations, structs)},
    }


def main():
    clang, include_dir, api_json = sys.argv[1:]
    if shutil.which(clang) is None:
        print(f"skipped: {clang} is not installed")
        return 77
    left = seen(syntax_tree(clang, include_dir))
    right = described(json.loads(Path(api_json).read_text()))
    wrong = 0
    for kind in ("functions", "structs", "enums", "handles"):
        for name in sorted(set(left[kind]) | set(right[kind])):
            if left[kind].get(name) != right[kind].get(name):
                wrong += 1
                print(f"{kind}: {name}\n  clang reads    {left[kind].get(name)}\n  api.json says  {right[kind].get(name)}")
        print(f"{len(left[kind])} {kind} compared")
        if not left[kind]:
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
