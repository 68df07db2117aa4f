# SPDX-License-Identifier: Apache-2.0
"""Speculative decoding: rows of kept tokens only, and none of the draft's."""

import conftest
import numpy as np
import pytest

import routecap


def repetitive(count, seed=20):
    """Prompts in which the end has been seen before, so that n-grams propose something."""
    return [prompt * 6 for prompt in conftest.prompts(count, shortest=8, longest=12, seed=seed)]


def spoiled_tails(run):
    """Valid rows in the slots of rejected drafts: there must be none (R21). Looks at the slots behind each running request's last computed token."""
    bad = 0
    for request in run.core.scheduler.running:
        blocks = np.array(run.core.scheduler.kv_cache_manager.get_block_ids(request.request_id)[0])
        slots = (blocks[:, None] * run.oracle.block + np.arange(run.oracle.block)).reshape(-1)[request.num_computed_tokens :]
        if len(slots):
            with run.attachment.capturer.read(slots, len(slots) + 1) as record:
                bad += int(record.valid.sum())
    return bad


def play(run, prompts, **options):
    for name, prompt in enumerate(prompts):
        run.add(str(name), prompt, **options)
    ended, bad = [], 0
    while run.llm.llm_engine.has_unfinished_requests():
        ended += [output for output in run.step() if output.finished]
        bad += spoiled_tails(run)
    return ended, bad


def test_a_draft_model_with_experts(engine, checkpoints):
    draft = checkpoints(layers=2, seed=9)
    run = engine(speculative_config={"method": "draft_model", "model": str(draft), "num_speculative_tokens": 3})
    outputs, spoiled = play(run, conftest.prompts(6, shortest=20, seed=21), max_tokens=25)
    assert len(outputs) == 6 and all(run.check(output) > 0 for output in outputs)
    stats = run.attachment.capturer.stats()
    assert stats.suppressed > 0  # the draft's routers were heard and denied (R18)
    assert stats.rows_bad == 0 and spoiled == 0
    assert [router.layer for router in run.attachment._draft_routers] == [0, 1]
    assert run.attachment.capturer.config.layer_ids == list(range(6))


def test_a_draft_that_is_the_target_is_always_accepted(engine, checkpoints):
    """Kept drafts are committed: with greedy tokens and the same model nearly every draft is right."""
    run = engine(speculative_config={"method": "draft_model", "model": str(checkpoints()), "num_speculative_tokens": 3})
    outputs, spoiled = play(run, conftest.prompts(4, shortest=20, seed=22), max_tokens=25)
    assert all(run.check(output) > 0 for output in outputs)
    stats = run.attachment.capturer.stats()
    assert stats.rows_rejected < stats.rows_stored / 4 and spoiled == 0


def test_a_draft_can_not_be_allowed(engine, checkpoints):
    run = engine(speculative_config={"method": "draft_model", "model": str(checkpoints(layers=2, seed=9)), "num_speculative_tokens": 2})
    taps = [tap for tap in (run.attachment.capturer.tap(number) for number in range(8)) if not tap.enabled]
    assert len(taps) == 2
    with pytest.raises(routecap.RoutecapError):
        run.attachment.capturer.add_model(routecap.Role.DRAFT, "late")


# Last of all: vLLM's n-gram proposer imports numba, after which no engine starts in the process any more (vLLM looks for kernels in every object of every
# module, and trips over one of llvmlite's).


def test_ngram(engine):
    run = engine(speculative_config={"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1})
    outputs, spoiled = play(run, repetitive(8), max_tokens=40)
    assert len(outputs) == 8 and all(run.check(output) > 50 for output in outputs)
    stats = run.attachment.capturer.stats()
    assert stats.rows_rejected > 0 and stats.rows_bad == 0
    assert spoiled == 0
    accepted = sum(len(output.outputs[0].token_ids) for output in outputs)
    assert accepted == 8 * 40


def test_ngram_deltas(engine):
    run = engine(speculative_config={"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1})
    run.add("stream", repetitive(1)[0], max_tokens=30)
    deltas = []
    while run.llm.llm_engine.has_unfinished_requests():
        run.step()
        delta = run.attachment.take_delta("stream")
        deltas += [delta] if delta is not None else []
    whole = deltas[0]
    for delta in deltas[1:]:
        whole = whole.append(delta)
    np.testing.assert_array_equal(whole.ids, run.oracle.named("stream"))
