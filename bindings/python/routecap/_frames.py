# SPDX-License-Identifier: Apache-2.0
"""Frames that stand one behind the other in a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

# What every version of a frame begins with, and the frame's size behind it (capi/docs/frame.md).
START = bytes([0x89]) + b"RCAP\r\n" + bytes([0x1A, 1, 0, 0, 0, 4, 3, 2, 1])
HEAD = 24
# A file is read in pieces, so that a frame takes no more memory than has been read, whatever size it claims.
PIECE = 1 << 20


def read_frame(file: BinaryIO) -> bytes:
    """The bytes of one frame. What does not begin as one is given as far as it was read: the decoder says what is wrong."""
    if not callable(getattr(file, "read", None)):
        raise TypeError(f"file: a {type(file).__name__}, and not a file that is read")
    head = _exactly(file, HEAD)
    if not head:
        raise EOFError("the file ends here")
    if not head.startswith(START[: len(head)]):
        return head
    if len(head) < HEAD:
        raise EOFError(f"the file ends {len(head)} bytes behind the beginning of a frame")
    size = int.from_bytes(head[16:], "little")
    if size < HEAD:
        return head
    rest = _exactly(file, size - HEAD)
    if len(rest) < size - HEAD:
        raise EOFError(f"the file ends {HEAD + len(rest)} bytes behind the beginning of a frame of {size} bytes")
    return head + rest


def _exactly(file: BinaryIO, count: int) -> bytes:
    """As many bytes, or fewer at the end of the file."""
    pieces = []
    while count > 0:
        piece = file.read(min(count, PIECE))
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise TypeError(f"file: read() gave a {type(piece).__name__}, and not bytes: it is opened as text, or has nothing yet")
        if not piece:
            break
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def frames(file: BinaryIO) -> Iterator[bytes]:
    """Frame after frame to the end of the file. One that is cut short is an EOFError."""
    while True:
        try:
            frame = read_frame(file)
        except EOFError as end:
            if end.args == ("the file ends here",):
                return
            raise
        yield frame
