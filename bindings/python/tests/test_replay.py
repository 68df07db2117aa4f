# SPDX-License-Identifier: Apache-2.0
"""The reference engine's schedule, which the core's tests write (tests/replay/README.md): the same calls must give the same answers here."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import routecap
from routecap import Acceptance, Array, DType, Role, RoutecapError, TapFlags

DTYPES = {"uint8": np.uint8, "uint16": np.uint16, "int16": np.int16, "int32": np.int32, "int64": np.int64}


@dataclass
class Call:
    """One line of the script."""

    line: int
    verb: str
    given: dict[str, str]
    wanted: dict[str, str]
    data: dict[str, bytes]

    def number(self, name: str) -> int:
        return int(self.given.get(name, "0"))

    def numbers(self, name: str) -> list[int]:
        text = self.given.get(name, "")
        return [int(number) for number in text.split(",")] if text else []

    def list(self, name: str) -> Array | None:
        """A list, or None where the word is absent."""
        if name not in self.given:
            return None
        dtype, memory, text = self.given[name].split(":")
        numbers = [int(number) for number in text.split(",")] if text else []
        return array_of(numbers, dtype, memory)


def array_of(numbers: Any, dtype: str, memory: str) -> Array:
    array = Array.of(np.asarray(numbers, np.int64).astype(DTYPES[dtype]))
    return array.on_device() if memory == "device" else array


@dataclass
class Variant:
    experts: int
    factor: int
    dtypes: list[str]


@dataclass
class Script:
    variants: list[Variant] = field(default_factory=list)
    runs: list[list[Call]] = field(default_factory=list)


@pytest.fixture
def script(project: Path) -> Script:
    read = Script()
    data: dict[str, bytes] = {}
    for number, text in enumerate((project / "tests/replay/reference_engine.script").read_text().splitlines(), 1):
        words = text.split()
        if not words or words[0].startswith("#"):
            continue
        call = Call(number, words[0], {}, {}, data)
        into = call.given
        for word in words[1:]:
            if word == "->":
                into = call.wanted
                continue
            name, _, value = word.partition("=")
            into[name] = value
        if call.verb == "script":
            assert call.given == {"version": "1"}
        elif call.verb == "variant":
            read.variants.append(Variant(call.number("experts"), call.number("factor"), call.given["ids"].split(",")))
        elif call.verb == "run":
            data = {}
            read.runs.append([])
        elif call.verb == "data":
            data["@" + call.given["id"]] = bytes.fromhex(call.given["bytes"])
        else:
            read.runs[-1].append(call)
    assert (len(read.variants), len(read.runs)) == (3, 2)
    return read


class Replay:
    def __init__(self, variant: Variant, number: int) -> None:
        self.variant = variant
        self.number = number
        self.capturers: dict[str, routecap.Capturer] = {}
        self.models: dict[str, routecap.Model] = {}
        self.taps: dict[str, routecap.Tap] = {}
        self.columns: dict[str, int] = {}
        self.outputs: dict[str, routecap.Output] = {}
        self.reads = self.frames = 0
        self.faults: list[str] = []

    def all(self, run: list[Call]) -> None:
        for call in run:
            try:
                getattr(self, call.verb)(call)
                status, detail = "OK", 0
            except RoutecapError as error:
                status, detail = error.code.name, error.detail
            self.compare(call, "status", status, call.wanted.get("status", "OK"))
            if "detail" in call.wanted:
                self.compare(call, "detail", detail, call.wanted["detail"])

    def compare(self, call: Call, what: str, is_: object, want: object) -> None:
        if str(is_) != str(want):
            self.faults.append(f"line {call.line}: {call.verb}: {what} {want}, is {is_}")

    def fields(self, call: Call, answer: object) -> None:
        for name, want in call.wanted.items():
            if name != "status":
                value = getattr(answer, name)
                self.compare(call, name, int(value), want)

    def capturer_of(self, call: Call) -> routecap.Capturer:
        return self.capturers[call.given["capturer"]]

    def output_of(self, call: Call) -> routecap.Output:
        return self.outputs[call.given["output"]]

    def capturer_create(self, call: Call) -> None:
        numbers = {
            name: int(value) for name, value in call.given.items() if name not in ("capturer", "layers", "weights", "fused_shared_experts")
        }
        config = routecap.Config(
            num_experts=self.variant.experts,
            layer_ids=call.numbers("layers"),
            num_fused_shared_experts=call.number("fused_shared_experts"),
            weights_dtype=DType[call.given["weights"].upper()],
            **numbers,
        )
        self.capturers[call.given["capturer"]] = routecap.Capturer(config)

    def add_model(self, call: Call) -> None:
        model = self.capturer_of(call).add_model(Role[call.given["role"].upper()], call.given["name"])
        self.models[call.given["model"]] = model

    def add_tap(self, call: Call) -> None:
        tap = self.models[call.given["model"]].add_tap(call.number("layer"), flags=TapFlags(call.number("flags")))
        self.taps[call.given["tap"]] = tap
        self.columns[call.given["tap"]] = call.number("column")

    def seal(self, call: Call) -> None:
        self.capturer_of(call).seal()

    def tap_capture(self, call: Call) -> None:
        column = self.columns[call.given["tap"]]
        shape, memory = (call.number("tokens"), call.number("columns")), call.given["memory"]
        ids = np.frombuffer(call.data[call.given["ids"]], np.uint8).astype(np.int64) * self.variant.factor
        given = array_of(ids.reshape(shape), self.variant.dtypes[column], memory)
        weights = rows = None
        if "weights" in call.given:
            bits = np.frombuffer(call.data[call.given["weights"]], "<u2").reshape(shape)
            wide = (bits.astype(np.uint32) << 16).view(np.float32)
            weights = Array.of(wide) if column % 2 else Array.of(bits, dtype=DType.BFLOAT16)
            weights = weights.on_device() if memory == "device" else weights
        if "row_ids" in call.given:
            rows = array_of(call.numbers("row_ids"), "int32", memory)
        self.taps[call.given["tap"]].capture(given, weights, row_ids=rows, first_row=call.number("first_row"))

    def discard_forward(self, call: Call) -> None:
        self.capturer_of(call).discard_forward()

    def end_forward(self, call: Call) -> None:
        output = self.capturer_of(call).end_forward(
            call.number("tokens"),
            call.list("slots"),
            first_row=call.number("first_row"),
            acceptance=Acceptance[call.given["acceptance"].upper()],
            rows=call.list("rows"),
            groups=call.number("groups"),
            group_width=call.number("group_width"),
            slots_group_stride=call.number("slots_group_stride"),
            rows_group_stride=call.number("rows_group_stride"),
        )
        self.compare(call, "sequence", output.sequence, call.wanted["sequence"])
        self.outputs[call.given["output"]] = output

    def accept(self, call: Call) -> None:
        self.output_of(call).accept(call.list("rows"), call.list("slots"))

    def copy_to_host(self, call: Call) -> None:
        self.output_of(call).copy_to_host()

    def wait(self, call: Call) -> None:
        self.output_of(call).wait(10.0)

    def finalize(self, call: Call) -> None:
        self.fields(call, self.output_of(call).finalize())

    def output_destroy(self, call: Call) -> None:
        self.output_of(call).close()

    def release_slots(self, call: Call) -> None:
        self.capturer_of(call).release_slots(call.list("slots"))

    def copy_slots(self, call: Call) -> None:
        self.capturer_of(call).copy_slots(call.list("from"), call.list("to"))

    def stats(self, call: Call) -> None:
        self.fields(call, self.capturer_of(call).stats())

    def reading(self, call: Call) -> tuple[tuple[object, int], dict[str, Any]]:
        assert call.number("flags") in (0, routecap.ReadFlags.INCLUDE_LAST)
        return (call.list("slots"), call.number("tokens")), {"include_last": bool(call.number("flags")), "after_sequence": call.number("after")}

    def read(self, call: Call) -> None:
        arguments, options = self.reading(call)
        with self.capturer_of(call).read(*arguments, **options) as record:
            self.frame(call, bytes(record))
            assert record.num_experts == self.variant.experts
            validity = (record.row_validity.tobytes(), record.cell_validity.tobytes())
            self.rows(call, record.start, record.rows, record.info.rows_valid, validity, record.ids, record.weights)

    def read_into(self, call: Call) -> None:
        arguments, options = self.reading(call)
        capturer = self.capturer_of(call)
        needs = capturer.read_into(*arguments, **options)
        shape = (needs.rows, needs.num_layers, needs.top_k)
        ids = np.zeros(shape, {DType.UINT8: np.uint8, DType.UINT16: np.uint16, DType.INT32: np.int32}[needs.ids_dtype])
        bits = np.zeros(shape if needs.weights_bytes else (0,), np.uint16)
        weights = Array.of(bits, dtype=DType.BFLOAT16) if needs.weights_bytes else None
        validity = np.zeros(needs.row_validity_bytes + needs.cell_validity_bytes, np.uint8)
        info = capturer.read_into(*arguments, ids=ids, weights=weights, validity=validity, **options)
        rows, layers, top_k = info.rows, info.num_layers, info.top_k
        ids = ids.reshape(-1)[: rows * layers * top_k].reshape(rows, layers, top_k)
        bits = bits.reshape(-1)[: info.weights_bytes // 2]
        both = (validity[: info.row_validity_bytes].tobytes(), validity[info.row_validity_bytes :][: info.cell_validity_bytes].tobytes())
        self.rows(call, info.start, rows, info.rows_valid, both, ids, bits)

    def rows(self, call: Call, start: int, rows: int, valid: int, validity: tuple[bytes, bytes], ids: np.ndarray, weights: np.ndarray) -> None:
        self.reads += 1
        for name, value in (("start", start), ("rows", rows), ("valid", valid)):
            self.compare(call, name, value, call.wanted[name])
        for name, bits in zip(("row_validity", "cell_validity"), validity):
            self.compare(call, name, bits.hex(), call.wanted[name])
        self.compare(call, "weights", weights.tobytes().hex(), call.wanted.get("weights", ""))
        cells = np.unpackbits(np.frombuffer(bytes.fromhex(call.wanted["cell_validity"]), np.uint8), bitorder="little").astype(bool)
        want = np.frombuffer(bytes.fromhex(call.wanted["ids"]), np.uint8).astype(np.int64).reshape(-1, ids.shape[-1]) * self.variant.factor
        given = ids.reshape(-1, ids.shape[-1])
        ones = np.iinfo(ids.dtype).max if ids.dtype.kind == "u" else -1
        whole = np.where(cells[: len(want), None], want, ones)
        if not np.array_equal(given.astype(np.int64), whole):
            self.faults.append(f"line {call.line}: {call.verb}: ids {call.wanted['ids']}, is {given.tolist()}")

    def encode(self, call: Call) -> None:
        arguments, options = self.reading(call)
        self.frame(call, self.capturer_of(call).encode(*arguments, routecap.Format.FRAME, **options))

    def frame(self, call: Call, frame: bytes) -> None:
        self.frames += 1
        self.compare(call, "frame", f"{zlib.crc32(frame):08x}", call.wanted["frames"].split(",")[self.number])

    def capturer_destroy(self, call: Call) -> None:
        self.capturer_of(call).close()

    def close(self) -> None:
        for closed in (*self.outputs.values(), *self.capturers.values()):
            closed.close()


def replayed(script: Script) -> Iterator[Replay]:
    for number, variant in enumerate(script.variants):
        for run in script.runs:
            replay = Replay(variant, number)
            replay.all(run)
            yield replay


def test_the_reference_engine_gets_the_same_answers(script: Script) -> None:
    count = 0
    for replay in replayed(script):
        assert replay.faults == []
        assert replay.reads >= 8 and replay.frames >= 8
        count += 1
    assert count == 6


@pytest.mark.parametrize(
    ("verb", "word", "value", "want"),
    [
        ("end_forward", "sequence", "77", "sequence 77"),
        ("finalize", "rows_stored", "1000", "rows_stored 1000"),
        ("stats", "suppressed", "1000", "suppressed 1000"),
        ("read", "frames", "00000000,00000000,00000000", "frame 00000000"),
        ("read", "row_validity", "0000", "row_validity 0000"),
        ("read_into", "cell_validity", "00", "cell_validity 00"),
        ("read_into", "ids", "00", "ids 00"),
        ("encode", "status", "BUSY", "status BUSY"),
    ],
)
def test_a_replay_finds_what_differs(script: Script, verb: str, word: str, value: str, want: str) -> None:
    """One that finds nothing must be one that could."""
    run = script.runs[0]
    call = next(call for call in run if call.verb == verb and word in call.wanted)
    if word == "ids":
        call = next(call for call in run if call.verb == verb and len(call.wanted.get("ids", "")) > 2)
        value = "00" * (len(call.wanted["ids"]) // 2)
        want = "ids 00"
    elif word == "cell_validity":
        value = "00" * (len(call.wanted["cell_validity"]) // 2)
    call.wanted[word] = value
    replay = Replay(script.variants[0], 0)
    replay.all(run)
    assert replay.faults and want in replay.faults[0]
    replay.close()
