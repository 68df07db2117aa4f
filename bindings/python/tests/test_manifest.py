# SPDX-License-Identifier: Apache-2.0
"""The package against the C API's own description: nothing is forgotten, and numbers, sizes and offsets agree."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import runpy
import struct
from pathlib import Path
from typing import Any

import pytest

import routecap
from routecap import _capturer, _errors, _tap, trainer
from routecap import _native as native
from routecap._native import ffi
from routecap.trainer import megatron, nemo_rl, prime_rl, slime, verl

PACKAGE = Path(routecap.__file__).parent
SOURCES = {str(path): path.read_text() for path in PACKAGE.rglob("*.py") if path.name not in ("_declarations.py", "_enums.py", "_structs.py")}

# Functions of the C API that the package does not call, and why.
NOT_BOUND = {
    "rcap_status_name": "the names are those of Code; a test below compares",
    "rcap_wire_format_name": "the names are generated into Format.form; a test below compares",
}


@pytest.fixture
def api(project: Path) -> dict[str, Any]:
    read = json.loads((project / "capi/abi/api.json").read_text())
    assert len(read["functions"]) >= 63 and len(read["structs"]) >= 21 and len(read["enums"]) >= 20
    return read


def test_every_function_is_bound(api: dict[str, Any]) -> None:
    called = set()
    for text in SOURCES.values():
        called |= set(re.findall(r"\bfunctions(?:\(\))?\.(\w+)", text))
        called |= set(re.findall(r'_borrow\("(\w+)"', text)) | set(re.findall(r'"(record_ids|record_weights)"', text))
        called |= set(re.findall(r"\bfunctions\.(\w+)\b", text))
    for function in api["functions"]:
        name = function["name"].removeprefix("rcap_")
        assert (name in called) != (function["name"] in NOT_BOUND), function["name"]


def test_the_test_above_can_fail(api: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    api["functions"].append({"name": "rcap_record_transmogrify"})
    with pytest.raises(AssertionError, match="rcap_record_transmogrify"):
        test_every_function_is_bound(api)


def test_the_table_has_every_function_in_its_slot(api: dict[str, Any]) -> None:
    slots = {function["slot"]: function["name"] for function in api["functions"]}
    slots |= {struct["init_slot"]: struct["init"] for struct in api["structs"]}
    fields = [name for name, field in ffi.typeof("rcap_api").fields if field.type.kind == "function" or field.type.kind == "pointer"]
    assert fields == [slots[slot].removeprefix("rcap_") for slot in sorted(slots)]


def test_parameters_are_those_of_the_c_api(api: dict[str, Any]) -> None:
    """Memory of the caller's and handles are numbers, everything else is as it is in C."""
    handles = {handle["name"] for handle in api["handles"]}
    kinds = {name: field.type for name, field in ffi.typeof("rcap_api").fields}
    for function in api["functions"]:
        kind = kinds[function["name"].removeprefix("rcap_")]
        want = []
        for parameter in function["parameters"]:
            element = parameter["type"].replace("const ", "").rstrip("*")
            stars = parameter["type"].count("*")
            if stars == 2:
                want.append("intptr_t *")
            elif stars == 1 and parameter["type"] != "const char*" and (element in handles or element == "void" or "length" in parameter):
                want.append("intptr_t")
            else:
                want.append(element + " *" if stars else element)
        got = [argument.cname for argument in kind.args]
        assert [name.replace("char const", "char") for name in got] == want, function["name"]


def test_structs_lie_as_in_the_c_api(api: dict[str, Any]) -> None:
    for described in api["structs"]:
        assert ffi.sizeof(described["name"]) == described["size"], described["name"]
        assert [name for name, _ in ffi.typeof(described["name"]).fields] == [field["name"] for field in described["fields"]]
        for field in described["fields"]:
            place = (ffi.offsetof(described["name"], field["name"]), ffi.sizeof(field_type(described, field)))
            assert place == (field["offset"], field["size"]), (described["name"], field["name"])


def field_type(described: dict[str, Any], field: dict[str, Any]) -> Any:
    return dict(ffi.typeof(described["name"]).fields)[field["name"]].type


@pytest.mark.parametrize(
    ("name", "filled", "codes"),
    [("rcap_capture_layout", _tap.LAYOUT_FIELDS, "iiiiqqqq"), ("rcap_forward_layout", _capturer.LAYOUT_FIELDS, _capturer.LAYOUT_CODES)],
)
def test_layouts_that_are_filled_in_one_go(api: dict[str, Any], name: str, filled: tuple[str, ...], codes: str) -> None:
    described = next(struct_ for struct_ in api["structs"] if struct_["name"] == name)
    fields = [field for field in described["fields"] if field["name"] != "struct_size"]
    assert tuple(field["name"] for field in fields) == filled and len(filled) == len(codes)
    offset = 8
    for field, code in zip(fields, codes):
        assert (field["offset"], field["size"]) == (offset, struct.calcsize("<" + code))
        offset += field["size"]
    assert offset == described["size"]


