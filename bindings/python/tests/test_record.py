# SPDX-License-Identifier: Apache-2.0
"""Records against numpy: making, looking at, cutting and joining."""

from __future__ import annotations

import copy
import gc
import io
import pickle

import numpy as np
import pytest

import routecap
from routecap import DType, Fill, Overlap, Record, TapFlags, VersionSpan, WeightsKind

DTYPES = {8: np.uint8, 256: np.uint8, 257: np.uint16, 65536: np.uint16, 70000: np.int32}


def make(random: np.random.Generator, rows: int = 9, *, num_experts: int = 256, start: int = 5, layer_ids: tuple[int, ...] = (1, 4, 6), top_k: int = 3,
         holes: bool = True, weights: type | None = np.float32, flags: tuple[int, ...] | None = None, version: int = 0) -> Record:
    ids = random.integers(0, num_experts, (rows, len(layer_ids), top_k)).astype(DTYPES[num_experts])
    valid = random.random(rows) < 0.7 if holes else np.ones(rows, np.bool_)
    cells = None
    if flags is not None and any(flag & TapFlags.PARTIAL for flag in flags):
        cells = valid[:, None] & ((random.random((rows, len(layer_ids))) < 0.6) | ~(np.array(flags) & 4).astype(bool))
        valid = valid & cells.any(axis=1) if not all(flag & 4 for flag in flags) else valid
    return Record.from_numpy(
        ids,
        num_experts=num_experts,
        layer_ids=list(layer_ids),
        start=start,
        layer_flags=flags,
        weights=None if weights is None else random.random(ids.shape).astype(weights),
        weights_kind=WeightsKind.RENORMALIZED,
        valid=valid,
        cell_valid=cells,
        weight_version=version,
    )


def same(record: Record, ids: np.ndarray, valid: np.ndarray, start: int) -> None:
    """A record against ids with -1 in missing cells, and valid rows."""
    assert record.start == start and record.rows == len(ids)
    np.testing.assert_array_equal(record.to_numpy(dtype=np.int64), ids)
    np.testing.assert_array_equal(record.valid, valid)


@pytest.mark.parametrize("num_experts", DTYPES)
@pytest.mark.parametrize("weights", [None, np.float16, np.float32])
def test_a_record_gives_back_what_it_was_made_of(random: np.random.Generator, num_experts: int, weights: type | None) -> None:
    ids = random.integers(0, num_experts, (7, 2, 3)).astype(DTYPES[num_experts])
    values = None if weights is None else random.random((7, 2, 3)).astype(weights)
    valid = np.array([True, False, True, True, False, True, True])
    with Record.from_numpy(ids, num_experts=num_experts, layer_ids=[3, 9], start=11, weights=values, valid=valid, weight_version=4) as record:
        info = record.info
        assert (info.start, info.rows, info.rows_valid, info.num_layers, info.top_k, info.num_experts) == (11, 7, 5, 2, 3, num_experts)
        assert (len(record), record.start, record.rows, record.num_layers, record.top_k, record.num_experts) == (7, 11, 7, 2, 3, num_experts)
        assert record.ids.dtype == DTYPES[num_experts] and record.ids.shape == (7, 2, 3)
        np.testing.assert_array_equal(record.ids[valid], ids[valid])
        assert (record.ids[~valid].view(np.uint8) == 0xFF).all()
        np.testing.assert_array_equal(record.valid, valid)
        np.testing.assert_array_equal(record.cell_valid, np.repeat(valid[:, None], 2, axis=1))
        assert record.row_validity.tolist() == [0b1101101] and record.cell_validity.size == 0
        assert record.layer_ids.tolist() == [3, 9] and record.layer_flags.tolist() == [0, 0]
        assert record.version_spans == (VersionSpan(11, 4),)
        if weights is None:
            assert record.weights.shape == (7, 2, 0)
        else:
            assert record.weights.dtype == weights
            np.testing.assert_array_equal(record.weights[valid], values[valid])
        np.testing.assert_array_equal(record.to_numpy(dtype=np.int64, missing=-7)[valid], ids[valid])
        assert (record.to_numpy(missing=-7)[~valid] == -7).all()
        assert str(num_experts) in repr(record)


