# SPDX-License-Identifier: Apache-2.0
"""Writes the Go types of the API's enums and structs, and its functions through dlopen, from api.json: go_types.py API_JSON FOLDER.

Structs that the library fills (reports, counters) are exported as they are, so that a field that is appended in C appears in Go by itself. What a
caller fills is not exported: the package has a hand-written, more comfortable type for each. Layouts are C's, padding included, because the address of
a struct is what crosses.
"""
import json
import re
import sys
import textwrap

HEADER = """// Code generated from capi/abi/api.json by bindings/swig/go_types.py. DO NOT EDIT.
// SPDX-License-Identifier: Apache-2.0

"""

# Go's spelling of words that are not simply capitalized.
WORDS = {"id": "ID", "ids": "IDs", "fd": "FD", "abi": "ABI", "dtype": "DType", "simd": "SIMD", "dp": "DP", "tp": "TP", "ns": "Nanoseconds",
         "uint8": "UInt8", "uint16": "UInt16", "int16": "Int16", "int32": "Int32", "int64": "Int64", "npy": "NPY", "csv": "CSV",
         "sglang": "SGLang", "vllm": "VLLM", "nemo": "NeMo", "base64": "Base64", "bfloat16": "BFloat16", "zstd": "Zstd"}

# C enum: Go type, prefix of its constants in C, prefix in Go.
ENUMS = {
    "rcap_status": ("Code", "RCAP_STATUS_", "Err"),
    "rcap_dtype": ("DType", "RCAP_DTYPE_", "DType"),
    "rcap_memory": ("Memory", "RCAP_MEMORY_", "Memory"),
    "rcap_rows_kind": ("RowsKind", "RCAP_ROWS_", "Rows"),
    "rcap_weights_kind": ("WeightsKind", "RCAP_WEIGHTS_", "Weights"),
    "rcap_check_level": ("CheckLevel", "RCAP_CHECK_", "Check"),
    "rcap_finalize_mode": ("FinalizeMode", "RCAP_FINALIZE_", "Finalize"),
    "rcap_busy_policy": ("BusyPolicy", "RCAP_BUSY_", "Busy"),
    "rcap_rows_term": ("RowsTerm", "RCAP_TERM_", "Term"),
    "rcap_model_role": ("Role", "RCAP_ROLE_", "Role"),
    "rcap_capture_gate": ("Gate", "RCAP_CAPTURE_", "Gate"),
    "rcap_tap_flag": ("TapFlags", "RCAP_TAP_", "Tap"),
    "rcap_acceptance": ("Acceptance", "RCAP_ACCEPT_", "Accept"),
    "rcap_fault": ("Fault", "RCAP_FAULT_", "Fault"),
    "rcap_slot_unit": ("SlotUnit", "RCAP_UNIT_", "Unit"),
    "rcap_read_flag": ("ReadFlags", "RCAP_READ_", "Read"),
    "rcap_overlap": ("Overlap", "RCAP_OVERLAP_", "Overlap"),
    "rcap_fill": ("Fill", "RCAP_FILL_", "Fill"),
    "rcap_wire_format": ("Format", "RCAP_WIRE_", "Format"),
    "rcap_missing": ("Missing", "RCAP_MISSING_", "Missing"),
    "rcap_padding": ("Padding", "RCAP_PADDING_", "Padding"),
    "rcap_axis_order": ("AxisOrder", "RCAP_AXIS_ORDER_", "AxisOrder"),
    "rcap_split": ("Split", "RCAP_SPLIT_", "Split"),
}

# Structs that the library fills and that hold numbers only: C name, Go name.
EXPORTED = {
    "rcap_capturer_plan": "Plan",
    "rcap_capturer_stats": "Stats",
    "rcap_summary": "Summary",
    "rcap_slot_info": "SlotInfo",
    "rcap_read_info": "ReadInfo",
    "rcap_record_info": "RecordInfo",
    "rcap_compare_report": "CompareReport",
}


def camel(name):
    words = []
    for word in name.lower().split("_"):
        words.append(WORDS.get(word, word.capitalize()))
    return "".join(words)


def unexported(name):
    """fooBar of FooBar, and of an initialism at the front all of it: idsRowStride of IDsRowStride."""
    for word in sorted(WORDS.values(), key=len, reverse=True):
        if name.startswith(word) and word[:2].isupper():
            return word.lower() + name[len(word):]
    return name[0].lower() + name[1:]


