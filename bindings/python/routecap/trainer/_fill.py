# SPDX-License-Identifier: Apache-2.0
"""Dense ids of records, every row filled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routecap import _arrays as arrays
from routecap import _native as native
from routecap._arguments import INT32, instance, integer, shown, truth
from routecap._enums import AxisOrder, DType, Padding
from routecap._record import Record
from routecap.trainer import _host as host
from routecap.trainer._partition import Partition

_DTYPES = {arrays.NUMPY_DTYPES[dtype]: dtype for dtype in (DType.UINT8, DType.UINT16, DType.INT16, DType.INT32, DType.INT64)}


class Filled(NamedTuple):
    """Dense ids of one sequence, and which of them are the engine's."""

    ids: host.Array
    """[tokens, layers, K], or with `layers_first` [layers, tokens, K]."""
    mask: npt.NDArray[np.bool_]
    """bool [tokens]: whether the ids of all layers are the engine's."""
    cell_mask: npt.NDArray[np.bool_]
    """bool [tokens, layers], or with `layers_first` [layers, tokens]: the same cell by cell."""
    filled: int
    """Tokens that were filled in some layer: what `first_fill` of the batch's next sequence goes on by."""


class FilledPack(NamedTuple):
    """Dense ids of a rank's tokens of a pack."""

    ids: host.Array
    """[tokens, layers, K], or with `layers_first` [layers, tokens, K]."""
    mask: npt.NDArray[np.bool_]
    """bool [tokens]: whether the ids of all layers are the engine's; false for missing rows, last tokens and padding."""
    cell_mask: npt.NDArray[np.bool_]
    """bool [tokens, layers], or with `layers_first` [layers, tokens]: the same cell by cell."""
    indices: host.Integers
    """int64 [tokens]: where in the pack each of them stands."""
    filled: int
    """Tokens that were filled in some layer."""


def fill(
    record: Record,
    length: int,
    *,
    start: int = 0,
    tokens: int | None = None,
    positions: host.IntegersLike | None = None,
    layers: host.IntegersLike | None = None,
    dtype: npt.DTypeLike = np.int64,
    layers_first: bool = False,
    value: int | None = None,
    first_fill: int = 0,
) -> Filled:
    """A record's ids as a trainer replays them: dense, in the dtype and for the layers it asks for, every row filled (R42).

    A row for which the record has no ids (missing, the last token, padding) gets K distinct ids, other ones for every such row, so that they load all
    experts alike; or `value`.

    Args:
        record: rows of one sequence; may begin behind 0 and may lack the last token, or more.
        length: tokens of the sequence, the last one included. A record that reaches behind it is refused.
        start: token position of the first row.
        tokens: rows; those behind the sequence are padding. None = as many as the sequence has from `start` on.
        positions: token position of every row instead, -1 = padding.
        layers: model layer numbers of the columns, in this order; None = all of the record's.
        dtype: of the ids: int64, what `scores.gather(1, ids)` needs (R43), or int32, int16, uint16, uint8.
        layers_first: whether the ids are [layers, tokens, K], so that each router's are one piece.
        value: what stands in rows without ids, in place of distinct ids: 0 for trainers that look at the mask, -1 where that means missing.
        first_fill: tokens that earlier calls for the same batch filled, so that they do not load the same experts again.

    """
    instance(record, "record", Record)
    length, start = integer(length, "length"), integer(start, "start")
    tokens = None if tokens is None else integer(tokens, "tokens")
    value = None if value is None else integer(value, "value", *INT32)
    if positions is not None:
        if tokens is not None or start != 0:
            raise TypeError("positions are given, and start or tokens too")
        places = host.integers(positions, "positions")
        tokens = len(places)
    else:
        places = None
        tokens = max(0, length - start) if tokens is None else tokens
    columns = record.num_layers if layers is None else len(_layer_list(layers))
    layers_first = truth(layers_first, "layers_first")
    ids, mask, cells = _empty(max(0, tokens), columns, record.top_k, dtype, layers_first)
    filled = _fill_into(
        record,
        ids,
        mask,
        cells,
        length=length,
        start=start,
        tokens=tokens,
        positions=places,
        layers=layers,
        value=value,
        first_fill=first_fill,
        layers_first=layers_first,
    )
    return Filled(ids, mask.view(np.bool_), cells.view(np.bool_), filled)


