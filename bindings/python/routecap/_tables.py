# SPDX-License-Identifier: Apache-2.0
"""A record as a table: a line for each row and layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from routecap._enums import DType
from routecap._extras import optional

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from routecap._record import Record


def float_weights(record: Record) -> npt.NDArray[Any]:
    """The weights as numbers that numpy has: bfloat16 as float32, exactly."""
    weights = record.weights
    if record.info.weights_dtype is DType.BFLOAT16:
        return (weights.astype(np.uint32) << 16).view(np.float32)
    return weights


def _lines(record: Record) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Position, layer and validity of every line."""
    info = record.info
    positions = np.repeat(np.arange(info.start, info.start + info.rows, dtype=np.int64), info.num_layers)
    return positions, np.tile(record.layer_ids, info.rows), record.cell_valid.reshape(-1)


def to_pyarrow(record: Record) -> pyarrow.Table:
    pa = optional("pyarrow", "arrow")

    info = record.info
    positions, layers, valid = _lines(record)

    def cells(values: npt.NDArray[Any]) -> Any:
        # A fixed-size list has its elements whether it is null or not.
        flat = pa.array(values.reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, info.top_k, mask=pa.array(~valid))

    columns = {"position": pa.array(positions), "layer": pa.array(layers), "experts": cells(record.ids)}
    if info.weights_dtype is not DType.NONE:
        columns["weights"] = cells(float_weights(record))
    table = pa.table(columns)
    geometry = {"num_experts": info.num_experts, "top_k": info.top_k, "start": info.start, "rows": info.rows, "weights_kind": info.weights_kind.name}
    return table.replace_schema_metadata({f"routecap.{name}": str(value) for name, value in geometry.items()})


def to_pandas(record: Record) -> pandas.DataFrame:
    pd = optional("pandas", "pandas")

    info = record.info
    positions, layers, valid = _lines(record)
    index = pd.MultiIndex.from_arrays([positions, layers], names=["position", "layer"])
    columns: dict[str, Any] = {}
    ids = record.ids.reshape(-1, info.top_k).astype(np.int32)
    for column in range(info.top_k):
        columns[f"expert_{column}"] = pd.arrays.IntegerArray(ids[:, column].copy(), ~valid)
    if info.weights_dtype is not DType.NONE:
        weights = float_weights(record).reshape(-1, info.top_k).astype(np.float32)
        for column in range(info.top_k):
            columns[f"weight_{column}"] = pd.arrays.FloatingArray(weights[:, column].copy(), ~valid)
    frame: pandas.DataFrame = pd.DataFrame(columns, index=index)
    return frame
