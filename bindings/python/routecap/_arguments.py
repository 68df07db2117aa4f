# SPDX-License-Identifier: Apache-2.0
"""Arguments that are no arrays: what the library cannot take is refused by name, with the value and the limit, before any call is made."""

from __future__ import annotations

import enum
import math
import numbers
import operator
import reprlib
from typing import Any, TypeVar

import numpy as np

from routecap._errors import InvalidArgumentError, OutOfRangeError

INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)

# Longer waits are for ever: 292 years.
LONGEST = INT64[1] / 1e9

Kind = TypeVar("Kind", bound=enum.IntEnum)

_words = reprlib.Repr()
_words.maxstring = _words.maxother = 60
_words.maxlong = 50


def shown(value: object) -> str:
    """A value in an error's text: on one line, short, and whatever its class makes of repr."""
    try:
        text = " ".join(_words.repr(value).split())
    except Exception:
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text.replace("\0", "\\0")


def integer(value: object, what: str, low: int = INT64[0], high: int = INT64[1]) -> int:
    """An integer, of Python's or of others' that are nothing but integers; a truth value is none."""
    if type(value) is not int:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{what} is {value}, a truth value and not an integer")
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except Exception:
            raise TypeError(f"{what} is {shown(value)}, a {type(value).__name__} and not an integer") from None
    else:
        number = value
    if not low <= number <= high:
        raise OutOfRangeError(f"{what} is {shown(number)}, allowed are {low} .. {high}")
    return number


def choice(value: object, what: str, kind: type[Kind]) -> Kind:
    """A member of an enumeration, or its number."""
    if type(value) is kind:
        return value
    if isinstance(value, enum.Enum):
        raise TypeError(f"{what} is {value!s}, and not a {kind.__name__}")
    number = integer(value, what, *INT32)
    for member in kind:
        if member == number:
            return member
    raise InvalidArgumentError(f"{what} is {number}, a {kind.__name__} is {', '.join(f'{member.name} ({member.value})' for member in kind)}")


def truth(value: object, what: str) -> bool:
    """A truth value: true, false, or 1 and 0."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    try:
        return bool(integer(value, what, 0, 1))
    except TypeError:
        raise TypeError(f"{what} is {shown(value)}, a {type(value).__name__} and not a truth value") from None


def name(value: object, what: str) -> bytes:
    """A name as C has it. One with a NUL would end there."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {shown(value)}, a {type(value).__name__} and not a str")
    if "\0" in value:
        raise InvalidArgumentError(f"{what} is {shown(value)}: character {value.index(chr(0))} of {len(value)} is a NUL, which no name has")
    try:
        # What Python has of bytes in a file's name that are no UTF-8 becomes these bytes again.
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{what} is {shown(value)}: character {error.start} of {len(value)} cannot be written in UTF-8") from None


def seconds(value: object, what: str) -> float | None:
    """A time that a call may take; None, and more than the library can count, is for ever."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{what} is {shown(value)}, a {type(value).__name__} and not a number of seconds")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if operator.gt(value, 0) else -math.inf
    if not number >= 0:
        raise InvalidArgumentError(f"{what} is {shown(value)}, allowed are seconds from 0 on")
    return number if number < LONGEST else None


def instance(value: object, what: str, *kinds: type[Any]) -> Any:
    """An object of these classes."""
    if isinstance(value, kinds):
        return value
    raise TypeError(f"{what} is {shown(value)}, a {type(value).__name__} and not a {' or a '.join(kind.__name__ for kind in kinds)}")
