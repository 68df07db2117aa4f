# SPDX-License-Identifier: Apache-2.0
"""Where a layer's ids are handed over."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from routecap import _arrays as arrays
from routecap import _native as native
from routecap._arguments import INT32, choice, integer
from routecap._enums import DType, Gate, Memory, Role, TapFlags
from routecap._errors import OutOfRangeError, closed_error

if TYPE_CHECKING:
    from routecap._capturer import Capturer
    from routecap._handle import Handle

# ids_dtype to weights_row_stride of rcap_capture_layout, behind struct_size. A test compares it with the C API's description.
LAYOUT_FIELDS = ("ids_dtype", "weights_dtype", "memory", "columns", "tokens", "first_row", "ids_row_stride", "weights_row_stride")
_fill = struct.Struct("<iiiiqqqq").pack_into

_HOST = int(Memory.HOST)
_DEVICE = int(Memory.DEVICE)
_ELSEWHERE = -1
_ROW_IDS = frozenset({DType.INT32})
_MOST_COLUMNS = INT32[1]
# What `first_row` is where nobody says it.
_FIRST = 0


class Model:
    """The target model of a capturer or one of its drafts. Belongs to its capturer and ends with it."""

    __slots__ = ("__weakref__", "_address", "capturer", "name", "role")

    _address: int
    capturer: Capturer
    """Whose model it is."""

    role: Role
    """The target, or a draft."""

    name: str
    """Name in error texts."""

    def __init__(self) -> None:
        """Models are made by `Capturer.add_model`."""
        raise TypeError("a model is made by Capturer.add_model")

    @classmethod
    def _made(cls, capturer: Capturer, address: int, role: Role, name: str) -> Model:
        model = cls.__new__(cls)
        model._address, model.capturer, model.role, model.name = address, capturer, role, name
        return model

    def set_capture(self, gate: Gate) -> None:
        """Sets the gate of the model's taps, before the seal. Allowing a draft is refused; denying the target makes the seal fail (R20)."""
        wanted = choice(gate, "gate", Gate)
        self.capturer._as_engine(lambda functions, _, error: functions.model_set_capture(self._address, wanted, error))

    def add_tap(self, layer_number: int, *, flags: TapFlags = TapFlags(0), id_map: arrays.ArrayLike | None = None) -> Tap:
        """Adds the tap of one MoE layer, before the seal. A draft's layer number may equal a target's: the tap decides, not the number (R18).

        Args:
            layer_number: layer in its model; a target's is one of the captured layers.
            flags: properties of the layer; they travel with the records.
            id_map: physical-to-logical map (R22), int32 or int64 [physical experts]: entry p is the logical id of physical expert p. It is kept by
                address and read at every capture; the engine may rewrite its elements between forwards.

        """
        number = integer(layer_number, "layer_number", *INT32)
        physical = arrays.NOTHING if id_map is None else arrays.require_adjacent(arrays.integers(id_map, "id_map"), "id_map")
        self.capturer._require_place(physical, "id_map")
        options = native.new(
            "rcap_tap_options",
            flags=flags,
            id_map_dtype=DType.NONE if id_map is None else physical.dtype,
            id_map_memory=physical.memory,
        )
        handle = native.ffi.new(native.HANDLE)

        def add(functions: Any, _: int, error: Any) -> int:
            return int(functions.model_add_tap(self._address, number, options, physical.address, physical.nbytes, handle, error))

        self.capturer._as_engine(add, keep=physical.owner)
        return self.capturer._tap_of(handle[0], self)

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        """The capturer ends its models."""

    def __repr__(self) -> str:
        return f"<routecap.Model {self.name!r} {self.role.name}>"