def go_words(text):
    """C's spellings in a comment become Go's."""
    def constant(match):
        for _, (_, prefix, go_prefix) in ENUMS.items():
            if match.group(0).startswith(prefix):
                return go_prefix + camel(match.group(0)[len(prefix):])
        return match.group(0)

    def name(match):
        c_name = match.group(1)
        if c_name in ENUMS:
            return ENUMS[c_name][0]
        if c_name in EXPORTED:
            return EXPORTED[c_name]
        # A function of a handle is a method, so that godoc links it.
        method = re.match(r"rcap_(backend|capturer|model|tap|output|record)_(\w+)$", c_name)
        special = {"rcap_wire_format_name": "[Format.String]", "rcap_wire_format_of": "[ParseFormat]"}
        if method and not c_name.endswith(("_init", "_create", "_layout")):
            return "[%s.%s]" % (camel(method.group(1)), camel(method.group(2)))
        return special.get(c_name, "`%s`" % c_name)

    text = re.sub(r"\bRCAP_[A-Z0-9_]+", constant, text.replace("`rcap_error.detail`", "[Error].Detail"))
    return re.sub(r"`(rcap_[a-z_]+)`", name, text)


def comment(text, indent=""):
    lines = []
    for paragraph in go_words(text).split("\n"):
        if paragraph == "":
            lines.append(indent + "//")
        else:
            lines += textwrap.wrap(paragraph, 118, initial_indent=indent + "// ", subsequent_indent=indent + "// ", break_long_words=False,
                                   break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def enum_text(enum):
    go_type, prefix, go_prefix = ENUMS[enum["name"]]
    text = comment("%s: %s" % (go_type, enum["doc"])) + "type %s int32\n\nconst (\n" % go_type
    values = enum["values"]
    for value in values:
        if go_type == "Code" and value["value"] == 0:
            name = "OK"
        else:
            name = go_prefix + camel(value["name"][len(prefix):])
        text += comment(value["doc"], "\t") + "\t%s %s = %d\n" % (name, go_type, value["value"])
    text += ")\n\n"
    if go_type in ("Code", "Format") or enum["flags"]:
        return text  # Code and Format are named by the library; flags are bits.
    text += "// String is the constant's name in C without its prefix, in lower case.\nfunc (value %s) String() string {\n\tswitch value {\n" % go_type
    for value in values:
        text += "\tcase %d:\n\t\treturn %s\n" % (value["value"], json.dumps(value["name"][len(prefix):].lower()))
    return text + "\t}\n\treturn unknownName(%s, int32(value))\n}\n\n" % json.dumps(go_type)


def field_type(field):
    if "count" in field:
        return "[%d]byte" % field["count"]
    if field["type"] == "int64_t":
        return "int64"
    for enum, (go_type, _, _) in ENUMS.items():
        if re.search(r"`%s`" % enum, field["doc"]):
            return go_type
    if field["name"].endswith("dtype"):
        return "DType"
    return "int32"


def struct_text(struct):
    exported = EXPORTED.get(struct["name"])
    name = exported or camel(struct["name"][len("rcap_"):])
    if not exported:
        name = unexported(name) + "Layout" * (not name.endswith("Layout"))
    text = comment("%s: %s" % (name, struct["doc"])) + "type %s struct {\n" % name
    offset = 0
    for field in struct["fields"]:
        go_name = camel(field["name"])
        if not exported or field["name"] in ("struct_size", "reserved"):
            go_name = unexported(go_name)
        if field["offset"] != offset:
            raise SystemExit("%s.%s: C has a hole before it, which Go would not have" % (struct["name"], field["name"]))
        offset += field["size"]
        if exported and field["name"] not in ("struct_size", "reserved"):
            text += comment(field["doc"], "\t")
        text += "\t%s %s\n" % (go_name, field_type(field))
    if offset != struct["size"]:
        raise SystemExit("%s: C has a hole at its end" % struct["name"])
    return text + "}\n\n"


def aligned(text):
    """gofmt's columns: what stands behind each other's names in lines without a comment between them."""
    lines = text.split("\n")
    out = []
    block = []

    def flush():
        if block:
            width = max(len(line.split(" ", 1)[0]) for line in block)
            for line in block:
                first, rest = line.split(" ", 1)
                if " = " in rest:
                    kind, value = rest.split(" = ")
                    out.append("%s %s = %s" % (first.ljust(width), kind, value))
                else:
                    out.append("%s %s" % (first.ljust(width), rest))
            block.clear()

    for line in lines:
        if re.match(r"^\t[A-Za-z0-9]+ [^/]", line) and not line.startswith("\t\t") and not re.match(r"^\t(case|switch|return|type|func|if)\b|^\t[^=]*:=", line):
            block.append(line)
        else:
            flush()
            out.append(line)
    flush()
    return "\n".join(out)


def raw_type(parameter, handles):
    """A parameter's type in the raw layer: the same that SWIG's typemaps give it."""
    kind = parameter["type"]
    element = kind.replace("const ", "").replace("*", "")
    if "length" in parameter:
        return "[]byte" if element == "void" else "[]" + element[:-2]
    if kind == "const char*":
        return "string"
    if kind == "void*" or (element in handles and kind.count("*") == 1):
        return "uintptr"
    if "*" in kind:
        return "unsafe.Pointer"
    return element[:-2]


def dlopen_function(function, handles):
    """One function over its slot of the table. Pointers become numbers inside the call's own argument list, which keeps what they point to alive."""
    taken, prologue, passed, lengths = [], "", [], set()
    for parameter in function["parameters"]:
        name, kind = parameter["name"], raw_type(parameter, handles)
        if name in lengths:
            continue
        name = unexported(camel(name))
        taken.append("%s %s" % (name, kind))
        if kind.startswith("[]"):
            lengths.add(parameter["length"])
            passed += ["uintptr(unsafe.Pointer(unsafe.SliceData(%s)))" % name, "uintptr(len(%s))" % name]
        elif kind == "string":
            prologue += "\t%sText := append([]byte(%s), 0)\n" % (name, name)
            passed.append("uintptr(unsafe.Pointer(&%sText[0]))" % name)
        else:
            passed.append(name if kind == "uintptr" else "uintptr(%s)" % name)
    returns = {"const char*": "string", "rcap_status": "int32", "void": ""}.get(function["returns"], function["returns"][:-2])
    text = "func R%s(%s)%s {\n" % (function["name"][1:], ", ".join(taken), " " + returns if returns else "")
    text += prologue + "\tfunction := table.function(%d)\n\tif function == 0 {\n" % function["slot"]
    absent = {"": "return", "string": 'return ""'}.get(returns, "return %s(absent())" % returns)
    text += "\t\t%s\n\t}\n" % absent
    invoke = "purego.SyscallN(%s)" % ", ".join(["function"] + passed)
    if returns:
        text += "\tresult, _, _ := %s\n" % invoke
        text += "\treturn textAt(result)\n" if returns == "string" else "\treturn %s(result)\n" % returns
    else:
        text += "\t%s\n" % invoke
    return text + "}\n\n"


def dlopen_text(api):
    handles = {handle["name"] for handle in api["handles"]}
    functions = list(api["functions"])
    for struct in api["structs"]:
        parameters = [{"name": "value", "type": struct["name"] + "*"}, {"name": "struct_size", "type": "int64_t"}]
        functions.append({"name": struct["init"], "slot": struct["init_slot"], "returns": "void", "parameters": parameters})
    functions.sort(key=lambda function: function["slot"])
    text = '//go:build !cgo || routecap_dlopen\n\npackage native\n\nimport (\n\t"unsafe"\n\n\t"github.com/ebitengine/purego"\n)\n\n'
    text += "// What the library must be and is asked for.\nconst (\n\tsoname = %s\n\tabi = %d\n)\n\n" % (json.dumps(api["soname"]), api["abi_version"])
    return text + "".join(dlopen_function(function, handles) for function in functions)


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(HEADER + aligned(text).rstrip("\n") + "\n")


def main():
    api_path, folder = sys.argv[1:]
    with open(api_path, encoding="utf-8") as file:
        api = json.load(file)
    missing = [enum["name"] for enum in api["enums"] if enum["name"] not in ENUMS]
    if missing:
        raise SystemExit("go_types.py has no Go name for: %s" % ", ".join(missing))
    package = "package routecap\n\n"
    write(folder + "/enums_generated.go", package + "".join(enum_text(enum) for enum in api["enums"]))
    write(folder + "/structs_generated.go", package + "".join(struct_text(struct) for struct in api["structs"]))
    write(folder + "/internal/native/dlopen_generated.go", dlopen_text(api))


if __name__ == "__main__":
    main()
