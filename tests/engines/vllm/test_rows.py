# SPDX-License-Identifier: Apache-2.0
"""Rows of a real engine, each compared with the ids that its fused-MoE kernel consumed."""

import gc

import conftest
import environment
import numpy as np
import pytest

import routecap

DENSE = {"dense": (0, 3)}


def test_mixed_batches_chunked_prefill_and_prefix_hits(engine):
    run = engine(DENSE)
    first = conftest.prompts(10, longest=200, common=40, seed=1)
    rows = sum(run.check(output) for output in run.run(first, max_tokens=20))
    # The same prompts again, and longer: their beginning is not forwarded any more.
    again = run.run([prompt + [7, 8, 9] * 10 for prompt in first], max_tokens=5)
    assert sum(output.num_cached_tokens for output in again) > 300
    rows += sum(run.check(output) for output in again)
    longest = max(len(prompt) for prompt in first)
    assert longest > 96 and max(run.oracle.forwards) == 96  # a prompt had to be cut in pieces
    assert min(run.oracle.forwards) < 9 and rows > 1500
    assert run.attachment.rows_missing == 0


def test_layers_that_do_not_route_have_no_column(engine):
    run = engine(DENSE)
    (output,) = run.run([[5, 6, 7, 8]], max_tokens=3)
    record = run.attachment.take(output.request_id)
    assert list(record.layer_ids) == [1, 2, 4, 5]
    assert record.ids.shape == (6, 4, 8)


@pytest.mark.parametrize(("experts", "dtype"), [(64, np.uint8), (256, np.uint8), (320, np.uint16)])
def test_models_of_8_and_16_bits(engine, experts, dtype):
    run = engine({"experts": experts, "layers": 2})
    outputs = run.run(conftest.prompts(4, seed=2), max_tokens=6)
    record = run.attachment.take(outputs[0].request_id)
    assert record.ids.dtype == dtype
    np.testing.assert_array_equal(record.ids, run.oracle.named(outputs[0].request_id))
    assert all(run.check(output) > 0 for output in outputs[1:])
    if experts == 320:
        assert max(rows.max() for rows in run.oracle.ended.values()) > 255


def test_only_requests_that_opt_in_get_rows_and_from_where_they_want(engine):
    run = engine()
    prompts = conftest.prompts(6, shortest=10, seed=3)
    parameters = [run.parameters(opted_in=i % 2 == 0, routed_experts_prompt_start=i) for i in range(6)]
    outputs = run.run(prompts, parameters)
    for i, output in enumerate(outputs):
        if i % 2 == 0:
            run.check(output, start=i)
        else:
            assert run.attachment.take(output.request_id) is None


def test_a_start_behind_the_prompt_is_refused(engine):
    run = engine()
    from vllm.exceptions import VLLMValidationError

    with pytest.raises(VLLMValidationError, match="routed_experts_prompt_start must be between 0 and the prompt length"):
        run.run([[5, 6, 7]], routed_experts_prompt_start=4)
    (output,) = run.run([[5, 6, 7]], routed_experts_prompt_start=3, max_tokens=1)
    record = run.attachment.take(output.request_id)
    assert (record.start, record.rows) == (3, 0)  # s == n - 1: 0 rows and success (R3)


def test_rows_for_all_where_the_engine_says_so(engine):
    run = engine(attachment={"default": True})
    assert len(run.attachment.results) == 1  # the warm-up
    (output,) = run.run(conftest.prompts(1, seed=4), opted_in=False)
    run.check(output)
    (output,) = run.run([[4, 5, 6]], run.parameters(opted_in=False).__class__(max_tokens=1, detokenize=False, extra_args={"routecap": 0}))
    assert run.attachment.take(output.request_id) is None


def test_several_completions_of_one_prompt(engine):
    run = engine()
    parameters = run.parameters(n=3, temperature=1.0, max_tokens=9)
    outputs = run.run(conftest.prompts(3, shortest=20, seed=5), parameters)
    assert len({tuple(completion.token_ids) for completion in outputs[0].outputs}) > 1
    assert all(run.check(output) > 0 for output in outputs)


