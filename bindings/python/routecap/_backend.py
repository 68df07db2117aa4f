# SPDX-License-Identifier: Apache-2.0
"""Places where rows are captured."""

from __future__ import annotations

from types import TracebackType

from routecap import _arguments as arguments
from routecap import _native as native
from routecap._enums import Code
from routecap._errors import RoutecapError
from routecap._handle import Collected
from routecap._structs import BackendInfo


class Backend:
    """The host (built in) or an accelerator (a plugin). Capturers keep theirs alive. Any thread may use it."""

    def __init__(self, name: str, *, device_ordinal: int = 0, threads: int = 0) -> None:
        """Opens a backend.

        Args:
            name: `host`, the name of a plugin, or a plugin's absolute path.
            device_ordinal: which device of its kind; the host has only 0.
            threads: threads that it may use for one call; 0 = its default.

        """
        given = arguments.name(name, "name")
        options = native.new("rcap_backend_options", device_ordinal=device_ordinal, threads=threads)
        handle, error = native.ffi.new(native.HANDLE), native.new_error()
        native.check(native.functions().backend_open(given, options, handle, error), error)
        self._handle = Collected(handle[0], "backend", native.functions().backend_destroy)

    def describe(self) -> BackendInfo:
        """What the backend says of itself, and its counters."""
        info, error = native.out("rcap_backend_info"), native.new_error()
        with self._handle as address:
            native.check(native.functions().backend_describe(address, info, error), error)
        return BackendInfo._read(info)

    @staticmethod
    def search(name: str) -> str:
        """Where a backend of that name is looked for and what is there: one line a place, its path and `loads` or why not."""
        given = arguments.name(name, "name")
        needed, error, capacity = native.ffi.new(native.INT64), native.new_error(), 0
        while True:
            room = native.ffi.new("char[]", max(1, capacity))
            place = int(native.ffi.cast("intptr_t", room)) if capacity else 0
            status = native.functions().backend_search(given, place, capacity, needed, error)
            # Without room it is out of range and says what it needs; what is found in between may be more.
            if status == Code.OUT_OF_RANGE and needed[0] > capacity:
                capacity = needed[0]
                continue
            native.check(status, error)
            return native.text(room)

    def close(self) -> None:
        """Gives the backend back; capturers made with it go on working."""
        self._handle.close()

    def __enter__(self) -> Backend:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            info = self.describe()
        except RoutecapError as error:
            return f"<routecap.Backend: {error}>"
        return f"<routecap.Backend {info.name} {info.device_ordinal}>"
