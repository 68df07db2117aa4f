# SPDX-License-Identifier: Apache-2.0
"""The same calls give the same rows, to the last bit, whatever SGLang's scheduler does."""

import numpy as np
import original
import pytest
import torch
from schedule import Schedule
from sides import E, K, LAYERS, ROUTED, Side, pair


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("shared", [0, 2])
def test_random_schedules_give_what_the_original_gives(overlap, shared):
    counts = {}
    answers = 0
    for seed in range(12):
        played = Schedule(pair(slots=160, shared=shared), seed, shared=shared, overlap=overlap)
        played.play(120)
        for oracle, (theirs, ours) in played.answers:
            assert torch.equal(theirs, torch.from_numpy(oracle))
            assert torch.equal(ours, theirs) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
            answers += 1
        for name, count in played.counts.items():
            counts[name] = counts.get(name, 0) + count
        assert played.sides[1].capturer.rows_missing == 0
    # Every situation took place.
    assert answers > 200 and all(count > 0 for name, count in counts.items() if overlap or name != "ahead"), counts


def test_the_wire_text_is_the_originals():
    theirs, ours = pair()
    ids = {layer: torch.randperm(E, dtype=torch.int32)[: 5 * K].view(5, K) for layer in ROUTED}
    for side in (theirs, ours):
        side.step(ids, [7, 9, 8, 20, 3])
    texts = original.to_text([side.rows([7, 9, 8, 20, 3]) for side in (theirs, ours)])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_ids_may_be_a_view_of_a_wider_array(dtype):
    theirs, ours = pair()
    wide = {layer: torch.randint(0, E, (5, 2 * K), dtype=dtype) for layer in ROUTED}
    ids = {layer: array[:, :K] for layer, array in wide.items()}
    for side in (theirs, ours):
        side.step(ids, [1, 2, 3, 4, 5])
    assert torch.equal(theirs.rows([1, 2, 3, 4, 5]), ours.rows([1, 2, 3, 4, 5]))
    assert torch.equal(ours.rows([5])[0, ROUTED[0]], ids[ROUTED[0]][4].to(torch.int32))


def test_routes_without_the_shared_columns_are_taken_too():
    theirs, ours = pair(shared=2)
    ids = {layer: torch.randint(0, E, (3, K), dtype=torch.int32) for layer in ROUTED}
    for side in (theirs, ours):
        side.step(ids, [1, 2, 3])
    assert torch.equal(theirs.rows([1, 2, 3]), ours.rows([1, 2, 3]))


def test_slots_of_a_stable_pool_are_used_where_a_batch_has_them():
    theirs, ours = pair()
    ids = {layer: torch.randint(0, E, (4, K), dtype=torch.int32) for layer in ROUTED}
    for side in (theirs, ours):
        # Four rows in the kernels' batch, of which two are tokens.
        side.step(ids, [40, 41, 42, 43], out_cache_loc_virtual=torch.tensor([10, 11]))
    assert torch.equal(theirs.rows([10, 11]), ours.rows([10, 11]))


def test_rows_of_a_data_parallel_rank_are_found_in_the_common_buffer(monkeypatch):
    monkeypatch.setattr(original.dp_attention, "enabled", True)
    monkeypatch.setattr(original.parallel, "num_dp_ranks", 3)
    theirs, ours = pair()
    ids = {layer: torch.randint(0, E, (9, K), dtype=torch.int32) for layer in ROUTED}
    for side in (theirs, ours):
        side.step(ids, [5, 6, 7], tokens_of_ranks=[4, 3, 2], rank=1)
    assert torch.equal(theirs.rows([5, 6, 7]), ours.rows([5, 6, 7]))
    assert torch.equal(ours.rows([5, 6, 7])[:, ROUTED[1]], ids[ROUTED[1]][4:7])


def test_an_idle_rank_ends_forwards_without_tokens():
    theirs, ours = pair()
    for side in (theirs, ours):
        side.end([])
        side.step({layer: torch.full((1, K), layer, dtype=torch.int32) for layer in ROUTED}, [3])
    assert torch.equal(theirs.rows([3]), ours.rows([3]))


@pytest.mark.parametrize("experts", [256, 512])
def test_models_of_8_and_16_bits(experts):
    from sides import model_config

    config = model_config(experts=experts)
    theirs, ours = Side("original", 32, config=config), Side("routecap", 32, config=config)
    ids = {layer: torch.tensor([[experts - 1, 0, 255, layer]], dtype=torch.int32) for layer in ROUTED}
    for side in (theirs, ours):
        side.step(ids, [4])
    assert torch.equal(theirs.rows([4]), ours.rows([4]))


def test_a_record_tells_layers_that_do_not_route_from_expert_0():
    _, ours = pair()
    ours.step({layer: torch.zeros((2, K), dtype=torch.int32) + torch.arange(K, dtype=torch.int32) for layer in ROUTED}, [1, 2])
    table = torch.tensor([[1, 2, 0]], dtype=torch.int32)
    with ours.capturer.get_record(0, 3, type("Pool", (), {"req_to_token": table})) as record:
        assert record.ids.shape == (2, len(ROUTED), K)
        assert list(record.layer_ids) == ROUTED
        assert np.array_equal(record.ids[0, 0], np.arange(K))
    assert ours.rows([1, 2]).shape == (2, LAYERS, K)


@pytest.mark.parametrize("n", [1, 2])
def test_small_requests(n):
    theirs, ours = pair()
    for side in (theirs, ours):
        side.step({layer: torch.full((1, K), layer, dtype=torch.int32) for layer in ROUTED}, [9])
    assert torch.equal(theirs.rows([9][: n - 1]), ours.rows([9][: n - 1]))
    assert ours.rows([9][: n - 1]).shape == (n - 1, LAYERS, K)
