# SPDX-License-Identifier: Apache-2.0
"""The recorder of one engine rank."""

from __future__ import annotations

import functools
import os
import struct
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

import numpy.typing as npt

from routecap import _arrays as arrays
from routecap import _native as native
from routecap._arguments import INT32, choice, instance, integer, truth
from routecap._arguments import name as encoded_name
from routecap._asyncio import Completions
from routecap._backend import Backend
from routecap._config import Config
from routecap._enums import Acceptance, Code, DType, FinalizeMode, Format, Memory, ReadFlags, Role, SlotUnit
from routecap._errors import InvalidArgumentError, InvalidStateError
from routecap._handle import CallLock, Handle, close_when_collected
from routecap._output import Output, entries, require_count
from routecap._record import Record, make_record
from routecap._structs import ReadInfo, SlotInfo, Stats
from routecap._tap import Model, Tap
from routecap._waiting import wait
from routecap._wire import EncodeOptions, encoded

_TAGS = frozenset({DType.INT64})
_HOST = int(Memory.HOST)
_CPU = ("cpu", 0)
# Said by nothing: a zero that is another object takes the long way, which finds the same.
_NO = 0

# first_row to weight_version of rcap_forward_layout, behind struct_size. A test compares it with the C API's description.
LAYOUT_FIELDS = (
    "first_row",
    "tokens",
    "acceptance",
    "slots_dtype",
    "rows_dtype",
    "slots_memory",
    "rows_memory",
    "tags_memory",
    "groups",
    "group_width",
    "slots_group_stride",
    "rows_group_stride",
    "step",
    "weight_version",
)
LAYOUT_CODES = "qqiiiiiiqqqqqq"
_fill = struct.Struct(LAYOUT_CODES).pack_into


class _Forward:
    """What one call of `Capturer.end_forward` needs in C's memory."""

    __slots__ = ("bytes", "error", "handle", "layout")

    def __init__(self) -> None:
        self.layout = native.new("rcap_forward_layout")
        self.bytes = native.ffi.buffer(self.layout)
        self.error = native.new_error()
        self.handle = native.ffi.new(native.HANDLE)


class Completion(NamedTuple):
    """A forward that settled."""

    sequence: int
    """Its number."""

    code: Code
    """What its finalize says: OK or DEVICE."""


