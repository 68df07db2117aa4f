# SPDX-License-Identifier: Apache-2.0
"""One exception class for each status of the library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from routecap._enums import PREFIXES, Code


class RoutecapError(Exception):
    """A call that was refused or failed. What it was given is unchanged."""

    code: ClassVar[Code] = Code.INTERNAL
    """What kind of failure it is."""

    text: str
    """One line: what was refused, with which value, against which limit."""

    detail: int
    """The sequence that is lacking, with NOT_READY of a read or of `Capturer.slot_info`; else 0."""

    def __init__(self, text: str = "", detail: int = 0) -> None:
        super().__init__(text, detail)
        self.text = text
        self.detail = detail

    def __str__(self) -> str:
        if self.text:
            return self.text
        if self.detail:
            return f"sequence {self.detail} is lacking"
        return _ANSWERS.get(self.code, self.code.name)


class InvalidArgumentError(RoutecapError, ValueError):
    """An argument is malformed, contradicts another one, or names something unknown."""

    code = Code.INVALID_ARGUMENT


class InvalidStateError(RoutecapError):
    """The call does not fit the state of its object: before the seal, after it, accepted twice."""

    code = Code.INVALID_STATE


class OutOfRangeError(RoutecapError, ValueError):
    """A count, slot, row, layer or position lies outside its range."""

    code = Code.OUT_OF_RANGE


class OutOfMemoryError(RoutecapError, MemoryError):
    """Memory could not be had."""

    code = Code.OUT_OF_MEMORY


class NotReadyError(RoutecapError):
    """What was asked for is not there yet; `detail` names the sequence that is lacking where there is one."""

    code = Code.NOT_READY


class BusyError(RoutecapError):
    """Every staging block is in flight (R32). Finalize the oldest output and call again."""

    code = Code.BUSY


class TimedOutError(RoutecapError, TimeoutError):
    """The given time has passed."""

    code = Code.TIMEOUT


class ClosedError(RoutecapError):
    """The object, or the capturer that it belongs to, was closed."""

    code = Code.CLOSED


class UnsupportedError(RoutecapError):
    """Understood, and not possible with this library or backend."""

    code = Code.UNSUPPORTED


class VersionMismatchError(RoutecapError):
    """Another version of a format, a plugin or the interface is needed."""

    code = Code.VERSION_MISMATCH


class CorruptError(RoutecapError, ValueError):
    """Bytes do not hold what their header promises."""

    code = Code.CORRUPT


class NotFoundError(RoutecapError, LookupError):
    """No backend, tap or form of that name or number."""

    code = Code.NOT_FOUND


class NoDeviceError(RoutecapError):
    """The backend is there, its device is not."""

    code = Code.NO_DEVICE


class DeviceError(RoutecapError):
    """The device reported a fault; nothing of the output that it touched was stored (R34)."""

    code = Code.DEVICE


class ForkedError(RoutecapError):
    """The object was inherited through `fork()`; only records work in the child. Make a new capturer there."""

    code = Code.FORKED


class InternalError(RoutecapError):
    """A fault of the library; please report the text."""

    code = Code.INTERNAL


class LibraryNotFoundError(RoutecapError, ImportError):
    """The library could not be loaded. The text names every place that was tried and why it was not taken."""

    code = Code.NOT_FOUND

    tried: tuple[tuple[str, str], ...]
    """(path, reason) of every place, in the order in which they were tried."""

    def __init__(self, tried: Sequence[tuple[str, str]] = ()) -> None:
        self.tried = tuple((path, reason) for path, reason in tried)
        super().__init__("libroutecap was not found; tried " + "; ".join(f"{path}: {reason}" for path, reason in self.tried))
        # What unpickling calls this with.
        self.args = (self.tried,)


# Answers rather than faults: the library has no text for them.
_ANSWERS = {
    Code.BUSY: "every staging block is in flight",
    Code.NOT_READY: "not ready yet",
    Code.TIMEOUT: "the given time has passed",
    Code.CLOSED: "the capturer was closed",
}

_CLASSES: dict[int, type[RoutecapError]] = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        InvalidStateError,
        OutOfRangeError,
        OutOfMemoryError,
        NotReadyError,
        BusyError,
        TimedOutError,
        ClosedError,
        UnsupportedError,
        VersionMismatchError,
        CorruptError,
        NotFoundError,
        NoDeviceError,
        DeviceError,
        ForkedError,
        InternalError,
    )
}


# The library's texts name C's parameters. An array stands there beside its bytes or elements, and a struct in front of its fields.
_WORDS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\b(?:config|hints|layout|options)->(?=\w)", ""),
        (r"\bfrom(?=_bytes\b| entry )", "source"),
        (r"\bto(?=_bytes\b| entry | names )", "target"),
        (r"\b(\w+)_bytes is (?=-?\d)", r"bytes of \1: "),
        (r"\b(\w+)_count\b", r"len(\1)"),
        (r"\b(busy_timeout|timeout)_ns is (-?\d+)", r"\1 is \2 ns"),
        (r"(\bis |\()null\b", r"\1None"),
    )
)
_FUNCTION = re.compile(r"(?<![\w/\".-])rcap_(?:(backend|capturer|model|tap|output|record)_)?(\w+?)(?:_get)?\b")


def _function(found: re.Match[str]) -> str:
    """A function of C's as it is called here."""
    kind, name = found.groups()
    if kind is None:
        return str(name)
    made = name == "open" or (name == "create" and kind != "record")
    return kind.capitalize() if made else f"{kind.capitalize()}.{name}"


def python_text(text: str) -> str:
    """A text of the library's in the words of this package."""
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    text = _FUNCTION.sub(_function, text)
    for prefix, python in PREFIXES.items():
        text = text.replace(prefix, python + ".")
    return text


def error_of(status: int, text: str, detail: int = 0, names: Mapping[str, str] = MappingProxyType({})) -> RoutecapError:
    """The exception of a negative status. `names` are parameters that are called something else in C."""
    text = python_text(text)
    for name, python in names.items():
        text = re.sub(rf"\b{name}\b", python, text)
    kind = _CLASSES.get(status)
    if kind is None:
        return UnsupportedError(f"status {status}, which this version of the package does not know: {text}")
    return kind(text, detail)


def closed_error(what: str) -> ClosedError:
    return ClosedError(f"the {what} was closed")
