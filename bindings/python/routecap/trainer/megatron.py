# SPDX-License-Identifier: Apache-2.0
"""Megatron-Core: what `RouterReplay.set_replay_data` takes, a list with an array for every local router.

Every router of the rank wants int64 [local tokens, K], every row with K distinct ids. Routers stand in the order in which the rank made them: that of
its layers (`routecap.trainer.stage_layers`), MoE layers alone, without those of MTP.

    replay = megatron.replay_data(records, lengths, offsets, partition, layers=layers)
    RouterReplay.set_replay_data([torch.from_numpy(ids) for ids in replay.data])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routecap._arguments import instance, integer
from routecap._record import Record
from routecap.trainer import _host as host
from routecap.trainer._fill import common_shape, fill, fill_pack, require_records
from routecap.trainer._pack import pack_offsets
from routecap.trainer._partition import Partition


class Replay(NamedTuple):
    """Replay of one micro-batch on one rank."""

    data: list[host.Integers]
    """int64 [local tokens, K] for each of the rank's routers."""
    mask: npt.NDArray[np.bool_]
    """bool [local tokens]: whether the ids are the engine's; the others are fill, which load-balancing terms should not count."""


def replay_data(
    records: Sequence[Record | None],
    lengths: host.IntegersLike,
    offsets: host.IntegersLike,
    partition: Partition = Partition(),
    *,
    layers: host.IntegersLike,
) -> Replay:
    """For packed sequences (THD).

    Args:
        records: one for every sequence, None where there is none.
        lengths: tokens of every sequence.
        offsets: where each begins in the pack, and last the pack's tokens: `cu_seqlens` with padding.
        partition: context parallelism, which is a zigzag in Megatron, and the sequence parallelism of tensor parallelism.
        layers: model layer numbers of the rank's routers, in their order.

    Raises:
        ValueError: a row of a record that names an expert twice, which Megatron's dispatcher cannot take; it is named by position and layer.

    """
    made = fill_pack(records, lengths, offsets, partition, layers=layers, layers_first=True)
    _require_distinct(made.ids, made.cell_mask, layers, lambda row: f"token {made.indices[row]} of the pack")
    return Replay(list(made.ids), made.mask)


def replay_batch(
    records: Sequence[Record | None],
    lengths: host.IntegersLike,
    seq_length: int,
    partition: Partition = Partition(),
    *,
    layers: host.IntegersLike,
) -> Replay:
    """For a batch of sequences that are all padded to `seq_length`, whose tokens a router sees position by position (SBHD).

    Row i * batch + b of a router's array is the i-th of the rank's positions in sequence b.

    Args:
        records: one for every sequence of the batch, None where there is none.
        lengths: tokens of every sequence.
        seq_length: tokens of each, with padding.
        partition: as for `replay_data`; every sequence is dealt out by itself.
        layers: model layer numbers of the rank's routers, in their order.

    Raises:
        ValueError: as for `replay_data`.

    """
    require_records(records)
    instance(partition, "partition", Partition)
    sequences, seq_length = host.integers(lengths, "lengths"), integer(seq_length, "seq_length", 0)
    batch = len(sequences)
    if len(records) != batch:
        raise ValueError(f"records: {len(records)}, and {batch} lengths")
    if batch > 0 and int(sequences.max()) > seq_length:
        raise ValueError(f"lengths: a sequence has {sequences.max()} tokens, seq_length is {seq_length}")
    positions = partition.indices(pack_offsets([seq_length]))
    shape = common_shape(records)
    data = host.empty((len(host.integers(layers, "layers", np.int32)), len(positions), batch, shape.top_k), np.int64, "seq_length")
    cells = np.empty(data.shape[:3], np.bool_)
    mask = np.empty((len(positions), batch), np.bool_)
    filled = 0
    with shape.slice(shape.start, shape.start) as nothing:
        for place, record in enumerate(records):
            length = int(sequences[place])
            part = fill(nothing if record is None else record, length, positions=positions, layers=layers, layers_first=True, first_fill=filled)
            data[:, :, place], cells[:, :, place], mask[:, place] = part.ids, part.cell_mask, part.mask
            filled += part.filled
    local = len(positions) * batch
    ids = data.reshape(len(data), local, shape.top_k)
    _require_distinct(ids, cells.reshape(len(data), local), layers, lambda row: f"token {positions[row // batch]} of sequence {row % batch}")
    return Replay(list(ids), mask.reshape(local))


def _require_distinct(ids: host.Array, cells: npt.NDArray[np.bool_], layers: host.IntegersLike, name: Callable[[int], str]) -> None:
    """Ids [routers, tokens, K]. What was filled is distinct as it is."""
    for router, layer in enumerate(host.integers(layers, "layers", np.int32)):
        rows = np.sort(ids[router], axis=1)
        twice = np.flatnonzero((rows[:, 1:] == rows[:, :-1]).any(axis=1) & cells[router])
        if len(twice) > 0:
            row = int(twice[0])
            raise ValueError(f"{name(row)}: layer {layer} has the experts {ids[router, row].tolist()}, one of them twice")