class Tap:
    """The place of one MoE layer of one model where ids are handed over. Belongs to its capturer and ends with it.

    Taps of one capturer may be used by different threads at once; of one tap, one capture after the other.
    """

    __slots__ = ("__weakref__", "_address", "_calls", "_capture", "_denied", "_device", "_handle", "_pool", "capturer", "id")

    _address: int
    _calls: list[None]
    _capture: Any
    _denied: bool
    _device: tuple[str, int] | None
    _handle: Handle
    _pool: list[_Scratch]
    capturer: Capturer
    """Whose tap it is."""

    id: int
    """Small stable number: the taps of a capturer count from 0 in the order they were added."""

    def __init__(self) -> None:
        """Taps are made by `Model.add_tap` and found by `Capturer.tap`."""
        raise TypeError("a tap is made by Model.add_tap")

    @classmethod
    def _made(cls, capturer: Capturer, address: int) -> Tap:
        tap, functions, error = cls.__new__(cls), native.functions(), native.new_error()
        tap._address = address
        tap._capture = functions.tap_capture
        tap._handle = capturer._handle
        tap._calls = capturer._handle.calls
        tap._device = capturer._device
        # A layout and an error for each capture in progress.
        tap._pool = [_Scratch()]
        tap.capturer = capturer
        tap.id = native.check(functions.tap_id(address, error), error)
        # Looked at when the capturer is sealed: after that a gate cannot change (R20).
        tap._denied = False
        return tap

    @property
    def enabled(self) -> bool:
        """Whether captures on this tap are written: not when its model is denied."""
        error = native.new_error()
        with self._handle:
            return native.check(native.functions().tap_is_enabled(self._address, error), error) == 1

    def capture(
        self,
        ids: arrays.ArrayLike,
        weights: arrays.ArrayLike | None = None,
        *,
        row_ids: arrays.IntegersLike | None = None,
        first_row: int = 0,
        stream: object = None,
    ) -> None:
        """Hands one layer's top-k ids, and weights, of some rows over.

        Queued on the stream; allocates nothing in the library and waits for nothing. On a denied tap nothing is looked at and the call is counted
        (R18). Arrays in a device's memory stay valid until the stream has passed the call.

        Args:
            ids: [tokens, columns] of int64, int32, int16, uint16 or uint8, the elements of a row adjacent; columns is K, or K plus the fused shared
                experts.
            weights: [tokens, columns] of float32 or of the dtype that the capturer keeps, beside the ids; required where weights are kept (R29).
            row_ids: int32 [tokens], for a PARTIAL tap only: the forward's rows that this layer ran on, counted from `first_row`.
            first_row: row of the device buffer that the first row belongs to.
            stream: handle of the stream, or an object that has one; None = torch's current stream for tensors on a device, else the default stream.

        Raises:
            TypeError: another dtype, another device than the capturer's, rows that overlap or whose elements are apart.
            RoutecapError: what the library refuses; nothing was captured.

        """
        handle, calls = self._handle, self._calls
        calls.append(None)
        try:
            if handle.closed:
                raise closed_error("capturer of the tap")
            try:
                scratch = self._pool.pop()
            except IndexError:
                scratch = _Scratch()
            # The way of every layer of every forward: each property is looked at once, and no object is made. What differs from the last capture is
            # written down anew, and what is anything else goes the long way.
            tensor: Any = ids
            if type(tensor) is _tensor and weights is None and row_ids is None and not self._denied and tensor.is_contiguous():
                if tensor.is_cpu:
                    memory, place = _HOST, 0
                elif tensor.is_cuda and self._device == ("cuda", tensor.get_device()):
                    memory, place = _DEVICE, _current_stream(tensor.get_device()) if stream is None else 0
                else:
                    memory, place = _ELSEWHERE, 0
                if stream is not None:
                    place = arrays.stream_number(stream)
                shape, dtype = tensor.shape, tensor.dtype
                if (
                    shape == scratch.shape and dtype is scratch.dtype and first_row is scratch.first_row and memory == scratch.memory
                ) or scratch.describe(shape, dtype, first_row, memory):
                    status = self._capture(self._address, scratch.layout, tensor.data_ptr(), scratch.nbytes, 0, 0, 0, 0, place, scratch.error)
                else:
                    status = self._hand_over(scratch, ids, weights, row_ids, first_row, stream)
            elif self._denied:
                status = self._capture(self._address, scratch.layout, 0, 0, 0, 0, 0, 0, 0, scratch.error)
            else:
                status = self._hand_over(scratch, ids, weights, row_ids, first_row, stream)
            if status < 0:
                native.check(status, scratch.error)
            self._pool.append(scratch)
        finally:
            calls.pop()
            if handle.closed and not calls:
                handle.end()

    def _hand_over(self, scratch: _Scratch, ids: Any, weights: Any, row_ids: Any, first_row: int, stream: object) -> int:
        if _current_stream is None:
            _know_torch()
        given = arrays.require(arrays.read_array(ids, "ids"), "ids", arrays.IDS, (2,))
        self.capturer._require_place(given, "ids")
        stride, weights_stride = arrays.row_stride(given, "ids"), 0
        beside, rows = arrays.NOTHING, arrays.NOTHING
        if weights is not None:
            beside = arrays.require(arrays.read_array(weights, "weights"), "weights", arrays.WEIGHTS, (2,))
            if beside.shape != given.shape:
                raise TypeError(f"weights: shape {beside.shape}, and not the ids' {given.shape}")
            weights_stride = arrays.row_stride(beside, "weights")
        if row_ids is not None:
            rows = arrays.vector(row_ids, "row_ids", _ROW_IDS)
        for other, what in ((beside, "weights"), (rows, "row_ids")):
            if other is not arrays.NOTHING and (other.memory, other.device) != (given.memory, given.device):
                place = f"{given.memory.name} of {given.device}"
                raise TypeError(f"{what}: in {other.memory.name} memory of {other.device}, and not beside the ids in {place}")
        tokens, columns = given.shape
        if columns > _MOST_COLUMNS:
            raise _too_many(columns)
        if first_row is not _FIRST:
            first_row = integer(first_row, "first_row")
        weights_dtype = DType.NONE if weights is None else beside.dtype
        scratch.shape = None
        _fill(scratch.bytes, 8, given.dtype, weights_dtype, given.memory, columns, tokens, first_row, stride, weights_stride)
        on = self.capturer._stream(stream)
        listed, count = (0, 0) if row_ids is None else (arrays.given(rows), rows.shape[0])
        return int(
            self._capture(self._address, scratch.layout, given.address, given.nbytes, beside.address, beside.nbytes, listed, count, on, scratch.error)
        )

    def __enter__(self) -> Tap:
        return self

    def __exit__(self, *_: object) -> None:
        """The capturer ends its taps."""

    def __repr__(self) -> str:
        return f"<routecap.Tap {self.id}>"


