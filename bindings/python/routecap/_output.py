# SPDX-License-Identifier: Apache-2.0
"""Ended forwards on their way to the store."""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from routecap import _arrays as arrays
from routecap import _native as native
from routecap._arguments import integer
from routecap._enums import Code
from routecap._errors import InvalidArgumentError
from routecap._handle import CallLock, Collected
from routecap._structs import Summary
from routecap._waiting import wait

if TYPE_CHECKING:
    from routecap._capturer import Capturer


class DeviceRows(NamedTuple):
    """The staged block of an output."""

    address: int
    """Where it lies on the device."""

    nbytes: int
    """Its bytes: `Plan.slot_payload_bytes` a row."""


class Output:
    """One ended forward on its way to the store. Calls on different outputs run side by side; of one output, one after the other.

    Closed or collected unsettled, it is dropped: its slots settle as missing (R33). With FinalizeMode.OWN_THREAD an accepted one is only detached and
    still stored, and `await output` gives its summary.
    """

    __slots__ = ("__weakref__", "_calls", "_handle", "capturer", "sequence")

    _calls: CallLock
    _handle: Collected
    capturer: Capturer
    """Whose forward it is."""

    sequence: int
    """Number of the forward, > 0. Forwards, releases and copies of a capturer count together (R9)."""

    def __init__(self) -> None:
        """Outputs are made by `Capturer.end_forward`."""
        raise TypeError("an output is made by Capturer.end_forward")

    @classmethod
    def _made(cls, capturer: Capturer, address: int, functions: Any, error: Any) -> Output:
        output = cls.__new__(cls)
        output.capturer = capturer
        output._handle = Collected(address, "output", functions.output_destroy, capturer._handle)
        output._calls = CallLock()
        output.sequence = native.check(functions.output_sequence(address, error), error)
        return output

    def accept(
        self,
        rows: arrays.IntegersLike,
        slots: arrays.IntegersLike | None = None,
        *,
        groups: int = 0,
        group_width: int = 0,
        slots_group_stride: int = 0,
        rows_group_stride: int = 0,
        stream: object = None,
    ) -> None:
        """Tells which rows of a LATER forward are committed; once, before finalize. A refused call may be repeated (R21).

        Args:
            rows: forward row of every entry, int32 or int64, [entries] or [groups, group width]; no entry commits nothing.
            slots: slot of every entry, shaped as rows; None = each row's slot as given with the forward.
            groups: as for `Capturer.end_forward`, and so are the others.
            group_width: as for `Capturer.end_forward`.
            slots_group_stride: as for `Capturer.end_forward`.
            rows_group_stride: as for `Capturer.end_forward`.
            stream: as for `Tap.capture`.

        """
        if rows is None:
            raise TypeError("rows is None, and not a list of integers; an empty one commits nothing")
        listed = entries(slots, rows, groups, group_width, slots_group_stride, rows_group_stride)
        require_count(listed.rows, "rows", listed, listed.rows.shape[0], "")
        require_count(listed.slots, "slots", listed, listed.rows.shape[0], f"rows has {listed.rows.shape[0]}")
        self.capturer._require_place(listed.slots, "slots")
        self.capturer._require_place(listed.rows, "rows")
        layout = native.new(
            "rcap_accept_layout",
            slots_dtype=listed.slots.dtype,
            rows_dtype=listed.rows.dtype,
            slots_memory=listed.slots.memory,
            rows_memory=listed.rows.memory,
            groups=listed.groups,
            group_width=listed.group_width,
            slots_group_stride=listed.slots_group_stride,
            rows_group_stride=listed.rows_group_stride,
        )
        chosen = (listed.rows.address if listed.rows.nbytes else 0, listed.rows.nbytes)
        places = (0, 0) if slots is None else (arrays.given(listed.slots), listed.slots.nbytes)
        place = self.capturer._stream(stream)
        self._call(lambda functions, address, error: functions.output_accept(address, layout, *chosen, *places, place, error))

    def device_rows(self) -> DeviceRows:
        """The staged block on the device, for a collective where ranks hold parts. Valid until the output settles."""
        data, nbytes = native.ffi.new(native.HANDLE), native.ffi.new(native.INT64)
        self._call(lambda functions, address, error: functions.output_device_rows(address, data, nbytes, error))
        return DeviceRows(data[0], nbytes[0])

    def copy_to_host(self, *, stream: object = None) -> None:
        """Starts the one copy of the staged block to the host, ordered behind the staging whatever the stream. A second call does nothing."""
        place = self.capturer._stream(stream)
        error = native.take_error()
        with self._handle as address, self._calls:
            status = native.functions().output_copy_to_host(address, place, error)
        if status < 0:
            native.check(status, error)
        native.give_back(error)

    def ready(self) -> bool:
        """Whether the copy is complete; with FinalizeMode.OWN_THREAD, whether the output has settled. Never waits."""
        return self._call(lambda functions, address, error: functions.output_ready(address, error)) == 1

    def wait(self, timeout: float | None = None) -> None:
        """Waits until `ready` would be true, without the GIL.

        Raises:
            TimedOutError: it was not within `timeout` seconds; None = wait for ever.

        """

        def wait_in_slices(functions: Any, address: int, error: Any) -> int:
            return wait(lambda nanoseconds: int(functions.output_wait(address, nanoseconds, error)), Code.TIMEOUT, timeout)

        self._call(wait_in_slices)

    def finalize(self) -> Summary:
        """Stores the committed rows and frees the block.

        Bad rows do not fail the call: they are missing and the summary names the first (R14). On a settled output it gives the same answer again.
        With FinalizeMode.OWN_THREAD it only reads the summary.
        """
        try:
            summary = _summaries.pop()
        except IndexError:
            summary = native.out("rcap_summary")
        error = native.take_error()
        with self._handle as address, self._calls:
            status = native.functions().output_finalize(address, summary, error)
        if status < 0:
            native.check(status, error)
        found = Summary._read(summary)
        _summaries.append(summary)
        native.give_back(error)
        return found

    def __await__(self) -> Generator[Any, None, Summary]:
        """The summary, once the capturer's own thread has settled the output: no thread and no task per output (FinalizeMode.OWN_THREAD)."""
        return self.capturer._completions.summary_of(self).__await__()

    def close(self) -> None:
        """Gives the output back; unsettled, it is dropped (R33)."""
        self._handle.close()

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def _call(self, call: Callable[[Any, int, Any], int]) -> int:
        error = native.new_error()
        with self._handle as address, self._calls:
            return native.check(int(call(native.functions(), address, error)), error)

    def __repr__(self) -> str:
        return f"<routecap.Output {self.sequence}{' closed' if self._handle.closed else ''}>"


