# SPDX-License-Identifier: Apache-2.0
"""Packs of sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from routecap import _native as native
from routecap._arguments import integer, shown
from routecap.trainer import _host as host


def pack_offsets(lengths: host.IntegersLike, multiple: int = 1) -> host.Integers:
    """Where each sequence begins when each is padded to a multiple, and last the pack's tokens: int64 [sequences + 1].

    Args:
        lengths: tokens of every sequence.
        multiple: what each is padded to; `Partition.multiple` is what a partition needs.

    """
    sequences, whole = host.integers(lengths, "lengths"), integer(multiple, "multiple")
    offsets = np.empty(len(sequences) + 1, np.int64)
    error = native.new_error()
    status = native.functions().pack_offsets(host.address(sequences), len(sequences), whole, host.address(offsets), len(offsets), error)
    native.check(status, error)
    return offsets


def pad(tokens: Any, lengths: host.IntegersLike, offsets: host.IntegersLike, value: Any = 0) -> host.Array:
    """Sequences at their places in a pack, `value` behind each. `strip` is the inverse.

    Args:
        tokens: [all tokens, ...] of any dtype, the sequences one behind the other.
        lengths: tokens of every sequence.
        offsets: where each begins in the pack, and last the pack's tokens.
        value: what a padded item holds; a number, or an array of an item's shape.

    Returns:
        [tokens of the pack, ...], of the same dtype.

    """
    array = host.items(tokens, "tokens")
    sequences, places = host.integers(lengths, "lengths"), host.integers(offsets, "offsets")
    item = host.empty(array.shape[1:], array.dtype, "tokens")
    host.require_unmasked(value, "value")
    try:
        with np.errstate(all="raise"):
            item[...] = value
    except Exception:
        raise TypeError(f"value is {shown(value)}, which no item of {array.dtype} and shape {item.shape} holds") from None
    packed = host.empty((max(0, int(places[-1])) if len(places) else 0, *array.shape[1:]), array.dtype, "tokens and offsets")
    error = native.new_error()
    status = native.functions().pack_pad(
        host.address(sequences),
        len(sequences),
        host.address(places),
        len(places),
        host.item_bytes(array),
        host.address(item),
        item.nbytes,
        host.address(array),
        array.nbytes,
        host.address(packed),
        packed.nbytes,
        error,
    )
    native.check(status, error)
    return packed


def strip(packed: Any, lengths: host.IntegersLike, offsets: host.IntegersLike) -> host.Array:
    """The sequences of a pack one behind the other, without their padding: the inverse of `pad`.

    Args:
        packed: [tokens of the pack, ...] of any dtype.
        lengths: tokens of every sequence.
        offsets: where each begins in the pack, and last the pack's tokens.

    Returns:
        [all tokens, ...], of the same dtype.

    """
    array = host.items(packed, "packed")
    sequences, places = host.integers(lengths, "lengths"), host.integers(offsets, "offsets")
    total = sum(length for length in sequences.tolist() if length > 0)
    tokens = host.empty((total, *array.shape[1:]), array.dtype, "packed and lengths")
    error = native.new_error()
    status = native.functions().pack_strip(
        host.address(sequences),
        len(sequences),
        host.address(places),
        len(places),
        host.item_bytes(array),
        host.address(array),
        array.nbytes,
        host.address(tokens),
        tokens.nbytes,
        error,
    )
    native.check(status, error)
    return tokens

