# SPDX-License-Identifier: Apache-2.0
"""The C API for ctypes, made from the description that the headers' generator writes: no struct is laid out by hand."""

import ctypes
import json

SCALARS = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "double": ctypes.c_double,
    "char": ctypes.c_char,
    "rcap_status": ctypes.c_int32,
    "void": None,
    "const char*": ctypes.c_char_p,
}


class Api:
    def __init__(self, library, description):
        self.library = ctypes.CDLL(str(library))
        with open(description, encoding="utf-8") as file:
            described = json.load(file)
        self.structs = {made["name"]: self._struct(made) for made in described["structs"]}
        for name in self.structs:
            getattr(self.library, name + "_init").argtypes = [ctypes.c_void_p, ctypes.c_int64]
        for function in described["functions"]:
            pointer = getattr(self.library, function["name"], None)
            if pointer is None:
                raise SystemExit(f"peers: {library} has no {function['name']}")
            pointer.restype = SCALARS.get(function["returns"], ctypes.c_void_p)
            pointer.argtypes = [SCALARS.get(parameter["type"], ctypes.c_void_p) for parameter in function["parameters"]]

    @staticmethod
    def _struct(described):
        fields = []
        for field in described["fields"]:
            kind = SCALARS[field["type"]]
            fields.append((field["name"], kind * field["count"] if "count" in field else kind))
        made = type(described["name"], (ctypes.Structure,), {"_fields_": fields})
        for field in described["fields"]:
            if getattr(made, field["name"]).offset != field["offset"]:
                raise SystemExit(f"peers: {described['name']}.{field['name']} is not at {field['offset']}")
        return made

    def make(self, name):
        """A struct as its init function leaves it."""
        value = self.structs[name]()
        getattr(self.library, name + "_init")(ctypes.addressof(value), ctypes.sizeof(value))
        return value
