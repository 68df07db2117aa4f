# SPDX-License-Identifier: Apache-2.0
"""Rows that left the library."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from routecap import _arrays as arrays
from routecap import _dlpack as dlpack
from routecap import _frames as frames
from routecap import _native as native
from routecap import _wire as wire
from routecap._arguments import INT32, INT64, choice, instance, integer, shown, truth
from routecap._enums import DType, Fill, Format, Memory, Overlap, ReadFlags, TapFlags, WeightsKind
from routecap._errors import ClosedError, CorruptError, InvalidArgumentError, OutOfRangeError, closed_error
from routecap._handle import Owned
from routecap._structs import CompareReport, RecordInfo
from routecap._wire import DecodeHints, EncodeOptions

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import torch

_INT32 = frozenset({DType.INT32})
_INT64 = frozenset({DType.INT64})
_UINT8 = frozenset({DType.UINT8})

What = Literal["ids", "weights"]
"""Which of a record's arrays."""


class VersionSpan(NamedTuple):
    """A run of rows with one weight version; it ends where the next begins."""

    start: int
    """Token position of its first row."""

    version: int
    """Its weight version."""


class Record:
    """Rows of a request: immutable, complete in itself, usable from any thread, after its capturer is gone, and in a forked child.

    Arrays are views of the record's own memory, read-only; they keep it alive, whatever happens to the record. A record is also a DLPack producer
    of its ids: `np.from_dlpack(record)`, `torch.from_dlpack(record)`.
    """

    __slots__ = ("__weakref__", "_info", "_owner")

    _owner: Owned | None
    _info: RecordInfo | None

    def __init__(self) -> None:
        """Records are made by `Capturer.read`, `Record.create`, `Record.from_numpy` and `Record.decode`."""
        raise TypeError("a record is made by Capturer.read, Record.create, Record.from_numpy or Record.decode")

    # Making.

    @classmethod
    def create(
        cls,
        ids: arrays.ArrayLike,
        *,
        num_experts: int,
        layer_ids: arrays.IntegersLike,
        start: int = 0,
        layer_flags: Sequence[TapFlags | int] | None = None,
        weights: arrays.ArrayLike | None = None,
        weights_kind: WeightsKind = WeightsKind.AS_ROUTED,
        validity: arrays.ArrayLike | None = None,
        weight_version: int = 0,
    ) -> Record:
        """Makes a record from arrays, which are copied into it.

        Args:
            ids: [rows, L, K] of the dtype that E gives (uint8 up to 256 experts, uint16 up to 65536, else int32), adjacent, in the host's memory.
            num_experts: E: ids lie in [0, E).
            layer_ids: int32 [L]: the model's layer number of every column, ascending.
            start: token position of the first row.
            layer_flags: flags of every column [L]; PARTIAL anywhere means that cells have a validity of their own.
            weights: [rows, L, K] of float16, bfloat16 or float32.
            weights_kind: what the weights mean (R29).
            validity: uint8: the row bitmap (bit i of byte i/8, from the lowest), then the cell bitmap (bit row * L + column) where a column is
                PARTIAL; None = all valid.
            weight_version: of all rows.

        Raises:
            TypeError: another dtype or shape, or an array that is strided or elsewhere. Nothing is ever converted.
            RoutecapError: what the library refuses, such as an id outside [0, E).

        """
        num_experts = integer(num_experts, "num_experts", *INT32)
        given = _adjacent(ids, "ids", frozenset({arrays.stored_dtype(num_experts)}))
        rows, _, top_k = given.shape
        beside = arrays.NOTHING if weights is None else _adjacent(weights, "weights", arrays.WEIGHTS)
        if weights is not None and beside.shape != given.shape:
            raise TypeError(f"weights: shape {beside.shape}, and not the ids' {given.shape}")
        layers = arrays.host_vector(layer_ids, "layer_ids", _INT32)
        if layers.shape[0] != given.shape[1]:
            raise InvalidArgumentError(f"layer_ids has {layers.shape[0]} layers, the ids have {given.shape[1]}")
        flags = arrays.NOTHING if layer_flags is None else _flags(layer_flags)
        bits = arrays.NOTHING if validity is None else arrays.host_vector(validity, "validity", _UINT8)
        layout = native.new(
            "rcap_record_layout",
            start=start,
            rows=rows,
            num_experts=num_experts,
            top_k=top_k,
            weights_dtype=DType.NONE if weights is None else beside.dtype,
            weights_kind=choice(weights_kind, "weights_kind", WeightsKind),
            weight_version=weight_version,
        )

        def create(handle: Any, error: Any) -> int:
            return int(
                native.functions().record_create(
                    layout,
                    arrays.given(layers),
                    layers.shape[0],
                    *((0, 0) if layer_flags is None else (arrays.given(flags), flags.shape[0])),
                    arrays.given(given),
                    given.nbytes,
                    *((0, 0) if weights is None else (arrays.given(beside), beside.nbytes)),
                    *((0, 0) if validity is None else (arrays.given(bits), bits.nbytes)),
                    handle,
                    error,
                )
            )

        return make_record(create)

    @classmethod
    def from_numpy(
        cls,
        ids: npt.NDArray[Any],
        *,
        num_experts: int,
        layer_ids: arrays.IntegersLike,
        start: int = 0,
        layer_flags: Sequence[TapFlags | int] | None = None,
        weights: npt.NDArray[Any] | None = None,
        weights_kind: WeightsKind = WeightsKind.AS_ROUTED,
        valid: npt.NDArray[np.bool_] | None = None,
        cell_valid: npt.NDArray[np.bool_] | None = None,
        weight_version: int = 0,
    ) -> Record:
        """As `create`, with validity as numpy's booleans.

        Args:
            ids: as for `create`, and so are the others.
            num_experts: as for `create`.
            layer_ids: as for `create`.
            start: as for `create`.
            layer_flags: as for `create`.
            weights: as for `create`.
            weights_kind: as for `create`.
            valid: bool [rows]: which rows were captured; None = those with a valid cell, or all.
            cell_valid: bool [rows, L], where a column is PARTIAL: which cells were captured; None = those of valid rows.
            weight_version: as for `create`.

        """
        if not isinstance(ids, np.ndarray) or ids.ndim != 3:
            raise TypeError("ids: a numpy array of three dimensions [rows, L, K] is wanted")
        rows, layers, _ = ids.shape
        for mask, shape, what in ((valid, (rows,), "valid"), (cell_valid, (rows, layers), "cell_valid")):
            if mask is None:
                continue
            if not isinstance(mask, np.ndarray) or isinstance(mask, np.ma.MaskedArray):
                raise TypeError(f"{what}: a {type(mask).__name__}, and not a numpy array of bool")
            if mask.dtype != np.bool_ or mask.shape != shape:
                raise TypeError(f"{what}: {mask.dtype} of shape {mask.shape}, and not bool of shape {shape}")
        partial = layer_flags is not None and _any_partial(layer_flags)
        if cell_valid is not None and not partial:
            raise InvalidArgumentError("cell_valid is given, and no layer is PARTIAL")
        validity = None
        if valid is not None or cell_valid is not None:
            whole = valid if valid is not None else np.ones(rows, np.bool_) if cell_valid is None else np.asarray(cell_valid.any(axis=1))
            bits = [np.packbits(whole, bitorder="little")]
            if partial:
                cells = np.repeat(whole[:, None], layers, axis=1) if cell_valid is None else cell_valid
                bits.append(np.packbits(cells.reshape(-1), bitorder="little"))
            validity = np.concatenate(bits)
        return cls.create(
            ids,
            num_experts=num_experts,
            layer_ids=layer_ids,
            start=start,
            layer_flags=layer_flags,
            weights=weights,
            weights_kind=weights_kind,
            validity=validity,
            weight_version=weight_version,
        )

    @classmethod
    def decode(cls, format: Format | str, data: arrays.ArrayLike | str, hints: DecodeHints | None = None) -> Record:
        """Reads a record from a form; nothing may stand behind it.

        Never guesses: a fact that is neither in the bytes nor in the hints is INVALID_ARGUMENT, and the text names the hint.
        """
        record, consumed = cls.decode_prefix(format, data, hints)
        total = wire.bytes_of(data).nbytes
        if consumed != total:
            record.close()
            raise CorruptError(f"{total - consumed} bytes stand behind the {Format(wire.form_number(format)).form} of {consumed} bytes")
        return record

    @classmethod
    def decode_prefix(cls, format: Format | str, data: arrays.ArrayLike | str, hints: DecodeHints | None = None) -> tuple[Record, int]:
        """As `decode`, of frames that stand one behind the other: the record, and the bytes that it took."""
        consumed = native.ffi.new(native.INT64)
        record = make_record(lambda handle, error: wire.decode(format, data, hints, handle, consumed, error))
        return record, consumed[0]

    @classmethod
    def read_from(cls, file: BinaryIO) -> Record:
        """Reads one frame, and not a byte more.

        Raises:
            EOFError: the file ends here, or inside the frame.

        """
        return cls.decode(Format.FRAME, frames.read_frame(file))

    @classmethod
    def frames(cls, file: BinaryIO) -> Iterator[Record]:
        """The records of frames that stand one behind the other, to the end of the file."""
        for frame in frames.frames(file):
            yield cls.decode(Format.FRAME, frame)

    # Geometry.

    @property
    def info(self) -> RecordInfo:
        """Geometry in one struct."""
        if self._info is None:
            info, error = native.out("rcap_record_info"), native.new_error()
            owner = self._own()
            native.check(native.functions().record_info_get(owner.address, info, error), error)
            self._info = RecordInfo._read(info)
        elif self._owner is None:
            raise closed_error("record")
        return self._info

    @property
    def start(self) -> int:
        """Token position of the first row."""
        return self.info.start

    @property
    def rows(self) -> int:
        """Rows, those that are missing included."""
        return self.info.rows

    @property
    def num_layers(self) -> int:
        """L: layers."""
        return self.info.num_layers

    @property
    def top_k(self) -> int:
        """K: experts per token and layer."""
        return self.info.top_k

    @property
    def num_experts(self) -> int:
        """E: logical routed experts of a layer."""
        return self.info.num_experts

    def __len__(self) -> int:
        return self.info.rows

    # Arrays.

    @property
    def ids(self) -> npt.NDArray[Any]:
        """The ids, [rows, L, K] of `info.ids_dtype`: a view. Cells that are not valid are all ones in every byte."""
        return self._view(self._borrow("record_ids"), self.info.ids_dtype, self._shape())

    @property
    def weights(self) -> npt.NDArray[Any]:
        """The weights, [rows, L, K] of `info.weights_dtype`, bfloat16 as its bits in uint16: a view. Of shape [rows, L, 0] where none are kept."""
        info = self.info
        if info.weights_dtype is DType.NONE:
            return np.empty((info.rows, info.num_layers, 0), np.float32)
        return self._view(self._borrow("record_weights"), info.weights_dtype, self._shape())

    @property
    def row_validity(self) -> npt.NDArray[np.uint8]:
        """The row bitmap, uint8 [ceil(rows / 8)]: bit i of byte i/8, from the lowest, is 1 if row i was captured (R7). A view."""
        return self._view(self._borrow("record_row_validity"), DType.UINT8)

    @property
    def cell_validity(self) -> npt.NDArray[np.uint8]:
        """The cell bitmap, uint8: bit row * L + column; empty where valid rows are valid in every column. A view."""
        return self._view(self._borrow("record_cell_validity"), DType.UINT8)

    @property
    def layer_ids(self) -> npt.NDArray[np.int32]:
        """Model layer number of every column, int32 [L] (R26). A view."""
        return self._view(self._borrow("record_layer_ids"), DType.INT32, (self.info.num_layers,))

    @property
    def layer_flags(self) -> npt.NDArray[np.int32]:
        """`TapFlags` of every column, int32 [L] (R24, R26). A view."""
        return self._view(self._borrow("record_layer_flags"), DType.INT32, (self.info.num_layers,))

    @property
    def version_spans(self) -> tuple[VersionSpan, ...]:
        """Runs of rows with one weight version, ascending; none of a record without a valid row."""
        starts, versions, count = native.ffi.new(native.HANDLE), native.ffi.new(native.HANDLE), native.ffi.new(native.INT64)
        owner, error = self._own(), native.new_error()
        native.check(native.functions().record_version_spans(owner.address, starts, versions, count, error), error)
        lists = [native.ffi.cast("int64_t*", place[0]) for place in (starts, versions)]
        return tuple(VersionSpan(lists[0][index], lists[1][index]) for index in range(count[0]))

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        """Which rows were captured, bool [rows]. A copy."""
        return np.unpackbits(self.row_validity, count=self.rows, bitorder="little").astype(np.bool_)

    @property
    def cell_valid(self) -> npt.NDArray[np.bool_]:
        """Which cells were captured, bool [rows, L]. A copy."""
        info = self.info
        if not info.has_cell_validity:
            return np.repeat(self.valid[:, None], info.num_layers, axis=1)
        count = info.rows * info.num_layers
        return np.unpackbits(self.cell_validity, count=count, bitorder="little").astype(np.bool_).reshape(info.rows, info.num_layers)

    def to_numpy(self, *, dtype: npt.DTypeLike = np.int32, missing: int = -1) -> npt.NDArray[Any]:
        """A copy of the ids, [rows, L, K], in a dtype of choice, with a number of choice in missing cells.

        Raises:
            OutOfRangeError: an id, or the number for missing cells, does not fit the dtype.

        """
        wanted, missing = _integer_dtype(dtype), integer(missing, "missing")
        holes = ~self.cell_valid
        numbers = [(self.num_experts - 1, "the largest id")]
        if holes.any():
            numbers.append((missing, "the number of missing cells"))
        for number, what in numbers:
            if not np.iinfo(wanted).min <= number <= np.iinfo(wanted).max:
                raise OutOfRangeError(f"{what} is {number}, which {wanted} does not hold")
        copy = self.ids.astype(wanted)
        if holes.any():
            copy[holes] = missing
        return copy

    def to_torch(self, what: What = "ids") -> torch.Tensor:
        """The ids or the weights, [rows, L, K], as a tensor over the record's own memory. torch has no read-only tensors: it must not be written
        to.
        """
        return dlpack.to_torch(self._writable_view(what), self._dtype_of(what))

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """The ids as a DLPack capsule: the record's own memory, marked read-only where the consumer knows versions of DLPack from 1.0 on."""
        return self.tensor("ids").__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The host."""
        return (1, 0)

    def tensor(self, what: What) -> dlpack.Tensor:
        """The ids or the weights as a DLPack producer, for `np.from_dlpack`, `torch.from_dlpack` and others; bfloat16 is bfloat16 there."""
        return dlpack.Tensor(self._writable_view(what), self._dtype_of(what))

    def to_pyarrow(self) -> pyarrow.Table:
        """A table of a line for each row and layer: position, layer, experts, weights; missing cells are null. Needs pyarrow."""
        from routecap._tables import to_pyarrow

        return to_pyarrow(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The same table as a stream of Arrow's C interface, for `polars.DataFrame(record)`, `nanoarrow.ArrayStream(record)` and others."""
        return self.to_pyarrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """A frame of a line for each row and layer, indexed by both, with a column for each expert and weight; missing cells are NA. Needs pandas."""
        from routecap._tables import to_pandas

        return to_pandas(self)

    # Algebra.

    def slice(self, start: int, end: int) -> Record:
        """A new record of the token positions [start, end): byte for byte what a read from `start` would have given (R3, R4)."""
        bounds = integer(start, "start"), integer(end, "end")
        return self._derive(lambda functions, self_, handle, error: functions.record_slice(self_, *bounds, handle, error))

    def __getitem__(self, rows: builtins.slice[Any, Any, Any]) -> Record:
        """A new record of some rows, counted from 0 as in a list: `record[:-1]`."""
        if not isinstance(rows, builtins.slice):
            raise TypeError("a record is cut by a slice of rows; Record.ids has single ones")
        for bound, what in ((rows.start, "start"), (rows.stop, "stop"), (rows.step, "step")):
            if bound is not None:
                integer(bound, f"the slice's {what}")
        if rows.step == 0:
            raise ValueError("a record is cut with step 1, and not 0")
        first, last, step = rows.indices(self.rows)
        if step != 1:
            raise ValueError(f"a record is cut with step 1, and not {step}")
        return self.slice(self.start + first, self.start + max(first, last))

    def append(self, following: Record, overlap: Overlap = Overlap.REFUSE) -> Record:
        """A new record of this one's rows and then another's, which starts inside this one or right behind it (R5, R39)."""
        other, how = _owner_of(following, "following"), choice(overlap, "overlap", Overlap)
        return self._derive(lambda functions, self_, handle, error: functions.record_append(self_, other.address, how, handle, error))

    def merge(self, decode: Record, boundary: int) -> Record:
        """A new record of a request served by a prefill and a decode engine: positions below the boundary from this record, the others from
        `decode` (R40).

        The boundary is the first position that is the decode side's, usually the number of prompt tokens.
        """
        other, first = _owner_of(decode, "decode"), integer(boundary, "boundary")
        return self._derive(lambda functions, self_, handle, error: functions.record_merge(self_, other.address, first, handle, error))

    def truncate(self, tokens: int, *, include_last: bool = False) -> Record:
        """A new record for a request cut to fewer tokens: positions below tokens - 1, with `include_last` below tokens (R4)."""
        count, flags = integer(tokens, "tokens"), ReadFlags.INCLUDE_LAST if truth(include_last, "include_last") else 0
        return self._derive(lambda functions, self_, handle, error: functions.record_truncate(self_, count, flags, handle, error))

    def stack(self, other: Record) -> Record:
        """A new record of the same tokens with the layers of both: stages of a pipeline (R44)."""
        second = _owner_of(other, "other")
        return self._derive(lambda functions, self_, handle, error: functions.record_stack(self_, second.address, handle, error))

    def interleave(
        self, positions: arrays.IntegersLike | None, other: Record, other_positions: arrays.IntegersLike | None
    ) -> Record:
        """A new record of token positions that context parallelism dealt out to two ranks (R45). A position that nobody named is missing.

        Args:
            positions: int64 [rows]: token position of each of this record's rows; None = start, start + 1, and so on.
            other: rows of another rank, of the same shape.
            other_positions: the same of the other's rows.

        """
        second = _owner_of(other, "other")
        first_list, second_list = _positions(positions, "positions"), _positions(other_positions, "other_positions")

        def interleave(functions: Any, self_: int, handle: Any, error: Any) -> int:
            return int(functions.record_interleave(self_, *first_list[:2], second.address, *second_list[:2], handle, error))

        return self._derive(interleave)

    def to_full_axis(self, num_layers: int, fill: Fill = Fill.MISSING, fill_id: int = 0) -> Record:
        """A new record with a column for every layer 0 .. num_layers - 1 of the model (R26). With Fill.VALUE the added ones hold `fill_id` K times.
        """
        given = integer(num_layers, "num_layers", *INT32), choice(fill, "fill", Fill), integer(fill_id, "fill_id", *INT32)
        return self._derive(lambda functions, self_, handle, error: functions.record_to_full_axis(self_, *given, handle, error))

    def to_compact(self, layer_ids: arrays.IntegersLike) -> Record:
        """A new record with some of this one's layers alone, int32 and ascending."""
        layers = arrays.host_vector(layer_ids, "layer_ids", _INT32)
        return self._derive(
            lambda functions, self_, handle, error: functions.record_to_compact(self_, arrays.given(layers), layers.shape[0], handle, error)
        )

    def compare(self, other: Record) -> CompareReport:
        """Where two records differ, on the positions that both hold."""
        return self._compare(other, None)

    def compare_by_layer(self, other: Record) -> tuple[CompareReport, npt.NDArray[np.int64]]:
        """As `compare`, and for each column the cells that differ in ids, int64 [L], where the shapes are the same."""
        by_layer = np.zeros(self.num_layers, np.int64)
        return self._compare(other, by_layer), by_layer

    def _compare(self, other: Record, by_layer: npt.NDArray[np.int64] | None) -> CompareReport:
        first, second = self._own(), _owner_of(other, "other")
        report, error = native.out("rcap_compare_report"), native.new_error()
        into = arrays.NOTHING if by_layer is None else arrays.read_array(by_layer, "by_layer")
        place = (0, 0) if by_layer is None else (into.address, into.shape[0])
        native.check(native.functions().record_compare(first.address, second.address, report, *place, error), error)
        return CompareReport._read(report)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self.compare(other).equal

    __hash__ = None  # type: ignore[assignment]

    # Forms.

    def encode(self, format: Format | str, options: EncodeOptions | None = None) -> bytes:
        """Writes the record in a form. What a form cannot hold is lost, missing cells excepted: `options.missing` decides."""
        owner = self._own()

        def encode(form: int, struct: Any, place: int, capacity: int, needed: Any, error: Any) -> int:
            return int(native.functions().record_encode(owner.address, form, struct, place, capacity, needed, error))

        return wire.encoded(format, options, encode)

    def write_to(self, file: BinaryIO, *, zstd_level: int = 0) -> int:
        """Writes the record as a frame; gives its bytes."""
        if not callable(getattr(file, "write", None)):
            raise TypeError(f"file: a {type(file).__name__}, and not a file that is written")
        frame = self.encode(Format.FRAME, EncodeOptions(zstd_level=zstd_level))
        file.write(frame)
        return len(frame)

    def __bytes__(self) -> bytes:
        """The record as a frame."""
        return self.encode(Format.FRAME)

    def __reduce__(self) -> tuple[Callable[[bytes], Record], tuple[bytes]]:
        """Pickled as a frame."""
        return _from_frame, (bytes(self),)

    # Lifetime.

    def close(self) -> None:
        """Gives the record's memory back, as soon as no array of it is left."""
        self._owner = None

    def __enter__(self) -> Record:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._owner is None:
            return "<routecap.Record: closed>"
        info = self.info
        return f"<routecap.Record: {info.rows} rows from {info.start}, {info.num_layers} layers, {info.top_k} of {info.num_experts} experts>"

    def _own(self) -> Owned:
        """The handle, alive as long as what this gives."""
        owner = self._owner
        if owner is None:
            raise closed_error("record")
        return owner

    def _derive(self, call: Callable[[Any, int, Any, Any], int]) -> Record:
        owner = self._own()
        return make_record(lambda handle, error: call(native.functions(), owner.address, handle, error))

    def _shape(self) -> tuple[int, int, int]:
        info = self.info
        return (info.rows, info.num_layers, info.top_k)

    def _dtype_of(self, what: What) -> DType:
        if not isinstance(what, str):
            raise TypeError(f"what is {shown(what)}, a {type(what).__name__} and not a str")
        if what not in ("ids", "weights"):
            raise ValueError(f"what is {shown(what)}: a record has ids and weights")
        dtype = self.info.ids_dtype if what == "ids" else self.info.weights_dtype
        if dtype is DType.NONE:
            raise InvalidArgumentError("the record keeps no weights")
        return dtype

    def _borrow(self, function: str) -> tuple[Owned, int, int]:
        """Owner, address and count of one of the record's arrays."""
        owner = self._own()
        data, count, error = native.ffi.new(native.HANDLE), native.ffi.new(native.INT64), native.new_error()
        native.check(getattr(native.functions(), function)(owner.address, data, count, error), error)
        return owner, data[0], count[0]

    def _view(self, borrowed: tuple[Owned, int, int], dtype: DType, shape: tuple[int, ...] | None = None) -> npt.NDArray[Any]:
        owner, address, count = borrowed
        return np.asarray(_View(owner, address, (count,) if shape is None else shape, dtype, read_only=True))

    def _writable_view(self, what: What) -> npt.NDArray[Any]:
        """For consumers that cannot be told that the memory is read-only."""
        dtype = self._dtype_of(what)
        owner, address, _ = self._borrow("record_ids" if what == "ids" else "record_weights")
        return np.asarray(_View(owner, address, self._shape(), dtype, read_only=False))


