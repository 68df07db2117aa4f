# SPDX-License-Identifier: Apache-2.0
"""The library: finding it, loading it at the first call, and its function table.

Every call through the table releases the GIL. A call never keeps a pointer to what it was given, id maps excepted.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from cffi import FFI

from routecap import _elf as elf
from routecap._arguments import integer
from routecap._declarations import ABI, DECLARATIONS, SONAME
from routecap._enums import Code
from routecap._errors import LibraryNotFoundError, RoutecapError, error_of

ffi: Any = FFI()
ffi.cdef(DECLARATIONS)
ffi.cdef("typedef struct { const char* file; void* base; const char* name; void* address; } Dl_info; int dladdr(const void*, Dl_info*);")

ERROR = ffi.typeof("rcap_error*")
ERROR_BYTES: int = ffi.sizeof("rcap_error")
HANDLE = ffi.typeof("intptr_t*")
INT64 = ffi.typeof("int64_t*")
INT32 = ffi.typeof("int32_t*")

VARIABLE = "ROUTECAP_LIBRARY"


def text(field: Any) -> str:
    """A zero-terminated field of a struct."""
    return str(ffi.string(field).decode("utf-8", "replace"))


def new(kind: str, **fields: object) -> Any:
    """A struct that the caller fills, with its size and the library's defaults. What is no integer, or does not fit, is refused by its name."""
    struct = ffi.new(kind + "*")
    getattr(functions(), kind.removeprefix("rcap_") + "_init")(struct, ffi.sizeof(kind))
    fill(kind, struct, **fields)
    return struct


def fill(kind: str, struct: Any, **fields: object) -> None:
    """Writes fields of a struct."""
    for name, value in fields.items():
        # What is an integer of Python's is checked by cffi, which knows the field; it would take more than that, such as others' floats.
        if isinstance(value, int) and value is not True and value is not False:
            try:
                setattr(struct, name, value)
                continue
            except OverflowError:
                pass
        setattr(struct, name, integer(value, name, *_bounds_of(kind)[name]))


@functools.lru_cache(maxsize=None)
def _bounds_of(kind: str) -> dict[str, tuple[int, int]]:
    """What the fields of a struct hold: they are signed integers."""
    sizes = {name: 8 * ffi.sizeof(field.type) for name, field in ffi.typeof(kind).fields if field.type.kind == "primitive"}
    return {name: (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for name, bits in sizes.items()}


def out(kind: str) -> Any:
    """A struct that the library fills."""
    struct = ffi.new(kind + "*")
    struct.struct_size = ffi.sizeof(kind)
    return struct


def new_error() -> Any:
    error = ffi.new(ERROR)
    error.struct_size = ERROR_BYTES
    return error


def check(status: int, error: Any, **names: str) -> int:
    """The answer of a call; a negative one is raised. `names` are parameters that are called something else in C."""
    if status < 0:
        raise error_of(status, text(error.text), error.detail, names)
    return status


# Errors that no call is using. Appending and popping are atomic.
_errors: list[Any] = [new_error()]


def take_error() -> Any:
    """An error for a call; `give_back` when the call is over. One that is raised in between is left to the collector."""
    try:
        return _errors.pop()
    except IndexError:
        return new_error()


give_back = _errors.append


class Tried(NamedTuple):
    """A place where the library was looked for."""

    path: str
    """File, or the name that the dynamic linker was asked for."""
    reason: str
    """Why it was not taken."""


class Loaded(NamedTuple):
    path: str
    origin: str
    functions: Any


def _candidates() -> list[tuple[str, str]]:
    """Places in their order, and what each is called."""
    named = os.environ.get(VARIABLE)
    if named:
        return [(named, "environment")]
    bundled = Path(__file__).with_name("lib") / SONAME
    return [(str(bundled), "bundled"), (SONAME, "system")]


_loading = threading.RLock()
_loaded: Loaded | None = None


def _load() -> Loaded:
    global _loaded
    with _loading:
        if _loaded is not None:
            return _loaded
        tried = []
        for path, origin in _candidates():
            if origin == "bundled" and not os.path.exists(path):
                tried.append(Tried(path, "no such file"))
                continue
            refused = _refusal(path)
            if refused is not None:
                tried.append(Tried(path, refused))
                continue
            try:
                # Not cffi's own dlopen: where that finds nothing it searches on, by running a compiler.
                handle = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)._handle
            except OSError as error:
                tried.append(Tried(path, str(error).removeprefix(path + ": ")))
                continue
            try:
                table = ffi.dlopen(ffi.cast("void*", handle)).rcap_get_api(ABI)
            except AttributeError:
                tried.append(Tried(path, "is not routecap: it has no rcap_get_api"))
                continue
            if table == ffi.NULL:
                tried.append(Tried(path, f"its ABI is older than {ABI}, which this package needs"))
                continue
            names = [name for name, field in ffi.typeof("rcap_api").fields if field.type.kind == "function"]
            whole = table.struct_size >= ffi.sizeof("rcap_api")
            if not whole:
                tried.append(Tried(path, f"its table has {table.struct_size} bytes, this package needs {ffi.sizeof('rcap_api')}"))
                continue
            calls = SimpleNamespace(**{name: getattr(table, name) for name in names})
            _loaded = Loaded(_file_of(table, path), origin, calls)
            return _loaded
        raise LibraryNotFoundError(tried)


def _refusal(path: str) -> str | None:
    """Why the dynamic linker must not see what it would load for a path or a name."""
    own = _own_header()
    file = path if "/" in path else elf.found_by_linker(path, own)
    if file is None:
        return None
    why = elf.refusal(file, own)
    return why if why is None or file == path else f"{file} {why}"


def _own_header() -> bytes:
    """The first bytes of an object of this process, which the library must be like: those of the C library."""
    info, system = ffi.new("Dl_info*"), ffi.dlopen(None)
    if not system.dladdr(ffi.cast("void*", ffi.addressof(system, "dladdr")), info):
        return b""
    return bytes(ffi.buffer(ffi.cast("char*", info.base), 64))


def _file_of(table: Any, path: str) -> str:
    """Where the dynamic linker found the library."""
    info = ffi.new("Dl_info*")
    if ffi.dlopen(None).dladdr(table, info) and info.file != ffi.NULL:
        return str(os.path.realpath(os.fsdecode(ffi.string(info.file))))
    return path


def loaded() -> Loaded:
    return _loaded or _load()


def functions() -> Any:
    """The function table: `functions().tap_capture(...)`. Handles, arrays and streams are numbers, structs are cffi's pointers."""
    return (_loaded or _load()).functions


def new_lock_after_fork() -> None:
    # Another thread may have been loading when this process was forked.
    global _loading
    _loading = threading.RLock()


os.register_at_fork(after_in_child=new_lock_after_fork)

__all__ = ["ABI", "SONAME", "Code", "RoutecapError", "Tried", "check", "ffi", "functions", "loaded", "new", "new_error", "out", "text"]
