# SPDX-License-Identifier: Apache-2.0
"""Arrays of others, where they lie: numpy, torch, DLPack and the buffer protocol. Nothing is copied or converted, and what does not fit is a
TypeError.
"""

from __future__ import annotations

import array as array_module
import ctypes
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, SupportsIndex, Union, runtime_checkable

import numpy as np
import numpy.typing as npt

from routecap._arguments import INT64, choice, integer, shown
from routecap._enums import DType, Memory
from routecap._errors import OutOfRangeError
from routecap._native import ffi


@runtime_checkable
class SupportsDLPack(Protocol):
    """What has `__dlpack__`: tensors of torch, JAX, CuPy and others."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, int]: ...


ArrayLike = Union["Array", npt.NDArray[Any], SupportsDLPack, bytes, bytearray, memoryview, "array_module.array[Any]"]
"""An array: an `Array`, a numpy array, a torch tensor, or anything with `__dlpack__` or the buffer protocol."""

IntegersLike = Union[ArrayLike, Sequence[SupportsIndex]]
"""An array of integers, or a sequence of Python's."""

SIZES = {
    DType.UINT8: 1,
    DType.UINT16: 2,
    DType.INT16: 2,
    DType.INT32: 4,
    DType.INT64: 8,
    DType.FLOAT16: 2,
    DType.BFLOAT16: 2,
    DType.FLOAT32: 4,
}
"""Bytes of one element."""

NUMPY_DTYPES: dict[DType, np.dtype[Any]] = {
    DType.UINT8: np.dtype("<u1"),
    DType.UINT16: np.dtype("<u2"),
    DType.INT16: np.dtype("<i2"),
    DType.INT32: np.dtype("<i4"),
    DType.INT64: np.dtype("<i8"),
    DType.FLOAT16: np.dtype("<f2"),
    # numpy has no bfloat16: the bits.
    DType.BFLOAT16: np.dtype("<u2"),
    DType.FLOAT32: np.dtype("<f4"),
}

_OF_NUMPY: dict[np.dtype[Any], DType] = {dtype: ours for ours, dtype in NUMPY_DTYPES.items() if ours is not DType.BFLOAT16}
# Codes and bits of DLPack.
_OF_DLPACK = {
    (1, 8): DType.UINT8,
    (1, 16): DType.UINT16,
    (0, 16): DType.INT16,
    (0, 32): DType.INT32,
    (0, 64): DType.INT64,
    (2, 16): DType.FLOAT16,
    (4, 16): DType.BFLOAT16,
    (2, 32): DType.FLOAT32,
}
_CPU = ("cpu", 0)
_DEVICES_OF_DLPACK = {1: "cpu", 2: "cuda", 3: "cuda_host", 10: "rocm", 13: "cuda_managed"}


