# SPDX-License-Identifier: Apache-2.0
"""What a call of the Python package costs: calls.py [--calls N] prints nanoseconds of processor time of each, the smallest of five rounds.

Run it with PYTHONPATH=bindings/python, with numpy, and with torch for a tensor's numbers. `tap.capture(tensor)` includes all checks and the look at
the stream.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import routecap
from routecap import Array

try:
    import torch
except ImportError:
    torch = None

TOP_K, LAYERS, SLOTS = 8, [3, 4], 4096


def best(call: Callable[[], object], calls: int, rounds: int = 5) -> float:
    """Nanoseconds of processor time of one call, the loop's own left out."""

    def loop(work: Callable[[], object]) -> float:
        began = time.thread_time_ns()
        for _ in range(calls):
            work()
        return (time.thread_time_ns() - began) / calls

    nothing = min(loop(lambda: None) for _ in range(rounds))
    return min(loop(call) for _ in range(rounds)) - nothing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000, help="calls of a round (20000)")
    calls = parser.parse_args().calls

    config = routecap.Config(num_experts=256, top_k=TOP_K, layer_ids=LAYERS, chunked_prefill_size=64, num_slots=SLOTS)
    with routecap.Capturer(config) as capturer:
        target, draft = capturer.add_model(routecap.Role.TARGET, "target"), capturer.add_model(routecap.Role.DRAFT, "draft")
        taps = [target.add_tap(layer) for layer in LAYERS]
        denied = draft.add_tap(LAYERS[0])
        capturer.seal()
        ids = np.tile(np.arange(TOP_K, dtype=np.int32), (1, 1))
        array, slots = Array.of(ids), np.array([5])

        def forward() -> None:
            for tap in taps:
                tap.capture(array)
            with capturer.end_forward(1, slots) as output:
                output.copy_to_host()
                output.finalize()

        forward()
        record = capturer.read(slots, 2)
        assert record.ids.tolist() == [[list(range(TOP_K))] * len(LAYERS)]

        measured: list[tuple[str, Callable[[], object], int]] = []
        if torch is not None:
            tensor, wide = torch.from_numpy(ids), torch.zeros(4, 2 * TOP_K, dtype=torch.int64)[:, :TOP_K]
            measured.append(("tap.capture(tensor), one row", lambda: taps[0].capture(tensor), calls))
            measured.append(("tap.capture(tensor), rows apart", lambda: taps[0].capture(wide), calls))
        measured += [
            ("tap.capture(numpy array), one row", lambda: taps[0].capture(ids), calls),
            ("tap.capture(Array), one row", lambda: taps[0].capture(array), calls),
            ("tap.capture of a draft", lambda: denied.capture(None), calls),
            ("capturer.discard_forward()", capturer.discard_forward, calls),
            ("a forward of 2 layers, to the store", forward, max(1, calls // 10)),
            ("capturer.read, one row", lambda: capturer.read(slots, 2), calls),
            ("record.ids", lambda: record.ids, calls),
            ("np.from_dlpack(record)", lambda: np.from_dlpack(record), calls),
        ]
        for name, call, count in measured:
            print(f"{name:40} {best(call, count):8.0f} ns")
            if name.startswith("tap.capture"):
                capturer.discard_forward()


if __name__ == "__main__":
    main()
