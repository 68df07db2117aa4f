# SPDX-License-Identifier: Apache-2.0
"""Every form of a record, read and written by numpy and Python's own modules as others do."""

from __future__ import annotations

import base64
import csv
import io
import json

import numpy as np
import pytest

import routecap
from routecap import DecodeHints, DType, EncodeOptions, Format, Missing, Record


def make(random: np.random.Generator, num_experts: int, *, rows: int = 6, layers: int = 3, top_k: int = 2, start: int = 0, holes: bool = False) -> Record:
    top_k = min(top_k, num_experts)
    dtype = np.uint8 if num_experts <= 256 else np.uint16 if num_experts <= 65536 else np.int32
    ids = random.integers(0, num_experts, (rows, layers, top_k)).astype(dtype)
    valid = np.array([row % 3 != 1 for row in range(rows)]) if holes else None
    return Record.from_numpy(ids, num_experts=num_experts, layer_ids=list(range(layers)), start=start, valid=valid)


EXPERTS = [1, 8, 128, 129, 256, 257, 65536, 65537]


def hints_of(record: Record, form: Format) -> DecodeHints:
    """What the bytes of a form do not say."""
    info = record.info
    options: dict[str, int] = {"num_experts": info.num_experts}
    if form in (Format.SGLANG, Format.VLLM, Format.NPY, Format.NEMO, Format.LISTS):
        options["start"] = info.start
    if form is Format.SGLANG:
        options |= {"top_k": info.top_k, "num_layers": info.num_layers}
    if form is Format.CSV:
        options |= {"top_k": info.top_k, "num_layers": info.num_layers}
    return DecodeHints(**options)


def test_names_of_the_forms() -> None:
    for form in Format:
        assert Format.of(form.form) is form
    assert [form.form for form in Format] == ["frame", "frame-base64", "sglang", "vllm", "npy", "prime", "nemo", "lists", "csv"]


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("num_experts", EXPERTS)
def test_round_trips(random: np.random.Generator, form: Format, num_experts: int) -> None:
    with make(random, num_experts) as record:
        data = record.encode(form)
        hints = None if form in (Format.FRAME, Format.FRAME_BASE64) else hints_of(record, form)
        with Record.decode(form, data, hints) as again:
            np.testing.assert_array_equal(again.ids, record.ids)
            assert again == record
        if form is not Format.SGLANG:
            assert routecap.detect(data) is form
        assert record.encode(form.form) == data


def test_holes_travel_where_the_form_can_say_so(random: np.random.Generator) -> None:
    with make(random, 256, start=7, holes=True) as record:
        for form in (Format.FRAME, Format.FRAME_BASE64, Format.NEMO, Format.LISTS, Format.CSV):
            hints = None if form in (Format.FRAME, Format.FRAME_BASE64) else hints_of(record, form)
            options = EncodeOptions(missing=Missing.MINUS_ONE) if form is Format.LISTS else None
            with Record.decode(form, record.encode(form, options), hints) as again:
                np.testing.assert_array_equal(again.valid, record.valid)
                np.testing.assert_array_equal(again.to_numpy(), record.to_numpy())
        for form in (Format.SGLANG, Format.VLLM, Format.NPY, Format.PRIME):
            with pytest.raises(routecap.OutOfRangeError, match="row 1|position 8|row 8"):
                record.encode(form)
        filled = record.encode(Format.NPY, EncodeOptions(missing=Missing.FILL, fill_id=3))
        array = np.load(io.BytesIO(filled))
        np.testing.assert_array_equal(array[~record.valid], np.tile([3, 4], (2, 3, 1)))
        minus = np.load(io.BytesIO(record.encode(Format.NPY, EncodeOptions(dtype=DType.INT32, missing=Missing.MINUS_ONE))))
        np.testing.assert_array_equal(minus, record.to_numpy())


def test_npy_is_numpys(random: np.random.Generator) -> None:
    """Written here and loaded by numpy; written by numpy and read here."""
    dtypes = {DType.UINT8: "u1", DType.UINT16: "<u2", DType.INT16: "<i2", DType.INT32: "<i4", DType.INT64: "<i8"}
    with make(random, 200, start=3) as record:
        for dtype, name in dtypes.items():
            array = np.load(io.BytesIO(record.encode(Format.NPY, EncodeOptions(dtype=dtype))))
            assert array.dtype == np.dtype(name) and array.flags.c_contiguous
            np.testing.assert_array_equal(array, record.ids)
            file = io.BytesIO()
            np.save(file, record.ids.astype(name))
            with Record.decode(Format.NPY, file.getvalue(), DecodeHints(num_experts=200, start=3)) as again:
                assert again == record


def test_a_payload_of_vllm(random: np.random.Generator) -> None:
    """base64 of what np.save writes, as its server answers."""
    for num_experts, dtype in ((64, np.uint8), (512, np.uint16)):
        ids = random.integers(0, num_experts, (17, 4, 8)).astype(dtype)
        file = io.BytesIO()
        np.save(file, ids)
        payload = base64.b64encode(file.getvalue())
        for given in (payload, payload.decode()):
            with Record.decode("vllm", given, DecodeHints(num_experts=num_experts, start=5)) as record:
                np.testing.assert_array_equal(record.ids, ids)
                assert record.start == 5
                back = np.load(io.BytesIO(base64.b64decode(record.encode("vllm"))))
                np.testing.assert_array_equal(back, ids)
                assert back.dtype == dtype