class Array:
    """Memory of the caller's, described: what every function that takes an array makes of it.

    Made once and used again, it saves the look at the object; the memory must stay where it is as long as the `Array` is used.
    """

    __slots__ = ("address", "device", "dtype", "memory", "nbytes", "owner", "shape", "strides")

    address: int
    """Where the first element lies, 0 of an empty array."""
    shape: tuple[int, ...]
    """Elements of every dimension."""
    strides: tuple[int, ...]
    """Bytes between two neighbours of every dimension."""
    dtype: DType
    """Type of the elements."""
    memory: Memory
    """Whether the host reads it at the call, or the backend in the order of its stream."""
    device: tuple[str, int] | None
    """Kind and number of the device, `("cpu", 0)` or `("cuda", 1)`; None where the caller did not say."""
    nbytes: int
    """Bytes from the first element to the end of the last."""
    owner: object
    """Keeps the memory alive."""

    def __init__(
        self,
        address: int,
        shape: Sequence[int],
        dtype: DType,
        *,
        strides: Sequence[int] | None = None,
        memory: Memory = Memory.DEVICE,
        device: tuple[str, int] | None = None,
        owner: object = None,
    ) -> None:
        """Memory at an address, of the backend's device unless `memory` says otherwise. `strides` are in bytes; None = adjacent elements."""
        self.address = integer(address, "address", 0)
        self.shape = _numbers(shape, "shape", 0)
        self.dtype = choice(dtype, "dtype", DType)
        if self.dtype not in SIZES:
            raise TypeError(f"dtype is {self.dtype.name}, which no element of an array has")
        self.memory = choice(memory, "memory", Memory)
        self.device = device
        self.owner = owner
        if device is not None and not (isinstance(device, tuple) and list(map(type, device)) == [str, int]):
            raise TypeError(f"device is {shown(device)}, and not a kind and a number")
        size = SIZES[self.dtype]
        if strides is None:
            step, found = size, []
            for count in reversed(self.shape):
                found.append(step)
                step *= count
            strides = found[::-1]
        self.strides = _numbers(strides, "strides")
        if len(self.strides) != len(self.shape):
            raise TypeError(f"strides are {len(self.strides)}, and the shape has {len(self.shape)} dimensions")
        self.nbytes = 0 if 0 in self.shape else size + sum((count - 1) * stride for count, stride in zip(self.shape, self.strides))
        if self.nbytes > INT64[1]:
            raise OutOfRangeError(f"shape is {self.shape}, which is {self.nbytes} bytes: there are at most {INT64[1]}")

    @classmethod
    def _made(
        cls, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, memory: Memory, device: tuple[str, int], owner: object
    ) -> Array:
        """Of what has told its geometry itself."""
        made = cls.__new__(cls)
        made.address, made.shape, made.strides, made.dtype = address, shape, strides, dtype
        made.memory, made.device, made.owner = memory, device, owner
        size = SIZES[dtype]
        if len(shape) == 1:
            made.nbytes = size + (shape[0] - 1) * strides[0] if shape[0] else 0
        else:
            made.nbytes = 0 if 0 in shape else size + sum((count - 1) * stride for count, stride in zip(shape, strides))
        return made

    @classmethod
    def of(cls, source: ArrayLike, *, dtype: DType | None = None) -> Array:
        """An object's memory. `dtype` names another type of the same size: bfloat16 for the bits in an array of uint16."""
        found = read_array(source, "source")
        if dtype is None:
            return found
        dtype = choice(dtype, "dtype", DType)
        if SIZES.get(dtype) != SIZES[found.dtype]:
            raise TypeError(f"dtype is {dtype.name}, and elements of {found.dtype.name} are not of that size")
        return cls(found.address, found.shape, dtype, strides=found.strides, memory=found.memory, device=found.device, owner=found.owner)

    def on_device(self) -> Array:
        """The same memory, treated as a device's: with a backend on the host, bad entries are then found row by row at `Output.finalize`, as on an
        accelerator."""
        return Array(self.address, self.shape, self.dtype, strides=self.strides, memory=Memory.DEVICE, device=self.device, owner=self.owner)

    def __repr__(self) -> str:
        return f"Array({self.dtype.name}, shape={self.shape}, {self.memory.name}, device={self.device})"


def _numbers(source: object, what: str, low: int = INT64[0]) -> tuple[int, ...]:
    """A shape, or strides."""
    if not isinstance(source, (tuple, list)):
        raise TypeError(f"{what} is {shown(source)}, a {type(source).__name__} and not a tuple of integers")
    return tuple(integer(number, f"{what}[{index}]", low) for index, number in enumerate(source))


def read_array(source: object, what: str, stream: int | None = None) -> Array:
    """What there is of an object's memory."""
    if type(source) is Array:
        return source
    if isinstance(source, np.ndarray):
        if isinstance(source, np.ma.MaskedArray):
            raise TypeError(f"{what}: {MASKED}")
        return _of_numpy(source, what)
    if is_tensor(source):
        return _of_torch(source, what)
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        return _of_dlpack(source, what, stream)
    try:
        view = memoryview(source)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what}: {type(source).__name__} is no array: it has neither __dlpack__ nor the buffer protocol") from None
    except Exception as error:
        raise TypeError(f"{what}: the memory of a {type(source).__name__} cannot be had: {_reason(error)}") from error
    try:
        found = np.asarray(view)
    except Exception as error:
        raise TypeError(f"{what}: elements of the buffer format {shown(view.format)} are none that routecap knows") from error
    return _of_numpy(found, what)


def _reason(error: BaseException) -> str:
    """An exception of somebody else's on one line."""
    text = " ".join(str(error).split())
    return type(error).__name__ + (": " + text[:120] if text else "")