def test_stop_tokens_and_short_requests(engine):
    run = engine()
    prompt = conftest.prompts(1, shortest=30, seed=6)[0]
    (free,) = run.run([prompt], max_tokens=12)
    run.check(free)
    stop = free.outputs[0].token_ids[4]
    first = free.outputs[0].token_ids.index(stop)
    (stopped,) = run.run([prompt], max_tokens=12, stop_token_ids=[stop])
    assert len(stopped.outputs[0].token_ids) == first + 1
    assert run.check(stopped) == len(prompt) + first  # the stop token counts
    (one,) = run.run([[9, 10, 11, 12]], max_tokens=1)
    assert run.check(one) == 4


def test_preempted_requests(engine):
    run = engine(num_gpu_blocks_override=14, max_model_len=256)
    outputs = run.run(conftest.prompts(8, shortest=50, longest=70, seed=7), max_tokens=60)
    assert run.oracle.preempted > 0
    assert all(run.check(output) > 100 for output in outputs)
    assert run.attachment.rows_missing == 0


def test_an_aborted_request_keeps_what_was_computed(engine):
    run = engine()
    prompt = conftest.prompts(1, shortest=30, longest=30, seed=8)[0]
    run.add("cut", prompt, max_tokens=50)
    tokens = []
    for _ in range(6):
        for output in run.step():
            tokens = output.outputs[0].token_ids
    run.llm.llm_engine.abort_request(["cut"])
    record = run.attachment.take("cut")
    n = len(prompt) + len(tokens)
    assert (record.start, record.rows) == (0, n - 1) and record.valid.all()
    np.testing.assert_array_equal(record.ids, run.oracle.named("cut"))
    assert len(tokens) == 6


def test_a_request_aborted_in_the_middle_of_its_prompt(engine):
    run = engine()
    prompt = conftest.prompts(1, shortest=250, longest=250, seed=9)[0]
    run.add("cut", prompt, max_tokens=5)
    run.step()
    run.step()
    run.llm.llm_engine.abort_request(["cut"])
    record = run.attachment.take("cut")
    assert (record.start, record.rows) == (0, 2 * 96)  # two pieces of the prompt were computed
    assert record.valid.all()
    np.testing.assert_array_equal(record.ids, run.oracle.named("cut")[: 2 * 96])


def test_a_request_aborted_before_its_first_forward(engine):
    run = engine()
    run.add("never", [5, 6, 7, 8])
    run.llm.llm_engine.abort_request(["never"])
    record = run.attachment.take("never")
    assert (record.start, record.rows) == (0, 0)


def test_deltas_joined_are_the_whole(engine):
    run = engine()
    prompt = conftest.prompts(1, shortest=150, longest=150, seed=10)[0]
    run.add("stream", prompt, max_tokens=7, routed_experts_prompt_start=10)
    deltas = []
    while run.llm.llm_engine.has_unfinished_requests():
        run.step()
        delta = run.attachment.take_delta("stream")
        if delta is not None:
            deltas.append(delta)
    assert run.attachment.take("stream") is None
    assert [delta.start for delta in deltas[:3]] == [10, 96, 150] and len(deltas) > 5
    whole = deltas[0]
    for delta in deltas[1:]:
        whole = whole.append(delta)  # refuses a gap or an overlap (R39)
    assert (whole.start, whole.rows) == (10, 150 + 7 - 1 - 10)
    np.testing.assert_array_equal(whole.ids, run.oracle.named("stream")[10:])


def test_two_engines_in_one_process(engine):
    small, wide = engine({"layers": 2}), engine({"experts": 320, "layers": 2, "seed": 3})
    prompts = conftest.prompts(4, seed=11)
    for name, prompt in enumerate(prompts):
        small.add(str(name), prompt)
        wide.add(str(name), prompt[::-1])
    while small.llm.llm_engine.has_unfinished_requests() or wide.llm.llm_engine.has_unfinished_requests():
        for run in (small, wide):
            for output in run.step():
                if output.finished:
                    assert run.check(output) > 0
    assert small.attachment.capturer.config.num_experts == 64 and wide.attachment.capturer.config.num_experts == 320


def test_slots_of_a_new_tenant_do_not_show_the_old_one(engine):
    run = engine(enable_prefix_caching=False)
    (output,) = run.run(conftest.prompts(1, shortest=60, seed=12))
    run.check(output)
    run.add("new", conftest.prompts(1, shortest=60, longest=60, seed=13)[0])
    run.step()
    pool = run.core.scheduler.kv_cache_manager.block_pool
    block = pool.get_new_blocks(1)[0]  # as a connector that brings KV from elsewhere has them
    slots = np.arange(block.block_id * run.oracle.block, (block.block_id + 1) * run.oracle.block)
    with run.attachment.capturer.read(slots, len(slots) + 1) as record:
        assert record.rows == run.oracle.block and not record.valid.any()
    pool.free_blocks([block])
    run.llm.llm_engine.abort_request(["new"])