def test_no_rows_and_no_layers() -> None:
    with Record.from_numpy(np.empty((0, 2, 1), np.uint8), num_experts=8, layer_ids=[0, 1]) as record:
        assert record.ids.shape == (0, 2, 1) and record.valid.shape == (0,) and record.cell_valid.shape == (0, 2)
        assert record.version_spans == () and record.to_numpy().shape == (0, 2, 1)
        assert Record.decode("frame", bytes(record)) == record
    with Record.create(np.array([[[3]], [[4]]], np.uint8), num_experts=8, layer_ids=[0], validity=[0b10]) as record:
        assert record.to_numpy().tolist() == [[[-1]], [[4]]]
    with pytest.raises(routecap.OutOfRangeError, match=r"len\(layer_ids\) is 0"):
        Record.from_numpy(np.empty((1, 0, 1), np.uint8), num_experts=8, layer_ids=[])


def test_nothing_is_converted() -> None:
    good = np.zeros((4, 2, 3), np.uint8)
    for ids, text in (
        (good.astype(np.int64), "ids: INT64, and not one of UINT8"),
        (good.astype(np.int32), "ids: INT32, and not one of UINT8"),
        (good[::2], "ids: the array is strided"),
        (good[:, :, ::-1], "ids: the array is strided"),
        (np.asfortranarray(good), "ids: the array is strided"),
        (good[0], "three dimensions"),
        ([[[1]]], "three dimensions"),
    ):
        with pytest.raises(TypeError, match=text):
            Record.from_numpy(ids, num_experts=8, layer_ids=[0, 1])
    for name, value, text in (
        ("weights", good, "weights: UINT8, and not one of"),
        ("weights", np.zeros((4, 2, 2), np.float32), "weights: shape"),
        ("weights", np.zeros((4, 2, 6), np.float32)[:, :, ::2], "weights: the array is strided"),
        ("valid", np.ones(4, np.uint8), "valid: uint8 of shape"),
        ("valid", np.ones(3, np.bool_), "valid: bool of shape"),
    ):
        with pytest.raises(TypeError, match=text):
            Record.from_numpy(good, num_experts=8, layer_ids=[0, 1], **{name: value})
    with pytest.raises(TypeError, match="layer_ids: INT64, and not one of INT32"):
        Record.create(good, num_experts=8, layer_ids=np.array([0, 1]))
    with pytest.raises(TypeError, match="validity: INT64, and not one of UINT8"):
        Record.create(good, num_experts=8, layer_ids=[0, 1], validity=np.array([15]))
    with pytest.raises(TypeError, match="a record is made by"):
        Record()


def test_what_a_record_refuses() -> None:
    ids = np.array([[[1], [9]]], np.uint8)
    for call, kind, text in (
        (lambda: Record.create(ids, num_experts=8, layer_ids=[0, 1]), routecap.OutOfRangeError, "9"),
        (lambda: Record.create(ids, num_experts=16, layer_ids=[0]), routecap.InvalidArgumentError, "layer_ids has 1 layers, the ids have 2"),
        (lambda: Record.create(ids, num_experts=16, layer_ids=[1, 0]), routecap.InvalidArgumentError, "layer_ids"),
        (lambda: Record.create(ids, num_experts=16, layer_ids=[0, 1], validity=[]), routecap.InvalidArgumentError, "bytes of validity: 0"),
        (lambda: Record.create(ids, num_experts=16, layer_ids=[0, 1], validity=[256]), ValueError, r"validity\[0\] is 256, allowed are 0 \.\. 255"),
        (lambda: Record.create(ids, num_experts=16, layer_ids=[0, 1], validity=b""), routecap.InvalidArgumentError, "bytes of validity: 0"),
        (lambda: Record.create(ids, num_experts=16, layer_ids=[0, 1], layer_flags=[]), routecap.InvalidArgumentError, r"len\(layer_flags\) is 0"),
        (lambda: Record.from_numpy(ids, num_experts=16, layer_ids=[0, 1], cell_valid=np.ones((1, 2), np.bool_)), ValueError, "no layer is PARTIAL"),
    ):
        with pytest.raises(kind, match=text):
            call()