def _of_numpy(source: npt.NDArray[Any], what: str) -> Array:
    dtype: DType | None = _OF_NUMPY.get(source.dtype)
    if dtype is None:
        # ml_dtypes' is no dtype of numpy's own, and has this name only.
        if source.dtype.name != "bfloat16":
            raise TypeError(f"{what}: elements of numpy's {source.dtype} are none that routecap knows")
        dtype = DType.BFLOAT16
    return Array._made(source.__array_interface__["data"][0], source.shape, source.strides, dtype, Memory.HOST, _CPU, source)


class _Torch(NamedTuple):
    """What is asked of torch, which is not imported before the caller has done so."""

    tensor: Any
    dtypes: dict[Any, DType]
    ids: dict[Any, tuple[int, int]]
    """Number and size of the dtypes that ids may have."""
    lists: dict[Any, tuple[int, int]]
    """Size and number of the dtypes that lists may have."""
    stream: Any
    """Handle of a device's current stream."""


_torch: _Torch | None = None


def torch_types() -> _Torch | None:
    """torch's types where it was imported."""
    global _torch
    if _torch is None:
        torch: Any = sys.modules.get("torch")
        tensor = getattr(torch, "Tensor", None)
        if tensor is None:
            return None
        names = {"uint8": DType.UINT8, "uint16": DType.UINT16, "int16": DType.INT16, "int32": DType.INT32, "int64": DType.INT64}
        names |= {"float16": DType.FLOAT16, "bfloat16": DType.BFLOAT16, "float32": DType.FLOAT32}
        dtypes = {getattr(torch, name): dtype for name, dtype in names.items() if hasattr(torch, name)}
        ids = {theirs: (int(dtype), SIZES[dtype]) for theirs, dtype in dtypes.items() if dtype in IDS}
        # The public function wraps the handle in an object first.
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        lists = {theirs: (SIZES[dtype], int(dtype)) for theirs, dtype in dtypes.items() if dtype in INTEGERS}
        _torch = _Torch(tensor, dtypes, ids, lists, raw or (lambda index: torch.cuda.current_stream(index).cuda_stream))
    return _torch


def is_tensor(source: object) -> bool:
    torch = torch_types()
    return torch is not None and isinstance(source, torch.tensor)


def _of_torch(source: Any, what: str) -> Array:
    torch = torch_types()
    assert torch is not None
    dtype = torch.dtypes.get(source.dtype)
    if dtype is None:
        raise TypeError(f"{what}: elements of {source.dtype} are none that routecap knows")
    kind = source.device.type
    if kind not in ("cpu", "cuda") or str(source.layout) != "torch.strided":
        raise TypeError(f"{what}: a {source.layout} tensor on {source.device} has no memory that routecap can read")
    if source.is_neg() or source.is_conj():
        raise TypeError(f"{what}: the tensor's memory holds the negative or the conjugate of its elements")
    size = SIZES[dtype]
    try:
        address = source.data_ptr()
    except Exception as error:
        raise TypeError(f"{what}: a {type(source).__name__} has no memory that routecap can read: {_reason(error)}") from error
    if address == 0 and source.numel() > 0:
        # Tensors that stand for others: masked, fake, distributed or quantized ones.
        raise TypeError(f"{what}: a {type(source).__name__} has no memory of its own that routecap can read")
    return Array._made(
        address,
        tuple(source.shape),
        tuple(size * stride for stride in source.stride()),
        dtype,
        Memory.HOST if kind == "cpu" else Memory.DEVICE,
        (kind, source.device.index or 0),
        source,
    )


ffi.cdef(
    """
typedef struct { uint32_t major, minor; } DLPackVersion;
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct { void* data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t* shape; int64_t* strides; uint64_t byte_offset; } DLTensor;
typedef struct { DLTensor dl_tensor; void* manager_ctx; void* deleter; } DLManagedTensor;
typedef struct { DLPackVersion version; void* manager_ctx; void* deleter; uint64_t flags; DLTensor dl_tensor; } DLManagedTensorVersioned;
"""
)

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype = ctypes.c_int
_capsule_is.argtypes = [ctypes.py_object, ctypes.c_char_p]


