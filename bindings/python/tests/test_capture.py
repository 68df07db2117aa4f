# SPDX-License-Identifier: Apache-2.0
"""Arrays of every kind on their way in, and what is refused instead of being converted."""

from __future__ import annotations

import array
import ctypes

import numpy as np
import pytest

import routecap
from routecap import Acceptance, Array, DType, Memory, Record, TapFlags, trainer
from scene import Scene


class Producer:
    """A DLPack producer without the buffer protocol, which numpy's arrays also have."""

    def __init__(self, of: np.ndarray) -> None:
        self.of = of
        self.asked: list[object] = []

    def __dlpack__(self, **options: object) -> object:
        self.asked.append(options)
        return self.of.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class OldProducer(Producer):
    """One from before DLPack had versions."""

    def __dlpack__(self, *, stream: object = None) -> object:  # type: ignore[override]
        return self.of.__dlpack__()


def stored(scene: Scene, given: list[object], expected: np.ndarray) -> None:
    """Captures the same ids in every layer, each in a form of its own, and compares what a read gives."""
    tokens = len(expected)
    slots = list(range(10, 10 + tokens))
    for tap, ids in zip(scene.taps, given):
        tap.capture(ids)
    with scene.capturer.end_forward(tokens, slots) as output:
        output.copy_to_host()
        assert output.finalize().rows_stored == tokens
    with scene.capturer.read(slots, tokens + 1) as record:
        for column in range(3):
            np.testing.assert_array_equal(record.ids[:, column], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.int32, np.int64])
def test_every_dtype_of_ids(scene: Scene, dtype: type) -> None:
    ids = scene.ids(5).astype(dtype)
    stored(scene, [ids, Producer(ids), Array.of(ids)], ids)


def test_rows_apart_are_read_where_they_lie(scene: Scene) -> None:
    wide = np.full((7, 11), 9999, np.int64)
    ids = wide[1:6, 3:7]
    ids[:] = scene.ids(5)
    fortran = np.asfortranarray(scene.ids(1))
    assert not ids.flags.c_contiguous
    stored(scene, [ids, Producer(ids), Array.of(ids)], ids.copy())
    assert fortran.shape == (1, 4)
    # One row's elements are adjacent in any order of dimensions.
    stored(scene, [fortran] * 3, fortran)


def test_objects_with_the_buffer_protocol(scene: Scene) -> None:
    ids = scene.ids(3)
    raw = ids.astype(np.uint8).tobytes()
    shaped = memoryview(raw).cast("B", (3, 4))
    words = memoryview(array.array("i", ids.reshape(-1).tolist())).cast("B").cast("i", (3, 4))
    table = ((ctypes.c_int32 * 4) * 3)(*map(tuple, ids.tolist()))
    stored(scene, [shaped, words, table], ids)


def test_old_producers_of_dlpack(scene: Scene) -> None:
    ids = scene.ids(4)
    stored(scene, [OldProducer(ids)] * 3, ids)
    assert Producer(ids).asked == []
    producer = Producer(ids)
    scene.taps[0].capture(producer)
    assert producer.asked[0] == {"max_version": (1, 0)}
    scene.capturer.discard_forward()


def test_an_object_that_is_no_array_is_refused(scene: Scene) -> None:
    for given in ([[1, 2, 3, 4]], 7, None, "text", object()):
        with pytest.raises(TypeError, match="ids"):
            scene.taps[0].capture(given)


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        (np.zeros((2, 4), np.float32), "ids: FLOAT32, and not one of INT16, INT32, INT64, UINT16, UINT8"),
        (np.zeros((2, 4), np.uint32), "ids: elements of numpy's uint32 are none that routecap knows"),
        (np.zeros((2, 4), np.bool_), "ids: elements of numpy's bool are none that routecap knows"),
        (np.zeros((2, 4), ">i4"), "ids: elements of numpy's >i4 are none that routecap knows"),
        (np.zeros(8, np.int32), "ids: 1 dimensions, and not 2"),
        (np.zeros((2, 2, 2), np.int32), "ids: 3 dimensions, and not 2"),
        (np.zeros((2, 8), np.int32)[:, ::2], "ids: the elements of a row lie 8 bytes apart, and not 4"),
        (np.zeros((4, 2), np.int32).T, "ids: the elements of a row lie 8 bytes apart, and not 4"),
        (np.zeros((2, 4), np.int32)[::-1], "ids: the rows lie -16 bytes apart, and a row has 16"),
        (np.broadcast_to(np.zeros((1, 4), np.int32), (2, 4)), "ids: the rows lie 0 bytes apart, and a row has 16"),
    ],
)
def test_what_is_not_ids_is_a_type_error(scene: Scene, ids: np.ndarray, text: str) -> None:
    with pytest.raises(TypeError) as raised:
        scene.taps[0].capture(ids)
    assert str(raised.value) == text
    # Nothing of it was captured.
    assert scene.forward([5, 6]).rows_stored == 2