def test_partial_layers_have_cells_of_their_own(random: np.random.Generator) -> None:
    ids = random.integers(0, 8, (4, 3, 2)).astype(np.uint8)
    cells = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0], [1, 1, 0]], np.bool_)
    with Record.from_numpy(ids, num_experts=8, layer_ids=[0, 1, 2], layer_flags=[0, TapFlags.PARTIAL, 4], cell_valid=cells) as record:
        np.testing.assert_array_equal(record.valid, [True, True, False, True])
        np.testing.assert_array_equal(record.cell_valid, cells)
        assert record.info.has_cell_validity
        np.testing.assert_array_equal(record.to_numpy(), np.where(cells[:, :, None], ids.astype(int), -1))


def test_to_numpy_refuses_a_dtype_that_is_too_narrow(random: np.random.Generator) -> None:
    with make(random) as record:
        with pytest.raises(routecap.OutOfRangeError, match="the largest id is 255, which int8 does not hold"):
            record.to_numpy(dtype=np.int8)
        with pytest.raises(routecap.OutOfRangeError, match="the number of missing cells is -1, which uint16 does not hold"):
            record.to_numpy(dtype=np.uint16)
        with pytest.raises(TypeError, match="dtype is float32, and not one of integers"):
            record.to_numpy(dtype=np.float32)
    with make(random, holes=False) as whole:
        assert whole.to_numpy(dtype=np.uint16).dtype == np.uint16


def test_slices(random: np.random.Generator) -> None:
    with make(random, 12) as record:
        ids, valid = record.to_numpy(dtype=np.int64), record.valid
        for first in range(13):
            for last in range(first, 13):
                same(record.slice(5 + first, 5 + last), ids[first:last], valid[first:last], 5 + first)
        for cut in (slice(None), slice(2, -3), slice(-4, None), slice(0, 99), slice(7, 3)):
            want = ids[cut]
            same(record[cut], want, valid[cut], 5 + cut.indices(12)[0])
        np.testing.assert_array_equal(record[3:5].weights, record.weights[3:5])
        with pytest.raises(ValueError, match="step 1"):
            record[::2]
        with pytest.raises(TypeError, match="slice of rows"):
            record[3]  # type: ignore[index]
        with pytest.raises(routecap.OutOfRangeError, match="18"):
            record.slice(5, 18)


def test_truncate(random: np.random.Generator) -> None:
    """R4: a request cut to n tokens keeps its rows below n - 1."""
    with make(random, 10, start=0) as record:
        ids, valid = record.to_numpy(dtype=np.int64), record.valid
        for tokens in range(14):
            same(record.truncate(tokens), ids[: max(0, tokens - 1)], valid[: max(0, tokens - 1)], 0)
            same(record.truncate(tokens, include_last=True), ids[:tokens], valid[:tokens], 0)


def test_append_and_overlap(random: np.random.Generator) -> None:
    first, second = make(random, 6, start=0), make(random, 5, start=4, version=2)
    a, b = first.to_numpy(dtype=np.int64), second.to_numpy(dtype=np.int64)
    same(first.append(second, Overlap.KEEP_OLD), np.concatenate([a, b[2:]]), np.concatenate([first.valid, second.valid[2:]]), 0)
    same(first.append(second, Overlap.KEEP_NEW), np.concatenate([a[:4], b]), np.concatenate([first.valid[:4], second.valid]), 0)
    with pytest.raises(routecap.OutOfRangeError):
        first.append(second)
    with pytest.raises(routecap.OutOfRangeError):
        first.append(second.slice(8, 9))
    joined = first.append(second.slice(6, 9))
    same(joined, np.concatenate([a, b[2:]]), np.concatenate([first.valid, second.valid[2:]]), 0)
    assert {span.version for span in joined.version_spans} == {0, 2}
    with make(random, 3, start=6, top_k=2) as other, pytest.raises(routecap.InvalidArgumentError):
        first.append(other)


def test_merge_of_prefill_and_decode(random: np.random.Generator) -> None:
    """R40."""
    prefill, decode = make(random, 8, start=0), make(random, 9, start=3)
    for boundary in range(3, 9):
        want = np.concatenate([prefill.to_numpy(dtype=np.int64)[:boundary], decode.to_numpy(dtype=np.int64)[boundary - 3 :]])
        same(prefill.merge(decode, boundary), want, np.concatenate([prefill.valid[:boundary], decode.valid[boundary - 3 :]]), 0)
    with pytest.raises(routecap.OutOfRangeError):
        prefill.merge(decode, 9)


