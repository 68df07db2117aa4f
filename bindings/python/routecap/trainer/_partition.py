# SPDX-License-Identifier: Apache-2.0
"""Packs dealt out over context and sequence parallelism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from routecap import _native as native
from routecap._arguments import choice
from routecap._enums import Split
from routecap.trainer import _host as host


@dataclass(frozen=True)
class Partition:
    """How a pack is dealt out, and which rank this is: every sequence over context parallelism, and each rank's tokens, one after the other, over
    sequence parallelism in equal contiguous slices (R43).

    A sequence that cannot be dealt out evenly is refused, naming the multiple that it needs; `pack_offsets(lengths, partition.multiple)` pads for it.
    """

    split: Split = Split.CONTIGUOUS
    """What a context-parallel rank has of a sequence: chunk r of cp_size, or in a zigzag chunks r and 2 * cp_size - 1 - r of 2 * cp_size."""
    cp_size: int = 1
    """Context-parallel ranks."""
    cp_rank: int = 0
    """This one."""
    sp_size: int = 1
    """Sequence-parallel (tensor-parallel) ranks."""
    sp_rank: int = 0
    """This one."""

    @property
    def multiple(self) -> int:
        """What every sequence of a pack must be a multiple of; ranks do not matter."""
        found, error = native.ffi.new(native.INT64), native.new_error()
        native.check(native.functions().partition_multiple(self._layout(), found, error), error)
        return int(found[0])

    def tokens(self, offsets: host.IntegersLike) -> int:
        """Tokens of a rank: the same for all.

        Args:
            offsets: where each sequence begins in the pack, and last the pack's tokens.

        """
        places = host.integers(offsets, "offsets")
        found, error = native.ffi.new(native.INT64), native.new_error()
        status = native.functions().partition_tokens(self._layout(), host.address(places), len(places), found, error)
        native.check(status, error)
        return int(found[0])

    def indices(self, offsets: host.IntegersLike) -> host.Integers:
        """Where in the pack each of this rank's tokens stands: int64 [tokens], for `whole[indices]` or `torch.index_select`.

        Args:
            offsets: where each sequence begins in the pack, and last the pack's tokens.

        """
        places = host.integers(offsets, "offsets")
        found, error = host.empty((self.tokens(places),), np.int64, "offsets"), native.new_error()
        status = native.functions().partition_indices(
            self._layout(), host.address(places), len(places), host.address(found), len(found), error
        )
        native.check(status, error)
        return found

    def take(self, whole: Any, offsets: host.IntegersLike) -> host.Array:
        """This rank's part of a pack.

        Args:
            whole: [tokens of the pack, ...] of any dtype.
            offsets: where each sequence begins in the pack, and last the pack's tokens.

        Returns:
            [tokens of a rank, ...], of the same dtype.

        """
        array, places = host.items(whole, "whole"), host.integers(offsets, "offsets")
        part, error = host.empty((self.tokens(places), *array.shape[1:]), array.dtype, "whole and offsets"), native.new_error()
        status = native.functions().partition_split(
            self._layout(),
            host.address(places),
            len(places),
            host.item_bytes(array),
            host.address(array),
            array.nbytes,
            host.address(part),
            part.nbytes,
            error,
        )
        native.check(status, error)
        return part

    def gather(self, parts: Any, offsets: host.IntegersLike) -> host.Array:
        """The pack from the parts of all ranks: the inverse of `take`. Ranks do not matter.

        Args:
            parts: [cp_size * sp_size * tokens of a rank, ...] of any dtype, in the order of the ranks, as all-gathers over both give them.
            offsets: where each sequence begins in the pack, and last the pack's tokens.

        Returns:
            [tokens of the pack, ...], of the same dtype.

        """
        array, places = host.items(parts, "parts"), host.integers(offsets, "offsets")
        whole, error = np.empty_like(array), native.new_error()
        status = native.functions().partition_gather(
            self._layout(),
            host.address(places),
            len(places),
            host.item_bytes(array),
            host.address(array),
            array.nbytes,
            host.address(whole),
            whole.nbytes,
            error,
        )
        native.check(status, error)
        return whole

    def _layout(self) -> Any:
        return native.new(
            "rcap_partition_layout",
            split=choice(self.split, "split", Split),
            cp_size=self.cp_size,
            cp_rank=self.cp_rank,
            sp_size=self.sp_size,
            sp_rank=self.sp_rank,
        )
