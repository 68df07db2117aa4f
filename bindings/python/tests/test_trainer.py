# SPDX-License-Identifier: Apache-2.0
"""Packs, partitions, layers and fill, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trainer_oracle as oracle
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import routecap
from routecap import trainer
from routecap.trainer import Partition, Split

dtypes = st.sampled_from([np.uint8, np.bool_, np.int16, np.float32, np.int64, np.complex128])


def test_r43_a_pack_is_padded_sequence_by_sequence() -> None:
    offsets = trainer.pack_offsets([3, 0, 2], 4)
    assert offsets.tolist() == [0, 4, 4, 8]
    assert offsets.dtype == np.int64
    packed = trainer.pad(np.array([1, 2, 3, 4, 5]), [3, 0, 2], offsets, value=-1)
    assert packed.tolist() == [1, 2, 3, -1, 4, 5, -1, -1]
    assert trainer.strip(packed, [3, 0, 2], offsets).tolist() == [1, 2, 3, 4, 5]
    # Rows of ids, with an item of padding.
    rows = trainer.pad(np.array([[1, 2], [3, 4]], np.int16), [1, 1], np.array([0, 2, 3], np.int32), value=[8, 9])
    assert rows.tolist() == [[1, 2], [8, 9], [3, 4]]
    assert rows.dtype == np.int16


def test_r43_a_zigzag_gives_each_rank_an_early_and_a_late_chunk() -> None:
    partition = Partition(Split.ZIGZAG, cp_size=2)
    assert partition.multiple == 4
    assert partition.tokens([0, 8]) == 4
    assert partition.indices([0, 8]).tolist() == [0, 1, 6, 7]
    assert Partition(Split.ZIGZAG, cp_size=2, cp_rank=1).indices([0, 8]).tolist() == [2, 3, 4, 5]
    assert Partition(cp_size=2, cp_rank=1, sp_size=2, sp_rank=1).indices([0, 4, 12]).tolist() == [9, 10, 11]


@oracle.searched
@given(data=st.data(), partition=oracle.partitions, dtype=dtypes)
def test_r43_pad_take_gather_and_strip_give_back_every_token(data: Any, partition: Partition, dtype: Any) -> None:
    lengths = data.draw(st.lists(st.integers(0, 40), max_size=6))
    tail = data.draw(st.sampled_from([(), (1,), (3, 2)]))
    tokens = data.draw(hnp.arrays(dtype, (sum(lengths), *tail), elements=hnp.from_dtype(np.dtype(dtype), allow_nan=False)))
    offsets = trainer.pack_offsets(lengths, partition.multiple)
    packed = trainer.pad(tokens, lengths, offsets)
    parts = []
    for rank in oracle.ranks(partition):
        expected = oracle.indices(rank, offsets)
        assert np.array_equal(rank.indices(offsets), expected)
        assert rank.indices(offsets).dtype == np.int64
        part = rank.take(packed, offsets)
        assert np.array_equal(part, packed[expected])
        assert part.dtype == dtype
        parts.append(part)
    gathered = partition.gather(np.concatenate(parts), offsets)
    assert np.array_equal(gathered, packed)
    assert np.array_equal(trainer.strip(gathered, lengths, offsets), tokens)


def test_r43_what_cannot_be_dealt_out_evenly_is_refused_with_the_multiple_it_needs() -> None:
    with pytest.raises(routecap.OutOfRangeError, match="sequence 1 has 6 tokens in the pack, ZIGZAG over 2 ranks needs a multiple of 4"):
        Partition(Split.ZIGZAG, cp_size=2).indices([0, 4, 10])
    with pytest.raises(routecap.OutOfRangeError, match="^cp_rank is 2, allowed are 0 .. 1"):
        Partition(cp_size=2, cp_rank=2).tokens([0, 4])


def test_what_is_no_array_of_tokens_is_a_type_error() -> None:
    partition, offsets = Partition(cp_size=2), [0, 4]
    whole = np.arange(8).reshape(4, 2)
    with pytest.raises(TypeError, match="must lie in one piece"):
        partition.take(whole[:, ::2], offsets)
    with pytest.raises(TypeError, match="int is no array"):
        partition.take(3, offsets)
    with pytest.raises(TypeError, match=r"offsets\[0\] is 0.0, a float and not an integer"):
        partition.take(whole, [0.0, 4.0])
    with pytest.raises(ValueError, match=r"moe_layers: integers from 1099511627776 to 1099511627776, allowed are -2147483648 \.\. 2147483647"):
        trainer.stage_layers([2**40], 4)
    with pytest.raises(routecap.InvalidArgumentError, match="bytes of whole: 48, it must be 64"):
        partition.take(whole[:3], offsets)
    assert partition.take(bytes([1, 2, 3, 4]), offsets).tolist() == [1, 2]


def test_r43_stages_have_their_layers_and_columns_come_back() -> None:
    moe = list(range(3, 61))
    stages = [trainer.stage_layers(moe, 61, pp_size=4, pp_rank=rank, first_layers=15, last_layers=14) for rank in range(4)]
    assert [(stage[0], stage[-1]) for stage in stages] == [(3, 14), (15, 30), (31, 46), (47, 60)]
    chunks = [trainer.stage_layers(range(8), 8, pp_size=2, pp_rank=1, vp_size=2, vp_rank=rank) for rank in (0, 1, None)]
    assert chunks == [[2, 3], [6, 7], [2, 3, 6, 7]]
    whole = np.random.default_rng(1).integers(0, 99, (5, len(moe), 2))
    for layers_first in (False, True):
        made = np.zeros_like(whole)
        for stage in stages:
            part = trainer.split_layers(whole, moe, stage, layers_first=layers_first)
            expected = whole[:, [moe.index(layer) for layer in stage]]
            assert np.array_equal(part, expected.swapaxes(0, 1) if layers_first else expected)
            trainer.gather_layers(part, moe, stage, made, layers_first=layers_first)
        assert np.array_equal(made, whole)
    with pytest.raises(routecap.OutOfRangeError, match="selected: layer 2 is none of the 58 layers there are"):
        trainer.split_layers(whole, moe, [2])
    with pytest.raises(ValueError, match=r"shape \(5, 58, 2\), and not \[tokens, 3 layers"):
        trainer.split_layers(whole, [1, 2, 3], [1])
    with pytest.raises(ValueError, match=r"part: shape \(5, 58, 2\), and not \(5, 1, 2\)"):
        trainer.gather_layers(whole, moe, [3], whole)
    with pytest.raises(TypeError, match="part: float64, and not whole's int64"):
        trainer.gather_layers(whole.astype(np.float64), moe, moe, whole)
    whole.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        trainer.gather_layers(whole.copy(), moe, moe, whole)


def record(ids: list[list[list[int]]], **options: Any) -> routecap.Record:
    """Layers 2 and 6, two of eight experts."""
    return routecap.Record.from_numpy(np.array(ids, np.uint8).reshape(-1, 2, 2), num_experts=8, layer_ids=np.array([2, 6], np.int32), **options)


def test_r42_missing_rows_last_tokens_and_padding_are_filled_and_masked() -> None:
    rows = record([[[7, 1], [2, 3]], [[0, 0], [0, 0]], [[5, 4], [0, 6]]], valid=np.array([True, False, True]))
    made = trainer.fill(rows, 4, tokens=5)
    assert made.ids.dtype == np.int64
    assert made.ids.tolist() == [[[7, 1], [2, 3]], [[0, 4], [0, 4]], [[5, 4], [0, 6]], [[1, 5], [1, 5]], [[2, 6], [2, 6]]]
    assert made.mask.tolist() == [True, False, True, False, False]
    assert made.cell_mask.tolist() == [[True, True], [False, False], [True, True], [False, False], [False, False]]
    assert made.filled == 3
    assert trainer.fill(rows, 4, layers=[6], layers_first=True, dtype=np.int16, value=-1).ids.tolist() == [[[2, 3], [-1, -1], [0, 6], [-1, -1]]]
    assert trainer.fill(rows, 4, positions=[2, -1, 0], layers=[2], first_fill=7).ids.tolist() == [[[5, 4]], [[7, 3]], [[7, 1]]]
    assert trainer.fill(rows, 4, start=2).mask.tolist() == [True, False]


def test_r42_what_does_not_fit_is_refused() -> None:
    rows = record([[[7, 1], [2, 3]]])
    with pytest.raises(routecap.OutOfRangeError, match=r"the record has the positions \[0, 1\), length is 0"):
        trainer.fill(rows, 0)
    with pytest.raises(routecap.OutOfRangeError, match="layers: layer 3 is none of the 2 layers there are"):
        trainer.fill(rows, 2, layers=[3])
    with pytest.raises(TypeError, match="dtype is float32, and not one of"):
        trainer.fill(rows, 2, dtype=np.float32)
    with pytest.raises(TypeError, match="positions are given, and start or tokens too"):
        trainer.fill(rows, 2, positions=[0], tokens=1)
    with pytest.raises(routecap.ClosedError):
        rows.close()
        trainer.fill(rows, 2)
    with pytest.raises(ValueError, match="none of the sequences has a record"):
        trainer.fill_pack([None], [3], [0, 3])
    with pytest.raises(ValueError, match="records: 1, and 2 lengths and 3 offsets"):
        trainer.fill_pack([None], [3, 3], [0, 3, 6])


@oracle.searched
@given(data=st.data(), partition=oracle.partitions, layers_first=st.booleans(), value=st.sampled_from([None, -1]))
def test_r42_r43_a_ranks_part_of_a_pack_is_filled_as_numpy_would(data: Any, partition: Partition, layers_first: bool, value: int | None) -> None:
    num_experts, top_k = data.draw(st.sampled_from([(8, 2), (256, 8), (257, 3), (5, 5)]))
    layers = [1, 4, 5]
    packed = data.draw(st.lists(oracle.samples(num_experts=num_experts, top_k=top_k, layers=layers), min_size=1, max_size=4))
    lengths = [sample.length for sample in packed]
    offsets = trainer.pack_offsets(lengths, partition.multiple)
    asked = data.draw(st.permutations(layers))[: data.draw(st.integers(1, 3))]
    absent = data.draw(st.sets(st.integers(1, 3)))  # the first is there
    for rank in oracle.ranks(partition):
        records = [None if index in absent else sample.record for index, sample in enumerate(packed)]
        made = trainer.fill_pack(records, lengths, offsets, rank, layers=asked, layers_first=layers_first, value=value, first_fill=3)
        expected = oracle.indices(rank, offsets)
        assert np.array_equal(made.indices, expected)
        ids = made.ids.swapaxes(0, 1) if layers_first else made.ids
        cells = made.cell_mask.swapaxes(0, 1) if layers_first else made.cell_mask
        assert ids.shape == (len(expected), len(asked), top_k)
        loads = {layer: np.zeros(num_experts, np.int64) for layer in asked}
        for row, index in enumerate(expected):
            sequence = max(number for number in range(len(packed)) if offsets[number] <= index and offsets[number + 1] > index)
            for column, layer in enumerate(asked):
                wanted = None if sequence in absent else packed[sequence].cell(int(index - offsets[sequence]), layer)
                assert bool(cells[row, column]) == (wanted is not None)
                if wanted is not None:
                    assert ids[row, column].tolist() == wanted
                elif value is not None:
                    assert ids[row, column].tolist() == [value] * top_k
                else:
                    assert len(set(ids[row, column].tolist())) == top_k
                    loads[layer][ids[row, column]] += 1
        assert np.array_equal(made.mask, cells.all(axis=1))
        assert made.filled == int((~made.mask).sum())
        if len(packed) == 1:
            # One call: nothing but the formula.
            assert all(int(load.max() - load.min()) <= 1 for load in loads.values())


def test_records_of_different_shapes_make_no_pack() -> None:
    first = record([[[7, 1], [2, 3]]])
    other = routecap.Record.from_numpy(np.zeros((1, 2, 2), np.uint8), num_experts=9, layer_ids=np.array([2, 6], np.int32))
    layers = routecap.Record.from_numpy(np.zeros((1, 2, 2), np.uint8), num_experts=8, layer_ids=np.array([2, 7], np.int32))
    with pytest.raises(ValueError, match="num_experts is 8 in one record and 9 in another"):
        trainer.fill_pack([first, other], [1, 1], [0, 1, 2])
    with pytest.raises(ValueError, match=r"the layers are \[2, 6\] in one record and \[2, 7\] in another"):
        trainer.fill_pack([first, layers], [1, 1], [0, 1, 2])
