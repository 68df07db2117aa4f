# SPDX-License-Identifier: Apache-2.0
"""Awaiting outputs on the capturer's completion descriptor: one reader for each event loop, no thread and no task for each output."""

from __future__ import annotations

import asyncio
import os
import weakref
from typing import TYPE_CHECKING

from routecap._errors import ClosedError, InvalidStateError, RoutecapError, TimedOutError, closed_error
from routecap._handle import CallLock
from routecap._structs import Summary

if TYPE_CHECKING:
    from routecap._capturer import Capturer
    from routecap._output import Output


class Completions:
    """A capturer's side of it. Whichever loop reads the descriptor takes the completions for all of them."""

    def __init__(self, capturer: Capturer) -> None:
        self._capturer = weakref.ref(capturer)
        self._lock = CallLock()
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}
        self._readers: list[tuple[weakref.ref[asyncio.AbstractEventLoop], int]] = []
        self.started = False

    async def summary_of(self, output: Output) -> Summary:
        if not output.capturer._own_thread:
            raise InvalidStateError("an output is awaited whose capturer leaves finalizing to the caller; FinalizeMode.OWN_THREAD does not")
        if not output.ready():
            await self._settled(output)
        return output.finalize()

    async def _settled(self, output: Output) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._lock:
            self._read_in(loop, output.capturer)
            self._waiting.setdefault(output.sequence, []).append(future)
        try:
            # What settled before the future stood in the list is seen here, and what settles from now on finds it there.
            if not output.ready():
                await future
        finally:
            with self._lock:
                waiting = self._waiting.get(output.sequence, [])
                if future in waiting:
                    waiting.remove(future)
                if not waiting:
                    self._waiting.pop(output.sequence, None)

    def _read_in(self, loop: asyncio.AbstractEventLoop, capturer: Capturer) -> None:
        """Sees to it that a loop reads the descriptor."""
        kept = []
        for known, descriptor in self._readers:
            reading = known()
            if reading is None or reading.is_closed():
                os.close(descriptor)
            else:
                kept.append((known, descriptor))
        self._readers = kept
        if any(known() is loop for known, _ in kept):
            return
        descriptor = capturer.completion_fd()
        try:
            loop.add_reader(descriptor, self._take, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if not self.started:
            self.started = True
            # A capturer that is dropped ends without a call of close.
            weakref.finalize(capturer, self.close).atexit = False
        self._readers.append((weakref.ref(loop), descriptor))

    def _take(self, descriptor: int) -> None:
        """Takes what has settled. It is in the library's list before the descriptor says so."""
        capturer = self._capturer()
        if capturer is None:
            return
        try:
            os.read(descriptor, 8)
        except BlockingIOError:
            pass
        try:
            while True:
                sequence = capturer._next_completed(0.0).sequence
                with self._lock:
                    futures = self._waiting.pop(sequence, [])
                for future in futures:
                    _tell(future, None)
        except TimedOutError:
            return
        except RoutecapError as error:
            self._end(error)

    def _end(self, error: RoutecapError) -> None:
        with self._lock:
            futures = [future for waiting in self._waiting.values() for future in waiting]
            self._waiting.clear()
        for future in futures:
            _tell(future, error)

    def close(self) -> None:
        """The capturer is closed: nobody waits any more, and no loop reads."""
        with self._lock:
            readers, self._readers = self._readers, []
        for known, descriptor in readers:
            loop = known()
            if loop is None or loop.is_closed():
                os.close(descriptor)
                continue
            try:
                loop.call_soon_threadsafe(_forget, loop, descriptor)
            except RuntimeError:
                # It was closed in between.
                os.close(descriptor)
        self._end(closed_error("capturer of the output"))


def _forget(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    loop.remove_reader(descriptor)
    os.close(descriptor)


def _tell(future: asyncio.Future[None], error: RoutecapError | None) -> None:
    try:
        future.get_loop().call_soon_threadsafe(_set, future, error)
    except RuntimeError:
        # Its loop was closed, and nobody is left to be told.
        pass


def _set(future: asyncio.Future[None], error: RoutecapError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


__all__ = ["ClosedError", "Completions"]