class Capturer:
    """Records the routing of one engine rank. Any number live in one process, fully independent (R35).

    Add the models and their taps, then `seal`. What the engine does (models, seal, forwards, slots) is done one call at a time; calls of several
    threads wait for each other. Captures on different taps, calls on different outputs, reads and statistics run side by side with it and with each
    other.
    """

    def __init__(self, config: Config, *, backend: Backend | None = None) -> None:
        """Creates a capturer.

        Args:
            config: its geometry.
            backend: where rows are captured; None = the host.

        """
        self.config: Config = instance(config, "config", Config)
        """Its geometry."""
        if backend is not None:
            instance(backend, "backend", Backend)
        given, layers = config._struct()
        handle, error = native.ffi.new(native.HANDLE), native.new_error()
        functions = native.functions()
        self._device: tuple[str, int] | None = ("cpu", 0)
        if backend is None:
            native.check(functions.capturer_create(given, layers.address, layers.shape[0], 0, handle, error), error)
        else:
            info = backend.describe()
            if not info.host_memory:
                self._device = (info.name, info.device_ordinal)
            with backend._handle as place:
                native.check(functions.capturer_create(given, layers.address, layers.shape[0], place, handle, error), error)
        self._handle = Handle(handle[0], "capturer", functions.capturer_destroy, has_children=True)
        self._finalizer = close_when_collected(self, self._handle)
        # One caller among models, seal, forwards and slots.
        self._engine = CallLock()
        self._kept: list[object] = []
        # What end_forward fills, for each call in progress.
        self._forwards: list[_Forward] = []
        self._taps: weakref.WeakValueDictionary[int, Tap] = weakref.WeakValueDictionary()
        self._completions = Completions(self)

    # Set-up.

    def add_model(self, role: Role, name: str) -> Model:
        """Adds a model, before the seal: one TARGET, any number of DRAFTs. Drafts start denied and stay so (R20). The name is used in error texts."""
        kind, given, handle = choice(role, "role", Role), encoded_name(name, "name"), native.ffi.new(native.HANDLE)
        self._as_engine(lambda functions, address, error: functions.capturer_add_model(address, kind, given, handle, error))
        return Model._made(self, handle[0], kind, name)

    def seal(self) -> None:
        """Ends the set-up. Fails closed (R20): no target, a denied target, a captured layer without a tap. After it nothing is loaded or added."""

        def seal(functions: Any, address: int, error: Any) -> int:
            status = int(functions.capturer_seal(address, error))
            if status >= 0:
                for tap in list(self._taps.values()):
                    tap._denied = not tap.enabled
            return status

        self._as_engine(seal)

    def tap(self, tap_id: int) -> Tap:
        """The tap of a number, as `Tap.id` gave it."""
        number = integer(tap_id, "tap_id", *INT32)
        handle, error = native.ffi.new(native.HANDLE), native.new_error()
        with self._handle as address:
            native.check(native.functions().capturer_tap(address, number, handle, error), error)
            return self._tap_of(handle[0])

    def _tap_of(self, address: int, model: Model | None = None) -> Tap:
        with self._engine:
            tap = self._taps.get(address)
            if tap is None:
                tap = self._taps[address] = Tap._made(self, address)
                if model is None:
                    tap._denied = not tap.enabled
            return tap

    # Forwards.

    def end_forward(
        self,
        tokens: int,
        slots: arrays.IntegersLike | None = None,
        *,
        first_row: int = 0,
        acceptance: Acceptance = Acceptance.ALL,
        rows: arrays.IntegersLike | None = None,
        tags: arrays.IntegersLike | None = None,
        groups: int = 0,
        group_width: int = 0,
        slots_group_stride: int = 0,
        rows_group_stride: int = 0,
        step: int = 0,
        weight_version: int = 0,
        stream: object = None,
    ) -> Output:
        """Stages this rank's rows, gives the forward its sequence number, and the device cache back to the next forward (R30).

        Commit entry (g, j): forward row `rows[g, j]` goes to slot `slots[g, j]`; -1 in either means nothing. Rows count from the forward's first
        row. A refused call, BUSY included, changes nothing and may be repeated.

        Args:
            tokens: this rank's rows; 0 is an idle rank and legal (R16).
            slots: slot of every entry, int32 or int64: [entries], as many as there are (`tokens`, with GIVEN as `rows` has), or [groups, width]
                where the elements of a group are adjacent. Not needed where the capturer stores nothing, with 0 tokens, or with Acceptance.LATER.
            first_row: row of the device buffer where this rank's rows begin (`layout_rows`).
            acceptance: which rows are committed: ALL, those that `rows` names (GIVEN), or LATER by `Output.accept`.
            rows: forward row of every entry, int32 or int64 and shaped as slots; with GIVEN only.
            tags: tag of every row of the forward, int64 [tokens], where tags are kept (R8).
            groups: groups of entries, for lists of one dimension; 0 = one.
            group_width: entries of a group; 0 = all of them, with one group.
            slots_group_stride: elements between the starts of two groups of slots; 0 = group_width.
            rows_group_stride: the same for rows.
            step: the engine's step number, a label only (R10).
            weight_version: version of the model's weights in this forward, kept with every row.
            stream: as for `Tap.capture`.

        Raises:
            BusyError: every staging block is in flight (R32).
            RoutecapError: what else the library refuses.

        """
        # The way of most forwards: a slot for every row, and nothing else.
        listed = None
        alone = rows is None and tags is None and acceptance is not Acceptance.GIVEN
        if alone and slots is not None and groups is _NO and group_width is _NO and slots_group_stride is _NO and rows_group_stride is _NO:
            listed = arrays.plain_list(slots)
        if listed is not None:
            address, nbytes, dtype, count = listed
            if count is not tokens and count != (tokens := integer(tokens, "tokens")):
                raise InvalidArgumentError(f"slots has {count} elements, tokens is {tokens}")
            places = (address, nbytes, 0, 0, 0, 0)
            geometry: tuple[int, ...] = (dtype, dtype, _HOST, _HOST, _HOST, 0, 0, 0, 0)
        else:
            # What was written down for the call lives until it is over.
            places, geometry, _kept = self._listed(tokens, slots, acceptance, rows, tags, groups, group_width, slots_group_stride, rows_group_stride)
        if type(acceptance) is not Acceptance:
            acceptance = choice(acceptance, "acceptance", Acceptance)
        stream_handle = 0 if stream is None and self._device == _CPU else self._stream(stream)
        try:
            forward = self._forwards.pop()
        except IndexError:
            forward = _Forward()
        try:
            _fill(forward.bytes, 8, first_row, tokens, acceptance, *geometry, step, weight_version)
        except Exception:
            for number, what in ((first_row, "first_row"), (tokens, "tokens"), (step, "step"), (weight_version, "weight_version")):
                integer(number, what)
            raise
        functions, error = native.functions(), forward.error
        with self._handle as capturer, self._engine:
            status = functions.capturer_end_forward(capturer, forward.layout, *places, stream_handle, forward.handle, error)
            if status < 0:
                native.check(status, error)
            output = Output._made(self, forward.handle[0], functions, error)
        self._forwards.append(forward)
        return output

    def _listed(
        self,
        tokens: object,
        slots: arrays.IntegersLike | None,
        acceptance: object,
        rows: arrays.IntegersLike | None,
        tags: arrays.IntegersLike | None,
        *grouping: int,
    ) -> tuple[tuple[int, int, int, int, int, int], tuple[int, ...], object]:
        """Addresses and counts of a forward's lists, what its layout says of them, and what keeps them."""
        listed = entries(slots, rows, *grouping)
        labels = arrays.NOTHING if tags is None else arrays.vector(tags, "tags", _TAGS)
        count = integer(tokens, "tokens")
        given = choice(acceptance, "acceptance", Acceptance) is Acceptance.GIVEN
        if given and rows is not None:
            require_count(listed.rows, "rows", listed, listed.rows.shape[0], "")
            require_count(listed.slots, "slots", listed, listed.rows.shape[0], f"rows has {listed.rows.shape[0]}")
        elif slots is not None and not given:
            require_count(listed.slots, "slots", listed, count, f"tokens is {count}")
        for array, what in ((listed.slots, "slots"), (listed.rows, "rows"), (labels, "tags")):
            self._require_place(array, what)
        places = (
            *optional(slots, listed.slots, listed.slots.nbytes),
            *optional(rows, listed.rows, listed.rows.nbytes),
            *optional(tags, labels, labels.shape[0]),
        )
        arrangement = (listed.groups, listed.group_width, listed.slots_group_stride, listed.rows_group_stride)
        kinds = (listed.slots.dtype, listed.rows.dtype, listed.slots.memory, listed.rows.memory, labels.memory)
        return places, (*kinds, *arrangement), (listed, labels)

    def discard_forward(self, *, stream: object = None) -> None:
        """Forgets what was captured since the last `end_forward`: a warm-up, dummy or aborted forward (R27). Takes no number."""
        place = self._stream(stream)
        self._as_engine(lambda functions, address, error: functions.capturer_discard_forward(address, place, error))

    # Slots.

    def release_slots(self, slots: arrays.IntegersLike, *, unit: SlotUnit = SlotUnit.SLOT, stream: object = None) -> None:
        """Makes slots read as missing until they are written again (R8). Applied at the call; forwards numbered before it never leave a row there
        (R9).

        Args:
            slots: int32 or int64 [count], slots or pages, each in range; releasing twice, or a reserved slot, is harmless.
            unit: how they are named.
            stream: as for `Tap.capture`.

        """
        named = arrays.vector(slots, "slots")
        self._require_place(named, "slots")
        layout = _slots_layout(named.dtype, named.memory, choice(unit, "unit", SlotUnit))
        place, error = self._stream(stream), native.take_error()
        with self._handle as address, self._engine:
            status = native.functions().capturer_release_slots(address, layout, arrays.given(named), named.nbytes, place, error)
        if status < 0:
            native.check(status, error)
        native.give_back(error)

    def release_all(self, *, stream: object = None) -> None:
        """Releases every slot, in constant time."""
        place = self._stream(stream)
        self._as_engine(lambda functions, address, error: functions.capturer_release_all(address, place, error))

    def copy_slots(
        self, source: arrays.IntegersLike, target: arrays.IntegersLike, *, unit: SlotUnit = SlotUnit.SLOT, stream: object = None
    ) -> None:
        """Copies rows from slots to other slots, as if all at once; sources stay (R12).

        Rows of forwards numbered before the copy and finalized after it go along: until those are done the target is NOT_READY.

        Args:
            source: int32 or int64 [count], each in range; may repeat.
            target: the same dtype and count, none twice.
            unit: how they are named.
            stream: as for `Tap.capture`.

        """
        sources, targets = arrays.vector(source, "source"), arrays.vector(target, "target")
        if (sources.dtype, sources.memory) != (targets.dtype, targets.memory):
            raise TypeError(
                f"target: {targets.dtype.name} in {targets.memory.name} memory, "
                f"and not {sources.dtype.name} in {sources.memory.name} memory as the source"
            )
        if sources.shape != targets.shape:
            raise InvalidArgumentError(f"target has {targets.shape[0]} elements, source has {sources.shape[0]}")
        self._require_place(sources, "source")
        self._require_place(targets, "target")
        layout = _slots_layout(sources.dtype, sources.memory, choice(unit, "unit", SlotUnit))
        place = self._stream(stream)

        def copy(functions: Any, address: int, error: Any) -> int:
            return int(
                functions.capturer_copy_slots(
                    address, layout, arrays.given(sources), sources.nbytes, arrays.given(targets), targets.nbytes, place, error
                )
            )

        self._as_engine(copy)

    def slot_info(self, slot: int) -> SlotInfo:
        """State of one slot. The target of a copy that waits for a forward is NOT_READY."""
        number, info, error = integer(slot, "slot"), native.out("rcap_slot_info"), native.new_error()
        with self._handle as address:
            native.check(native.functions().capturer_slot_info_get(address, number, info, error), error)
        return SlotInfo._read(info)

    # Reads.

    def read(
        self,
        slots: arrays.IntegersLike,
        tokens: int,
        *,
        start: int = 0,
        unit: SlotUnit = SlotUnit.SLOT,
        include_last: bool = False,
        after_sequence: int = 0,
        tags: arrays.IntegersLike | None = None,
        timeout: float | None = 0.0,
    ) -> Record:
        """Reads a request's rows by its slots into a new record. Rows that nobody captured are missing, never zeros (R7).

        Args:
            slots: int32 or int64 [tokens - 1] or more, because a request may have been cut to fewer tokens (R4): the slot of every token; -1 reads as
                missing (R3). With SlotUnit.PAGE, the request's pages.
            tokens: n, prompt and generated: rows 0 .. n-2 exist (R1).
            start: first token wanted, 0 .. n (R3).
            unit: how slots are named.
            include_last: also the last token's row, if its slot is given and valid (R2).
            after_sequence: number of the request's last forward: the read waits for it and for earlier ones that may change these slots (R36).
            tags: int64, where tags are kept: the tag that each token's row must have; None = do not compare (R8).
            timeout: longest wait for what is lacking in seconds; 0 = answer at once, None = for ever.

        Raises:
            NotReadyError: what is lacking did not come in time; `detail` is its sequence.
            RoutecapError: what else the library refuses.

        """
        listed, labels, layout = _reading(slots, tokens, start, unit, include_last, after_sequence, tags)

        def read(address: int, handle: Any, error: Any) -> int:
            def once(nanoseconds: int) -> int:
                layout.timeout_ns = nanoseconds
                given = optional(tags, labels, labels.shape[0])
                return int(native.functions().capturer_read(address, layout, arrays.given(listed), listed.nbytes, *given, handle, error))

            return wait(once, Code.NOT_READY, timeout)

        with self._handle as address:
            return make_record(lambda handle, error: read(address, handle, error))

    def read_into(
        self,
        slots: arrays.IntegersLike,
        tokens: int,
        *,
        ids: npt.NDArray[Any] | arrays.ArrayLike | None = None,
        weights: npt.NDArray[Any] | arrays.ArrayLike | None = None,
        validity: npt.NDArray[Any] | arrays.ArrayLike | None = None,
        start: int = 0,
        unit: SlotUnit = SlotUnit.SLOT,
        include_last: bool = False,
        after_sequence: int = 0,
        tags: arrays.IntegersLike | None = None,
        timeout: float | None = 0.0,
    ) -> ReadInfo:
        """As `read`, into the caller's memory; without any array it only tells what is needed.

        Args:
            slots: as for `read`.
            tokens: as for `read`.
            ids: receives [rows, L, K] of the capturer's id dtype, adjacent, in the host's memory. What lies behind is left alone.
            weights: receives [rows, L, K] of the capturer's weights dtype.
            validity: uint8, receives the row bitmap (bit i of byte i/8, from the lowest), and behind it the cell bitmap where there are PARTIAL taps.
            start: as for `read`, and so are the others.
            unit: as for `read`.
            include_last: as for `read`.
            after_sequence: as for `read`.
            tags: as for `read`.
            timeout: as for `read`.

        Raises:
            TypeError: another dtype than what is read, memory that is not the host's, not adjacent, or read-only.
            OutOfRangeError: an array is too small; nothing was written.

        """
        listed, labels, layout = _reading(slots, tokens, start, unit, include_last, after_sequence, tags)
        stored = frozenset({arrays.stored_dtype(self.config.num_experts)})
        into = [
            _writable(ids, "ids", stored),
            _writable(weights, "weights", frozenset({self.config.weights_dtype})),
            _writable(validity, "validity", frozenset({DType.UINT8})),
        ]
        info, error = native.out("rcap_read_info"), native.new_error()
        with self._handle as address:

            def once(nanoseconds: int) -> int:
                layout.timeout_ns = nanoseconds
                given = optional(tags, labels, labels.shape[0])
                places = [number for array in into for number in (array.address, array.nbytes)]
                return int(
                    native.functions().capturer_read_into(address, layout, arrays.given(listed), listed.nbytes, *given, *places, info, error)
                )

            native.check(wait(once, Code.NOT_READY, timeout), error)
        return ReadInfo._read(info)

    def encode(
        self,
        slots: arrays.IntegersLike,
        tokens: int,
        format: Format | str,
        options: EncodeOptions | None = None,
        *,
        start: int = 0,
        unit: SlotUnit = SlotUnit.SLOT,
        include_last: bool = False,
        after_sequence: int = 0,
        tags: arrays.IntegersLike | None = None,
        timeout: float | None = 0.0,
    ) -> bytes:
        """Reads a request's rows by its slots and writes them in a form, in one pass and without a record between. The arguments are those of
        `read`.
        """
        listed, labels, layout = _reading(slots, tokens, start, unit, include_last, after_sequence, tags)
        with self._handle as address:

            def encode(form: int, written: Any, place: int, capacity: int, needed: Any, error: Any) -> int:
                def once(nanoseconds: int) -> int:
                    layout.timeout_ns = nanoseconds
                    given = optional(tags, labels, labels.shape[0])
                    return int(
                        native.functions().capturer_encode(
                            address, layout, arrays.given(listed), listed.nbytes, *given, form, written, place, capacity, needed, error
                        )
                    )

                return wait(once, Code.NOT_READY, timeout)

            return encoded(format, options, encode)

    # Counters and completions.

    def stats(self) -> Stats:
        """Counters since the capturer's creation, and a few of its present state."""
        stats, error = native.out("rcap_capturer_stats"), native.new_error()
        with self._handle as address:
            native.check(native.functions().capturer_stats_get(address, stats, error), error)
        return Stats._read(stats)

    def completion_fd(self) -> int:
        """A descriptor that counts settled outputs, for poll and epoll; with FinalizeMode.OWN_THREAD only. The caller closes it.

        Reading 8 bytes resets it. Completions are kept for `next_completed` from the first call on.
        """
        descriptor, error = native.ffi.new(native.INT32), native.new_error()
        with self._handle as address:
            native.check(native.functions().capturer_completion_fd(address, descriptor, error), error)
            # The capturer closes its own when it ends, and a number that was closed may be something else's by then.
            return os.dup(descriptor[0])

    def next_completed(self, timeout: float | None = 0.0) -> Completion:
        """Takes the next settled output, in the order in which they settled; with FinalizeMode.OWN_THREAD only.

        Completions are kept from the first call of this or of `completion_fd` on. Where outputs are awaited the event loop takes them.

        Raises:
            TimedOutError: none settled within `timeout` seconds (None = wait for ever).
            InvalidStateError: the caller finalizes, the capturer is not sealed, or outputs are awaited.

        """
        if self._completions.started:
            raise InvalidStateError("the outputs of this capturer are awaited, and the event loop takes the completions")
        return self._next_completed(timeout)

    def _next_completed(self, timeout: float | None) -> Completion:
        sequence, status, error = native.ffi.new(native.INT64), native.ffi.new(native.INT32), native.new_error()
        with self._handle as address:

            def once(nanoseconds: int) -> int:
                return int(native.functions().capturer_next_completed(address, nanoseconds, sequence, status, error))

            native.check(wait(once, Code.TIMEOUT, timeout), error)
        return Completion(sequence[0], Code(status[0]))

    # Lifetime.

    def close(self) -> None:
        """Ends the capturer, its models and its taps. Outputs in flight are safe and say CLOSED from then on (R34); records live on.

        A call that is in progress on another thread ends as it would have, and the last one to end gives the memory back.
        """
        self._finalizer.detach()
        self._handle.close()
        self._completions.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle.closed

    def __enter__(self) -> Capturer:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self.config.layer_ids)} layers of {self.config.num_experts} experts"
        return f"<routecap.Capturer: {state}>"

    # What the other modules need.

    def _as_engine(self, call: Callable[[Any, int, Any], int], keep: object = None) -> None:
        """Runs a call of the engine's side: one at a time."""
        error = native.new_error()
        with self._handle as address, self._engine:
            native.check(call(native.functions(), address, error), error)
            if keep is not None:
                self._kept.append(keep)

    def _require_place(self, array: arrays.Array, what: str) -> None:
        """Refuses memory of a device that is not the capturer's."""
        if array.device in (None, ("cpu", 0)) or array.memory is Memory.HOST:
            return
        if array.device != self._device:
            raise TypeError(f"{what}: on {_device_name(array.device)}, and the capturer works on {_device_name(self._device)}")

    def _stream(self, stream: object) -> int:
        """A stream's handle; None is torch's current one on a CUDA device, else the default stream."""
        if stream is not None:
            return arrays.stream_number(stream)
        torch = arrays.torch_types()
        if torch is None or self._device is None or self._device[0] != "cuda":
            return 0
        return int(torch.stream(self._device[1]))

    @property
    def _own_thread(self) -> bool:
        return self.config.finalize_mode == FinalizeMode.OWN_THREAD


