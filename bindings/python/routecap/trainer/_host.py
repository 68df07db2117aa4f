# SPDX-License-Identifier: Apache-2.0
"""Arrays in the host's memory, of whatever dtype: what is split and gathered is bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, Union

import numpy as np
import numpy.typing as npt

from routecap import _arrays as arrays
from routecap._arguments import integer
from routecap._errors import OutOfMemoryError, OutOfRangeError, RoutecapError

MOST_LAYERS = 65536
"""Of a full layer axis, as the library has it."""

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
IntegersLike = Union[npt.NDArray[Any], Sequence[SupportsIndex], Any]


def items(source: Any, what: str) -> Array:
    """An array with an item for every token along its first axis, in one piece. Nothing is copied."""
    if not isinstance(source, np.ndarray):
        if arrays.is_tensor(source) and source.device.type != "cpu":
            raise TypeError(f"{what}: a tensor on {source.device}, and not in the host's memory")
        try:
            if arrays.is_tensor(source):
                source = source.detach().numpy()
            elif hasattr(source, "__dlpack__"):
                source = np.from_dlpack(source)
            else:
                source = np.asarray(memoryview(source))
        except Exception as error:
            raise TypeError(f"{what}: {type(source).__name__} is no array that numpy can look at") from error
    require_unmasked(source, what)
    array: Array = source
    if array.ndim == 0 or array.dtype.hasobject:
        raise TypeError(f"{what}: {array.ndim} dimensions of {array.dtype}, and not an item for every token")
    if not array.flags.c_contiguous:
        raise TypeError(f"{what}: the array is strided ({array.strides} bytes for the shape {array.shape}), and must lie in one piece")
    return array


def empty(shape: tuple[int, ...], dtype: npt.DTypeLike, what: str) -> Array:
    """An array for what is wanted; what does not fit into any memory is refused by what asked for it."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError, OverflowError):
        raise OutOfMemoryError(f"{what}: an array of shape {shape} of {np.dtype(dtype)} does not fit into memory") from None


def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike, what: str) -> Array:
    """The same, all zeros."""
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError, OverflowError):
        raise OutOfMemoryError(f"{what}: an array of shape {shape} of {np.dtype(dtype)} does not fit into memory") from None


def require_unmasked(source: object, what: str) -> None:
    """Refuses numpy's masked arrays, whose mask nobody would look at."""
    if isinstance(source, np.ma.MaskedArray):
        raise TypeError(f"{what}: {arrays.MASKED}")


def item_bytes(array: Array, axes: int = 1) -> int:
    """Bytes behind the first axes."""
    size = array.dtype.itemsize
    for count in array.shape[axes:]:
        size *= count
    return size


def integers(source: IntegersLike, what: str, dtype: type[np.signedinteger[Any]] = np.int64) -> npt.NDArray[Any]:
    """A list of integers as int64 (or int32): a trainer's `cu_seqlens` are int32, and are few."""
    require_unmasked(source, what)
    try:
        if arrays.is_tensor(source):
            tensor: Any = source
            source = tensor.tolist()
        elif isinstance(source, Sequence) and not isinstance(source, (str, bytes, range)) and set(map(type, source)) != {int}:
            # numpy would make numbers of truth values, and floats of what is beyond int64.
            source = [integer(number, f"{what}[{index}]") for index, number in enumerate(source)]
        given = np.asarray(source)
    except (TypeError, RoutecapError):
        raise
    except Exception:
        raise TypeError(f"{what}: a {type(source).__name__}, and not a list of integers") from None
    if given.ndim != 1 or (given.size > 0 and given.dtype.kind not in "iu"):
        raise TypeError(f"{what}: {given.ndim} dimensions of {given.dtype}, and not a list of integers")
    bounds = np.iinfo(dtype)
    if given.size > 0 and (int(given.min()) < bounds.min or int(given.max()) > bounds.max):
        raise OutOfRangeError(f"{what}: integers from {given.min()} to {given.max()}, allowed are {bounds.min} .. {bounds.max}")
    return np.ascontiguousarray(given, dtype=dtype)


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