def tensor_of(capsule: object) -> Any:
    """The DLTensor in a capsule that nobody has taken. What it points to is the capsule's."""
    if _capsule_is(capsule, b"dltensor_versioned"):
        versioned = ffi.cast("DLManagedTensorVersioned*", _capsule_pointer(capsule, b"dltensor_versioned"))
        if versioned.version.major != 1:
            raise BufferError(f"DLPack {versioned.version.major}.{versioned.version.minor} is unknown, 1 is known")
        return versioned.dl_tensor
    if _capsule_is(capsule, b"dltensor"):
        return ffi.cast("DLManagedTensor*", _capsule_pointer(capsule, b"dltensor")).dl_tensor
    raise BufferError("__dlpack__ gave no DLPack capsule, or one that was taken already")


def _of_dlpack(source: Any, what: str, stream: int | None) -> Array:
    try:
        device_type, _ = source.__dlpack_device__()
        # A producer on a device makes the stream that will read wait for its own.
        options: dict[str, Any] = {} if int(device_type) in (1, 3) else {"stream": stream or None}
        try:
            capsule = source.__dlpack__(max_version=(1, 0), **options)
        except TypeError:
            capsule = source.__dlpack__(**options)
        # A capsule that is not taken gives the tensor back when it is collected.
        tensor = tensor_of(capsule)
    except Exception as error:
        raise TypeError(f"{what}: the {type(source).__name__} gives no tensor: {_reason(error)}") from error
    kind = _OF_DLPACK.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if kind is None:
        raise TypeError(
            f"{what}: DLPack elements of code {tensor.dtype.code}, {tensor.dtype.bits} bits, {tensor.dtype.lanes} lanes are none that routecap knows"
        )
    device = _DEVICES_OF_DLPACK.get(tensor.device.device_type, f"DLPack device {tensor.device.device_type}")
    size = SIZES[kind]
    shape = [tensor.shape[index] for index in range(tensor.ndim)]
    strides = None if tensor.strides == ffi.NULL else tuple(size * tensor.strides[index] for index in range(tensor.ndim))
    return Array(
        int(ffi.cast("intptr_t", tensor.data)) + tensor.byte_offset,
        shape,
        kind,
        strides=strides,
        memory=Memory.HOST if device in ("cpu", "cuda_host") else Memory.DEVICE,
        device=(device, tensor.device.device_id),
        owner=capsule,
    )


def require(array: Array, what: str, dtypes: frozenset[DType], dimensions: tuple[int, ...]) -> Array:
    """Refuses another dtype and another number of dimensions."""
    if array.dtype not in dtypes:
        raise TypeError(f"{what}: {array.dtype.name}, and not one of {', '.join(sorted(dtype.name for dtype in dtypes))}")
    if len(array.shape) not in dimensions:
        raise TypeError(f"{what}: {len(array.shape)} dimensions, and not {' or '.join(map(str, dimensions))}")
    return array


def row_stride(array: Array, what: str) -> int:
    """Bytes between the rows of a matrix whose rows lie in one piece, 0 where they follow each other."""
    rows, columns = array.shape
    outer, inner = array.strides
    size = SIZES[array.dtype]
    if rows == 0 or columns == 0:
        return 0
    if columns > 1 and inner != size:
        raise TypeError(f"{what}: the elements of a row lie {inner} bytes apart, and not {size}")
    if rows == 1:
        return 0
    # A stride of 0 would be taken for "adjacent", a smaller one for rows that overlap.
    if outer < columns * size:
        raise TypeError(f"{what}: the rows lie {outer} bytes apart, and a row has {columns * size}")
    return 0 if outer == columns * size else outer


def require_adjacent(array: Array, what: str) -> Array:
    """Refuses an array with space between its elements, or in another order than C's."""
    step = SIZES[array.dtype]
    if 0 in array.shape:
        return array
    for count, stride in zip(reversed(array.shape), reversed(array.strides)):
        if count > 1 and stride != step:
            raise TypeError(f"{what}: the array is strided ({array.strides} bytes for the shape {array.shape}), and must lie in one piece")
        step *= count
    return array


MASKED = "a masked array, whose mask nobody would look at; numpy.ma.filled gives its elements with something in place of those"
"""Why one is refused."""

INTEGERS = frozenset({DType.INT32, DType.INT64})
IDS = frozenset({DType.INT64, DType.INT32, DType.INT16, DType.UINT16, DType.UINT8})
STORED_IDS = frozenset({DType.UINT8, DType.UINT16, DType.INT32})
WEIGHTS = frozenset({DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32})


