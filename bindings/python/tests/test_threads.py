# SPDX-License-Identifier: Apache-2.0
"""The GIL is released in calls that wait or move bytes; what may run side by side does."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import routecap
from routecap import FinalizeMode, Format, Record
from scene import Scene

TICK = 0.001


def ticks_during(call: Callable[[], object]) -> tuple[int, float]:
    """How often another thread got to run during a call, and the call's seconds."""
    count, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            time.sleep(TICK)
            count[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.02)
    before, began = count[0], time.perf_counter()
    try:
        call()
    finally:
        seconds, during = time.perf_counter() - began, count[0] - before
        stop.set()
        thread.join()
    return during, seconds


def is_free(measured: tuple[int, float]) -> bool:
    ticks, seconds = measured
    assert seconds > 0.1, "too short to tell"
    return ticks > 0.2 * seconds / TICK


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this build has no GIL")
def test_the_measure_tells_a_call_that_holds_the_gil() -> None:
    sleep = ctypes.PyDLL(None).usleep
    assert not is_free(ticks_during(lambda: [sleep(50_000) for _ in range(6)]))


def test_waiting_for_an_output(scene: Scene) -> None:
    with scene.end([1]) as output:

        def wait() -> None:
            with pytest.raises(routecap.TimedOutError):
                output.wait(0.3)

        assert is_free(ticks_during(wait))


def test_waiting_for_a_read_and_for_completions() -> None:
    with Scene(finalize_mode=FinalizeMode.OWN_THREAD) as scene:
        scene.capture(1)
        output = scene.capturer.end_forward(1, [1], acceptance=routecap.Acceptance.LATER)

        def read() -> None:
            with pytest.raises(routecap.NotReadyError):
                scene.capturer.read([1], 2, after_sequence=1, timeout=0.3)

        def complete() -> None:
            with pytest.raises(routecap.TimedOutError):
                scene.capturer.next_completed(0.3)

        assert is_free(ticks_during(read))
        assert is_free(ticks_during(complete))
        output.close()


def test_encoding(random: np.random.Generator) -> None:
    ids = random.integers(0, 128, (4000, 48, 8)).astype(np.uint8)
    record = Record.from_numpy(ids, num_experts=128, layer_ids=range(48))
    options = routecap.EncodeOptions(zstd_level=19)

    def encode() -> None:
        began = time.perf_counter()
        while time.perf_counter() - began < 0.3:
            record.encode(Format.FRAME, options)

    assert is_free(ticks_during(encode))


def test_a_wait_is_interrupted_by_a_signal(run_python) -> None:
    script = """
import signal, time
from scene import Scene
scene = Scene()
output = scene.end([1])
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.2)
began = time.monotonic()
try:
    output.wait()
except KeyboardInterrupt:
    assert time.monotonic() - began < 2
    print("interrupted")
output.close(); scene.close()
"""
    assert run_python(script).stdout == "interrupted\n"


def test_layers_readers_and_the_engine_side_by_side() -> None:
    """Captures of every layer on a thread of its own, two readers, and forwards; every record that is read is whole."""
    with Scene(finalize_mode=FinalizeMode.OWN_THREAD, busy_policy=routecap.BusyPolicy.WAIT, busy_timeout=10.0) as scene:
        layers = len(scene.taps)
        begin, end = threading.Barrier(layers + 1), threading.Barrier(layers + 1)
        stop, odd = threading.Event(), []
        number = [0]

        def capture(column: int) -> None:
            while True:
                begin.wait()
                if stop.is_set():
                    return
                # Row i of forward n holds n + column + i.
                ids = (number[0] + column + np.arange(4)[:, None] + 50 * np.arange(4)) % 256
                scene.taps[column].capture(ids.astype(np.int32))
                end.wait()

        def read() -> None:
            while not stop.is_set():
                with scene.capturer.read([1, 2, 3, 4], 5, timeout=5.0) as record:
                    for row in range(4):
                        if record.valid[row]:
                            first = int(record.ids[row, 0, 0])
                            want = (first + np.arange(layers)[:, None] + 50 * np.arange(4)) % 256
                            if not np.array_equal(record.ids[row], want):
                                odd.append(record.ids[row].tolist())

        threads = [threading.Thread(target=capture, args=(column,)) for column in range(layers)] + [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number[0] in range(300):
            begin.wait()
            end.wait()
            scene.capturer.end_forward(4, [1, 2, 3, 4]).close()
        stop.set()
        begin.wait()
        for thread in threads:
            thread.join()
        assert odd == []
        # Closed outputs are detached and stored; after the last one nothing is pending.
        scene.capturer.read([1], 2, after_sequence=300, timeout=10.0).close()
        assert scene.capturer.stats().rows_stored == 1200