def test_stack_of_pipeline_stages(random: np.random.Generator) -> None:
    """R44."""
    first, second = make(random, holes=False, layer_ids=(1, 4)), make(random, holes=False, layer_ids=(2, 9))
    stacked = first.stack(second)
    assert stacked.layer_ids.tolist() == [1, 2, 4, 9]
    np.testing.assert_array_equal(stacked.ids[:, [0, 2]], first.ids)
    np.testing.assert_array_equal(stacked.ids[:, [1, 3]], second.ids)
    np.testing.assert_array_equal(stacked.weights[:, [1, 3]], second.weights)
    assert second.stack(first) == stacked
    assert stacked.to_compact([1, 4]) == first
    with pytest.raises(routecap.InvalidArgumentError, match="4"):
        first.stack(make(random, holes=False, layer_ids=(4, 5)))


def test_interleave_of_context_parallel_ranks(random: np.random.Generator) -> None:
    """R45: zigzag over two ranks, four chunks."""
    whole = make(random, 16, start=0, holes=False)
    parts = [[*range(0, 4), *range(12, 16)], [*range(4, 12)]]
    ranks = [
        Record.from_numpy(np.ascontiguousarray(whole.ids[part]), num_experts=256, layer_ids=[1, 4, 6], weights=np.ascontiguousarray(whole.weights[part]),
                          weights_kind=WeightsKind.RENORMALIZED)
        for part in parts
    ]
    assert ranks[0].interleave(parts[0], ranks[1], np.array(parts[1])) == whole
    tail = whole.slice(8, 16)
    assert whole.slice(0, 8).interleave(None, tail, None) == whole
    with pytest.raises(routecap.InvalidArgumentError, match=r"len\(positions\) is 0, the record has 8 rows"):
        ranks[0].interleave([], ranks[1], parts[1])
    with pytest.raises(TypeError, match="positions: INT32"):
        ranks[0].interleave(np.array(parts[0], np.int32), ranks[1], parts[1])


def test_full_axis_and_back(random: np.random.Generator) -> None:
    """R26."""
    with make(random) as record:
        full = record.to_full_axis(9)
        assert full.layer_ids.tolist() == list(range(9))
        np.testing.assert_array_equal(full.ids[:, [1, 4, 6]], record.ids)
        assert not full.cell_valid[:, [0, 2, 3, 5, 7, 8]].any()
        assert full.to_compact([1, 4, 6]) == record
        filled = record.to_full_axis(9, Fill.VALUE, 17)
        assert (filled.ids[record.valid][:, [0, 2, 3, 5, 7, 8]] == 17).all()
        assert filled.to_compact(np.array([1, 4, 6], np.int32)) == record
        with pytest.raises(routecap.OutOfRangeError, match="6"):
            record.to_full_axis(6)


def test_compare(random: np.random.Generator) -> None:
    ids = random.integers(0, 256, (6, 2, 3)).astype(np.uint8)
    other = ids.copy()
    other[2, 1] = other[2, 1, ::-1] + np.array([0, 1, 0], np.uint8)
    other[4, 0] = ids[4, 0, ::-1]
    first, second = (Record.from_numpy(array, num_experts=256, layer_ids=[7, 8]) for array in (ids, other))
    differ = (ids != other).any(axis=2)
    sets = np.array([[sorted(ids[r, c]) != sorted(other[r, c]) for c in range(2)] for r in range(6)])
    report, by_layer = first.compare_by_layer(second)
    assert (report.equal, report.same_shape, report.cells) == (False, True, 12)
    assert (report.cells_differ, report.cells_differ_as_sets) == (differ.sum(), sets.sum())
    np.testing.assert_array_equal(by_layer, differ.sum(axis=0))
    row = int(np.flatnonzero(differ.any(axis=1))[0])
    assert (report.first_row, report.first_layer) == (row, [7, 8][int(np.flatnonzero(differ[row])[0])])
    assert first != second and first == first[:] and first != "a record" and not first == 7
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