def names_of(generator: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, str]]:
    """What the generator calls the enums."""
    monkeypatch.syspath_prepend(str(generator.parent))
    names: dict[str, tuple[str, str]] = runpy.run_path(str(generator))["ENUMS"]
    return names


def test_enum_values_are_those_of_the_c_api(api: dict[str, Any], project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = names_of(project / "bindings/swig/python_types.py", monkeypatch)
    for described in api["enums"]:
        python, prefix = names[described["name"]]
        kind = getattr(routecap, python)
        assert {prefix + member.name: int(member) for member in kind} == {value["name"]: value["value"] for value in described["values"]}
        assert all(value["name"].startswith(prefix) for value in described["values"])


def test_names_are_the_librarys() -> None:
    functions = native.functions()
    for code in routecap.Code:
        assert ffi.string(functions.status_name(code)).decode() == "RCAP_STATUS_" + code.name
    for form in routecap.Format:
        assert ffi.string(functions.wire_format_name(form)).decode() == form.form


def test_every_status_has_an_exception(api: dict[str, Any]) -> None:
    statuses = next(enum for enum in api["enums"] if enum["name"] == "rcap_status")
    assert {value["value"] for value in statuses["values"] if value["value"] < 0} == set(_errors._CLASSES)


def test_what_the_library_fills_is_told_whole(api: dict[str, Any]) -> None:
    filled = {"rcap_capturer_plan": routecap.Plan, "rcap_capturer_stats": routecap.Stats, "rcap_summary": routecap.Summary,
              "rcap_slot_info": routecap.SlotInfo, "rcap_read_info": routecap.ReadInfo, "rcap_record_info": routecap.RecordInfo,
              "rcap_compare_report": routecap.CompareReport, "rcap_build_info": routecap.BuildInfo, "rcap_backend_info": routecap.BackendInfo}
    for described in api["structs"]:
        if described["name"] in filled:
            want = [field["name"] for field in described["fields"] if field["name"] != "struct_size" and not field["name"].startswith("reserved") or field["name"] == "reserved_slot"]
            assert [field.name for field in dataclasses.fields(filled[described["name"]])] == want


def test_every_field_that_a_caller_fills_is_set(api: dict[str, Any]) -> None:
    """A field that is appended in C must be reachable, not only laid out."""
    keywords: dict[str, set[str]] = {}
    assigned: set[str] = set(_tap.LAYOUT_FIELDS) | set(_capturer.LAYOUT_FIELDS)
    for text in SOURCES.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant) and str(node.args[0].value).startswith("rcap_"):
                keywords.setdefault(node.args[0].value, set()).update(keyword.arg for keyword in node.keywords if keyword.arg)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                assigned.add(node.attr)
            elif isinstance(node, ast.Constant) and node.value in ("start", "rows", "turn"):
                assigned.add(node.value)
    callers = [struct_ for struct_ in api["structs"] if struct_["name"].endswith(("_config", "_options", "_layout", "_hints"))]
    assert len(callers) >= 10
    for described in callers:
        for field in described["fields"]:
            name = field["name"]
            if name == "struct_size" or re.fullmatch(r"reserved\d*", name):
                continue
            assert name in keywords.get(described["name"], set()) | assigned, (described["name"], name)


def test_everything_public_is_documented() -> None:
    undocumented = []
    public = [(routecap, name) for name in routecap.__all__] + [(trainer, name) for name in trainer.__all__]
    for adapter in (megatron, nemo_rl, prime_rl, slime, verl):
        public += [(adapter, name) for name, value in vars(adapter).items() if getattr(value, "__module__", None) == adapter.__name__ and name[0] != "_"]
    assert len(public) > 80
    for module, name in public:
        value = getattr(module, name)
        if isinstance(value, type) and value.__module__.startswith("routecap"):
            undocumented += [name] if not value.__doc__ else []
            for attribute, member in vars(value).items():
                if not attribute.startswith("_") and (callable(member) or isinstance(member, (property, classmethod, staticmethod))):
                    doc = getattr(member, "__doc__", None) or getattr(getattr(member, "__func__", None), "__doc__", None)
                    undocumented += [f"{name}.{attribute}"] if not doc else []
        elif callable(value) and value.__module__.startswith("routecap"):
            undocumented += [name] if not value.__doc__ else []
    assert undocumented == []
