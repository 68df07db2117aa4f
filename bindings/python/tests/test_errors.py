# SPDX-License-Identifier: Apache-2.0
"""Each mistake has its class, its code and its own text."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest

import routecap
from routecap import Code, Format, Record
from scene import DEFAULTS, Scene

CLASSES = {
    Code.INVALID_ARGUMENT: routecap.InvalidArgumentError,
    Code.INVALID_STATE: routecap.InvalidStateError,
    Code.OUT_OF_RANGE: routecap.OutOfRangeError,
    Code.OUT_OF_MEMORY: routecap.OutOfMemoryError,
    Code.NOT_READY: routecap.NotReadyError,
    Code.BUSY: routecap.BusyError,
    Code.TIMEOUT: routecap.TimedOutError,
    Code.CLOSED: routecap.ClosedError,
    Code.UNSUPPORTED: routecap.UnsupportedError,
    Code.VERSION_MISMATCH: routecap.VersionMismatchError,
    Code.CORRUPT: routecap.CorruptError,
    Code.NOT_FOUND: routecap.NotFoundError,
    Code.NO_DEVICE: routecap.NoDeviceError,
    Code.DEVICE: routecap.DeviceError,
    Code.FORKED: routecap.ForkedError,
    Code.INTERNAL: routecap.InternalError,
}


def test_every_status_has_a_class() -> None:
    from routecap._errors import error_of

    assert set(CLASSES) == set(Code) - {Code.OK}
    for code, kind in CLASSES.items():
        error = error_of(code, "", 0)
        assert type(error) is kind and error.code is code and str(error)
        with_text = error_of(code, "what was refused", 7)
        assert str(with_text) == "what was refused"
        again = pickle.loads(pickle.dumps(with_text))
        assert (type(again), again.text, again.detail) == (kind, "what was refused", 7)
    # A newer library's.
    assert "status -99" in str(error_of(-99, "text"))
    with pytest.raises(routecap.UnsupportedError, match="Fault 99 is unknown to this version"):
        routecap.Fault(99)


def test_the_classes_are_also_pythons_own() -> None:
    assert issubclass(routecap.OutOfRangeError, ValueError)
    assert issubclass(routecap.TimedOutError, TimeoutError)
    assert issubclass(routecap.OutOfMemoryError, MemoryError)
    assert issubclass(routecap.LibraryNotFoundError, ImportError)
    assert all(issubclass(kind, routecap.RoutecapError) for kind in CLASSES.values())


def test_each_mistake_has_its_code_and_text(scene: Scene) -> None:
    capturer = scene.capturer
    record = Record.from_numpy(np.array([[[3]]], np.uint8), num_experts=8, layer_ids=[0])
    frame = bytearray(bytes(record))
    frame[-1] ^= 1
    newer = bytearray(bytes(record))
    newer[8] = 77
    unsealed = routecap.Capturer(scene.config)
    scene.capture(1)
    waiting = capturer.end_forward(1, [9])
    mistakes: list[tuple[Callable[[], object], Code, str]] = [
        (lambda: routecap.Config(**{**DEFAULTS, "top_k": 300}).plan(), Code.OUT_OF_RANGE, "300"),
        (lambda: routecap.Capturer(routecap.Config(**{**DEFAULTS, "layer_ids": [4, 3]})), Code.INVALID_ARGUMENT, "layer"),
        (unsealed.seal, Code.INVALID_STATE, "target"),
        (lambda: scene.taps[0].capture(scene.ids(1), first_row=64), Code.OUT_OF_RANGE, "64"),
        (lambda: scene.taps[0].capture(scene.ids(2)[:, :3]), Code.INVALID_ARGUMENT, "3"),
        (lambda: capturer.slot_info(1024), Code.OUT_OF_RANGE, "1024"),
        (lambda: capturer.tap(99), Code.NOT_FOUND, "99"),
        (lambda: capturer.read([9], 2, after_sequence=1), Code.NOT_READY, "sequence 1 is lacking"),
        (lambda: waiting.wait(0.0), Code.TIMEOUT, "the given time has passed"),
        (waiting.finalize, Code.NOT_READY, "not ready yet"),
        (lambda: routecap.Backend("nowhere"), Code.NOT_FOUND, "nowhere"),
        (lambda: routecap.Backend("host", device_ordinal=3), Code.OUT_OF_RANGE, "3"),
        (lambda: Format.of("morse"), Code.NOT_FOUND, "frame-base64"),
        (lambda: Record.decode(Format.FRAME, frame), Code.CORRUPT, ""),
        (lambda: Record.decode(Format.FRAME, newer), Code.VERSION_MISMATCH, "77"),
        (lambda: Record.decode(Format.SGLANG, b"AAAA"), Code.INVALID_ARGUMENT, "num_layers"),
        (lambda: record.encode(Format.FRAME, routecap.EncodeOptions(turn=4)), Code.UNSUPPORTED, "turn"),
        (lambda: record.slice(0, 2), Code.OUT_OF_RANGE, "2"),
        (lambda: routecap.detect(b"\x00\x01"), Code.NOT_FOUND, ""),
        (lambda: capturer.completion_fd(), Code.INVALID_STATE, ""),
        (lambda: capturer.next_completed(), Code.INVALID_STATE, ""),
        (lambda: routecap.layout_rows(routecap.RowsKind.LOCAL, [1], 3), Code.OUT_OF_RANGE, "3"),
    ]
    for call, code, text in mistakes:
        with pytest.raises(routecap.RoutecapError) as raised:
            call()
        assert type(raised.value) is CLASSES[code], raised.value
        assert text in str(raised.value), raised.value
        assert "\n" not in str(raised.value)
    with pytest.raises(routecap.NotReadyError) as raised:
        capturer.read([9], 2, after_sequence=1)
    assert raised.value.detail == 1
    waiting.close()
    unsealed.close()


def test_texts_are_in_pythons_words() -> None:
    """Whatever the library calls its parameters, structs, functions and numbers."""
    from routecap._errors import error_of

    for text, python in (
        ("layout->cp_rank is 2, allowed are 0 .. 1", "cp_rank is 2, allowed are 0 .. 1"),
        ("layer_ids_count is 0, allowed are 1 .. 7", "len(layer_ids) is 0, allowed are 1 .. 7"),
        ("tags is given (tags_count 3), the capturer keeps none", "tags is given (len(tags) 3), the capturer keeps none"),
        ("tags_count is 0 (null), the forward has 3 tokens", "len(tags) is 0 (None), the forward has 3 tokens"),
        ("slots_bytes is 8, the layout reads 12 bytes", "bytes of slots: 8, the layout reads 12 bytes"),
        ("weights is null, the capturer keeps weights", "weights is None, the capturer keeps weights"),
        ("to names slot 3 twice, a target may stand once", "target names slot 3 twice, a target may stand once"),
        ("from entry 1 is slot 9, allowed are 0 .. 7", "source entry 1 is slot 9, allowed are 0 .. 7"),
        ("timeout_ns is -4, it must not be negative", "timeout is -4 ns, it must not be negative"),
        ("rcap_capturer_read: memory could not be had", "Capturer.read: memory could not be had"),
        ("rcap_capturer_create: memory could not be had", "Capturer: memory could not be had"),
        ("rcap_record_info_get: memory could not be had", "Record.info: memory could not be had"),
        ("rcap_layout_rows: memory could not be had", "layout_rows: memory could not be had"),
        ("needs RCAP_FINALIZE_OWN_THREAD, not RCAP_TAP_PARTIAL", "needs FinalizeMode.OWN_THREAD, not TapFlags.PARTIAL"),
        ("/opt/rcap_tools/rcap_x.so: no such file", "/opt/rcap_tools/rcap_x.so: no such file"),
        ("slots entry 1 is slot 9, allowed are 0 .. 7", "slots entry 1 is slot 9, allowed are 0 .. 7"),
    ):
        assert str(error_of(Code.INVALID_ARGUMENT, text)) == python
    assert str(error_of(Code.INVALID_ARGUMENT, "layer_ids: layer 3 is none", 0, {"layer_ids": "layers"})) == "layers: layer 3 is none"


def test_busy_leaves_the_forward_as_it_is(scene: Scene) -> None:
    """R32."""
    outputs = [scene.end([slot]) for slot in (1, 2, 3, 4)]
    rows = scene.capture(1)
    with pytest.raises(routecap.BusyError):
        scene.capturer.end_forward(1, [5])
    outputs[0].copy_to_host()
    outputs[0].finalize()
    with scene.capturer.end_forward(1, [5]) as output:
        assert output.sequence == 5
        output.copy_to_host()
        assert output.finalize().rows_stored == 1
    with scene.capturer.read([5], 2) as record:
        np.testing.assert_array_equal(record.ids, rows)
    for output in outputs:
        output.close()
    assert scene.capturer.stats().busy == 1 and scene.capturer.stats().dropped == 3


def test_every_error_text_belongs_to_its_own_call(scene: Scene) -> None:
    """64 threads with failing calls of two kinds at once."""
    wrong: list[str] = []
    start = threading.Barrier(64)

    def fail(number: int) -> None:
        start.wait()
        for call in range(300):
            slot = 1024 + 1000 * number + call
            try:
                if call % 2:
                    scene.capturer.slot_info(slot)
                else:
                    routecap.layout_rows(routecap.RowsKind.LOCAL, [1], slot)
                wrong.append(f"{slot} was taken")
            except routecap.OutOfRangeError as error:
                if str(slot) not in str(error) or ("dp_rank" in str(error)) == bool(call % 2):
                    wrong.append(f"{slot}: {error}")

    threads = [threading.Thread(target=fail, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_captures_of_one_tap_on_two_threads_mix_no_texts(scene: Scene) -> None:
    """It is the caller's fault and mixes rows; memory and texts stay whole."""
    wrong: list[str] = []

    def fail(number: int) -> None:
        for call in range(500):
            first = 64 + 1000 * number + call
            try:
                scene.taps[0].capture(scene_ids, first_row=first)
                wrong.append(f"{first} was taken")
            except routecap.OutOfRangeError as error:
                if str(first) not in str(error):
                    wrong.append(f"{first}: {error}")

    scene_ids = scene.ids(1)
    threads = [threading.Thread(target=fail, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
