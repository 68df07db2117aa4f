# SPDX-License-Identifier: Apache-2.0
"""Closing, dropping, and what outlives what."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import routecap
from routecap import FinalizeMode, Record
from scene import Scene


def test_closing_twice_is_harmless(scene: Scene) -> None:
    output = scene.end([1])
    record = scene.capturer.read([2], 2)
    backend = routecap.Backend("host")
    for closed in (output, record, backend, scene.capturer):
        closed.close()
        closed.close()
    assert scene.capturer.closed
    assert "closed" in repr(scene.capturer) and "closed" in repr(record) and "closed" in repr(output)


def test_use_after_close_is_a_clear_exception(scene: Scene) -> None:
    output, unsettled = scene.end([1]), scene.end([2])
    record = scene.capturer.read([2], 2)
    backend = routecap.Backend("host")
    for closed in (output, record, backend, scene.capturer):
        closed.close()
    tap, ids = scene.taps[0], scene.ids(1)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: tap.capture(ids), "the capturer of the tap was closed"),
        (lambda: tap.enabled, "the capturer was closed"),
        (lambda: scene.capturer.end_forward(0), "the capturer was closed"),
        (lambda: scene.capturer.read([1], 2), "the capturer was closed"),
        (lambda: scene.capturer.stats(), "the capturer was closed"),
        (lambda: scene.capturer.tap(0), "the capturer was closed"),
        (lambda: scene.capturer.add_model(routecap.Role.DRAFT, "late"), "the capturer was closed"),
        (output.copy_to_host, "the output was closed"),
        (output.ready, "the output was closed"),
        (unsettled.copy_to_host, "the capturer was closed"),
        (unsettled.finalize, "the capturer was closed"),
        (lambda: record.ids, "the record was closed"),
        (lambda: record.info, "the record was closed"),
        (lambda: record.slice(0, 1), "the record was closed"),
        (lambda: bytes(record), "the record was closed"),
        (backend.describe, "the backend was closed"),
    ]
    for call, text in calls:
        with pytest.raises(routecap.ClosedError) as raised:
            call()
        assert str(raised.value) == text
    # What is known without the library still is.
    assert output.sequence == 1 and tap.id == 0
    unsettled.close()


def test_views_outlive_record_and_capturer() -> None:
    scene = Scene()
    scene.forward([1, 2, 3])
    record = scene.capturer.read([1, 2, 3], 4)
    expected = record.ids.copy()
    views = [record.ids, record.ids[1:], record.row_validity, record.layer_ids]
    tensor = np.from_dlpack(record)
    address = views[0].__array_interface__["data"][0]
    assert tensor.__array_interface__["data"][0] == address
    record.close()
    scene.close()
    del record, scene
    gc.collect()
    # The memory is still the record's: nothing that is made now lies there.
    noise = [Record.from_numpy(np.full((3, 3, 4), 7, np.uint8), num_experts=256, layer_ids=[3, 4, 9]) for _ in range(50)]
    assert routecap.live_handles() >= 51
    np.testing.assert_array_equal(views[0], expected)
    np.testing.assert_array_equal(tensor, expected)
    assert views[2].tolist() == [7] and views[3].tolist() == [3, 4, 9]
    del noise
    with_views = routecap.live_handles()
    del views
    assert routecap.live_handles() == with_views
    np.testing.assert_array_equal(tensor, expected)
    del tensor
    assert routecap.live_handles() == with_views - 1


def test_views_are_read_only(scene: Scene) -> None:
    scene.forward([1])
    with scene.capturer.read([1], 2) as record:
        for view in (record.ids, record.row_validity, record.layer_ids, record.layer_flags, record.ids[:0]):
            assert not view.flags.writeable and not view.flags.owndata
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True
        assert record.ids.base is not None


def test_a_dropped_output_leaves_its_rows_missing(scene: Scene) -> None:
    """R33."""
    scene.forward([1])
    output = scene.end([1])
    del output
    gc.collect()
    assert scene.capturer.stats().dropped == 1
    with scene.capturer.read([1], 2) as record:
        assert not record.valid.any()


def test_a_thousand_capturers_that_nobody_closes_are_closed() -> None:
    before = routecap.live_handles()
    with pytest.warns(ResourceWarning, match="a capturer was never closed"):
        for _ in range(1000):
            scene = Scene(num_slots=8)
            scene.taps[0].capture(scene.ids(1))
            output = scene.capturer.end_forward(1, [1])
            del output, scene
        gc.collect()
    assert routecap.live_handles() == before


def test_taps_and_outputs_keep_their_capturer() -> None:
    scene = Scene()
    capturer = weakref.ref(scene.capturer)
    tap, output = scene.taps[1], scene.end([1])
    ids = scene.ids(1)
    scene.__dict__.clear()
    del scene
    gc.collect()
    assert capturer() is not None
    tap.capture(ids)
    output.copy_to_host()
    output.close()
    del output
    owner = tap.capturer
    owner.close()
    del tap, owner
    gc.collect()
    assert capturer() is None


def test_closing_while_a_call_is_in_progress() -> None:
    """The call ends as it would have, and the memory is given back after it."""
    before = routecap.live_handles()
    scene = Scene()
    output = scene.end([1])
    answers: list[BaseException] = []

    def wait() -> None:
        try:
            output.wait(0.4)
        except routecap.RoutecapError as error:
            answers.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    scene.close()
    output.close()
    assert routecap.live_handles() == before + 2
    with pytest.raises(routecap.ClosedError):
        scene.capturer.stats()
    thread.join()
    assert [type(answer) for answer in answers] == [routecap.TimedOutError]
    assert routecap.live_handles() == before


def test_closing_at_any_moment_under_load() -> None:
    for round_ in range(20):
        scene = Scene(finalize_mode=FinalizeMode.OWN_THREAD, seed=round_)
        stop = threading.Event()
        odd: list[BaseException] = []

        def use(work: Callable[[], object]) -> None:
            while not stop.is_set():
                try:
                    work()
                except (routecap.ClosedError, routecap.BusyError, routecap.NotReadyError):
                    pass
                except BaseException as error:  # noqa: BLE001
                    odd.append(error)

        ids = scene.ids(1)

        def forward() -> None:
            for tap in scene.taps:
                tap.capture(ids)
            scene.capturer.end_forward(1, [1]).close()

        def read() -> None:
            scene.capturer.read([1], 2, timeout=0.001).close()

        threads = [threading.Thread(target=use, args=(work,)) for work in (forward, read, read, scene.capturer.stats)]
        for thread in threads:
            thread.start()
        time.sleep(0.01)
        scene.close()
        stop.set()
        for thread in threads:
            thread.join()
        assert odd == []


def test_an_id_map_lives_as_long_as_its_capturer() -> None:
    config = routecap.Config(num_experts=4, top_k=1, layer_ids=[0], chunked_prefill_size=8, num_slots=8)
    capturer = routecap.Capturer(config)

    class Map(np.ndarray):
        pass

    physical = np.array([3, 2, 1, 0]).view(Map)
    alive = weakref.ref(physical)
    capturer.add_model(routecap.Role.TARGET, "target").add_tap(0, id_map=physical)
    del physical
    gc.collect()
    assert alive() is not None
    capturer.close()
    del capturer
    gc.collect()
    assert alive() is None


FORK = """
import os, sys, threading
import numpy as np
import routecap
from scene import Scene

