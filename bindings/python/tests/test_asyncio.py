# SPDX-License-Identifier: Apache-2.0
"""Awaiting outputs: on the completion descriptor, without a thread for each."""

from __future__ import annotations

import asyncio
import os
import select
import threading
import time

import pytest

import routecap
from routecap import Acceptance, BusyPolicy, Code, FinalizeMode
from scene import Scene


def own_thread(**changes: object) -> Scene:
    return Scene(finalize_mode=FinalizeMode.OWN_THREAD, busy_policy=BusyPolicy.WAIT, busy_timeout=10.0, **changes)


def threads_of_the_process() -> int:
    return len(os.listdir("/proc/self/task"))


def test_outputs_are_awaited() -> None:
    async def serve(scene: Scene) -> list[routecap.Summary]:
        tasks = []
        for slot in range(100):
            output = scene.end([slot])

            async def settle(output: routecap.Output) -> routecap.Summary:
                with output:
                    return await output

            tasks.append(asyncio.ensure_future(settle(output)))
            await asyncio.sleep(0)
        return await asyncio.gather(*tasks)

    with own_thread(pipeline_depth=64) as scene:
        before = threads_of_the_process()
        summaries = asyncio.run(serve(scene), debug=True)
        # The capturer's own thread and no other.
        assert threads_of_the_process() <= before + 1
        assert [summary.sequence for summary in summaries] == list(range(1, 101))
        assert all(summary.rows_stored == 1 for summary in summaries)
        with scene.capturer.read(list(range(100)), 101) as record:
            scene.expect(record, list(range(100)))


def test_many_that_wait_at_once_take_no_thread_each() -> None:
    async def wait(scene: Scene, outputs: list[routecap.Output]) -> int:
        tasks = [asyncio.ensure_future(_summary(output)) for output in outputs]
        await asyncio.sleep(0.05)
        during = threads_of_the_process()
        assert not any(task.done() for task in tasks)
        for output in outputs:
            output.accept([0])
        assert [summary.rows_stored for summary in await asyncio.gather(*tasks)] == [1] * len(outputs)
        # Again, when all is settled.
        assert (await outputs[0]).rows_stored == 1
        with pytest.raises(routecap.InvalidStateError, match="awaited"):
            scene.capturer.next_completed()
        return during

    with own_thread(pipeline_depth=64) as scene:
        outputs = []
        for slot in range(50):
            scene.capture(1)
            outputs.append(scene.capturer.end_forward(1, [slot], acceptance=Acceptance.LATER))
        before = threads_of_the_process()
        assert asyncio.run(wait(scene, outputs)) <= before
        for output in outputs:
            output.close()


async def _summary(output: routecap.Output) -> routecap.Summary:
    return await output


def test_the_caller_who_finalizes_cannot_await(scene: Scene) -> None:
    async def wait(output: routecap.Output) -> None:
        with pytest.raises(routecap.InvalidStateError, match="OWN_THREAD"):
            await output

    with scene.end([1]) as output:
        output.copy_to_host()
        asyncio.run(wait(output))


def test_a_cancelled_wait_leaves_the_output() -> None:
    async def wait(scene: Scene) -> None:
        scene.capture(1)
        output = scene.capturer.end_forward(1, [1], acceptance=Acceptance.LATER)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_summary(output), 0.02)
        # Others wait for it still.
        tasks = [asyncio.ensure_future(_summary(output)) for _ in range(2)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        output.accept([0])
        assert (await tasks[1]).rows_stored == 1
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        output.close()
        assert scene.capturer._completions._waiting == {}

    with own_thread() as scene:
        asyncio.run(wait(scene))


def test_closing_the_capturer_ends_the_wait() -> None:
    async def wait(scene: Scene) -> None:
        scene.capture(1)
        output = scene.capturer.end_forward(1, [1], acceptance=Acceptance.LATER)
        task = asyncio.ensure_future(_summary(output))
        await asyncio.sleep(0.01)
        scene.close()
        with pytest.raises(routecap.ClosedError, match="the capturer of the output was closed"):
            await task
        output.close()
        await asyncio.sleep(0)

    descriptors = len(os.listdir("/proc/self/fd"))
    with own_thread() as scene:
        asyncio.run(wait(scene))
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_two_loops_share_a_capturer() -> None:
    """Whichever reads the descriptor tells the other's."""
    with own_thread(pipeline_depth=64) as scene:
        outputs = []
        for slot in range(40):
            scene.capture(1)
            outputs.append(scene.capturer.end_forward(1, [slot], acceptance=Acceptance.LATER))
        answers: dict[int, list[int]] = {}

        async def gather(number: int) -> None:
            answers[number] = [summary.sequence for summary in await asyncio.gather(*map(_summary, outputs[number::2]))]

        threads = [threading.Thread(target=lambda number=number: asyncio.run(gather(number))) for number in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        for output in outputs:
            output.accept([0])
        for thread in threads:
            thread.join(20)
        assert answers == {0: list(range(1, 41, 2)), 1: list(range(2, 41, 2))}
        for output in outputs:
            output.close()


def test_one_loop_after_another() -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    with own_thread() as scene:
        for slot in range(5):
            with scene.end([slot]) as output:
                assert asyncio.run(_summary(output)).rows_stored == 1
        # Those of loops that are gone are closed when the next one comes.
        assert len(os.listdir("/proc/self/fd")) <= descriptors + 4
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_completions_without_a_loop() -> None:
    with own_thread() as scene:
        descriptor = scene.capturer.completion_fd()
        try:
            with scene.end([1]), scene.end([2]):
                assert [scene.capturer.next_completed(10.0) for _ in range(2)] == [(1, Code.OK), (2, Code.OK)]
                assert select.select([descriptor], [], [], 10)[0] == [descriptor]
                assert int.from_bytes(os.read(descriptor, 8), "little") == 2
            with pytest.raises(routecap.TimedOutError):
                scene.capturer.next_completed()
        finally:
            os.close(descriptor)
