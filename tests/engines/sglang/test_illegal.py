# SPDX-License-Identifier: Apache-2.0
"""Sequences that no engine should make, and that engines made. The original answers each of them with rows that look right; here they are missing, or the
call is refused. Every test first shows what the original does.
"""

import gc
import logging

import original
import pytest
import torch
from sides import DENSE, E, K, LAYERS, ROUTED, pair

import routecap
from routecap.sglang import MISSING


def ids_of(rows, first=0, layers=ROUTED):
    """Row i of layer l: (first + i + l) and the K - 1 experts behind it."""
    base = torch.arange(rows, dtype=torch.int32)[:, None] + torch.arange(K, dtype=torch.int32)
    return {layer: (base + first + layer) % E for layer in layers}


def expected(ids, row):
    out = torch.zeros((LAYERS, K), dtype=torch.int32)
    for layer, rows in ids.items():
        out[layer] = rows[row]
    return out


def missing(rows):
    return bool((rows == MISSING).all())


@pytest.fixture
def sides():
    theirs, ours = pair()
    for side in (theirs, ours):
        side.step(ids_of(1), [63])  # serving has begun: what nobody ends from here on is no warm-up
    return theirs, ours


def test_a_draft_that_did_not_opt_out_and_routes_in_all_layers(sides, caplog):
    theirs, ours = sides
    target, draft = ids_of(3), ids_of(3, first=30)
    for side in sides:
        side.forward(target)
        side.forward(draft)
        side.end([1, 2, 3])
    assert torch.equal(theirs.rows([1])[0], expected(draft, 0))  # the draft's rows, as the target's
    assert missing(ours.rows([1, 2, 3]))
    assert ours.capturer.rows_missing == 3
    assert "layer repeated" in caplog.text and "3 of 3 rows" in caplog.text


def test_a_draft_of_one_layer_that_did_not_opt_out(sides):
    theirs, ours = sides
    target, draft = ids_of(3), ids_of(3, first=30, layers=ROUTED[:1])
    for side in sides:
        side.forward(target)
        side.forward(draft)
        side.end([1, 2, 3])
    mixed = expected(target, 1)
    mixed[ROUTED[0]] = draft[ROUTED[0]][1]
    assert torch.equal(theirs.rows([2])[0], mixed)  # one layer of another model
    assert missing(ours.rows([1, 2, 3]))


def test_a_draft_whose_layer_the_target_does_not_route_in(sides):
    theirs, ours = sides
    target, draft = ids_of(2), ids_of(2, first=30, layers=DENSE[:1])
    for side in sides:
        side.forward(target)
    theirs.forward(draft)
    with pytest.raises(ValueError, match=r"layer 0 is not one that routes; those are \[1, 2, 4, 5\]"):
        ours.forward(draft)
    for side in sides:
        side.end([1, 2])
    assert torch.equal(theirs.rows([1])[0, 0], draft[0][0])  # a dense layer with experts
    assert torch.equal(ours.rows([1])[0], expected(target, 0))  # refused, and so without a trace


def test_a_draft_that_opted_out_is_harmless(sides):
    theirs, ours = sides
    target = ids_of(2)
    for side in sides:
        side.forward(target)
        closed = original.TopKConfig(top_k=K, allow_routed_experts_capture=False)
        for layer, rows in ids_of(2, first=30).items():
            original.gate(closed, layer, rows)
        side.end([1, 2])
    assert torch.equal(theirs.rows([1, 2]), ours.rows([1, 2]))
    assert torch.equal(ours.rows([1])[0], expected(target, 0))


def test_a_slot_that_is_given_to_another_request_and_not_written(sides):
    theirs, ours = sides
    allocators = []
    for side in sides:
        allocator = original.TokenToKVPoolAllocator(40, torch.int32, "cpu", None, need_sort=False)
        if side is ours:
            ours.capturer.watch(allocator)
        allocators.append(allocator)
        slots = allocator.alloc(40)
        side.step(ids_of(40), slots)
        allocator.free(slots)
        again = allocator.alloc(2)  # KV comes from elsewhere: a host cache, another server
        assert again.tolist() == [1, 2]
    assert torch.equal(theirs.rows([1])[0], expected(ids_of(40), 0))  # the row of the request before
    assert missing(ours.rows([1, 2]))


