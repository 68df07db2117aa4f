# SPDX-License-Identifier: Apache-2.0
"""A record's arrays for others' tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from routecap import _arrays as arrays
from routecap._arguments import choice, instance, shown, truth
from routecap._enums import DType
from routecap._extras import optional

if TYPE_CHECKING:
    import torch

_FLOAT_CODE = 4  # kDLBfloat


class Tensor:
    """One array of a record as a DLPack producer. numpy makes the capsule and owns its deleter, which keeps the record's memory alive."""

    __slots__ = ("_dtype", "_view")

    def __init__(self, view: npt.NDArray[Any], dtype: DType) -> None:
        """Tensors are made by `Record.tensor`."""
        self._view = instance(view, "view", np.ndarray)
        self._dtype = choice(dtype, "dtype", DType)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The host."""
        return (1, 0)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A capsule of the record's own memory, or of a copy if one is asked for."""
        for given, what in ((max_version, "max_version"), (dl_device, "dl_device")):
            if given is not None and not (isinstance(given, tuple) and len(given) == 2 and all(isinstance(number, int) for number in given)):
                raise TypeError(f"{what} is {shown(given)}, and not two integers")
        copy = None if copy is None else truth(copy, "copy")
        if stream is not None:
            raise BufferError(f"stream is {shown(stream)}: a record's memory is the host's, which has none")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"dl_device is {dl_device}: a record's memory is the host's, (1, 0)")
        view = self._view.copy() if copy else self._view
        versioned = max_version is not None and max_version[0] >= 1
        if versioned and not copy:
            view = view.view()
            view.flags.writeable = False
        try:
            capsule: object = view.__dlpack__(max_version=max_version) if versioned else view.__dlpack__()
        except (TypeError, BufferError):
            # numpy before 2.1 knows no versions, and gives no read-only array away: what it gives says nothing of it.
            capsule = (view if copy else self._view).__dlpack__()
        if self._dtype is DType.BFLOAT16:
            # numpy has the bits only; the description is told their type before anybody has read it.
            arrays.tensor_of(capsule).dtype.code = _FLOAT_CODE
        return capsule


def to_torch(view: npt.NDArray[Any], dtype: DType) -> torch.Tensor:
    """A tensor over the view's memory, which it keeps alive."""
    module: Any = optional("torch", "torch")

    if view.size == 0:
        # torch takes no address of an empty array.
        names = {DType.UINT8: "uint8", DType.UINT16: "uint16", DType.INT32: "int32"}
        names |= {DType.FLOAT16: "float16", DType.BFLOAT16: "bfloat16", DType.FLOAT32: "float32"}
        empty: torch.Tensor = module.empty(view.shape, dtype=getattr(module, names[dtype]))
        return empty
    tensor: torch.Tensor = module.from_numpy(view)
    return tensor.view(module.bfloat16) if dtype is DType.BFLOAT16 else tensor


__all__ = ["Tensor", "np", "to_torch"]
