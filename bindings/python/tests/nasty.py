# SPDX-License-Identifier: Apache-2.0
"""What a careless caller hands over, for arguments of any kind."""

from __future__ import annotations

import array
import decimal
import enum
import fractions
from typing import Any

import numpy as np

import routecap


class Colour(enum.IntEnum):
    RED = 1


class NoIndex:
    def __index__(self) -> int:
        raise ArithmeticError("no index today")


class NoRepr:
    def __repr__(self) -> str:
        raise ArithmeticError("no repr today")


class Lines:
    def __repr__(self) -> str:
        return "one\ntwo\0three " + "x" * 5000


class NoTensor:
    def __dlpack__(self, **options: object) -> object:
        raise KeyError("no tensor today")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class NoCapsule(NoTensor):
    def __dlpack__(self, **options: object) -> object:
        return "no capsule"


class NoDevice(NoTensor):
    def __dlpack_device__(self) -> Any:
        return "nowhere"


class NoStream:
    @property
    def cuda_stream(self) -> int:
        raise KeyError("no stream today")


class NoTruth:
    def __bool__(self) -> bool:
        raise ArithmeticError("neither today")

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("incomparable today")

    __hash__ = None  # type: ignore[assignment]


def released() -> memoryview:
    view = memoryview(bytearray(8))
    view.release()
    return view


def values() -> dict[str, Any]:
    """One of each kind, by what it is called where it is told."""
    holes = np.ma.masked_array(np.array([1, 2, 3], np.int64), mask=[False, True, False])
    return {
        "None": None,
        "True": True,
        "numpy's True": np.bool_(True),
        "text": "x",
        "no text": "",
        "a NUL": "host\0b",
        "a lone surrogate": "\ud800",
        "bytes": b"host",
        "no bytes": b"",
        "1.5": 1.5,
        "2.0": 2.0,
        "NaN": float("nan"),
        "infinity": float("inf"),
        "-infinity": float("-inf"),
        "-1": -1,
        "2**31": 1 << 31,
        "2**63": 1 << 63,
        "2**64": 1 << 64,
        "2**70": 1 << 70,
        "-2**70": -(1 << 70),
        "10**5000": 10**5000,
        "numpy's float": np.float32(1.5),
        "numpy's huge": np.uint64(1 << 63),
        "a decimal": decimal.Decimal("1.5"),
        "a fraction": fractions.Fraction(3, 2),
        "complex": 1j,
        "another's enumeration": Colour.RED,
        "another of ours": routecap.Padding.VALUE,
        "nothing": [],
        "floats": [1.5, 2.0, 3.0],
        "huge ones": [1 << 70, 2, 3],
        "a truth value in a list": [True, 2, 3],
        "None in a list": [None, 2, 3],
        "text in a list": ["a", 2, 3],
        "a list in a list": [[1], [2], [3]],
        "-1 in a list": [-2, 2, 3],
        "an object that has no index in a list": [NoIndex(), 2, 3],
        "a long list": list(range(100)),
        "a set": {1, 2, 3},
        "a mapping": {1: 2},
        "a generator": (number for number in (1, 2, 3)),
        "an object": object(),
        "a class": int,
        "a function": values,
        "no index": NoIndex(),
        "no repr": NoRepr(),
        "lines": Lines(),
        "no truth": NoTruth(),
        "no tensor": NoTensor(),
        "no capsule": NoCapsule(),
        "no device": NoDevice(),
        "no stream": NoStream(),
        "an array of floats": np.ones(3),
        "an array of truth values": np.ones(3, np.bool_),
        "an array of unsigned": np.ones(3, np.uint64),
        "an array of the other byte order": np.ones(3, ">i8"),
        "an array of text": np.array(["a", "b", "c"]),
        "an array of objects": np.array([None, 1, "x"], object),
        "an array of records": np.zeros(3, [("a", "i4")]),
        "an array of four dimensions": np.zeros((2, 2, 2, 2), np.int64),
        "an array of none": np.array(1, np.int64),
        "an array with space": np.arange(6, dtype=np.int64)[::2],
        "an array backwards": np.arange(3, dtype=np.int64)[::-1],
        "an empty array of many columns": np.zeros((0, 1 << 40), np.int64),
        "a masked array": holes,
        "a masked array of floats": holes.astype(np.float32),
        "a masked array of three dimensions": np.ma.masked_array(np.zeros((3, 3, 4), np.uint8), mask=True),
        "an array of 16 bits": array.array("H", [1, 2, 3]),
        "a buffer that was released": released(),
        "a closed record": closed_record(),
    }


def closed_record() -> routecap.Record:
    record = routecap.Record.from_numpy(np.zeros((1, 1, 1), np.uint8), num_experts=4, layer_ids=[0])
    record.close()
    return record