def test_slots_are_of_two_dtypes_and_in_one_piece(scene: Scene) -> None:
    scene.capture(2)
    end = scene.capturer.end_forward
    for slots, text in (
        (np.array([1.0, 2.0], np.float32), "slots: FLOAT32, and not one of INT32, INT64"),
        (np.array([1, 2], np.uint8), "slots: UINT8, and not one of INT32, INT64"),
        (np.array([1, 0, 2, 0])[::2], r"slots: the array is strided \(\(16,\) bytes for the shape \(2,\)\), and must lie in one piece"),
        (np.zeros((1, 1, 2), np.int64), "slots: 3 dimensions, and not 1 or 2"),
    ):
        with pytest.raises(TypeError, match=text):
            end(2, slots)
    with pytest.raises(ValueError, match=r"slots\[1\] is 1180591620717411303424, allowed are -9223372036854775808 \.\. 9223372036854775807"):
        end(2, [1, 1 << 70])
    with pytest.raises(TypeError, match=r"slots\[0\] is 1.5, a float and not an integer"):
        end(2, [1.5, 2])  # type: ignore[list-item]
    with end(2, np.array([7, 8], np.int32)) as output:
        output.copy_to_host()
        assert output.finalize().rows_stored == 2


def test_weights_lie_beside_the_ids(random: np.random.Generator) -> None:
    with Scene(weights_dtype=DType.BFLOAT16) as scene:
        ids = scene.ids(3)
        wide = random.random((3, 4), np.float32).astype(np.float32)
        bits = (wide.view(np.uint32) >> 16).astype(np.uint16)
        exact = (bits.astype(np.uint32) << 16).view(np.float32)
        scene.taps[0].capture(ids, exact)
        scene.taps[1].capture(ids, Array.of(bits, dtype=DType.BFLOAT16))
        padded = np.zeros((3, 9), np.uint16)
        padded[:, :4] = bits
        scene.taps[2].capture(ids, Array.of(padded[:, :4], dtype=DType.BFLOAT16))
        with scene.capturer.end_forward(3, [1, 2, 3]) as output:
            output.copy_to_host()
            output.finalize()
        with scene.capturer.read([1, 2, 3], 4) as record:
            for column in range(3):
                np.testing.assert_array_equal(record.weights[:, column], bits)
        # R29: required where they are kept.
        with pytest.raises(routecap.InvalidArgumentError, match="weights"):
            scene.taps[0].capture(ids)
        for weights, text in (
            (exact.astype(np.float64), "weights: elements of numpy's float64 are none that routecap knows"),
            (ids, "weights: INT32, and not one of BFLOAT16, FLOAT16, FLOAT32"),
            (exact[:2], r"weights: shape \(2, 4\), and not the ids' \(3, 4\)"),
            (Array.of(exact).on_device(), "weights: in DEVICE memory of .*, and not beside the ids in HOST"),
        ):
            with pytest.raises(TypeError, match=text):
                scene.taps[0].capture(ids, weights)


def test_a_bfloat16_array_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    weights = np.array([[1.0, -2.5, 3.0, 0.5]], ml_dtypes.bfloat16)
    with Scene(weights_dtype=DType.BFLOAT16) as scene:
        for tap in scene.taps:
            tap.capture(scene.ids(1), weights)
        with scene.capturer.end_forward(1, [1]) as output:
            output.copy_to_host()
            output.finalize()
        with scene.capturer.read([1], 2) as record:
            np.testing.assert_array_equal(record.weights[0, 0], weights[0].view(np.uint16))


def test_another_device_is_a_type_error(scene: Scene) -> None:
    elsewhere = Array(4096, (2, 4), DType.INT32, device=("cuda", 0))
    with pytest.raises(TypeError, match="ids: on cuda:0, and the capturer works on cpu:0"):
        scene.taps[0].capture(elsewhere)
    slots = Array(4096, (2,), DType.INT64, device=("cuda", 1))
    with pytest.raises(TypeError, match="slots: on cuda:1, and the capturer works on cpu:0"):
        scene.capturer.end_forward(2, slots)
    with pytest.raises(TypeError, match="slots: on None, and not in the host's memory"):
        scene.capturer.read(Array(4096, (2,), DType.INT64), 3)