def test_a_payload_of_sglang(random: np.random.Generator) -> None:
    """base64 of a flat little-endian int32 array without a shape, as its server answers."""
    ids = random.integers(0, 256, (9, 6, 8)).astype("<i4")
    payload = base64.b64encode(ids.tobytes())
    hints = DecodeHints(num_experts=256, top_k=8, num_layers=6, start=0)
    with Record.decode(Format.SGLANG, payload, hints) as record:
        np.testing.assert_array_equal(record.ids, ids)
        assert record.encode(Format.SGLANG) == payload
        narrow = base64.b64decode(record.encode(Format.SGLANG, EncodeOptions(dtype=DType.UINT8)))
        np.testing.assert_array_equal(np.frombuffer(narrow, np.uint8).reshape(9, 6, 8), ids)
    captured = [1, 3, 4, 5, 8, 9]
    with Record.decode(Format.SGLANG, payload, DecodeHints(num_experts=256, top_k=8, layer_ids=captured, start=40, rows=9)) as record:
        assert record.layer_ids.tolist() == captured and record.start == 40
    for hint in ("num_experts", "top_k", "num_layers"):
        given = {"num_experts": 256, "top_k": 8, "num_layers": 6, "start": 0}
        del given[hint]
        with pytest.raises(routecap.InvalidArgumentError, match=hint):
            Record.decode(Format.SGLANG, payload, DecodeHints(**given))
    with pytest.raises(routecap.RoutecapError, match="rows"):
        Record.decode(Format.SGLANG, payload, DecodeHints(num_experts=256, top_k=8, num_layers=6, start=0, rows=10))


def test_prime_nemo_and_lists_by_hand(random: np.random.Generator) -> None:
    with make(random, 200, start=4) as record:
        prime = json.loads(record.encode(Format.PRIME))
        assert (prime["shape"], prime["start"], prime["dtype"]) == ([6, 3, 2], 4, "uint8")
        np.testing.assert_array_equal(np.frombuffer(base64.b64decode(prime["data"]), np.uint8).reshape(6, 3, 2), record.ids)
        nemo = record.encode(Format.NEMO).decode()
        magic, dtype, shape, data = nemo.split(":")
        assert (magic, dtype, shape) == ("nrlre1", "int16", "6x3x2")
        np.testing.assert_array_equal(np.frombuffer(base64.b64decode(data), "<i2").reshape(6, 3, 2), record.ids)
        lists = json.loads(record.encode(Format.LISTS))
        np.testing.assert_array_equal(np.array(lists), record.ids)


def test_csv_by_hand(random: np.random.Generator) -> None:
    with make(random, 64, start=2) as record:
        text = record.encode(Format.CSV, EncodeOptions(turn=3, decode_start=5)).decode()
        lines = list(csv.reader(io.StringIO(text)))
        assert len(lines) >= 6 * 3
        with Record.decode(Format.CSV, text, DecodeHints(num_experts=64, top_k=2, num_layers=3, turn=3)) as again:
            np.testing.assert_array_equal(again.ids, record.ids)
        with pytest.raises(routecap.RoutecapError):
            Record.decode(Format.CSV, text, DecodeHints(num_experts=64, top_k=2, num_layers=3, turn=4))


def test_compressed_frames(random: np.random.Generator) -> None:
    ids = np.repeat(random.integers(0, 64, (1, 8, 4)).astype(np.uint8), 500, axis=0)
    with Record.from_numpy(ids, num_experts=64, layer_ids=range(8)) as record:
        small = record.encode(Format.FRAME, EncodeOptions(zstd_level=19))
        assert len(small) < len(bytes(record)) / 5
        assert Record.decode(Format.FRAME, small) == record
        assert base64.b64decode(record.encode(Format.FRAME_BASE64)) == bytes(record)


def test_bytes_of_every_kind_are_read(random: np.random.Generator) -> None:
    with make(random, 8) as record:
        frame = bytes(record)
        for given in (frame, bytearray(frame), memoryview(frame), np.frombuffer(frame, np.uint8)):
            assert Record.decode(Format.FRAME, given) == record
        with pytest.raises(TypeError, match="data: INT32"):
            Record.decode(Format.FRAME, np.frombuffer(frame[: len(frame) // 4 * 4], np.int32))
        with pytest.raises(TypeError, match="data"):
            Record.decode(Format.FRAME, 7)


def test_every_flipped_bit_of_a_frame_is_found(random: np.random.Generator) -> None:
    with make(random, 300, rows=2, holes=True) as record:
        frame = bytearray(bytes(record))
        for index in range(len(frame)):
            frame[index] ^= 1 << (index % 8)
            with pytest.raises(routecap.RoutecapError):
                Record.decode(Format.FRAME, frame)
            frame[index] ^= 1 << (index % 8)
        assert Record.decode(Format.FRAME, frame) == record