@functools.lru_cache(maxsize=None)
def _slots_layout(dtype: DType, memory: Memory, unit: SlotUnit) -> Any:
    """One for all calls: the library only reads it."""
    return native.new("rcap_slots_layout", slots_dtype=dtype, memory=memory, unit=unit)


def _device_name(device: tuple[str, int] | None) -> str:
    return "an unknown device" if device is None else "%s:%d" % device


def optional(source: object, array: arrays.Array, count: int) -> tuple[int, int]:
    """Address and count of an array, null for one that is not given."""
    return (0, 0) if source is None else (arrays.given(array), count)


def _reading(
    slots: object, tokens: int, start: int, unit: SlotUnit, include_last: bool, after_sequence: int, tags: object
) -> tuple[arrays.Array, arrays.Array, Any]:
    listed = arrays.host_vector(slots, "slots")
    labels = arrays.NOTHING if tags is None else arrays.host_vector(tags, "tags", _TAGS)
    layout = native.new(
        "rcap_read_layout",
        slots_dtype=listed.dtype,
        unit=choice(unit, "unit", SlotUnit),
        flags=ReadFlags.INCLUDE_LAST if truth(include_last, "include_last") else 0,
        tokens=tokens,
        start=start,
        after_sequence=after_sequence,
    )
    return listed, labels, layout


def _writable(target: object, what: str, dtypes: frozenset[DType]) -> arrays.Array:
    """Memory of the host's that a read fills."""
    if target is None:
        return arrays.NOTHING
    array = arrays.require_adjacent(arrays.require(arrays.read_array(target, what), what, dtypes, (1, 2, 3)), what)
    if array.memory is not Memory.HOST:
        raise TypeError(f"{what}: on {array.device}, and a read fills the host's memory")
    flags = getattr(array.owner, "flags", None)
    if flags is not None and not getattr(flags, "writeable", True):
        raise TypeError(f"{what}: read-only")
    return array
