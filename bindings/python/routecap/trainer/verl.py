# SPDX-License-Identifier: Apache-2.0
"""verl: `routed_experts` beside a batch's tokens, and the mask of the tokens that are replayed.

uint8 where the experts fit it, else int16; int64 when it is installed in the model. Tokens that are not replayed hold zeros, the last one of every
sequence among them, and the mask leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routecap._arguments import integer
from routecap._record import Record
from routecap.trainer import _host as host
from routecap.trainer._fill import common_shape, fill, require_records
from routecap.trainer._pack import pack_offsets


class Batch(NamedTuple):
    """A batch in one rectangle."""

    routed_experts: host.Array
    """uint8 or int16 [sequences, total_length, L, K]."""
    replay_mask: npt.NDArray[np.bool_]
    """bool [sequences, total_length]."""


class Jagged(NamedTuple):
    """A batch without padding, as `torch.nested.nested_tensor_from_jagged(values, offsets)` takes it."""

    routed_experts: host.Array
    """uint8 or int16 [all tokens, L, K], the sequences one behind the other."""
    replay_mask: npt.NDArray[np.bool_]
    """bool [all tokens]."""
    offsets: host.Integers
    """int64 [sequences + 1]: where each begins, and last all tokens."""


def batch(
    records: Sequence[Record],
    lengths: host.IntegersLike,
    total_length: int,
    *,
    starts: host.IntegersLike | None = None,
    num_layers: int | None = None,
) -> Batch:
    """A batch in one rectangle.

    Args:
        records: one for every sequence, from token 0, with n - 1 rows of n tokens, or n.
        lengths: n of every sequence, prompt and response, without padding.
        total_length: tokens of a row of the batch, with padding.
        starts: where token 0 of each sequence stands in its row: the padding on its left. None = 0.
        num_layers: layers of the model, for a layer axis by layer number with zeros for dense layers; None = the records' MoE layers alone.

    Raises:
        ValueError: a record with another number of rows, or a sequence that does not fit its row.

    """
    require_records(records, absent=False)
    total_length = integer(total_length, "total_length", 0)
    sequences = host.integers(lengths, "lengths")
    places = np.zeros(len(sequences), np.int64) if starts is None else host.integers(starts, "starts")
    if not len(records) == len(sequences) == len(places):
        raise ValueError(f"records: {len(records)}, and {len(sequences)} lengths and {len(places)} starts")
    shape, columns = _layout(records, num_layers)
    ids = host.zeros((len(sequences), total_length, *shape), _dtype(records), "total_length")
    mask = host.zeros((len(sequences), total_length), np.bool_, "total_length")
    for row, record in enumerate(records):
        first, end = int(places[row]), int(places[row] + sequences[row])
        if first < 0 or end > total_length:
            raise ValueError(f"starts and lengths: sequence {row} has the places [{first}, {end}), total_length is {total_length}")
        _write(record, int(sequences[row]), ids[row, first:end], mask[row, first:end], columns, row)
    return Batch(ids, mask)


def jagged(records: Sequence[Record], lengths: host.IntegersLike, *, num_layers: int | None = None) -> Jagged:
    """A batch without padding.

    Args:
        records: as for `batch`.
        lengths: as for `batch`.
        num_layers: as for `batch`.

    Raises:
        ValueError: a record with another number of rows.

    """
    require_records(records, absent=False)
    sequences = host.integers(lengths, "lengths")
    if len(records) != len(sequences):
        raise ValueError(f"records: {len(records)}, and {len(sequences)} lengths")
    offsets = pack_offsets(sequences)
    shape, columns = _layout(records, num_layers)
    ids, mask = host.zeros((int(offsets[-1]), *shape), _dtype(records), "lengths"), host.zeros((int(offsets[-1]),), np.bool_, "lengths")
    for row, record in enumerate(records):
        first, end = int(offsets[row]), int(offsets[row + 1])
        _write(record, end - first, ids[first:end], mask[first:end], columns, row)
    return Jagged(ids, mask, offsets)


def _dtype(records: Sequence[Record]) -> type[np.generic]:
    return np.uint8 if records[0].num_experts <= 256 else np.int16


def _layout(records: Sequence[Record], num_layers: int | None) -> tuple[tuple[int, int], host.Array | slice]:
    """Layer axis and K, and where on that axis the records' layers stand."""
    first = common_shape(records)
    num_layers = None if num_layers is None else integer(num_layers, "num_layers", 0, host.MOST_LAYERS)
    if num_layers is None:
        return (first.num_layers, first.top_k), slice(None)
    if num_layers <= int(first.layer_ids[-1]):
        raise ValueError(f"num_layers is {num_layers}, the records' highest layer is {first.layer_ids[-1]}")
    return (num_layers, first.top_k), np.array(first.layer_ids)


def _write(record: Record, length: int, ids: host.Array, mask: npt.NDArray[np.bool_], columns: host.Array | slice, row: int) -> None:
    if record.start != 0 or not length - 1 <= record.rows <= length:
        raise ValueError(f"records[{row}] has {record.rows} rows from token {record.start}, lengths[{row}] is {length} tokens")
    made = fill(record, length, dtype=ids.dtype, value=0)
    ids[:, columns] = made.ids
    mask[:] = made.mask
    mask[length - 1 :] = False