def test_lists_treated_as_a_devices_are_checked_at_finalize(scene: Scene) -> None:
    """R14: what only a device knows makes a row missing, what the host knows refuses the call."""
    scene.capture(3)
    slots = np.array([1, 5000, 3])
    with pytest.raises(routecap.OutOfRangeError, match="5000"):
        scene.capturer.end_forward(3, slots)
    with scene.capturer.end_forward(3, Array.of(slots).on_device()) as output:
        output.copy_to_host()
        summary = output.finalize()
    assert (summary.rows_stored, summary.rows_bad) == (2, 1)
    assert (summary.first_bad_fault, summary.first_bad_slot) == (routecap.Fault.SLOT_OUT_OF_RANGE, 5000)


def test_matrices_are_groups(scene: Scene) -> None:
    """Accept indices [requests, steps] of a verify forward, and the cache locations of all proposals, as an engine has them."""
    rows = scene.capture(6)
    locations = np.array([[20, 21, 22, -7], [30, 31, 32, -7]], np.int64)[:, :3]
    accepted = np.array([[0, 2], [3, -1]], np.int32)
    with pytest.raises(TypeError, match=r"rows: shape \(2, 2\), and not \(2, 3\)"):
        scene.capturer.end_forward(6, locations, acceptance=Acceptance.GIVEN, rows=accepted)
    with scene.capturer.end_forward(6, locations[:, :2], acceptance=Acceptance.GIVEN, rows=accepted) as output:
        output.copy_to_host()
        summary = output.finalize()
    assert (summary.entries, summary.rows_stored, summary.rows_rejected) == (3, 3, 3)
    with scene.capturer.read([20, 21, 30, 31], 5) as record:
        np.testing.assert_array_equal(record.valid, [True, True, True, False])
        np.testing.assert_array_equal(record.ids[:3], rows[[0, 2, 3]])
    with pytest.raises(TypeError, match="say their groups themselves"):
        scene.capturer.end_forward(6, locations, groups=2)
    with pytest.raises(TypeError, match="the groups lie 12 bytes apart, which is no whole number of elements"):
        odd = np.frombuffer(bytes(64), np.uint8)
        scene.capturer.end_forward(2, Array(Array.of(odd).address, (2, 1), DType.INT64, strides=(12, 8), memory=Memory.HOST))


def test_acceptance_later(scene: Scene) -> None:
    rows = scene.capture(4)
    output = scene.capturer.end_forward(4, [50, 51, 52, 53], acceptance=Acceptance.LATER)
    output.copy_to_host()
    with pytest.raises(routecap.NotReadyError):
        output.finalize()
    with pytest.raises(routecap.OutOfRangeError, match="9"):
        output.accept([0, 9])
    output.accept(np.array([2, 0], np.int32))
    summary = output.finalize()
    assert (summary.rows_stored, summary.rows_rejected) == (2, 2)
    output.close()
    with scene.capturer.read([50, 51, 52, 53], 5) as record:
        np.testing.assert_array_equal(record.valid, [True, False, True, False])
        np.testing.assert_array_equal(record.ids[[0, 2]], rows[[0, 2]])
    # No entry at all is an acceptance, too.
    scene.capture(1)
    with scene.capturer.end_forward(1, acceptance=Acceptance.LATER) as output:
        output.copy_to_host()
        output.accept([])
        assert output.finalize().rows_stored == 0


def test_partial_layers_name_their_rows() -> None:
    config = routecap.Config(num_experts=16, top_k=2, layer_ids=[1, 2], chunked_prefill_size=8, num_slots=8)
    with routecap.Capturer(config) as capturer:
        target = capturer.add_model(routecap.Role.TARGET, "target")
        whole, late = target.add_tap(1), target.add_tap(2, flags=TapFlags.PARTIAL)
        capturer.seal()
        whole.capture(np.array([[1, 2], [3, 4], [5, 6]], np.int32))
        with pytest.raises(TypeError, match="row_ids: INT64, and not one of INT32"):
            late.capture(np.array([[7, 8]], np.int32), row_ids=np.array([2]))
        with pytest.raises(routecap.InvalidArgumentError, match=r"len\(row_ids\) is 0"):
            late.capture(np.array([[7, 8]], np.int32), row_ids=[])
        late.capture(np.array([[7, 8]], np.int32), row_ids=[2])
        with capturer.end_forward(3, [1, 2, 3]) as output:
            output.copy_to_host()
            output.finalize()
        with capturer.read([1, 2, 3], 4) as record:
            np.testing.assert_array_equal(record.cell_valid, [[True, False], [True, False], [True, True]])
            np.testing.assert_array_equal(record.to_numpy(), [[[1, 2], [-1, -1]], [[3, 4], [-1, -1]], [[5, 6], [7, 8]]])
            assert record.layer_flags.tolist() == [0, TapFlags.PARTIAL]