def fill_pack(
    records: Sequence[Record | None],
    lengths: host.IntegersLike,
    offsets: host.IntegersLike,
    partition: Partition = Partition(),
    *,
    layers: host.IntegersLike | None = None,
    dtype: npt.DTypeLike = np.int64,
    layers_first: bool = False,
    value: int | None = None,
    first_fill: int = 0,
) -> FilledPack:
    """The same for this rank's part of a pack, made without the rest of it (R43).

    Args:
        records: one for every sequence, None where there is none: all of that sequence is filled.
        lengths: tokens of every sequence, the last ones included.
        offsets: where each begins in the pack, and last the pack's tokens (`pack_offsets`).
        partition: how the pack is dealt out.
        layers: model layer numbers of this rank's columns (`stage_layers`), in this order; None = all of the records'.
        dtype: of the ids.
        layers_first: whether the ids are [layers, tokens, K].
        value: what stands in rows without ids, in place of distinct ids.
        first_fill: number of this rank's first filled row. Each rank counts its own on from there (`FilledPack.filled`), so ranks that start at the
            same number choose alike; a rank whose rows should load other experts than another's starts behind the other's.

    """
    require_records(records)
    instance(partition, "partition", Partition)
    layers_first, first_fill = truth(layers_first, "layers_first"), integer(first_fill, "first_fill")
    value = None if value is None else integer(value, "value", *INT32)
    sequences, places = host.integers(lengths, "lengths"), host.integers(offsets, "offsets")
    if not len(records) == len(sequences) == len(places) - 1:
        raise ValueError(f"records: {len(records)}, and {len(sequences)} lengths and {len(places)} offsets, which must be one more")
    shape = common_shape(records)
    indices = partition.indices(places)
    columns = shape.num_layers if layers is None else len(_layer_list(layers))
    ids, mask, cells = _empty(len(indices), columns, shape.top_k, dtype, layers_first)
    filled = 0
    with shape.slice(shape.start, shape.start) as nothing:
        for sequence, first, end in _runs(indices, places):
            record = records[sequence]
            # In one piece with layers first too, where the rows of a run are not.
            if layers_first:
                part = _empty(end - first, columns, shape.top_k, dtype, layers_first)
            else:
                part = ids[first:end], mask[first:end], cells[first:end]
            filled += _fill_into(
                nothing if record is None else record,
                *part,
                length=int(sequences[sequence]),
                start=0,
                tokens=end - first,
                positions=indices[first:end] - places[sequence],
                layers=layers,
                value=value,
                first_fill=first_fill + filled,
                layers_first=layers_first,
            )
            if layers_first:
                ids[:, first:end], mask[first:end], cells[:, first:end] = part
    return FilledPack(ids, mask.view(np.bool_), cells.view(np.bool_), indices, filled)


def _runs(indices: host.Integers, places: host.Integers) -> Iterator[tuple[int, int, int]]:
    """Each sequence of which the rank has tokens, and their first and end among the rank's."""
    of = np.searchsorted(places, indices, side="right") - 1
    bounds = np.flatnonzero(np.diff(of)) + 1
    for first, end in zip([0, *bounds], [*bounds, len(indices)]):
        if first < end:
            yield int(of[first]), int(first), int(end)


def require_records(records: object, *, absent: bool = True) -> None:
    """A list of records; with `absent` of None too, where a sequence has none."""
    if not isinstance(records, Sequence) or isinstance(records, (str, bytes, memoryview)):
        raise TypeError(f"records: a {type(records).__name__}, and not a list of records")
    for index, record in enumerate(records):
        if record is not None or not absent:
            instance(record, f"records[{index}]", Record)


def common_shape(records: Sequence[Record | None]) -> Record:
    """A record that stands for all of them."""
    given = [record for record in records if record is not None]
    if not given:
        raise ValueError("records: none of the sequences has a record: there is no layer, K or number of experts")
    first = given[0]
    for record in given[1:]:
        for name in ("num_experts", "top_k"):
            if getattr(record, name) != getattr(first, name):
                raise ValueError(f"records: {name} is {getattr(first, name)} in one record and {getattr(record, name)} in another")
        if not np.array_equal(record.layer_ids, first.layer_ids):
            raise ValueError(f"records: the layers are {first.layer_ids.tolist()} in one record and {record.layer_ids.tolist()} in another")
    return first


def _layer_list(layers: host.IntegersLike) -> host.Array:
    return host.integers(layers, "layers", np.int32)


def _empty(tokens: int, layers: int, top_k: int, dtype: npt.DTypeLike, layers_first: bool) -> tuple[host.Array, host.Array, host.Array]:
    """Ids, row mask and cell mask."""
    try:
        kind = np.dtype(dtype)
    except Exception:
        raise TypeError(f"dtype is {shown(dtype)}, which names no dtype of numpy's") from None
    if kind not in _DTYPES:
        raise TypeError(f"dtype is {kind}, and not one of {', '.join(str(known) for known in _DTYPES)}")
    cells = (layers, tokens) if layers_first else (tokens, layers)
    return host.empty((*cells, top_k), kind, "tokens"), host.empty((tokens,), np.uint8, "tokens"), host.empty(cells, np.uint8, "tokens")


def _fill_into(
    record: Record,
    ids: host.Array,
    mask: host.Array,
    cells: host.Array,
    *,
    length: int,
    start: int,
    tokens: int,
    positions: host.Integers | None,
    layers: host.IntegersLike | None,
    value: int | None,
    first_fill: int,
    layers_first: bool,
) -> int:
    layout = native.new(
        "rcap_fill_layout",
        start=start,
        tokens=tokens,
        length=length,
        first_fill=first_fill,
        dtype=_DTYPES[ids.dtype],
        order=AxisOrder.LAYERS_FIRST if layers_first else AxisOrder.TOKENS_FIRST,
        padding=Padding.SPREAD if value is None else Padding.VALUE,
        fill_value=0 if value is None else value,
    )
    columns = None if layers is None else _layer_list(layers)
    filled, error, owner = native.ffi.new(native.INT64), native.new_error(), record._own()
    status = native.functions().record_fill(
        owner.address,
        layout,
        *((0, 0) if columns is None else (host.address(columns), len(columns))),
        *((0, 0) if positions is None else (host.address(positions), len(positions))),
        host.address(ids),
        ids.nbytes,
        host.address(mask),
        mask.nbytes,
        host.address(cells),
        cells.nbytes,
        filled,
        error,
    )
    native.check(status, error, layer_ids="layers", fill_value="value")
    return int(filled[0])
