# SPDX-License-Identifier: Apache-2.0
"""slime (and miles): a rollout's `rollout_routed_experts`, int32 [n - 1 - start, all layers of the model, K].

Every layer of the model has a column; those of dense layers are not looked at and hold zeros. There is no row for the last token, for which
slime adds one of its own. What slime does with it on a rank, a zigzag or contiguous split with padding, sequence-parallel slices and a
stage's layers, is what `routecap.trainer.fill_pack` does; `routecap.trainer.megatron` gives that as its routers take it.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routecap._arguments import instance, integer
from routecap._record import Record
from routecap.trainer import _host as host
from routecap.trainer._fill import fill


class Rollout(NamedTuple):
    """Routing of a sample."""

    routed_experts: npt.NDArray[np.int32]
    """int32 [n - 1 - start, all layers, K]."""
    mask: npt.NDArray[np.bool_]
    """bool [n - 1 - start]: whether the ids of all MoE layers are the engine's; the others are K distinct ids."""

    def payload(self) -> str:
        """The ids as SGLang answers with them: base64 of the flat array."""
        return base64.b64encode(self.routed_experts.astype("<i4", copy=False).tobytes()).decode("ascii")


def rollout_routed_experts(record: Record, length: int, num_layers: int, *, start: int = 0, first_fill: int = 0) -> Rollout:
    """Routing of a sample from a record.

    Args:
        record: rows of the sample; those that it lacks are filled with distinct ids.
        length: n: tokens of the sample, prompt and response.
        num_layers: layers of the model, dense ones too.
        start: token position of the first row; n - 1 gives no row.
        first_fill: number of the first filled row, so that samples of a batch do not load the same experts.

    Raises:
        ValueError: a layer of the record that the model does not have, or a start outside the sample.

    """
    instance(record, "record", Record)
    length, start = integer(length, "length"), integer(start, "start")
    num_layers = integer(num_layers, "num_layers", 0, host.MOST_LAYERS)
    if not 0 <= start <= max(0, length - 1):
        raise ValueError(f"start is {start}, the sample's length is {length}")
    layers = record.layer_ids
    if num_layers <= int(layers[-1]):
        raise ValueError(f"num_layers is {num_layers}, the record's highest layer is {layers[-1]}")
    made = fill(record, length, start=start, tokens=max(0, length - 1 - start), dtype=np.int32, first_fill=first_fill)
    ids = host.zeros((len(made.mask), num_layers, record.top_k), np.int32, "num_layers")
    ids[:, layers] = made.ids
    return Rollout(ids, made.mask)
