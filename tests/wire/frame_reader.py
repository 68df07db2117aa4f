# SPDX-License-Identifier: Apache-2.0
"""Reads frames by capi/docs/frame.md alone. For tests: it refuses whatever is wrong with an exception."""

import struct

import numpy as np

from reference import xxh3_64, zstd_decompress

MAGIC = b"\x89RCAP\r\n\x1a"
# Numbers of dtypes, as numpy has them; bfloat16 is kept as its bits.
DTYPES = {1: "<u1", 2: "<u2", 4: "<i4", 6: "<f2", 7: "<u2", 8: "<f4"}
ROW_RUNS, CELL_BITS, VERSION_SPANS, IDS, WEIGHTS = 1, 2, 3, 4, 5


def expect(condition, what):
    if not condition:
        raise ValueError(what)


class Frame:
    def __init__(self, data):
        expect(data[:8] == MAGIC, "magic")
        version, order = struct.unpack_from("<II", data, 8)
        expect(order == 0x01020304, "byte order")
        expect(version == 1, "version")
        (self.frame_bytes, header_bytes, self.start, self.rows) = struct.unpack_from("<4q", data, 16)
        (self.num_experts, self.top_k, layers, parts, self.ids_dtype, self.weights_dtype, self.weights_kind, reserved) = struct.unpack_from(
            "<8i", data, 48
        )
        expect(reserved == 0, "reserved")
        expect(header_bytes == 80 + 8 * layers + 32 * parts + 8, "header bytes")
        expect(len(data) >= self.frame_bytes, "truncated")
        (checksum,) = struct.unpack_from("<Q", data, header_bytes - 8)
        expect(checksum == xxh3_64(data[: header_bytes - 8]), "checksum of the header")
        table = np.frombuffer(data, "<i4", 2 * layers, 80).reshape(layers, 2)
        self.layer_ids, self.layer_flags = table[:, 0], table[:, 1]
        content = {}
        at = header_bytes
        for i in range(parts):
            kind, coding, stored, raw, checksum = struct.unpack_from("<IIqqQ", data, 80 + 8 * layers + 32 * i)
            part = data[at : at + stored]
            expect(len(part) == stored, "a part's bytes")
            expect(checksum == xxh3_64(part), "checksum of part %d" % kind)
            expect(kind not in content and kind > max(content, default=0), "order of parts")
            content[kind] = zstd_decompress(part, raw) if coding == 1 else part
            expect(coding in (0, 1) and len(content[kind]) == raw and raw <= 256 * max(stored, 1), "coding")
            padded = -(-stored // 8) * 8
            expect(not any(data[at + stored : at + padded]), "bytes between parts")
            at += padded
        expect(at == self.frame_bytes, "end of the frame")
        shape = (self.rows, layers, self.top_k)
        runs = np.frombuffer(content[ROW_RUNS], "<i8")
        valid = (np.arange(len(runs)) + 1) % 2
        self.row_valid = np.repeat(valid, runs).astype(bool)
        expect(len(self.row_valid) == self.rows, "runs of rows")
        self.has_cells = CELL_BITS in content
        self.cell_valid = np.repeat(self.row_valid[:, None], layers, axis=1)
        if self.has_cells:
            bits = np.unpackbits(np.frombuffer(content[CELL_BITS], np.uint8), bitorder="little")
            self.cell_valid = bits[: self.rows * layers].reshape(self.rows, layers).astype(bool)
        spans = np.frombuffer(content[VERSION_SPANS], "<i8").reshape(-1, 2)
        self.span_starts, self.span_versions = spans[:, 0], spans[:, 1]
        self.ids = np.frombuffer(content[IDS], DTYPES[self.ids_dtype]).reshape(shape)
        expect(np.all(self.ids[self.cell_valid] < self.num_experts), "ids")
        self.weights = None
        if self.weights_dtype != 0:
            self.weights = np.frombuffer(content[WEIGHTS], DTYPES[self.weights_dtype]).reshape(shape)


def read_file(data):
    """All frames of a file."""
    frames = []
    while data:
        frames.append(Frame(data))
        data = data[frames[-1].frame_bytes :]
    return frames
