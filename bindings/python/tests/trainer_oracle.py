# SPDX-License-Identifier: Apache-2.0
"""What trainers do by hand with numpy, token by token: the oracle of the trainer's tests."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st

from routecap import Record, TapFlags
from routecap.trainer import Partition, Split


# Machines that test are busy ones, and a test run should find the same tomorrow.
searched = settings(
    max_examples=int(os.environ.get("ROUTECAP_PYTHON_EXAMPLES", "60")), derandomize="ROUTECAP_PYTHON_EXAMPLES" not in os.environ, deadline=None
)


def indices(partition: Partition, offsets: Any) -> npt.NDArray[np.int64]:
    """A rank's tokens: chunks of numpy's, picked and joined, then the slice of sequence parallelism."""
    chunks = []
    for first, end in zip(offsets[:-1], offsets[1:]):
        positions = np.arange(first, end)
        if partition.split is Split.ZIGZAG and partition.cp_size > 1:
            pairs = positions.reshape(2 * partition.cp_size, -1)
            chunks += [pairs[partition.cp_rank], pairs[2 * partition.cp_size - 1 - partition.cp_rank]]
        else:
            chunks.append(positions.reshape(partition.cp_size, -1)[partition.cp_rank])
    joined = np.concatenate([*chunks, np.empty(0, np.int64)]).astype(np.int64)
    return joined.reshape(partition.sp_size, -1)[partition.sp_rank]


def ranks(partition: Partition) -> list[Partition]:
    """All ranks, in the order of gathers."""
    return [
        Partition(partition.split, partition.cp_size, cp_rank, partition.sp_size, sp_rank)
        for cp_rank in range(partition.cp_size)
        for sp_rank in range(partition.sp_size)
    ]


partitions = st.builds(
    Partition,
    split=st.sampled_from(list(Split)),
    cp_size=st.integers(1, 5),
    cp_rank=st.just(0),
    sp_size=st.integers(1, 4),
    sp_rank=st.just(0),
)


class Sample:
    """A record and what it holds: ids [rows, L, K], and which cells."""

    def __init__(self, ids: npt.NDArray[Any], valid: npt.NDArray[np.bool_], layers: list[int], num_experts: int, start: int, length: int) -> None:
        self.ids = ids
        self.valid = valid
        self.layers = layers
        self.num_experts = num_experts
        self.start = start
        self.length = length
        self.record = Record.from_numpy(
            ids,
            num_experts=num_experts,
            layer_ids=np.array(layers, np.int32),
            start=start,
            layer_flags=[TapFlags.PARTIAL] * len(layers),
            cell_valid=valid,
        )

    def cell(self, position: int, layer: int) -> list[int] | None:
        """The engine's ids, None without."""
        row, column = position - self.start, self.layers.index(layer)
        if not 0 <= row < len(self.ids) or not self.valid[row, column]:
            return None
        return [int(number) for number in self.ids[row, column]]


@st.composite
def samples(draw: Any, *, num_experts: int, top_k: int, layers: list[int], most: int = 24, whole: bool = False) -> Sample:
    """Samples of one shape, of any length, from any token on, with holes; `whole`: from token 0 to the last or the one before it."""
    length = draw(st.integers(1 if whole else 0, most))
    start = 0 if whole else draw(st.integers(0, length))
    rows = length - draw(st.integers(0, 1)) if whole else draw(st.integers(0, length - start))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = np.uint8 if num_experts <= 256 else np.uint16 if num_experts <= 65536 else np.int32
    ids = np.argsort(random.random((rows, len(layers), min(num_experts, 600))), axis=2)[:, :, :top_k].astype(dtype)
    holes = draw(st.sampled_from([0.0, 0.3, 1.0]))
    valid = random.random((rows, len(layers))) >= holes
    return Sample(ids, valid, layers, num_experts, start, length)


class Spread:
    """Ids of rows without ids, counted for each layer."""

    def __init__(self, num_experts: int, top_k: int, first: int = 0) -> None:
        self.num_experts = num_experts
        self.top_k = top_k
        self.number = first

    def next(self) -> list[int]:
        found = [(self.number + column * self.num_experts // self.top_k) % self.num_experts for column in range(self.top_k)]
        self.number += 1
        return found
