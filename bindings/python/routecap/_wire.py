# SPDX-License-Identifier: Apache-2.0
"""Forms of a record outside the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from routecap import _arrays as arrays
from routecap import _native as native
from routecap._arguments import choice, instance, name
from routecap._enums import Code, DType, Format, Memory, Missing
from routecap._errors import InvalidArgumentError

_INT32 = frozenset({DType.INT32})


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """Options of an encoder. What a form has no use for stays as it is here."""

    dtype: DType = DType.NONE
    """Type of ids in SGLANG (INT32, UINT8, UINT16), VLLM and NPY (UINT8, UINT16, INT16, INT32, INT64); NONE = the form's own choice."""

    missing: Missing = Missing.REFUSE
    """What becomes of a missing cell where the form cannot say so."""

    fill_id: int = 0
    """First id of Missing.FILL."""

    zstd_level: int = 0
    """Zstandard level of a frame's parts, 1 .. 19; 0 = stored as they are."""

    turn: int = 0
    """CSV: value of the turn column."""

    decode_start: int | None = None
    """CSV: first token position of the decode phase; None = all prefill."""

    def _struct(self) -> Any:
        struct = native.new(
            "rcap_encode_options",
            dtype=choice(self.dtype, "dtype", DType),
            missing=choice(self.missing, "missing", Missing),
            fill_id=self.fill_id,
            zstd_level=self.zstd_level,
            turn=self.turn,
        )
        if self.decode_start is not None:
            native.fill("rcap_encode_options", struct, decode_start=self.decode_start)
        return struct


@dataclass(frozen=True, kw_only=True)
class DecodeHints:
    """What a decoder is told where the bytes do not say it. A fact that the bytes carry may be left out; given, it must agree."""

    start: int | None = None
    """Token position of the first row."""

    rows: int | None = None
    """Rows."""

    num_experts: int = 0
    """E; 0 = not given."""

    top_k: int = 0
    """K; 0 = not given."""

    num_layers: int = 0
    """Layers of the layer axis, numbered from 0; 0 = not given, or given by `layer_ids`."""

    layer_ids: Sequence[int] | None = None
    """Layer number of every column, ascending."""

    dtype: DType = DType.NONE
    """Type of the flat array; NONE = the form's default."""

    turn: int | None = None
    """CSV: which turn to read; None = the only one."""

    def _struct(self) -> Any:
        told = {what: value for what, value in (("start", self.start), ("rows", self.rows), ("turn", self.turn)) if value is not None}
        return native.new(
            "rcap_decode_hints",
            num_experts=self.num_experts,
            top_k=self.top_k,
            num_layers=self.num_layers,
            dtype=choice(self.dtype, "dtype", DType),
            **told,
        )


def format_of(form: object, what: str = "name") -> Format:
    given, found, error = name(form, what), native.ffi.new(native.INT32), native.new_error()
    native.check(native.functions().wire_format_of(given, found, error), error)
    return Format(found[0])


def form_number(form: object) -> int:
    if isinstance(form, str):
        return int(format_of(form, "format"))
    return int(choice(form, "format", Format))


def detect(data: arrays.ArrayLike) -> Format:
    """The form that bytes are in, told by their content alone. SGLANG has no mark and is never found: NOT_FOUND."""
    array = bytes_of(data)
    form, error = native.ffi.new(native.INT32), native.new_error()
    native.check(native.functions().wire_detect(arrays.given(array), array.nbytes, form, error), error)
    return Format(form[0])


def bytes_of(data: object) -> arrays.Array:
    """Bytes as they lie; text is ASCII in every form."""
    if isinstance(data, str):
        try:
            data = data.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"data: character {error.start} of {len(data)} is no ASCII, which every text form is") from None
    array = arrays.read_array(data, "data")
    if array.dtype is not DType.UINT8 or array.memory is not Memory.HOST:
        raise TypeError(f"data: {array.dtype.name} on {array.device}, and not bytes in the host's memory")
    return arrays.require_adjacent(array, "data")


def encoded(form: Format | str, options: EncodeOptions | None, encode: Callable[[int, Any, int, int, Any, Any], int]) -> bytes:
    """Asks for the size, makes room, and encodes."""
    number = form_number(form)
    struct = native.ffi.NULL if options is None else instance(options, "options", EncodeOptions)._struct()
    needed, error = native.ffi.new(native.INT64), native.new_error()
    native.check(encode(number, struct, 0, 0, needed, error), error)
    while True:
        capacity = needed[0]
        # Not zeroed first: it may be many megabytes.
        room = _uninitialized(max(1, capacity))
        status = encode(number, struct, int(native.ffi.cast("intptr_t", room)), capacity, needed, error)
        # From slots it is an upper bound, and a row may have come in between.
        if status == Code.OUT_OF_RANGE and needed[0] > capacity:
            continue
        native.check(status, error)
        return bytes(native.ffi.buffer(room, needed[0]))


_allocate = native.ffi.new_allocator(should_clear_after_alloc=False)


def _uninitialized(count: int) -> Any:
    return _allocate("char[]", count)


def decode(form: Format | str, data: object, hints: DecodeHints | None, handle: Any, consumed: Any, error: Any) -> int:
    number, array = form_number(form), bytes_of(data)
    told: DecodeHints = DecodeHints() if hints is None else instance(hints, "hints", DecodeHints)
    layers = arrays.NOTHING if told.layer_ids is None else arrays.host_vector(told.layer_ids, "layer_ids", _INT32)
    listed = (0, 0) if told.layer_ids is None else (arrays.given(layers), layers.shape[0])
    return int(
        native.functions().record_decode(
            number, arrays.given(array), array.nbytes, told._struct(), *listed, handle, consumed, error
        )
    )