def test_an_id_map_is_kept_and_may_be_rewritten() -> None:
    """R22: physical ids become logical ones with the map that is in force at the forward."""
    config = routecap.Config(num_experts=4, top_k=1, layer_ids=[0], chunked_prefill_size=8, num_slots=8)
    with routecap.Capturer(config) as capturer:
        physical = np.array([0, 1, 2, 3, 1], np.int64)
        target = capturer.add_model(routecap.Role.TARGET, "target")
        with pytest.raises(TypeError, match="id_map: FLOAT32"):
            target.add_tap(0, id_map=physical.astype(np.float32))
        tap = target.add_tap(0, id_map=physical)
        capturer.seal()
        for slot, expected in ((1, 1), (2, 3)):
            tap.capture(np.array([[4]], np.int32))
            with capturer.end_forward(1, [slot]) as output:
                output.copy_to_host()
                output.finalize()
            with capturer.read([slot], 2) as record:
                assert record.ids[0, 0, 0] == expected
            physical[4] = 3


def test_a_denied_tap_looks_at_nothing(scene: Scene) -> None:
    """R18: every call is counted, whatever it is given."""
    before = scene.capturer.stats().suppressed
    for given in (np.zeros((1, 4), np.float64), None, "text", np.zeros((10_000, 4), np.int32)):
        scene.drafts[0].capture(given)
    assert scene.capturer.stats().suppressed == before + 4
    assert not scene.drafts[0].enabled and scene.taps[0].enabled
    # A tap that is found by its number is the same one.
    assert scene.capturer.tap(scene.drafts[0].id) is scene.drafts[0]
    again = scene.drafts[1].id
    scene.drafts[1] = None  # type: ignore[call-overload]
    scene.capturer.tap(again).capture(None)
    assert scene.capturer.stats().suppressed == before + 5


def test_streams_are_numbers_or_have_one(scene: Scene) -> None:
    class Stream:
        cuda_stream = 0

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, 0)

    for stream in (0, Stream(), Protocol()):
        scene.taps[0].capture(scene.ids(1), stream=stream)
    with pytest.raises(TypeError, match="stream: str is no stream"):
        scene.taps[0].capture(scene.ids(1), stream="default")
    scene.capturer.discard_forward(stream=0)


def test_arrays_describe_themselves(scene: Scene) -> None:
    whole = np.zeros((3, 8), np.int16)
    array_ = Array.of(whole[:, 2:6])
    assert (array_.shape, array_.strides, array_.dtype, array_.nbytes) == ((3, 4), (16, 2), DType.INT16, 2 * 16 + 8)
    assert array_.address == whole.__array_interface__["data"][0] + 4 and array_.owner is not None
    assert array_.on_device().memory is Memory.DEVICE and array_.memory is Memory.HOST
    assert "INT16" in repr(array_)
    with pytest.raises(TypeError, match="dtype is FLOAT32, and elements of INT16 are not of that size"):
        Array.of(whole, dtype=DType.FLOAT32)
    with pytest.raises(TypeError, match="strides are 1, and the shape has 2 dimensions"):
        Array(0, (1, 2), DType.UINT8, strides=(1,))
    with pytest.raises(TypeError, match="dtype is NONE"):
        Array(0, (1,), DType.NONE)


