# SPDX-License-Identifier: Apache-2.0
"""The shapes of single trainers, against what each is known to take."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
import trainer_oracle as oracle
from hypothesis import given
from hypothesis import strategies as st

import routecap
from routecap import trainer
from routecap.trainer import Partition, Split, megatron, nemo_rl, prime_rl, slime, verl

LAYERS = [1, 2, 4]


def shaped(num_experts: int = 16, top_k: int = 2, **options: Any) -> Any:
    return oracle.samples(num_experts=num_experts, top_k=top_k, layers=LAYERS, **options)


class TestMegatron:
    @oracle.searched
    @given(data=st.data(), partition=oracle.partitions)
    def test_every_local_router_gets_its_tokens_of_the_pack(self, data: Any, partition: Partition) -> None:
        packed = data.draw(st.lists(shaped(), min_size=1, max_size=4))
        lengths = [sample.length for sample in packed]
        offsets = trainer.pack_offsets(lengths, partition.multiple)
        for rank in oracle.ranks(partition):
            replay = megatron.replay_data([sample.record for sample in packed], lengths, offsets, rank, layers=[2, 4])
            expected = oracle.indices(rank, offsets)
            assert len(replay.data) == 2
            masks = []
            for layer, ids in zip([2, 4], replay.data):
                assert (ids.shape, ids.dtype, ids.flags.c_contiguous) == ((len(expected), 2), np.int64, True)
                # What the dispatcher's arithmetic needs: tokens * K different entries.
                assert all(len(set(row)) == 2 for row in ids.tolist())
                cells = [packed[sequence].cell(place, layer) for sequence, place in places(expected, offsets)]
                assert all(cell is None or cell == row for cell, row in zip(cells, ids.tolist()))
                masks.append([cell is not None for cell in cells])
            assert replay.mask.tolist() == np.array(masks, np.bool_).reshape(2, -1).all(axis=0).tolist()

    @oracle.searched
    @given(data=st.data(), partition=oracle.partitions)
    def test_a_batch_goes_position_by_position(self, data: Any, partition: Partition) -> None:
        batch = data.draw(st.lists(shaped(most=12), min_size=1, max_size=3))
        lengths = [sample.length for sample in batch]
        seq_length = int(trainer.pack_offsets([max(lengths)], partition.multiple)[-1])
        for rank in oracle.ranks(partition):
            replay = megatron.replay_batch([sample.record for sample in batch], lengths, seq_length, rank, layers=LAYERS)
            positions = oracle.indices(rank, [0, seq_length])
            # As Megatron flattens [positions, batch].
            order = [(int(position), sample) for position in positions for sample in batch]
            assert replay.mask.tolist() == [all(sample.cell(position, layer) for layer in LAYERS) for position, sample in order]
            for layer, ids in zip(LAYERS, replay.data):
                assert (ids.shape, ids.dtype) == ((len(order), 2), np.int64)
                for (position, sample), row in zip(order, ids.tolist()):
                    assert len(set(row)) == 2
                    assert row == (sample.cell(position, layer) or row)

    def test_a_row_with_an_expert_twice_is_named(self) -> None:
        ids = np.array([[[1, 2], [3, 4]], [[1, 2], [5, 5]]], np.uint8)
        record = routecap.Record.from_numpy(ids, num_experts=8, layer_ids=np.array([3, 7], np.int32))
        with pytest.raises(ValueError, match=r"token 5 of the pack: layer 7 has the experts \[5, 5\], one of them twice"):
            megatron.replay_data([None, record], [3, 3], [0, 4, 8], layers=[3, 7])
        with pytest.raises(ValueError, match=r"token 1 of sequence 1: layer 7 has the experts \[5, 5\], one of them twice"):
            megatron.replay_batch([None, record], [3, 3], 4, layers=[3, 7])
        assert len(megatron.replay_data([None, record], [3, 3], [0, 4, 8], layers=[3]).data) == 1

    def test_what_does_not_fit_is_refused(self) -> None:
        record = routecap.Record.from_numpy(np.zeros((1, 1, 1), np.uint8), num_experts=8, layer_ids=np.array([3], np.int32))
        with pytest.raises(routecap.OutOfRangeError, match="layer 4 is none of the 1 layers"):
            megatron.replay_data([record], [2], [0, 2], layers=[4])
        with pytest.raises(ValueError, match="a sequence has 5 tokens, seq_length is 4"):
            megatron.replay_batch([record], [5], 4, layers=[3])
        with pytest.raises(ValueError, match="records: 1, and 2 lengths"):
            megatron.replay_batch([record], [2, 2], 4, layers=[3])


def places(indices: Any, offsets: Any) -> list[tuple[int, int]]:
    """Sequence and place in it of tokens of a pack."""
    found = []
    for index in indices:
        sequence = max(number for number in range(len(offsets) - 1) if offsets[number] <= index < offsets[number + 1])
        found.append((sequence, int(index - offsets[sequence])))
    return found


class TestVerl:
    @oracle.searched
    @given(data=st.data(), num_experts=st.sampled_from([16, 256, 257]), full=st.booleans())
    def test_a_rectangle_with_a_mask_that_leaves_the_last_token_out(self, data: Any, num_experts: int, full: bool) -> None:
        packed = data.draw(st.lists(shaped(num_experts, whole=True), min_size=1, max_size=4))
        lengths = [sample.length for sample in packed]
        total = max(lengths) + 5
        starts = [data.draw(st.integers(0, total - length)) for length in lengths]
        num_layers = 6 if full else None
        made = verl.batch([sample.record for sample in packed], lengths, total, starts=starts, num_layers=num_layers)
        expected = np.zeros((len(packed), total, 6 if full else 3, 2), np.uint8 if num_experts <= 256 else np.int16)
        mask = np.zeros((len(packed), total), np.bool_)
        for row, sample in enumerate(packed):
            for position in range(sample.length):
                cells = [sample.cell(position, layer) for layer in LAYERS]
                for column, cell in enumerate(cells):
                    expected[row, starts[row] + position, LAYERS[column] if full else column] = cell or 0
                mask[row, starts[row] + position] = all(cells) and position < sample.length - 1
        assert made.routed_experts.dtype == expected.dtype
        assert np.array_equal(made.routed_experts, expected)
        assert np.array_equal(made.replay_mask, mask)
        jagged = verl.jagged([sample.record for sample in packed], lengths, num_layers=num_layers)
        assert jagged.offsets.tolist() == [0, *np.cumsum(lengths)]
        for row, length in enumerate(lengths):
            first, end = jagged.offsets[row : row + 2]
            assert np.array_equal(jagged.routed_experts[first:end], expected[row, starts[row] : starts[row] + length])
            assert np.array_equal(jagged.replay_mask[first:end], mask[row, starts[row] : starts[row] + length])

    def test_n_or_n_minus_1_rows_and_nothing_else(self) -> None:
        record = routecap.Record.from_numpy(np.zeros((3, 1, 1), np.uint8), num_experts=8, layer_ids=np.array([3], np.int32))
        assert verl.batch([record, record], [3, 4], 4).replay_mask.tolist() == [[True, True, False, False], [True, True, True, False]]
        for length in (2, 5):
            with pytest.raises(ValueError, match=rf"records\[0\] has 3 rows from token 0, lengths\[0\] is {length} tokens"):
                verl.batch([record], [length], 8)
        with pytest.raises(ValueError, match=r"records\[0\] has 1 rows from token 2, lengths\[0\] is 4 tokens"):
            verl.jagged([record[2:3]], [4])
        with pytest.raises(ValueError, match=r"sequence 0 has the places \[2, 6\), total_length is 5"):
            verl.batch([record], [4], 5, starts=[2])
        with pytest.raises(ValueError, match="num_layers is 3, the records' highest layer is 3"):
            verl.batch([record], [4], 5, num_layers=3)


class TestSlime:
    @oracle.searched
    @given(data=st.data(), num_experts=st.sampled_from([16, 257]))
    def test_all_layers_and_n_minus_1_rows_from_the_start(self, data: Any, num_experts: int) -> None:
        sample = data.draw(shaped(num_experts, whole=True))
        start = data.draw(st.integers(0, sample.length - 1))
        made = slime.rollout_routed_experts(sample.record, sample.length, 6, start=start)
        rows = sample.length - 1 - start
        assert (made.routed_experts.shape, made.routed_experts.dtype) == ((rows, 6, 2), np.int32)
        spread = {layer: oracle.Spread(num_experts, 2) for layer in LAYERS}
        for row in range(rows):
            cells = [sample.cell(start + row, layer) for layer in LAYERS]
            for layer, cell in zip(LAYERS, cells):
                assert made.routed_experts[row, layer].tolist() == (cell or spread[layer].next())
            assert made.routed_experts[row, [0, 3, 5]].tolist() == [[0, 0]] * 3
            assert bool(made.mask[row]) == all(cells)
        # What slime's reader does, its check of the number of elements included.
        flat = np.frombuffer(base64.b64decode(made.payload()), dtype=np.int32)
        assert flat.size == (sample.length - 1 - start) * 6 * 2
        assert np.array_equal(flat.reshape(rows, 6, 2), made.routed_experts)

    def test_starts_outside_the_sample_are_refused(self) -> None:
        record = routecap.Record.from_numpy(np.zeros((3, 1, 1), np.uint8), num_experts=8, layer_ids=np.array([3], np.int32))
        assert slime.rollout_routed_experts(record, 4, 5, start=3).routed_experts.shape == (0, 5, 1)
        for start in (-1, 4):
            with pytest.raises(ValueError, match=f"start is {start}, the sample's length is 4"):
                slime.rollout_routed_experts(record, 4, 5, start=start)
        with pytest.raises(ValueError, match="num_layers is 3, the record's highest layer is 3"):
            slime.rollout_routed_experts(record, 4, 3)


class TestNemoRl:
    @oracle.searched
    @given(data=st.data(), shape=st.sampled_from([(128, np.int8), (129, np.int16), (32768, np.int16), (32769, np.int32)]), full=st.booleans())
    def test_a_row_that_lacks_a_layer_is_minus_one_as_a_whole(self, data: Any, shape: Any, full: bool) -> None:
        num_experts, dtype = shape
        sample = data.draw(shaped(num_experts))
        made = nemo_rl.routed_experts(sample.record, sample.length, num_layers=6 if full else None)
        rows = max(0, sample.length - 1)
        assert (made.shape, made.dtype) == ((rows, 6 if full else 3, 2), dtype)
        for row in range(rows):
            cells = [sample.cell(row, layer) for layer in LAYERS]
            expected = np.zeros(made.shape[1:], np.int64)
            for column, cell in enumerate(cells):
                expected[LAYERS[column] if full else column] = -1 if cell is None else cell
            if not all(cells):
                expected[:] = -1
            assert np.array_equal(made[row], expected)

    def test_a_layer_that_the_model_does_not_have_is_refused(self) -> None:
        record = routecap.Record.from_numpy(np.zeros((3, 1, 1), np.uint8), num_experts=8, layer_ids=np.array([3], np.int32))
        with pytest.raises(ValueError, match="num_layers is 3, the record's highest layer is 3"):
            nemo_rl.routed_experts(record, 4, num_layers=3)


class TestPrimeRl:
    @oracle.searched
    @given(data=st.data(), num_experts=st.sampled_from([16, 256, 257]))
    def test_as_many_rows_as_tokens_and_zeros_where_there_is_nothing(self, data: Any, num_experts: int) -> None:
        sample = data.draw(shaped(num_experts))
        made = prime_rl.routed_experts(sample.record, sample.length)
        assert made.routed_experts.shape == (sample.length, 3, 2)
        assert made.routed_experts.dtype == (np.uint8 if num_experts <= 256 else np.uint16)
        for position in range(sample.length):
            cells = [sample.cell(position, layer) for layer in LAYERS]
            assert made.routed_experts[position].tolist() == [cell or [0, 0] for cell in cells]
            assert bool(made.mask[position]) == all(cells)

    def test_more_experts_than_its_dtypes_hold_are_refused(self) -> None:
        record = routecap.Record.from_numpy(np.zeros((1, 1, 1), np.int32), num_experts=65537, layer_ids=np.array([3], np.int32))
        with pytest.raises(routecap.OutOfRangeError, match="UINT16"):
            prime_rl.routed_experts(record, 2)


def test_a_zigzag_batch_of_megatron_by_hand() -> None:
    ids = np.arange(8, dtype=np.uint8).reshape(8, 1, 1)
    record = routecap.Record.from_numpy(ids, num_experts=8, layer_ids=np.array([3], np.int32))
    zigzag = Partition(Split.ZIGZAG, cp_size=2, cp_rank=0, sp_size=2, sp_rank=1)
    assert megatron.replay_data([record], [8], [0, 8], zigzag, layers=[3]).data[0].tolist() == [[6], [7]]
    assert megatron.replay_batch([record, record], [8, 8], 8, zigzag, layers=[3]).data[0].tolist() == [[6], [6], [7], [7]]