def test_a_paged_pool_that_is_watched(sides):
    _, ours = sides
    allocator = original.PagedTokenToKVPoolAllocator(32, 4, torch.int32, "cpu", None, need_sort=False)
    ours.capturer.watch(allocator)
    slots = allocator.alloc(12)
    ours.step(ids_of(12), slots)
    allocator.free(slots[:4])
    allocator.free_segment(slots[4:6], start_pos=4)
    assert missing(ours.rows(slots[:6].tolist()))
    assert torch.equal(ours.rows(slots[8:9].tolist())[0], expected(ids_of(12), 8))
    allocator.free_page_ids(slots[8:9] // 4)
    assert missing(ours.rows(slots[8:12].tolist()))
    ours.step(ids_of(4), slots[:4])
    allocator.clear()
    assert missing(ours.rows(slots[:4].tolist()))


def test_slots_freed_in_a_group_are_released_at_once(sides):
    _, ours = sides
    allocator = original.TokenToKVPoolAllocator(40, torch.int32, "cpu", None, need_sort=False)
    ours.capturer.watch(allocator)
    slots = allocator.alloc(3)
    ours.step(ids_of(3), slots)
    allocator.free_group_begin()
    allocator.free(slots)
    assert missing(ours.rows(slots.tolist()))
    allocator.free_group_end()


def test_a_slot_that_was_never_written(sides):
    theirs, ours = sides
    for side in sides:
        side.step(ids_of(1), [1])
    assert (theirs.rows([1, 2])[1] == 0).all()  # expert 0 in every column of every layer
    assert missing(ours.rows([1, 2])[1:]) and torch.equal(ours.rows([1, 2])[0], expected(ids_of(1), 0))


def test_an_older_output_that_is_finalized_last(sides):
    theirs, ours = sides
    old, new = ids_of(2), ids_of(2, first=30)
    for side in sides:
        first = side.step(old, [1, 2], overlap=True)
        second = side.step(new, [2, 3], overlap=True)
        second.finalize()
        first.finalize()
    assert torch.equal(theirs.rows([2])[0], expected(old, 1))  # the older forward's row
    assert torch.equal(ours.rows([2])[0], expected(new, 0))  # R10
    assert torch.equal(ours.rows([1])[0], expected(old, 0))


def test_an_output_that_is_dropped(sides):
    theirs, ours = sides
    for side in sides:
        side.step(ids_of(2), [1, 2])
        dropped = side.step(ids_of(2, first=30), [1, 2], overlap=True)
        del dropped
        gc.collect()
    assert torch.equal(theirs.rows([1])[0], expected(ids_of(2), 0))  # the row before
    assert missing(ours.rows([1, 2]))  # R33


def test_a_layer_that_does_not_report(sides, caplog):
    theirs, ours = sides
    silent = ROUTED[2]
    for side in sides:
        side.step(ids_of(3, first=30), [4, 5, 6])
        side.forward(ids_of(3), layers=[layer for layer in ROUTED if layer != silent])
        side.end([1, 2, 3])
    assert torch.equal(theirs.rows([1])[0, silent], ids_of(3, first=30)[silent][0])  # its row of the forward before
    assert missing(ours.rows([1, 2, 3]))
    assert f"layer {silent} captured 0 rows of 3" in caplog.text


def test_a_layer_that_reports_fewer_rows(sides, caplog):
    theirs, ours = sides
    short = ROUTED[1]
    for side in sides:
        side.step(ids_of(3, first=30), [4, 5, 6])
        ids = ids_of(3)
        ids[short] = ids[short][:2]
        side.step(ids, [1, 2, 3])
    assert torch.equal(theirs.rows([3])[0, short], ids_of(3, first=30)[short][2])
    assert missing(ours.rows([1, 2, 3]))
    assert f"layer {short} captured 2 rows of 3" in caplog.text


@pytest.mark.parametrize("bad", [E, -1, 1 << 20])
def test_an_id_out_of_range(sides, bad, caplog):
    theirs, ours = sides
    for side in sides:
        ids = ids_of(3)
        ids[ROUTED[1]][1, 2] = bad
        side.step(ids, [1, 2, 3])
    assert theirs.rows([2])[0, ROUTED[1], 2] == bad  # an expert that there is not
    assert missing(ours.rows([2]))
    assert torch.equal(ours.rows([1])[0], expected(ids_of(3), 0)) and torch.equal(ours.rows([3])[0], expected(ids_of(3), 2))
    assert f"1 of 3 rows are bad, first row 1 for slot 2: id out of range in layer {ROUTED[1]}" in caplog.text


def test_slot_minus_1(sides):
    theirs, ours = sides
    for side in sides:
        side.step(ids_of(2), [1, -1])
    assert torch.equal(theirs.rows([63])[0], expected(ids_of(2), 1))  # the last slot of the pool, whosever it is
    assert torch.equal(ours.rows([63])[0], expected(ids_of(1), 0))  # untouched
    assert torch.equal(theirs.rows([-1])[0], theirs.rows([63])[0])
    assert missing(ours.rows([-1]))
    assert torch.equal(ours.rows([1])[0], expected(ids_of(2), 0))


def test_slots_out_of_range(sides):
    theirs, ours = sides
    for slot in (64, -2):
        for side in sides:
            side.forward(ids_of(2))
        if slot < 0:
            theirs.end([1, slot])
            assert torch.equal(theirs.rows([62])[0], expected(ids_of(2), 1))  # the second last slot
        with pytest.raises(routecap.OutOfRangeError, match=f"slot.* {slot}"):
            ours.end([1, slot])
        ours.end([1, 2])  # a refused call changed nothing and may be repeated
        assert torch.equal(ours.rows([2])[0], expected(ids_of(2), 1))


def test_a_slot_named_twice(sides):
    theirs, ours = sides
    for side in sides:
        side.forward(ids_of(2))
    theirs.end([5, 5])
    assert torch.equal(theirs.rows([5])[0], expected(ids_of(2), 1))  # one of the two
    with pytest.raises(routecap.RoutecapError, match="slots entry 1 is 5, named twice in one forward"):
        ours.end([5, 5])


def test_more_rows_than_the_buffer_has():
    theirs, ours = pair()
    rows = original.schedule.chunked_prefill_size + 1
    with pytest.raises(RuntimeError):
        theirs.forward(ids_of(rows))
    with pytest.raises(routecap.OutOfRangeError, match=f"{rows}.*{rows - 1}"):
        ours.forward(ids_of(rows))


def test_one_row_for_several_slots(sides):
    theirs, ours = sides
    for side in sides:
        side.forward(ids_of(3))
    original.dp_attention.enabled = True
    try:
        wrong = pair()
        for side in wrong:
            side.step(ids_of(1), [63], tokens_of_ranks=[1], rank=0)
            side.forward(ids_of(1))
        wrong[0].end([1, 2, 3], tokens_of_ranks=[1], rank=0)
        assert torch.equal(wrong[0].rows([3])[0], expected(ids_of(1), 0))  # the one row, three times
        with pytest.raises(ValueError, match="3 slots and this rank has 1 rows"):
            wrong[1].end([1, 2, 3], tokens_of_ranks=[1], rank=0)
    finally:
        original.dp_attention.enabled = False


@pytest.mark.parametrize("start", [4, 5])
def test_a_start_behind_the_end(sides, start):
    theirs, ours = sides
    for side in sides:
        side.step(ids_of(3), [1, 2, 3])
    assert theirs.rows([1, 2, 3], start=start).shape == (0, LAYERS, K)  # nothing, and no word
    if start == 4:  # n itself: 0 rows and success (R3)
        assert ours.rows([1, 2, 3], start=start).shape == (0, LAYERS, K)
    else:
        with pytest.raises(ValueError, match="start_len=5 lies behind the 4 tokens"):
            ours.rows([1, 2, 3], start=start)


def test_a_negative_start_is_refused_by_both(sides):
    for side in sides:
        with pytest.raises(ValueError, match="start_len=-1 must be non-negative"):
            side.rows([1, 2, 3], start=-1)


def test_too_many_outputs_in_flight():
    theirs, ours = pair(pipeline_depth=2)
    for side in (theirs, ours):
        held = [side.step(ids_of(1), [slot], overlap=True) for slot in (1, 2)]
        side.forward(ids_of(1))
        if side is ours:
            with pytest.raises(routecap.BusyError):
                side.end([3], overlap=True)
            held[0].finalize()
        held.append(side.end([3], overlap=True))
        for output in held[side is ours :]:
            output.finalize()
    assert torch.equal(theirs.rows([1, 2, 3]), ours.rows([1, 2, 3]))


def test_finalize_after_the_end(sides):
    _, ours = sides
    output = ours.step(ids_of(2), [1, 2], overlap=True)
    ours.capturer.destroy()
    with pytest.raises(routecap.ClosedError):
        output.finalize()


def test_a_kind_of_mistake_is_logged_once(sides, caplog):
    _, ours = sides
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            ours.forward(ids_of(3), layers=ROUTED[1:])
            ours.end([1, 2, 3])
    assert ours.capturer.rows_missing == 9
    assert len([record for record in caplog.records if record.name == "routecap.sglang"]) == 1