scene = Scene()
scene.forward([1, 2])
record = scene.capturer.read([1, 2], 3)
output = scene.end([3])
ids = scene.ids(1)
held, release = threading.Event(), threading.Event()

def hold():
    # As a thread that was in a call when the process was forked.
    with scene.capturer._engine, output._calls, scene.capturer._handle.destroying:
        held.set()
        release.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    calls = [
        lambda: scene.taps[0].capture(ids),
        lambda: scene.drafts[0].capture(ids),
        lambda: scene.capturer.stats(),
        lambda: scene.capturer.read([1, 2], 3),
        lambda: scene.capturer.end_forward(1, [4]),
        lambda: scene.capturer.release_all(),
        lambda: scene.capturer.discard_forward(),
        lambda: output.copy_to_host(),
        lambda: output.wait(10.0),
        lambda: output.finalize(),
        lambda: scene.capturer.add_model(routecap.Role.DRAFT, "child's"),
    ]
    status = 0
    for number, call in enumerate(calls, 1):
        try:
            call()
            status = status or number
        except routecap.ForkedError:
            pass
    if record.rows != 2 or not record.valid.all() or bytes(record)[1:5] != b"RCAP" or record.slice(1, 2).rows != 1:
        status = 50
    output.close(); scene.close(); record.close()
    # The child makes its own.
    with Scene() as own:
        own.forward([1])
        with own.capturer.read([1], 2) as mine:
            own.expect(mine, [1])
    os._exit(status)
release.set()
thread.join()
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, f"the child's call {os.waitstatus_to_exitcode(status)}"
output.copy_to_host(); output.finalize(); output.close()
scene.forward([5])
scene.expect(record, [1, 2])
record.close(); scene.close()
print("the parent goes on")
"""


def test_a_forked_child_is_told_at_once(run_python) -> None:
    assert run_python(FORK).stdout == "the parent goes on\n"


def test_the_end_of_the_process_is_quiet(run_python) -> None:
    """With a thread of the library's, an output in flight and views of a record, and nothing closed."""
    script = """
import routecap
from scene import Scene
scene = Scene(finalize_mode=routecap.FinalizeMode.OWN_THREAD)
scene.end([1]).close()
output = scene.end([2])
record = scene.capturer.read([1], 2, timeout=5.0, after_sequence=1)
view = record.ids
print("end")
"""
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("end\n", "")
