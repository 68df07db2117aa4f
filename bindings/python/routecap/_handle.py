# SPDX-License-Identifier: Apache-2.0
"""Handles of the library, destroyed once: when they were closed and no call uses them."""

from __future__ import annotations

import atexit
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from routecap._errors import closed_error

# One element for each handle that is not destroyed.
_live: list[None] = []
# Has an element when the process ends.
_exiting: list[None] = []
# Forks between the process that loaded this module and this one.
_generation = 0


class CallLock:
    """One call at a time; a signal's handler or a finalizer may call in between. In a forked child nobody holds it, whoever did in the parent."""

    __slots__ = ("_generation", "_lock")

    def __init__(self) -> None:
        self._generation = _generation
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if self._generation != _generation:
            self._generation = _generation
            self._lock = threading.RLock()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Handle:
    """A handle and the calls that are using it. It is an object of its own, so that it outlives the public object in front of it.

    Calls in progress are elements of a list, because appending and popping are atomic with and without a GIL, and need no lock that a forked child
    could inherit locked. Invariant: a call that saw `closed` unset after it appended keeps the handle alive until it has popped.
    """

    __slots__ = ("__weakref__", "_alive", "_destroy", "address", "calls", "closed", "destroying", "parent", "what")

    def __init__(
        self, address: int, what: str, destroy: Callable[[int], object], parent: Handle | None = None, *, has_children: bool = False
    ) -> None:
        self.address = address
        self.what = what
        self.closed = False
        self.calls: list[None] = []
        # Of an output: its capturer's handle. A capturer is not destroyed while a call on one of its outputs is in progress.
        self.parent = parent
        # Of a capturer: held while it is destroyed, and while an output is destroyed after the capturer was closed. A collected output may be
        # destroyed by the thread that holds it.
        self.destroying = CallLock() if has_children else None
        self._destroy = destroy
        # Popped by whoever destroys.
        self._alive = [None]
        _live.append(None)

    def __enter__(self) -> int:
        """Begins a call: the address is good until the block ends."""
        self.calls.append(None)
        if self.closed:
            self.leave()
            raise closed_error(self.what)
        parent = self.parent
        if parent is not None:
            parent.calls.append(None)
            if parent.closed:
                parent.leave()
                self.leave()
                raise closed_error(parent.what)
        return self.address

    def __exit__(self, *_: object) -> None:
        parent = self.parent
        if parent is not None:
            parent.calls.pop()
            if parent.closed and not parent.calls:
                parent.end()
        self.calls.pop()
        if self.closed and not self.calls:
            self.end()

    def leave(self) -> None:
        self.calls.pop()
        if self.closed and not self.calls:
            self.end()

    def close(self) -> None:
        self.closed = True
        if not self.calls:
            self.end()

    def end(self) -> None:
        try:
            self._alive.pop()
        except IndexError:
            return
        _live.pop()
        if self.parent is not None and self.parent._destroy_within(self):
            return
        lock = self.destroying if self.parent is None else self.parent.destroying
        if lock is None:
            self._destroy(self.address)
            return
        with lock:
            self._destroy(self.address)

    def _destroy_within(self, child: Handle) -> bool:
        self.calls.append(None)
        try:
            if self.closed:
                return False
            child._destroy(child.address)
            return True
        finally:
            self.leave()

    @property
    def alive(self) -> bool:
        return bool(self._alive)


class Collected(Handle):
    """A handle that is closed with the last object that refers to it, at the latest; at the end of the process no more."""

    __slots__ = ()

    def __del__(self, exiting: list[None] = _exiting) -> None:
        if not exiting and not self.closed:
            self.close()


class Owned:
    """A handle without calls of its own kind of danger: it is destroyed with the last object that refers to it."""

    __slots__ = ("__weakref__", "_destroy", "address")

    def __init__(self, address: int, destroy: Callable[[int], object]) -> None:
        self.address = address
        self._destroy = destroy
        _live.append(None)

    def __del__(self, live: list[None] = _live) -> None:
        self._destroy(self.address)
        live.pop()


def live_handles() -> int:
    """Capturers, outputs, records and backends of this process that are neither closed nor collected: a leak shows here."""
    return len(_live)


def close_when_collected(owner: object, handle: Handle) -> weakref.finalize[Any, Any]:
    """The safety net under a capturer that nobody closes, whose handle others refer to as well: with a warning, or at the end of the process."""
    return weakref.finalize(owner, _collected, handle)


def _collected(handle: Handle) -> None:
    if not _exiting and handle.alive:
        warnings.warn(f"a {handle.what} was never closed", ResourceWarning, source=None, stacklevel=2)
    handle.close()


def _set_exiting() -> None:
    _exiting.append(None)


# The first finalizer registers the function that runs them all at exit, and what is registered later runs earlier.
weakref.finalize(Handle, int)
atexit.register(_set_exiting)


def _forked() -> None:
    global _generation
    _generation += 1


os.register_at_fork(after_in_child=_forked)