def test_a_record_is_pickled_and_copied_as_a_frame(random: np.random.Generator) -> None:
    with make(random, flags=(0, 4, 1)) as record:
        assert pickle.loads(pickle.dumps(record)) == record
        assert copy.deepcopy(record) == record


def test_frames_one_behind_the_other(random: np.random.Generator) -> None:
    records = [make(random, rows) for rows in (0, 3, 50)]
    file = io.BytesIO()
    sizes = [record.write_to(file, zstd_level=level) for record, level in zip(records, (0, 3, 19))]
    whole = file.getvalue()
    assert sum(sizes) == len(whole)
    file.seek(0)
    assert list(Record.frames(file)) == records
    file.seek(0)
    assert Record.read_from(file) == records[0] and file.tell() == sizes[0]
    first, consumed = Record.decode_prefix("frame", whole)
    assert first == records[0] and consumed == sizes[0]
    with pytest.raises(routecap.CorruptError, match=f"{sizes[1] + sizes[2]} bytes stand behind the frame of {sizes[0]} bytes"):
        Record.decode("frame", whole)
    with pytest.raises(EOFError, match="the file ends here"):
        Record.read_from(io.BytesIO())
    for cut in (1, 10, 23, 24, 60, len(whole) - sizes[0] - 1):
        pieces = Record.frames(io.BytesIO(whole[: sizes[0] + cut]))
        assert next(pieces) == records[0]
        with pytest.raises(EOFError, match="behind the beginning of a frame"):
            list(pieces)
    with pytest.raises(routecap.CorruptError):
        list(Record.frames(io.BytesIO(b"no frame at all, and longer than a head")))

    class Huge(io.BytesIO):
        """Claims a frame of 2^60 bytes; whoever believes it asks for them."""

        asked = 0

        def read(self, count: int | None = -1) -> bytes:
            Huge.asked = max(Huge.asked, count or 0)
            return super().read(count)

    claim = whole[:16] + (1 << 60).to_bytes(8, "little") + whole[24 : sizes[0]]
    with pytest.raises(EOFError):
        Record.read_from(Huge(claim))
    assert Huge.asked <= 1 << 20


def test_a_record_made_by_the_capturer_is_the_same_in_every_way(random: np.random.Generator) -> None:
    from scene import Scene

    with Scene(weights_dtype=DType.NONE) as scene:
        slots = [11, 12, 13, 14]
        scene.forward(slots)
        with scene.capturer.read([11, 99, 13, 14], 5, start=1) as record:
            ids = np.zeros(3 * 3 * 4, np.uint8)
            validity = np.zeros(1, np.uint8)
            info = scene.capturer.read_into([11, 99, 13, 14], 5, start=1, ids=ids, validity=validity)
            assert (info.start, info.rows, info.rows_valid, info.ids_bytes) == (1, 3, 2, 36)
            np.testing.assert_array_equal(ids.reshape(3, 3, 4), record.ids)
            assert validity[0] == 0b110 == record.row_validity[0]
            assert scene.capturer.encode([11, 99, 13, 14], 5, "frame", start=1) == bytes(record)
        needs = scene.capturer.read_into(slots, 5)
        assert needs.ids_bytes == 48
        with pytest.raises(routecap.OutOfRangeError):
            scene.capturer.read_into(slots, 5, ids=np.zeros(47, np.uint8))
        locked = np.zeros(48, np.uint8)
        locked.flags.writeable = False
        for given, text in ((np.zeros(48, np.int32), "ids: INT32"), (np.zeros(96, np.uint8)[::2], "strided"), (locked, "read-only"), (bytes(48), "read-only")):
            with pytest.raises(TypeError, match=text):
                scene.capturer.read_into(slots, 5, ids=given)
        assert locked.tolist() == [0] * 48


def test_records_may_be_shared_between_threads(random: np.random.Generator) -> None:
    import threading

    record = make(random, 200)
    frame, wrong = bytes(record), []

    def use(number: int) -> None:
        for _ in range(50):
            part = record.slice(5 + number, 205)
            if bytes(record) != frame or part.rows != 200 - number or not np.array_equal(part.ids, record.ids[number:]):
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    del record
    gc.collect()
