# SPDX-License-Identifier: Apache-2.0
"""A look at a shared object before the dynamic linker maps it: what reaches beyond the end of a file that was cut short is a SIGBUS there, which ends
the process.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import NamedTuple

_MAGIC = b"\x7fELF"
_BITS = {1: 32, 2: 64}
_ENDIAN = {1: "little", 2: "big"}
_TYPE_SHARED = 3
# Kinds of segments that the dynamic linker reads.
_LOAD, _DYNAMIC = 1, 2
# e_type to e_shstrndx behind the 16 bytes that tell how to read them, and a program header.
_HEADERS = {32: "HHIIIIIHHHHHH", 64: "HHIQQQIHHHHHH"}
_SEGMENTS = {32: "IIIIIIII", 64: "IIQQQQQQ"}


class _Header(NamedTuple):
    bits: int
    order: str
    """Of the bytes, as struct has it."""
    kind: int
    machine: int
    segments_at: int
    sections_at: int
    segment_bytes: int
    segments: int
    section_bytes: int
    sections: int

    @property
    def architecture(self) -> tuple[int, str, int]:
        return self.bits, self.order, self.machine


def _header_of(start: bytes) -> _Header | None:
    """None where no header of an ELF file begins."""
    if len(start) < 16 or start[:4] != _MAGIC or start[4] not in _BITS or start[5] not in _ENDIAN:
        return None
    bits, order = _BITS[start[4]], "<" if _ENDIAN[start[5]] == "little" else ">"
    form = order + _HEADERS[bits]
    if len(start) < 16 + struct.calcsize(form):
        return None
    kind, machine, _, _, segments_at, sections_at, _, _, segment_bytes, segments, section_bytes, sections, _ = struct.unpack_from(form, start, 16)
    return _Header(bits, order, kind, machine, segments_at, sections_at, segment_bytes, segments, section_bytes, sections)


def refusal(path: str, own: bytes) -> str | None:
    """Why a file cannot be loaded into a process in which another object begins with `own`; None where nothing speaks against it."""
    try:
        # Without waiting: a FIFO of that name would do so until somebody writes into it.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        return f"cannot open shared object file: {error.strerror}"
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "is not a file"
        return _refusal_of(descriptor, status.st_size, _header_of(own))
    except OSError as error:
        return f"cannot read it: {error.strerror}"
    finally:
        os.close(descriptor)


def _refusal_of(descriptor: int, size: int, own: _Header | None) -> str | None:
    header = _header_of(os.pread(descriptor, 64, 0))
    if header is None:
        return f"is no shared object: no ELF header in its {size} bytes"
    if own is not None and header.architecture != own.architecture:
        return (
            f"is for another architecture: ELF machine {header.machine} ({header.bits} bit, {_ENDIAN[1 if header.order == '<' else 2]}-endian), "
            f"this process is {own.machine} ({own.bits} bit, {_ENDIAN[1 if own.order == '<' else 2]}-endian)"
        )
    if header.kind != _TYPE_SHARED:
        return f"is no shared object: ELF type {header.kind}, one has {_TYPE_SHARED}"
    form = header.order + _SEGMENTS[header.bits]
    if header.segment_bytes != struct.calcsize(form) or header.segments == 0:
        return f"is not a whole shared object: {header.segments} program headers of {header.segment_bytes} bytes"
    table = header.segments * header.segment_bytes
    parts = [("the program headers", header.segments_at, table)]
    if header.sections_at != 0:
        parts.append(("the section headers", header.sections_at, header.sections * header.section_bytes))
    if header.segments_at + table <= size:
        loads = False
        for fields in struct.iter_unpack(form, os.pread(descriptor, table, header.segments_at)):
            # 32 bit: type, offset, address, physical, bytes in the file; 64 bit has its flags behind the type.
            offset, in_file = (fields[1], fields[4]) if header.bits == 32 else (fields[2], fields[5])
            if fields[0] in (_LOAD, _DYNAMIC):
                parts.append(("a segment", offset, in_file))
            loads = loads or fields[0] == _LOAD
        if not loads:
            return "is not a whole shared object: no segment to load"
    for what, offset, count in parts:
        if offset + count > size:
            return f"is not a whole shared object: {what} of {count} bytes at {offset}, the file has {size}"
    return None


def found_by_linker(name: str, own: bytes) -> str | None:
    """The file that the dynamic linker takes for a name without a slash, as far as LD_LIBRARY_PATH tells; what the system has installed is not looked
    for.
    """
    folders = os.environ.get("LD_LIBRARY_PATH", "")
    mine = _header_of(own)
    for folder in folders.replace(";", ":").split(":") if folders else ():
        path = os.path.join(folder or ".", name)
        try:
            with open(path, "rb", opener=lambda file, flags: os.open(file, flags | os.O_NONBLOCK)) as file:
                header = _header_of(file.read(64))
        except OSError:
            continue
        # It goes on to the next where a file is for another architecture.
        if header is None or mine is None or header.architecture == mine.architecture:
            return path
    return None