# Summaries that no call is filling.
_summaries: list[Any] = []


class Entries(NamedTuple):
    """Lists of slots and rows, and how they are grouped."""

    slots: arrays.Array
    rows: arrays.Array
    groups: int
    group_width: int
    slots_group_stride: int
    rows_group_stride: int


def entries(slots: object, rows: object, groups: int, group_width: int, slots_group_stride: int, rows_group_stride: int) -> Entries:
    """Takes the grouping of matrices from their shapes."""
    for number, what in (
        (groups, "groups"),
        (group_width, "group_width"),
        (slots_group_stride, "slots_group_stride"),
        (rows_group_stride, "rows_group_stride"),
    ):
        integer(number, what)
    lists = [
        arrays.NOTHING if source is None else arrays.integers(source, what, dimensions=(1, 2)) for source, what in ((slots, "slots"), (rows, "rows"))
    ]
    matrices = [array for array in lists if len(array.shape) == 2]
    if not matrices:
        for array, what in zip(lists, ("slots", "rows")):
            arrays.require_adjacent(array, what)
        return Entries(lists[0], lists[1], groups, group_width, slots_group_stride, rows_group_stride)
    if groups or group_width or slots_group_stride or rows_group_stride:
        raise TypeError("slots and rows of two dimensions say their groups themselves")
    shape = matrices[0].shape
    strides = []
    for array, source, what in ((lists[0], slots, "slots"), (lists[1], rows, "rows")):
        if source is not None and array.shape != shape:
            raise TypeError(f"{what}: shape {array.shape}, and not {shape}")
        outer = arrays.row_stride(array, what) if source is not None else 0
        size = arrays.SIZES[array.dtype]
        if outer % size:
            raise TypeError(f"{what}: the groups lie {outer} bytes apart, which is no whole number of elements")
        strides.append(outer // size)
    return Entries(lists[0], lists[1], shape[0], shape[1], strides[0], strides[1])


def require_count(array: arrays.Array, what: str, listed: Entries, entries: int, reason: str) -> None:
    """Refuses a list of one dimension with another number of elements than is read: what is beyond would be left out in silence."""
    if len(array.shape) != 1 or array is arrays.NOTHING:
        return
    groups, width, stride = listed.groups, listed.group_width, listed.slots_group_stride if what == "slots" else listed.rows_group_stride
    if groups <= 1 and width == 0:
        if array.shape[0] != entries:
            raise InvalidArgumentError(f"{what} has {array.shape[0]} elements, {reason}")
        return
    groups, stride = max(groups, 1), stride or width
    # Behind the last group there may be what is between the others. What is no geometry the library refuses.
    least, most = (groups - 1) * stride + width, groups * stride
    if width > 0 and stride >= width and not least <= array.shape[0] <= most:
        raise InvalidArgumentError(f"{what} has {array.shape[0]} elements, {groups} groups of {width}, {stride} apart, have {least} .. {most}")
