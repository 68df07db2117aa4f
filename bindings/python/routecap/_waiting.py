# SPDX-License-Identifier: Apache-2.0
"""Waits that a signal can interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable

from routecap._arguments import seconds
from routecap._enums import Code

# A call that waits in C cannot be interrupted: it waits in slices this long, and Python looks at its signals between them.
SLICE_NS = 50_000_000


def wait(call: Callable[[int], int], again: Code, timeout: float | None) -> int:
    """Repeats a call that waits up to so many nanoseconds while it answers `again`; gives its last answer.

    It is made once at least, without waiting, so that what is there is found whatever the timeout says.
    """
    longest = seconds(timeout, "timeout")
    status = call(0)
    if status != again or longest == 0:
        return status
    end = None if longest is None else time.monotonic_ns() + round(longest * 1e9)
    while status == again:
        left = SLICE_NS if end is None else min(SLICE_NS, end - time.monotonic_ns())
        if left <= 0:
            return status
        status = call(left)
    return status
