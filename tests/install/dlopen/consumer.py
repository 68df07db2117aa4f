#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README's sample in a runtime that only loads the library: ctypes, and the description of the API for the places of fields.

  consumer.py LIBRARY API_JSON
"""

import ctypes
import json
import struct
import sys

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
with open(sys.argv[2], encoding="utf-8") as file:
    api = json.load(file)
structs = {item["name"]: item for item in api["structs"]}
FORMATS = {"int32_t": "<i", "int64_t": "<q"}


class Struct:
    """A struct of the API as bytes, with its defaults."""

    def __init__(self, name, **fields):
        self.description = structs[name]
        self.bytes = ctypes.create_string_buffer(self.description["size"])
        init = getattr(library, self.description["init"])
        init.argtypes, init.restype = [ctypes.c_void_p, ctypes.c_int64], None
        init(self.bytes, len(self.bytes))
        for field, value in fields.items():
            place = next(item for item in self.description["fields"] if item["name"] == field)
            struct.pack_into(FORMATS[place["type"]], self.bytes, place["offset"], value)


error = Struct("rcap_error")
functions = {item["name"]: item for item in api["functions"]}
TYPES = {"int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "rcap_status": ctypes.c_int32, "void": None}


def call(name, *arguments):
    """Calls as the description says; a status that is not OK ends the program with the library's text."""
    function = getattr(library, name)
    described = functions[name]
    function.restype = TYPES[described["returns"]]
    function.argtypes = [TYPES.get(p["type"], ctypes.c_void_p) for p in described["parameters"]]
    given = [a.bytes if isinstance(a, Struct) else a for a in arguments]
    status = function(*given)
    if described["returns"] == "rcap_status" and status != 0:
        sys.exit(f"{name}: {status}: {error.bytes.raw[24:].split(bytes(1))[0].decode()}")


def handle(name, *arguments):
    """A call whose last argument but the error receives a handle."""
    made = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(made), error)
    return made


def main():
    layers = (ctypes.c_int32 * 2)(3, 4)
    config = Struct("rcap_capturer_config", num_experts=256, top_k=2, chunked_prefill_size=128, num_slots=1024)
    capturer = handle("rcap_capturer_create", config, layers, 2, None)
    target = handle("rcap_capturer_add_model", capturer, 0, b"target")
    taps = [handle("rcap_model_add_tap", target, layer, None, None, 0) for layer in layers]
    call("rcap_capturer_seal", capturer, error)
    topk = [(ctypes.c_int32 * 6)(17, 4, 255, 0, 9, 30), (ctypes.c_int32 * 6)(1, 2, 3, 4, 5, 6)]
    slots = (ctypes.c_int64 * 3)(40, 41, 7)
    capture = Struct("rcap_capture_layout", columns=2, tokens=3)
    for tap, ids in zip(taps, topk):
        call("rcap_tap_capture", tap, capture, ids, ctypes.sizeof(ids), None, 0, None, 0, None, error)
    output = handle("rcap_capturer_end_forward", capturer, Struct("rcap_forward_layout", tokens=3), slots, 24, None, 0, None, 0, None)
    call("rcap_output_copy_to_host", output, None, error)
    call("rcap_output_wait", output, 1_000_000_000, error)
    call("rcap_output_finalize", output, None, error)
    call("rcap_output_destroy", output)
    record = handle("rcap_capturer_read", capturer, Struct("rcap_read_layout", tokens=4), slots, 24, None, 0)
    data, size = ctypes.c_void_p(), ctypes.c_int64()
    call("rcap_record_ids", record, ctypes.byref(data), ctypes.byref(size), error)
    cells = ctypes.string_at(data, size.value)
    for row in range(3):
        a, b, c, d = cells[row * 4:row * 4 + 4]
        print(f"token {row}: layer 3 -> {a} {b}, layer 4 -> {c} {d}")
    call("rcap_record_destroy", record)
    call("rcap_capturer_destroy", capturer)


main()