class _View:
    """Memory of a record as numpy asks for it: an array made of it refers to this, and this to the record's handle."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Owned, address: int, shape: tuple[int, ...], dtype: DType, *, read_only: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, read_only), "shape": shape, "typestr": arrays.NUMPY_DTYPES[dtype].str, "version": 3}


def make_record(call: Callable[[Any, Any], int]) -> Record:
    """Runs a call that makes a record."""
    handle, error = native.ffi.new(native.HANDLE), native.new_error()
    native.check(call(handle, error), error)
    record = Record.__new__(Record)
    record._owner = Owned(handle[0], native.functions().record_destroy)
    record._info = None
    return record


def _owner_of(record: object, what: str) -> Owned:
    """The handle of a record that is given."""
    owner: Owned | None = instance(record, what, Record)._owner
    if owner is None:
        raise ClosedError(f"{what}: the record was closed")
    return owner


def _flags(layer_flags: object) -> arrays.Array:
    """Flags of columns: of any integers."""
    if isinstance(layer_flags, np.ndarray) and not isinstance(layer_flags, np.ma.MaskedArray) and layer_flags.ndim == 1:
        layer_flags = layer_flags.tolist()
    return arrays.host_vector(layer_flags, "layer_flags", _INT32)


def _any_partial(layer_flags: object) -> bool:
    flags: Any = _flags(layer_flags).owner
    return bool((np.asarray(flags) & int(TapFlags.PARTIAL)).any())


def _integer_dtype(dtype: npt.DTypeLike) -> Any:
    """A dtype of numpy's."""
    try:
        wanted = np.dtype(dtype)
    except Exception:
        raise TypeError(f"dtype is {shown(dtype)}, which names no dtype of numpy's") from None
    if wanted.kind not in "iu":
        raise TypeError(f"dtype is {wanted}, and not one of integers")
    return wanted


def _from_frame(frame: bytes) -> Record:
    return Record.decode(Format.FRAME, frame)


def _adjacent(source: object, what: str, dtypes: frozenset[DType]) -> arrays.Array:
    array = arrays.require_adjacent(arrays.require(arrays.read_array(source, what), what, dtypes, (3,)), what)
    if array.memory is not Memory.HOST:
        raise TypeError(f"{what}: on {array.device}, and a record is made from the host's memory")
    return array


def _positions(source: arrays.IntegersLike | Sequence[SupportsIndex] | None, what: str) -> tuple[int, int, object]:
    """Address and count, and what keeps them."""
    if source is None:
        return 0, 0, None
    array = arrays.host_vector(source, what, _INT64)
    return arrays.given(array), array.shape[0], array
