# SPDX-License-Identifier: Apache-2.0
"""Writes what the Python package has of the C API from api.json: python_types.py API_JSON FOLDER.

Three modules: the declarations that cffi reads (structs, and the function table in which every handle and every array is a number, because a number
is what a tensor gives and what crosses fastest), the enums, and a class for each struct that the library fills.
"""
import json
import re
import sys
import textwrap

import names
from names import FILLED, FLAGS

HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Generated from capi/abi/api.json by bindings/swig/python_types.py; do not edit.\n"
WIDTH = 120

# Enums whose values are put together have a name in the plural.
ENUMS = names.ENUMS | {"rcap_tap_flag": ("TapFlags", "RCAP_TAP_"), "rcap_read_flag": ("ReadFlags", "RCAP_READ_")}

# Where a C function is to be found in Python.
PLACES = {
    "rcap_abi_version": "abi_version",
    "rcap_backend_open": "Backend",
    "rcap_layout_rows": "layout_rows",
    "rcap_wire_format_name": "Format.form",
    "rcap_wire_format_of": "Format.of",
}


def constant(enum, value):
    return value["name"][len(ENUMS[enum["name"]][1]):]


def python_words(text):
    """C's spellings in a comment become Python's."""
    def number(match):
        for python, prefix in ENUMS.values():
            if match.group(0).startswith(prefix):
                return "%s.%s" % (python, match.group(0)[len(prefix):])
        return match.group(0)

    def name(match):
        c_name = match.group(1)
        if c_name in ENUMS:
            return "`%s`" % ENUMS[c_name][0]
        if c_name in FILLED:
            return "`%s`" % FILLED[c_name]
        if c_name in PLACES:
            return "`%s`" % PLACES[c_name]
        struct = re.match(r"rcap_(\w+)\.(\w+)$", c_name)
        if struct and "rcap_" + struct.group(1) in FILLED:
            return "`%s.%s`" % (FILLED["rcap_" + struct.group(1)], struct.group(2))
        method = re.match(r"rcap_(backend|capturer|model|tap|output|record)_(\w+)$", c_name)
        if method:
            return "`%s.%s`" % (method.group(1).capitalize(), re.sub(r"_get$", "", method.group(2)))
        return match.group(0)

    text = re.sub(r"\bRCAP_[A-Z0-9_]+", number, text.replace("`rcap_error.detail`", "`RoutecapError.detail`"))
    return re.sub(r"`(rcap_[a-z_.]+)`", name, text)


def docstring(text, indent):
    lines = []
    for index, paragraph in enumerate(python_words(text).split("\n\n")):
        lines += [""] * (index > 0) + textwrap.wrap(paragraph.replace("\n", " "), WIDTH - len(indent) - 3, break_long_words=False, break_on_hyphens=False)
    if len(lines) == 1 and len(lines[0]) + len(indent) + 6 <= WIDTH:
        return '%s"""%s"""\n' % (indent, lines[0])
    return indent + '"""' + ("\n" + indent).join(lines).replace("\n" + indent + "\n", "\n\n") + "\n" + indent + '"""\n'


def enum_text(enum):
    text = "class %s(%s):\n" % (ENUMS[enum["name"]][0], "enum.IntFlag" if enum["flags"] else "_Enum")
    text += docstring(enum["doc"], "    ")
    for value in enum["values"]:
        text += "\n    %s = %d\n%s" % (constant(enum, value), value["value"], docstring(value["doc"], "    "))
    if enum["name"] == "rcap_wire_format":
        text += '''
    @property
    def form(self) -> str:
        """The form's name as the library and the `routecap` command have it, for example `frame-base64`."""
        return _FORMS[self]

    @classmethod
    def of(cls, name: str) -> Format:
        """The form of a name, as `Format.form` gives it. Another name is NOT_FOUND, and the text lists those that there are."""
        from routecap._wire import format_of

        return format_of(name)
'''
    return text


def forms_text(enum):
    """Names of the forms as the documentation of each begins: `frame`: ..."""
    lines = []
    for value in enum["values"]:
        form = re.match(r"`([a-z0-9-]+)`: ", value["doc"])
        if not form:
            raise SystemExit("%s: the comment does not begin with the form's name" % value["name"])
        lines.append('    Format.%s: "%s",\n' % (constant(enum, value), form.group(1)))
    return "_FORMS = {\n" + "".join(lines) + "}\n"


def enums_text(api):
    text = '"""The numbers of the C API by name."""\n\nfrom __future__ import annotations\n\nimport enum\n\n\n'
    text += '''class _Enum(enum.IntEnum):
    @classmethod
    def _missing_(cls, value: object) -> None:
        from routecap._errors import UnsupportedError

        raise UnsupportedError(f"{cls.__name__} {value} is unknown to this version of the package")


'''
    text += "\n\n".join(enum_text(enum) for enum in api["enums"])
    text += "\n\n" + "".join(forms_text(enum) for enum in api["enums"] if enum["name"] == "rcap_wire_format")
    return text + "\n" + prefixes_text(api)


def prefixes_text(api):
    """What C's constants begin with, for texts that name them."""
    lines = ['    "%s": "%s",\n' % (ENUMS[enum["name"]][1], ENUMS[enum["name"]][0]) for enum in api["enums"]]
    return "# What C's names for these numbers begin with.\nPREFIXES = {\n" + "".join(lines) + "}\n"