def test_blocks_that_are_copied_take_their_rows_along(engine):
    run = engine(enable_prefix_caching=False)
    run.add("source", conftest.prompts(1, shortest=70, longest=70, seed=18)[0], max_tokens=4)
    run.step()
    cache = run.core.scheduler.kv_cache_manager
    (manager,) = cache.coordinator.single_type_managers
    (blocks,) = manager.req_to_blocks.values()
    source, target = blocks[1], cache.block_pool.get_new_blocks(1)[0]
    slots = np.arange(target.block_id * run.oracle.block, (target.block_id + 1) * run.oracle.block)
    with run.attachment.capturer.read(slots, len(slots) + 1) as record:
        assert not record.valid.any()
    # As vLLM does where a prompt's beginning ends within a block of another request: both blocks are held until the copy has run.
    source.ref_cnt += 1
    target.ref_cnt += 1
    manager._pending_cow_copies.append((source, target))
    while run.llm.llm_engine.has_unfinished_requests():
        run.step()
    with run.attachment.capturer.read(slots, len(slots) + 1) as record:
        assert record.valid.all()
        np.testing.assert_array_equal(record.ids, run.oracle.named("source")[run.oracle.block : 2 * run.oracle.block])
    cache.block_pool.free_blocks([target])


def test_dummy_runs_leave_no_row_and_no_count(engine):
    run = engine()
    runner = run.core.model_executor.driver_worker.worker.model_runner
    before = run.attachment.capturer.stats()
    runner._dummy_run(40)
    (output,) = run.run(conftest.prompts(1, seed=14))
    run.check(output)
    stats = run.attachment.capturer.stats()
    assert stats.discarded_forwards > before.discarded_forwards and stats.rows_bad == 0


def test_a_forward_that_fails_leaves_no_count(engine, monkeypatch):
    run = engine(fresh=True)
    model = run.core.model_executor.driver_worker.worker.model_runner.get_model()
    last = model.model.layers[-1]
    whole = last.forward

    def fail(*arguments, **options):
        whole(*arguments, **options)
        raise RuntimeError("as if memory had run out")

    monkeypatch.setattr(last, "forward", fail)
    before = run.attachment.capturer.stats().discarded_forwards
    run.add("fails", [5, 6, 7, 8, 9])
    with pytest.raises(RuntimeError, match="as if memory"):
        run.step()
    assert run.attachment.capturer.stats().discarded_forwards == before + 1


