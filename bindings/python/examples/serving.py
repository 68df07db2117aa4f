# SPDX-License-Identifier: Apache-2.0
"""A serving process in small: serving.py FILE captures a request with a draft model present, finalizes in the background, and writes the request's
rows as a frame. It prints what the router chose, so that whoever reads the file can compare.
"""

from __future__ import annotations

import asyncio
import sys

import numpy as np
import numpy.typing as npt
import routecap

LAYERS = [3, 4, 9]
TOP_K = 4


def route(layer: int, tokens: range) -> npt.NDArray[np.int32]:
    """Stands in for a router: K of 64 experts for each token in a layer, [tokens, K]."""
    chosen = 17 * layer + 5 * np.array(tokens)[:, None] + 11 * np.arange(TOP_K)
    return (chosen % 64).astype(np.int32)


async def settle(output: routecap.Output) -> int:
    """The capturer's own thread takes the rows to the store, away from the engine; here they are only waited for."""
    with output:
        summary = await output
    if summary.rows_bad:
        raise RuntimeError(f"forward {summary.sequence}: {summary.rows_bad} bad rows, the first {summary.first_bad_fault.name}")
    return summary.rows_stored


async def serve(path: str) -> None:
    # At start-up: a target, and a draft whose layer numbers collide with the target's.
    config = routecap.Config(
        num_experts=64,
        top_k=TOP_K,
        layer_ids=LAYERS,
        chunked_prefill_size=16,
        num_slots=256,
        finalize_mode=routecap.FinalizeMode.OWN_THREAD,
        busy_policy=routecap.BusyPolicy.WAIT,
        busy_timeout=10.0,
    )
    with routecap.Capturer(config) as capturer:
        target = capturer.add_model(routecap.Role.TARGET, "target")
        draft = capturer.add_model(routecap.Role.DRAFT, "draft")
        taps = [target.add_tap(layer) for layer in LAYERS]
        drafts = [draft.add_tap(layer) for layer in LAYERS]
        capturer.seal()

        # The engine: a prompt of 6 tokens in one forward, then one token at a time. Token i has KV slot 100 + 3i.
        prompt, tokens = 6, 12
        slots = 100 + 3 * np.arange(tokens - 1)
        settling, last, first = [], 0, 0
        while first < tokens - 1:
            rows = range(first, first + (prompt if first == 0 else 1))
            for layer, tap, draft_tap in zip(LAYERS, taps, drafts):
                tap.capture(route(layer, rows))
                # The draft runs too; its calls are counted and write nothing.
                draft_tap.capture(np.zeros((1, TOP_K), np.int32))
            output = capturer.end_forward(len(rows), slots[first : rows.stop])
            last = output.sequence
            settling.append(asyncio.create_task(settle(output)))
            await asyncio.sleep(0)
            first = rows.stop

        # The request is over: its rows, by its slots. The last token was never an input and has none.
        stored = sum(await asyncio.gather(*settling))
        assert stored == tokens - 1
        with capturer.read(slots, tokens, after_sequence=last) as record, open(path, "wb") as file:
            record.write_to(file)
    for token in range(tokens - 1):
        for layer in LAYERS:
            experts = " ".join(map(str, route(layer, range(token, token + 1))[0]))
            print(f"token {token}, layer {layer}: [{experts}]")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: serving.py FILE")
    asyncio.run(serve(sys.argv[1]))