# What Python's array module calls the integers of lists.
_CODES = {DType.UINT8: "B", DType.INT32: "i", DType.INT64: "q"}


def integers(source: object, what: str, dtypes: frozenset[DType] = INTEGERS, dimensions: tuple[int, ...] = (1,)) -> Array:
    """A list of integers: an array of these dtypes as it lies, or a sequence of Python's integers, which is written down as int64 or the one dtype.
    """
    if isinstance(source, (list, tuple, range)):
        dtype = DType.INT64 if DType.INT64 in dtypes else next(iter(dtypes))
        written = _written(source, what, dtype)
        address, count = written.buffer_info()
        return Array._made(address, (count,), (written.itemsize,), dtype, Memory.HOST, _CPU, written)
    return require(read_array(source, what), what, dtypes, dimensions)


def _written(source: list[Any] | tuple[Any, ...] | range, what: str, dtype: DType) -> array_module.array[int]:
    """Integers of Python's in C's memory. An element that is none, or does not fit, is named."""
    if type(source) is range or set(map(type, source)) <= {int}:
        try:
            return array_module.array(_CODES[dtype], source)
        except OverflowError:
            pass
    size = SIZES[dtype]
    low, high = (0, (1 << 8 * size) - 1) if dtype is DType.UINT8 else (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1)
    return array_module.array(_CODES[dtype], [integer(number, f"{what}[{index}]", low, high) for index, number in enumerate(source)])


# What most lists of slots are: numpy's own two dtypes.
_PLAIN = {np.dtype(np.int64): (8, int(DType.INT64)), np.dtype(np.int32): (4, int(DType.INT32))}


def plain_list(source: Any) -> tuple[int, int, int, int] | None:
    """Address, bytes, dtype and count of a list of integers that lies in one piece in the host's memory; None where it is anything else, which
    `integers` then looks at.
    """
    kind = type(source)
    if kind is np.ndarray:
        shape, found = source.shape, _PLAIN.get(source.dtype)
        if found is None or len(shape) != 1 or not shape[0] or not source.flags.c_contiguous:
            return None
        size, dtype = found
        return source.__array_interface__["data"][0], size * shape[0], dtype, shape[0]
    torch = _torch
    if torch is not None and kind is torch.tensor and source.is_cpu and source.is_contiguous():
        shape, known = source.shape, torch.lists.get(source.dtype)
        if known is None or len(shape) != 1 or not shape[0]:
            return None
        size, dtype = known
        return source.data_ptr(), size * shape[0], dtype, shape[0]
    return None


def vector(source: object, what: str, dtypes: frozenset[DType] = INTEGERS) -> Array:
    """A list of integers that lie in one piece."""
    return require_adjacent(integers(source, what, dtypes), what)


def host_vector(source: object, what: str, dtypes: frozenset[DType] = INTEGERS) -> Array:
    """The same, in the host's memory."""
    found = vector(source, what, dtypes)
    if found.memory is not Memory.HOST:
        raise TypeError(f"{what}: on {found.device}, and not in the host's memory")
    return found


NOTHING = Array(0, (0,), DType.INT64, memory=Memory.HOST, device=("cpu", 0))
"""What stands for an array that is not given."""


def given(array: Array) -> int:
    """The address of an array that is given, which is not null even where it has no element: null is "not given"."""
    return array.address or 8


def stored_dtype(num_experts: int) -> DType:
    """The dtype of stored ids (R28)."""
    if num_experts <= 256:
        return DType.UINT8
    return DType.UINT16 if num_experts <= 65536 else DType.INT32


def stream_number(stream: object) -> int:
    """A stream's handle: of an integer, of torch's stream object, or of the CUDA stream protocol."""
    if isinstance(stream, (int, np.integer)):
        return integer(stream, "stream", 0)
    try:
        handle = getattr(stream, "cuda_stream", None)
        protocol: Any = getattr(stream, "__cuda_stream__", None)
        if handle is None and protocol is not None:
            _, handle = protocol()
    except Exception as error:
        raise TypeError(f"stream: the {type(stream).__name__} tells no handle: {_reason(error)}") from error
    if isinstance(handle, int):
        return integer(handle, "stream", 0)
    raise TypeError(f"stream: {type(stream).__name__} is no stream: it is no integer, and has neither cuda_stream nor __cuda_stream__")