def fields_of(struct):
    return [field for field in struct["fields"] if field["name"] != "struct_size" and not re.fullmatch(r"reserved\d*", field["name"])]


def field_type(field):
    if "count" in field:
        return "str"
    if field["type"] == "int32_t":
        if field["name"] in FLAGS:
            return "bool"
        for enum, (python, _) in ENUMS.items():
            if re.search(r"`%s`" % enum, field["doc"]):
                return python
        if field["name"].endswith("dtype"):
            return "DType"
    return "int"


def boolean_doc(doc):
    """What a flag says, without the numbers that it is in C."""
    doc = re.sub(r",? else 0\b", "", re.sub(r"^1 if ", "", doc))
    return "Whether " + doc[0].lower() + doc[1:] if not doc.startswith("E,") else "Whether " + doc


def struct_text(struct):
    name = FILLED[struct["name"]]
    text = "@dataclass(frozen=True)\nclass %s:\n%s" % (name, docstring(struct["doc"], "    "))
    for field in fields_of(struct):
        kind = field_type(field)
        text += "\n    %s: %s\n%s" % (field["name"], kind, docstring(boolean_doc(field["doc"]) if kind == "bool" else field["doc"], "    "))
    reads = []
    for field in fields_of(struct):
        kind = field_type(field)
        raw = "struct.%s" % field["name"]
        reads.append({"int": raw, "bool": raw + " != 0", "str": "_text(%s)" % raw}.get(kind, "%s(%s)" % (kind, raw)))
    # Not through __init__, which sets the fields of a frozen class one by one.
    text += "\n    @classmethod\n    def _read(cls, struct: Any) -> %s:\n        made = object.__new__(cls)\n        made.__dict__.update(\n" % name
    fields = zip(fields_of(struct), reads)
    return text + "".join("            %s=%s,\n" % (field["name"], read) for field, read in fields) + "        )\n        return made\n"


def structs_text(api):
    structs = [struct for struct in api["structs"] if struct["name"] in FILLED]
    used = sorted({field_type(field) for struct in structs for field in fields_of(struct)} - {"int", "bool", "str"})
    text = '"""What the library fills: reports, counters, geometry. Each is a snapshot."""\n\nfrom __future__ import annotations\n\n'
    text += "from dataclasses import dataclass\nfrom typing import Any\n\nfrom routecap._enums import %s\nfrom routecap._native import text as _text\n\n\n" % ", ".join(used)
    return text + "\n\n".join(struct_text(struct) for struct in structs)


def table_type(parameter, handles):
    """A parameter's type in the table: memory of the caller's and handles are numbers, structs and what is filled are pointers."""
    kind = parameter["type"]
    element = kind.replace("const ", "").replace("*", "")
    stars = kind.count("*")
    if stars == 0 or kind == "const char*":
        return kind
    if stars == 2:
        return "intptr_t*"
    if element == "void" or element in handles or "length" in parameter:
        return "intptr_t"
    return element + "*"


def cdef_text(api):
    handles = {handle["name"] for handle in api["handles"]}
    text = "typedef int32_t rcap_status;\n"
    for struct in api["structs"]:
        text += "typedef struct %s {\n" % struct["name"]
        for field in struct["fields"]:
            text += "  %s %s%s;\n" % (field["type"], field["name"], "[%d]" % field["count"] if "count" in field else "")
        text += "} %s;\n" % struct["name"]
    slots = {}
    for struct in api["structs"]:
        slots[struct["init_slot"]] = "void (*%s)(%s* value, int64_t struct_size);" % (struct["init"][len("rcap_"):], struct["name"])
    for function in api["functions"]:
        parameters = ", ".join("%s %s" % (table_type(parameter, handles), parameter["name"]) for parameter in function["parameters"])
        slots[function["slot"]] = "%s (*%s)(%s);" % (function["returns"], function["name"][len("rcap_"):], parameters or "void")
    if sorted(slots) != list(range(len(slots))):
        raise SystemExit("the table has a gap or a slot twice")
    text += "typedef struct rcap_api {\n  int64_t struct_size;\n  int32_t abi;\n  int32_t reserved;\n"
    for slot in range(len(slots)):
        text += "  %s\n" % slots[slot]
    text += "} rcap_api;\nconst rcap_api* rcap_get_api(int32_t abi_version);\n"
    module = '"""What cffi is told of the C API: every struct as it lies in memory, and the function table."""\n\n'
    module += "# ABI number that is asked for, and what the dynamic linker looks for where no path is given.\nABI = %d\nSONAME = \"%s\"\n\n" % (api["abi_version"], api["soname"])
    return module + 'DECLARATIONS = """\n' + text + '"""\n'


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(HEADER + text)


def main():
    api_path, folder = sys.argv[1:]
    with open(api_path, encoding="utf-8") as file:
        api = json.load(file)
    missing = [enum["name"] for enum in api["enums"] if enum["name"] not in ENUMS]
    if missing:
        raise SystemExit("python_types.py has no Python name for: %s" % ", ".join(missing))
    write(folder + "/_declarations.py", cdef_text(api))
    write(folder + "/_enums.py", enums_text(api))
    write(folder + "/_structs.py", structs_text(api))


if __name__ == "__main__":
    main()
