# SPDX-License-Identifier: Apache-2.0
"""Layers of a pipeline stage."""

from __future__ import annotations

from typing import Any

import numpy as np

from routecap import _native as native
from routecap._arguments import INT32, integer, truth
from routecap._enums import AxisOrder
from routecap.trainer import _host as host


def stage_layers(
    moe_layers: host.IntegersLike,
    num_layers: int,
    *,
    pp_size: int = 1,
    pp_rank: int = 0,
    vp_size: int = 1,
    vp_rank: int | None = None,
    first_layers: int = 0,
    last_layers: int = 0,
) -> list[int]:
    """The MoE layers of a pipeline stage, in the order in which it makes their routers (R43).

    The model's layers are dealt out in `vp_size` rounds; in each, stage after stage takes its share, which is the same for all but a first or last
    stage whose layers are given.

    Args:
        moe_layers: layer numbers of the model's MoE layers, ascending.
        num_layers: layers of the model, dense ones too.
        pp_size: pipeline stages.
        pp_rank: this stage.
        vp_size: virtual stages (model chunks) of each stage.
        vp_rank: this chunk; None = all chunks of the stage.
        first_layers: layers of the first stage over all its chunks; 0 = as many as the others have.
        last_layers: the same for the last stage.

    """
    moe = host.integers(moe_layers, "moe_layers", np.int32)
    numbers = (
        integer(num_layers, "num_layers", *INT32),
        integer(pp_size, "pp_size", *INT32),
        integer(pp_rank, "pp_rank", *INT32),
        integer(vp_size, "vp_size", *INT32),
        -1 if vp_rank is None else integer(vp_rank, "vp_rank", 0, INT32[1]),
        integer(first_layers, "first_layers", *INT32),
        integer(last_layers, "last_layers", *INT32),
    )
    layers = np.empty(max(1, len(moe)), np.int32)
    needed, error = native.ffi.new(native.INT64), native.new_error()
    status = native.functions().stage_layers(
        *numbers,
        host.address(moe),
        len(moe),
        host.address(layers),
        len(layers),
        needed,
        error,
    )
    native.check(status, error)
    return [int(layer) for layer in layers[: needed[0]]]


def split_layers(whole: Any, layers: host.IntegersLike, selected: host.IntegersLike, *, layers_first: bool = False) -> host.Array:
    """Some layers' columns of an array.

    Args:
        whole: [tokens, layers, ...] of any dtype.
        layers: model layer number of every column.
        selected: layer numbers of the columns wanted, in this order.
        layers_first: whether the answer has its layers in front, so that each router's part is one piece.

    Returns:
        [tokens, selected, ...] or [selected, tokens, ...], of the same dtype.

    """
    array, order = host.items(whole, "whole"), _order(layers_first)
    numbers, wanted = host.integers(layers, "layers", np.int32), host.integers(selected, "selected", np.int32)
    tokens = _tokens(array, len(numbers))
    shape = (len(wanted), tokens) if layers_first else (tokens, len(wanted))
    part, error = np.empty((*shape, *array.shape[2:]), array.dtype), native.new_error()
    status = native.functions().layers_split(
        host.address(numbers),
        len(numbers),
        host.address(wanted),
        len(wanted),
        tokens,
        host.item_bytes(array, 2),
        order,
        host.address(array),
        array.nbytes,
        host.address(part),
        part.nbytes,
        error,
    )
    native.check(status, error, layer_ids="layers")
    return part


def gather_layers(part: Any, layers: host.IntegersLike, selected: host.IntegersLike, whole: host.Array, *, layers_first: bool = False) -> None:
    """Puts some layers' columns back, over those of `whole`; the other columns stay. Called for every stage, it is the inverse of `split_layers`.

    Args:
        part: [tokens, selected, ...], or with `layers_first` [selected, tokens, ...].
        layers: model layer number of every column of `whole`.
        selected: layer numbers of the columns of `part`.
        whole: [tokens, layers, ...], of the same dtype; written.
        layers_first: whether `part` has its layers in front.

    """
    given, array, order = host.items(part, "part"), host.items(whole, "whole"), _order(layers_first)
    if given.dtype != array.dtype:
        raise TypeError(f"part: {given.dtype}, and not whole's {array.dtype}")
    if not array.flags.writeable:
        raise TypeError("whole: the array is read-only")
    numbers, wanted = host.integers(layers, "layers", np.int32), host.integers(selected, "selected", np.int32)
    tokens = _tokens(array, len(numbers))
    shape = (*((len(wanted), tokens) if layers_first else (tokens, len(wanted))), *array.shape[2:])
    if given.shape != shape:
        raise ValueError(f"part: shape {given.shape}, and not {shape}")
    error = native.new_error()
    status = native.functions().layers_gather(
        host.address(numbers),
        len(numbers),
        host.address(wanted),
        len(wanted),
        tokens,
        host.item_bytes(array, 2),
        order,
        host.address(given),
        given.nbytes,
        host.address(array),
        array.nbytes,
        error,
    )
    native.check(status, error, layer_ids="layers")


def _order(layers_first: bool) -> AxisOrder:
    return AxisOrder.LAYERS_FIRST if truth(layers_first, "layers_first") else AxisOrder.TOKENS_FIRST


def _tokens(array: host.Array, layers: int) -> int:
    if array.ndim < 2 or array.shape[1] != layers:
        raise ValueError(f"whole: shape {array.shape}, and not [tokens, {layers} layers, ...]")
    return int(array.shape[0])