def _too_many(columns: int) -> OutOfRangeError:
    return OutOfRangeError(f"ids: {columns} columns, allowed are at most {_MOST_COLUMNS}")


class _Scratch:
    """What one capture needs in C's memory, and which tensor its layout describes: none where `shape` is None."""

    __slots__ = ("bytes", "dtype", "error", "first_row", "layout", "memory", "nbytes", "shape")

    def __init__(self) -> None:
        self.layout = native.new("rcap_capture_layout")
        self.bytes = native.ffi.buffer(self.layout)
        self.error = native.new_error()
        self.shape: Any = None
        self.dtype: Any = None
        self.first_row = self.memory = self.nbytes = 0

    def describe(self, shape: Any, dtype: Any, first_row: int, memory: int) -> bool:
        """Writes down a contiguous tensor of torch; false, where ids are nothing of the kind."""
        kind = _dtypes.get(dtype)
        if kind is None or len(shape) != 2 or memory == _ELSEWHERE:
            return False
        number, size = kind
        tokens, columns = shape
        if columns > _MOST_COLUMNS:
            raise _too_many(columns)
        if first_row is not _FIRST:
            first_row = integer(first_row, "first_row")
        _fill(self.bytes, 8, number, 0, memory, columns, tokens, first_row, 0, 0)
        self.shape, self.dtype, self.first_row, self.memory = shape, dtype, first_row, memory
        self.nbytes = tokens * columns * size
        return True


# torch's, once it was imported: until then no object is a tensor of its.
_tensor: Any = object()
_dtypes: dict[Any, tuple[int, int]] = {}
_current_stream: Any = None


def _know_torch() -> None:
    """Called before a first tensor is captured."""
    global _tensor, _dtypes, _current_stream
    torch = arrays.torch_types()
    if torch is not None:
        _tensor, _dtypes, _current_stream = torch.tensor, torch.ids, torch.stream
