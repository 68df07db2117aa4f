# SPDX-License-Identifier: Apache-2.0
"""NeMo-RL: a sample's routing in the narrowest signed dtype, [S, L, K], a row of -1 where the trainer shall route by itself.

A row that is -1 in part only is an error to NeMo-RL: a row that lacks the ids of some layer is -1 in all of them.
"""

from __future__ import annotations

import numpy as np

from routecap._arguments import instance, integer
from routecap._record import Record
from routecap.trainer import _host as host
from routecap.trainer._fill import fill


def routed_experts(record: Record, length: int, *, num_layers: int | None = None) -> host.Array:
    """Routing of a sample from a record.

    Args:
        record: rows of the sample, from any token on.
        length: n: tokens of the sample, prompt and response.
        num_layers: layers of the model, for an axis with a column for every layer; those of dense layers hold zeros in rows that are there. None =
            the record's MoE layers alone.

    Returns:
        int8 (up to 128 experts), int16 (up to 32768) or int32 [n - 1, L, K].

    Raises:
        ValueError: a layer of the record that the model does not have.

    """
    instance(record, "record", Record)
    length, num_layers = integer(length, "length"), None if num_layers is None else integer(num_layers, "num_layers", 0, host.MOST_LAYERS)
    dtype = np.int8 if record.num_experts <= 128 else np.int16 if record.num_experts <= 32768 else np.int32
    # The library has no int8: what fits it is narrowed here.
    made = fill(record, length, tokens=max(0, length - 1), dtype=np.int16 if dtype is np.int8 else dtype, value=-1)
    ids: host.Array = made.ids.astype(dtype, copy=False)
    if num_layers is not None:
        layers = record.layer_ids
        if num_layers <= int(layers[-1]):
            raise ValueError(f"num_layers is {num_layers}, the record's highest layer is {layers[-1]}")
        compact, ids = ids, host.zeros((len(ids), num_layers, record.top_k), dtype, "num_layers")
        ids[:, layers] = compact
    ids[~made.mask] = -1
    return ids
