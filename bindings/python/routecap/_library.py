# SPDX-License-Identifier: Apache-2.0
"""Questions about the library itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, SupportsIndex

from routecap import _arrays as arrays
from routecap import _native as native
from routecap._arguments import choice, integer
from routecap._enums import DType, RowsKind
from routecap._structs import BuildInfo


def version() -> str:
    """The library's product version, for example `0.1.0`."""
    return str(native.ffi.string(native.functions().version_string()).decode())


def abi_version() -> int:
    """The library's ABI number."""
    return int(native.functions().abi_version())


def build_info() -> BuildInfo:
    """How the library was built and what it uses on this machine."""
    info, error = native.out("rcap_build_info"), native.new_error()
    native.check(native.functions().build_info_get(info, error), error)
    return BuildInfo._read(info)


@dataclass(frozen=True)
class LibraryInfo:
    """Which library this process uses."""

    path: str
    """The file, without symbolic links."""

    origin: str
    """`environment` (ROUTECAP_LIBRARY named it), `bundled` (the wheel brought it) or `system` (the dynamic linker found it)."""

    version: str
    """The library's product version."""

    abi_version: int
    """The library's ABI number."""


def library_info() -> LibraryInfo:
    """Which library this process uses; loads it if no call has done so before."""
    loaded = native.loaded()
    return LibraryInfo(loaded.path, loaded.origin, version(), abi_version())


class Rows(NamedTuple):
    """Where one rank's rows stand in the device buffer."""

    first_row: int
    """The first of them."""

    tokens: int
    """How many."""


def layout_rows(
    kind: RowsKind,
    tokens_per_rank: arrays.IntegersLike | Sequence[SupportsIndex],
    dp_rank: int,
    *,
    attn_tp_size: int = 1,
    attn_tp_rank: int = 0,
    padded_tokens_per_rank: int = 0,
) -> Rows:
    """First row and number of rows of one rank in the device buffer, for the layouts that engines use (R16).

    Args:
        kind: how the ranks' rows stand in the buffer.
        tokens_per_rank: tokens of every data-parallel rank, int64 [ranks].
        dp_rank: this rank, 0 .. ranks - 1.
        attn_tp_size: attention tensor parallel size; read by CONCATENATED and SHARDED.
        attn_tp_rank: this rank in it; read by SHARDED.
        padded_tokens_per_rank: rows of each rank's share; read by PADDED.

    """
    how, tokens = choice(kind, "kind", RowsKind), arrays.host_vector(tokens_per_rank, "tokens_per_rank", frozenset({DType.INT64}))
    numbers = (
        integer(dp_rank, "dp_rank"),
        integer(attn_tp_size, "attn_tp_size"),
        integer(attn_tp_rank, "attn_tp_rank"),
        integer(padded_tokens_per_rank, "padded_tokens_per_rank"),
    )
    first_row, count, error = native.ffi.new(native.INT64), native.ffi.new(native.INT64), native.new_error()
    status = native.functions().layout_rows(how, tokens.address, len_of(tokens), *numbers, first_row, count, error)
    native.check(status, error)
    return Rows(first_row[0], count[0])


def len_of(array: arrays.Array) -> int:
    return array.shape[0]
