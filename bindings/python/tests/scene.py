# SPDX-License-Identifier: Apache-2.0
"""A sealed capturer with a target and a draft whose layer numbers collide, and an oracle in numpy of what each slot holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import routecap

DEFAULTS: dict[str, Any] = {
    "num_experts": 256,
    "top_k": 4,
    "layer_ids": (3, 4, 9),
    "chunked_prefill_size": 64,
    "num_slots": 1024,
    "pipeline_depth": 4,
}


class Scene:
    def __init__(self, *, seed: int = 1, backend: routecap.Backend | None = None, **changes: Any) -> None:
        self.config = routecap.Config(**{**DEFAULTS, **changes})
        self.capturer = routecap.Capturer(self.config, backend=backend)
        self.random = np.random.default_rng(seed)
        self.rows: dict[int, npt.NDArray[np.int32]] = {}
        target = self.capturer.add_model(routecap.Role.TARGET, "target")
        draft = self.capturer.add_model(routecap.Role.DRAFT, "draft")
        self.taps = [target.add_tap(layer) for layer in self.config.layer_ids]
        self.drafts = [draft.add_tap(layer) for layer in self.config.layer_ids]
        self.capturer.seal()

    def ids(self, tokens: int) -> npt.NDArray[np.int32]:
        """Random rows [tokens, K] without an id twice in a row."""
        shuffled = [self.random.permutation(self.config.num_experts)[: self.config.top_k] for _ in range(tokens)]
        return np.array(shuffled, np.int32).reshape(tokens, self.config.top_k)

    def capture(self, tokens: int) -> npt.NDArray[np.int32]:
        """Hands a forward's rows over, the draft's in between: [tokens, L, K]."""
        columns = []
        for tap, draft in zip(self.taps, self.drafts):
            ids = self.ids(tokens)
            tap.capture(ids)
            draft.capture(self.ids(tokens))
            columns.append(ids)
        return np.stack(columns, axis=1)

    def end(self, slots: list[int]) -> routecap.Output:
        """A forward of all rows on its way: the oracle has them from now on."""
        rows = self.capture(len(slots))
        output = self.capturer.end_forward(len(slots), slots)
        self.rows.update(zip(slots, rows))
        return output

    def forward(self, slots: list[int]) -> routecap.Summary:
        """Captures, ends and stores a forward."""
        with self.end(slots) as output:
            output.copy_to_host()
            output.wait(10.0)
            return output.finalize()

    def expect(self, record: routecap.Record, slots: list[int]) -> None:
        """Compares a record with the oracle's rows of slots."""
        valid = np.array([slot in self.rows for slot in slots], np.bool_)
        np.testing.assert_array_equal(record.valid, valid)
        for row, slot in enumerate(slots):
            if valid[row]:
                np.testing.assert_array_equal(record.ids[row], self.rows[slot])
            else:
                assert (record.ids[row].view(np.uint8) == 0xFF).all()

    def close(self) -> None:
        self.capturer.close()

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