def test_a_list_is_as_long_as_what_is_read() -> None:
    """What is beyond would be left out in silence: each list is refused with both numbers, and the call may be repeated."""
    with Scene(tags=True) as scene:
        scene.capture(3)
        end, later = scene.capturer.end_forward, Acceptance.LATER
        tags = [7, 8, 9]
        four, two = [1, 2, 3, 4], [1, 2]
        for call, text in (
            (lambda: end(3, four, tags=tags), "slots has 4 elements, tokens is 3"),
            (lambda: end(3, two, tags=tags), "slots has 2 elements, tokens is 3"),
            (lambda: end(3, np.array(four), tags=tags), "slots has 4 elements, tokens is 3"),
            (lambda: end(3, np.array(two, np.int32), tags=tags), "slots has 2 elements, tokens is 3"),
            (lambda: end(0, [1]), "slots has 1 elements, tokens is 0"),
            (lambda: end(3, four, tags=tags, acceptance=later), "slots has 4 elements, tokens is 3"),
            (lambda: end(3, four, tags=tags, acceptance=Acceptance.GIVEN, rows=[0, 1, 2]), "slots has 4 elements, rows has 3"),
            (lambda: end(3, two, tags=tags, acceptance=Acceptance.GIVEN, rows=[0, 1, 2]), "slots has 2 elements, rows has 3"),
            (lambda: end(3, [1, 2, 3], tags=[7, 8, 9, 10]), "len(tags) is 4, the forward has 3 tokens"),
            (lambda: end(3, four, tags=tags, groups=1, group_width=3), "slots has 4 elements, 1 groups of 3, 3 apart, have 3 .. 3"),
            (lambda: end(2, [1, 0, 2, 0, 3], groups=2, group_width=1, slots_group_stride=2), "slots has 5 elements, 2 groups of 1, 2 apart, have 3 .. 4"),
            (lambda: scene.capturer.copy_slots([1, 2, 3], [4, 5]), "target has 2 elements, source has 3"),
        ):
            with pytest.raises(routecap.InvalidArgumentError) as raised:
                call()
            assert str(raised.value) == text
        with end(3, [1, 2, 3], tags=tags, acceptance=later) as output:
            with pytest.raises(routecap.InvalidArgumentError, match="slots has 4 elements, rows has 3"):
                output.accept([0, 1, 2], four)
            output.copy_to_host()
            output.accept([0, 1, 2], [3, 2, 1][::-1])
            assert output.finalize().rows_stored == 3
        # A request that was cut to fewer tokens has more slots (R4).
        with scene.capturer.read([1, 2, 3, -1], 3) as record:
            assert record.rows == 2 and record.valid.all()


def test_a_masked_arrays_mask_is_not_lost(scene: Scene) -> None:
    masked = np.ma.masked_array(np.zeros((3, 4), np.int32), mask=True)
    record = Record.from_numpy(np.zeros((1, 1, 1), np.uint8), num_experts=4, layer_ids=[0])
    for call, name in (
        (lambda: scene.taps[0].capture(masked), "ids"),
        (lambda: scene.taps[0].capture(scene.ids(3), row_ids=masked[:, 0]), "row_ids"),
        (lambda: scene.capturer.end_forward(3, masked[:, 0]), "slots"),
        (lambda: scene.capturer.release_slots(masked[:, 0]), "slots"),
        (lambda: scene.capturer.read(masked[:, 0], 4), "slots"),
        (lambda: Record.from_numpy(masked.reshape(1, 3, 4).astype(np.uint8), num_experts=4, layer_ids=[0, 1, 2]), "ids"),
        (lambda: Record.from_numpy(np.zeros((1, 1, 1), np.uint8), num_experts=4, layer_ids=[0], valid=np.ma.ones(1, np.bool_)), "valid"),
        (lambda: trainer.pack_offsets(masked[:, 0]), "lengths"),
        (lambda: trainer.Partition().take(masked, [0, 3]), "whole"),
        (lambda: trainer.fill(record, 2, layers=np.ma.masked_array([0], mask=[True])), "layers"),
    ):
        with pytest.raises(TypeError, match=rf"^{name}: a (masked array|MaskedArray)"):
            call()
    record.close()
    # With the mask filled in it is an array like others.
    scene.taps[0].capture(np.ma.filled(masked, 0))
    scene.capturer.discard_forward()


def test_no_name_has_a_nul() -> None:
    """C would read it to the NUL only: `tb\\0b` is not `tb`."""
    capturer = routecap.Capturer(routecap.Config(num_experts=4, top_k=1, layer_ids=[0], chunked_prefill_size=4, num_slots=4))
    for call, name in (
        (lambda: routecap.Backend("host\0b"), "name"),
        (lambda: routecap.Backend("/usr/lib/host.so\0b"), "name"),
        (lambda: routecap.Backend.search("host\0b"), "name"),
        (lambda: capturer.add_model(routecap.Role.TARGET, "tar\0get"), "name"),
        (lambda: routecap.Format.of("frame\0x"), "name"),
        (lambda: Record.decode("frame\0x", b""), "format"),
    ):
        with pytest.raises(routecap.InvalidArgumentError, match=rf"^{name} is '[^\0]*\\x00[^\0]*': character \d+ of \d+ is a NUL"):
            call()
    capturer.close()
