# SPDX-License-Identifier: Apache-2.0
"""Captures inside graphs that torch compiles. Needs torch.

A compiled graph keeps only what has an effect that it knows of, and may change the order of the rest. The operator `torch.ops.routecap.capture`
therefore takes a tensor that stands for the device cache of a capturer and says that it writes to it, so that captures stay, and stay in order. It
names the tap by a number, because a graph cannot hold an object:

    class Layer(torch.nn.Module):
        def __init__(self, tap):
            self.tap = routecap.torch.tap_number(tap)
            self.register_buffer("cache", routecap.torch.cache_of(tap.capturer), persistent=False)

        def forward(self, hidden):
            weights, ids = torch.topk(self.router(hidden), K)
            torch.ops.routecap.capture(self.cache, ids, self.tap)
"""

from __future__ import annotations

import itertools
import threading
import weakref

import torch

from routecap._arguments import instance, shown
from routecap._capturer import Capturer
from routecap._errors import NotFoundError
from routecap._tap import Tap

# Taps of a capturer, more than any model has layers.
_TAPS = 1 << 20

_lock = threading.RLock()
_numbers = itertools.count(1)
_capturers: weakref.WeakKeyDictionary[Capturer, int] = weakref.WeakKeyDictionary()
_caches: weakref.WeakKeyDictionary[Capturer, dict[torch.device, torch.Tensor]] = weakref.WeakKeyDictionary()
_taps: weakref.WeakValueDictionary[int, Tap] = weakref.WeakValueDictionary()


def cache_of(capturer: Capturer, device: torch.device | str | None = None) -> torch.Tensor:
    """The tensor that stands for a capturer's device cache in graphs: int64 [1], one for each device, without meaning of its own.

    Args:
        capturer: whose cache.
        device: where the ids of the graph are; None = the capturer's device.

    """
    instance(capturer, "capturer", Capturer)
    try:
        place = torch.device(device if device is not None else "%s:%d" % (capturer._device or ("cpu", 0)))
    except Exception:
        raise TypeError(f"device is {shown(device)}, which names none of torch's") from None
    with _lock:
        caches = _caches.setdefault(capturer, {})
        if place not in caches:
            caches[place] = torch.zeros(1, dtype=torch.int64, device=place)
        return caches[place]


def tap_number(tap: Tap) -> int:
    """A tap's number in this process, for `torch.ops.routecap.capture`; taps of two capturers have different ones."""
    instance(tap, "tap", Tap)
    with _lock:
        first = _capturers.get(tap.capturer)
        if first is None:
            first = _capturers[tap.capturer] = next(_numbers)
        number = first * _TAPS + tap.id
        if number not in _taps:
            _taps[number] = tap
            # The number is good as long as the capturer, whoever keeps the tap.
            tap.capturer._kept.append(tap)
    return number


def _capture(
    cache: torch.Tensor,
    ids: torch.Tensor,
    tap: int,
    weights: torch.Tensor | None = None,
    row_ids: torch.Tensor | None = None,
    first_row: int = 0,
) -> None:
    found = _taps.get(tap)
    if found is None:
        raise NotFoundError(f"tap number {tap} is none of this process, or its capturer is gone")
    found.capture(ids, weights, row_ids=row_ids, first_row=first_row)


def _capture_nothing(*_: object, **__: object) -> None:
    """What tracing runs: it has no result."""


_library = torch.library.Library("routecap", "FRAGMENT")
_library.define("capture(Tensor(a!) cache, Tensor ids, int tap, Tensor? weights=None, Tensor? row_ids=None, int first_row=0) -> ()")
_library.impl("capture", _capture, "CompositeExplicitAutograd")
torch.library.register_fake("routecap::capture", _capture_nothing, lib=_library)

__all__ = ["cache_of", "tap_number"]