def test_a_forward_whose_sampling_fails_does_not_fill_the_pipeline(engine, monkeypatch):
    run = engine(fresh=True)
    runner = run.core.model_executor.driver_worker.worker.model_runner
    sample = runner._sample if environment.RUNNER == "v1" else runner.sample
    for number in range(4):
        run.add(f"fails{number}", [5, 6, 7, 8, 9], opted_in=False)
        monkeypatch.setattr(runner, sample.__name__, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run.step()
        run.llm.llm_engine.abort_request([f"fails{number}"])
    monkeypatch.setattr(runner, sample.__name__, sample)
    (output,) = run.run(conftest.prompts(1, shortest=20, seed=17))
    run.check(output)
    assert run.attachment.capturer.stats().dropped == 4


def test_the_hook_taken_away_shows_as_missing_and_is_said(engine, caplog):
    run = engine(fresh=True)
    router = run.attachment._routers[2]
    router.unhook()
    outputs = run.run([[5, 6, 7, 8, 9]], max_tokens=2)
    record = run.attachment.take(outputs[0].request_id)
    assert record.rows == 6 and not record.valid.any()
    assert run.attachment.rows_missing > 0
    assert "LAYER_INCOMPLETE" in caplog.text


def test_detached_it_leaves_the_engine_as_it_was(engine):
    run = engine(fresh=True)
    names = ("execute_model", "_dummy_run")
    runner = run.core.model_executor.driver_worker.worker.model_runner
    (output,) = run.run([[5, 6, 7, 8, 9]])
    record = run.attachment.take(output.request_id)
    run.attachment.detach()
    run.attachment = None
    gc.collect()
    assert not any(name in vars(runner) for name in names)
    (after,) = run.run([[5, 6, 7, 8, 9]])
    assert list(after.outputs[0].token_ids) == list(output.outputs[0].token_ids)
    np.testing.assert_array_equal(record.ids, run.oracle.named(output.request_id))  # records live on


def test_tokens_are_the_same_with_and_without(engine):
    prompts = conftest.prompts(6, seed=15)
    with_it, without = engine(), engine(attach=False)
    ours = [list(output.outputs[0].token_ids) for output in with_it.run(prompts)]
    theirs = [list(output.outputs[0].token_ids) for output in without.run(prompts)]
    assert ours == theirs


def test_results_that_nobody_takes_are_bounded(engine):
    run = engine(attachment={"most_results": 3})
    outputs = run.run(conftest.prompts(5, longest=20, seed=16), max_tokens=2)
    assert len(run.attachment.results) == 3 and run.attachment.results.forgotten == 2
    assert sum(run.attachment.take(output.request_id) is not None for output in outputs) == 3


def test_an_engine_of_another_process_is_refused():
    import routecap.vllm

    class Elsewhere:
        llm_engine = object()

    with pytest.raises(ValueError, match="runs in another process.*additional_config"):
        routecap.vllm.attach(Elsewhere())
    for nothing in (None, object()):
        with pytest.raises(TypeError, match=f"engine is a {type(nothing).__name__}, a vllm.LLM"):
            routecap.vllm.attach(nothing)


def test_an_engine_that_was_compiled_is_refused(engine):
    import routecap.vllm

    # Traced and compiled by torch, without a compiler of kernels behind it.
    run = engine({"layers": 1}, attach=False, fresh=True, enforce_eager=False, compilation_config={"mode": "STOCK_TORCH_COMPILE", "backend": "eager"})
    with pytest.raises(ValueError, match="the compilation mode is [A-Z_]+, on processors only NONE is supported: enforce_eager=True sets it"):
        routecap.vllm.attach(run.llm)
    (output,) = run.run([[5, 6, 7, 8, 9]])
    assert len(output.outputs[0].token_ids) == 8  # the engine is as it was


def test_a_second_attachment_is_refused_until_the_first_has_gone(engine):
    import routecap.vllm

    run = engine(fresh=True)
    with pytest.raises(ValueError, match="the engine has an attachment already: detach"):
        routecap.vllm.attach(run.llm)
    with pytest.raises(TypeError, match="default is 'no', allowed are True and False"):
        routecap.vllm.attach(run.llm, default="no")
    run.attachment.detach()
    run.attachment = routecap.vllm.attach(run.llm)
    (output,) = run.run([[5, 6, 7, 8, 9]])
    assert run.check(output) == 12


def test_weight_versions_are_checked_where_they_are_set(engine):
    run = engine(fresh=True)
    for wrong, error in ((1 << 63, ValueError), (-1, ValueError), ("x", TypeError), (True, TypeError), (1.0, TypeError)):
        with pytest.raises(error, match="weight_version is"):
            run.attachment.weight_version = wrong
    run.attachment.weight_version = np.int64(7)
    assert type(run.attachment.weight_version) is int and run.attachment.weight_version == 7
    (output,) = run.run([[5, 6, 7, 8, 9]])
    run.check(output)


def test_what_cannot_be_recorded_is_missing_and_the_engine_goes_on(engine, monkeypatch, caplog):
    run = engine(fresh=True)

    def fail(*arguments, **options):
        raise routecap.BusyError("as if")

    with monkeypatch.context() as patch:
        patch.setattr(run.attachment.capturer, "end_forward", fail, raising=False)
        (output,) = run.run([[5, 6, 7, 8, 9]])
    assert len(output.outputs[0].token_ids) == 8 and "rows of a forward are missing: as if" in caplog.text
    record = run.attachment.take(output.request_id)
    assert record.rows == 12 and not record.valid.any() and run.attachment.rows_missing == 12
    (output,) = run.run([[5, 6, 7, 8, 10]])
    assert run.check(output) == 12


def test_a_record_travels(engine):
    run = engine(DENSE)
    (output,) = run.run([[5, 6, 7, 8, 9]])
    record = run.attachment.take(output.request_id)
    with routecap.Record.decode(routecap.Format.FRAME, record.encode(routecap.Format.FRAME)) as back:
        np.testing.assert_array_equal(back.ids, run.oracle.named(output.request_id))
        assert list(back.layer_ids) == [1, 2, 4, 5]
    assert environment.RUNNER in ("v1", "v2")
