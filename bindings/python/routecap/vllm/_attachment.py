# SPDX-License-Identifier: Apache-2.0
# pyright: reportMissingImports=false
"""One engine of vLLM with a capturer: taps at its routers, forwards ended as the model runner ends them, rows read as requests end."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from typing import Any, Callable

import numpy as np

import routecap
from routecap._arguments import integer
from routecap.vllm._requests import Ended, Name, Results, names_of, opted_in, start_of
from routecap.vllm._routers import Router, routers_of

logger = logging.getLogger(__name__)

_LONGEST_COPY = 10.0  # seconds
_ATTACHED = "_routecap_attachment"
"""Attribute of an engine's core that has an attachment."""


@dataclasses.dataclass
class _Step:
    """A forward between the model runner and the scheduler's look at its tokens."""

    scheduled: Any
    output: routecap.Output
    places: dict[str, int] | None
    """With drafts: the first row of each request. Which rows are committed is told later (R21)."""


class Attachment:
    """What `attach` returns. Several engines of one process have one each, fully independent (R35)."""

    def __init__(self, core: Any, *, default: bool = False, most_results: int = 4096, check: routecap.CheckLevel = routecap.CheckLevel.BASIC) -> None:
        if isinstance(most_results, bool) or not isinstance(most_results, int) or most_results < 1:
            raise ValueError(f"most_results is {most_results!r}, allowed are integers from 1 on")
        if not isinstance(default, bool):
            raise TypeError(f"default is {default!r}, allowed are True and False")
        if getattr(core, _ATTACHED, None) is not None:
            # Each would give back what it found when it came, whichever goes first.
            raise ValueError("the engine has an attachment already: detach() that one first")
        self._core = core
        self._scheduler = core.scheduler
        self._runner = _runner_of(core)
        _refuse_unsupported(core.vllm_config)
        self._default = default
        self.results = Results(most_results)
        self._weight_version = 0
        self.rows_missing = 0
        """Committed rows that could not be stored."""
        self._warned: set[tuple[int, int]] = set()
        self._emitted: dict[str, int] = {}
        self._live: dict[Name, str] = {}
        self._steps: list[_Step] = []
        self._restores: list[Callable[[], None]] = []
        self._on_host = self._runner.device.type == "cpu"
        self._group, self._block_size, self._layer_name = _full_attention_group(self._runner.kv_cache_config)
        self._routers, self._draft_routers = self._find_routers()
        self.capturer = self._make_capturer(check)
        self._add_taps()
        self._wrap_engine()
        setattr(core, _ATTACHED, self)

    @property
    def weight_version(self) -> int:
        """Version of the model's weights, set by whoever changes them; kept with every row from the next forward on."""
        return self._weight_version

    @weight_version.setter
    def weight_version(self, version: int) -> None:
        # Here, where it can still be refused: in a forward it would be the engine's error.
        self._weight_version = integer(version, "weight_version", 0)

    # ---- set-up

    def _find_routers(self) -> tuple[list[Router], list[Router]]:
        routers = sorted(routers_of(self._runner.get_model()), key=lambda router: router.layer)
        if not routers:
            raise ValueError(f"the model {self._core.vllm_config.model_config.model} has no layer that chooses experts")
        top_k = self._core.vllm_config.model_config.get_num_experts_per_tok()
        for router in routers:
            if router.top_k not in (None, top_k):
                raise ValueError(f"layer {router.layer} chooses {router.top_k} experts a token, the model's configuration says {top_k}")
        own = {id(router.module) for router in routers}
        draft = self._runner.get_draft_model()
        drafts = routers_of(draft) if draft is not None else []
        return routers, [router for router in drafts if id(router.module) not in own]

    def _make_capturer(self, check: routecap.CheckLevel) -> routecap.Capturer:
        config = self._core.vllm_config
        speculative = config.speculative_config
        geometry = routecap.Config(
            num_experts=config.model_config.get_num_experts(),
            top_k=config.model_config.get_num_experts_per_tok(),
            layer_ids=[router.layer for router in self._routers],
            max_forward_tokens=config.scheduler_config.max_num_batched_tokens,
            max_running_requests=config.scheduler_config.max_num_seqs,
            num_verify_tokens=speculative.num_speculative_tokens + 1 if speculative is not None else 0,
            num_slots=self._runner.kv_cache_config.num_blocks * self._block_size,
            page_size=self._block_size,
            reserved_slots=self._block_size,  # block 0 is vLLM's null block
            pipeline_depth=config.max_concurrent_batches + 1,
            check_level=check,
        )
        return routecap.Capturer(geometry, backend=None if self._on_host else routecap.Backend(self._runner.device.type))

    def _add_taps(self) -> None:
        target = self.capturer.add_model(routecap.Role.TARGET, "target")
        taps = [(router, target.add_tap(router.layer)) for router in self._routers]
        if self._draft_routers:
            # Denied and counted, whatever its layers' numbers are (R18). Its routers are hooked so that this can be seen.
            draft = self.capturer.add_model(routecap.Role.DRAFT, "draft")
            taps += [(router, draft.add_tap(router.layer)) for router in self._draft_routers]
        self.capturer.seal()
        for router, tap in taps:
            router.hook(tap.capture)
            self._restores.append(router.unhook)

    def _wrap_engine(self) -> None:
        self._wrap(self._runner, "execute_model", self._execute_model)
        self._wrap(self._runner, "_dummy_run", self._dummy_run)
        self._wrap(self._scheduler, "update_from_output", self._update_from_output)
        self._wrap(self._scheduler, "_free_request", self._free_request)
        self._wrap(self._scheduler.kv_cache_manager.block_pool, "get_new_blocks", self._get_new_blocks)

    def _wrap(self, owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
        """Puts `wrapper(original, *arguments)` in the place of a method of this one object."""
        original, own = getattr(owner, name), vars(owner).get(name)
        setattr(owner, name, lambda *arguments, **options: wrapper(original, *arguments, **options))
        self._restores.append(lambda: delattr(owner, name) if own is None else setattr(owner, name, own))

    def detach(self) -> None:
        """Gives the engine its own methods and hooks back and ends the capturer. Records that were taken live on."""
        while self._restores:
            self._restores.pop()()
        self._steps.clear()
        self.capturer.close()
        if getattr(self._core, _ATTACHED, None) is self:
            delattr(self._core, _ATTACHED)

    # ---- the model runner

    def _dummy_run(self, original: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return original(*arguments, **options)
        finally:
            self.capturer.discard_forward()

    def _execute_model(self, original: Callable[..., Any], scheduled: Any, *arguments: Any, **options: Any) -> Any:
        if options.get("dummy_run"):
            return original(scheduled, *arguments, **options)  # `_dummy_run` discards it
        if scheduled.kv_cache_block_copies:
            self._copy_blocks(scheduled.kv_cache_block_copies)
        try:
            result = original(scheduled, *arguments, **options)
        except BaseException:
            self.capturer.discard_forward()
            raise
        if scheduled.total_num_scheduled_tokens > 0:
            try:
                self._end_forward(scheduled)
            except routecap.RoutecapError as error:
                self._lose_forward(scheduled.total_num_scheduled_tokens, error)
        return result

    def _lose_forward(self, rows: int, error: routecap.RoutecapError) -> None:
        """The engine goes on without what could not be recorded: its rows read as missing, are counted and told."""
        with contextlib.suppress(routecap.RoutecapError):
            self.capturer.discard_forward()
        self.rows_missing += rows
        logger.warning("routecap: %d rows of a forward are missing: %s", rows, error)

    def _end_forward(self, scheduled: Any) -> None:
        state = self._runner.execute_model_state
        mappings = state.slot_mappings if hasattr(state, "slot_mappings") else state.slot_mappings_by_layer
        tokens = scheduled.total_num_scheduled_tokens
        slots = mappings[self._layer_name][:tokens]
        drafts = scheduled.scheduled_spec_decode_tokens
        while len(self._steps) >= self._core.vllm_config.max_concurrent_batches:
            # Its tokens never came, because sampling failed: its rows are missing (R33).
            self._steps.pop(0).output.close()
        output = self.capturer.end_forward(
            tokens,
            slots,
            acceptance=routecap.Acceptance.LATER if drafts else routecap.Acceptance.ALL,
            weight_version=self.weight_version,
        )
        output.copy_to_host()
        self._steps.append(_Step(scheduled, output, self._places(state, scheduled) if drafts else None))

    def _places(self, state: Any, scheduled: Any) -> dict[str, int]:
        """The first row of each request, in the order in which the model runner put them into the batch."""
        batch = state.input_batch if hasattr(state, "input_batch") else self._runner.input_batch
        places, row = {}, 0
        for request_id in batch.req_ids:
            if request_id in scheduled.num_scheduled_tokens:
                places[request_id] = row
                row += scheduled.num_scheduled_tokens[request_id]
        return places

    # ---- the scheduler

    def _update_from_output(self, original: Callable[..., Any], scheduled: Any, model_output: Any) -> Any:
        self._settle(scheduled, model_output)
        return original(scheduled, model_output)

    def _settle(self, scheduled: Any, model_output: Any) -> None:
        """Stores the rows of the forward whose tokens are known now, and of those before it."""
        at = next((i for i, step in enumerate(self._steps) if step.scheduled is scheduled), None)
        if at is None:
            return
        step = self._steps.pop(at)
        if step.places is not None:
            step.output.accept(self._accepted_rows(step.places, scheduled, model_output))
        self._finalize(step.output)

    @staticmethod
    def _accepted_rows(places: dict[str, int], scheduled: Any, model_output: Any) -> np.ndarray:
        """Rows of kept tokens: with d drafts of which a were accepted, the last d - a rows of a request are not (R21)."""
        kept = []
        for request_id, first in places.items():
            rows = scheduled.num_scheduled_tokens[request_id]
            drafts = len(scheduled.scheduled_spec_decode_tokens.get(request_id, ()))
            sampled = model_output.sampled_token_ids[model_output.req_id_to_index[request_id]] if model_output.sampled_token_ids else ()
            if drafts and len(sampled) > 0:
                rows -= drafts - (len(sampled) - 1)
            kept.append(np.arange(first, first + rows))
        return np.concatenate(kept)

    def _finalize(self, output: routecap.Output) -> None:
        try:
            summary = output.finalize()
        except routecap.NotReadyError:
            output.wait(_LONGEST_COPY)
            summary = output.finalize()
        output.close()
        if summary.rows_bad:
            self.rows_missing += summary.rows_bad
            kind = (summary.first_bad_fault, summary.first_bad_layer)
            if kind not in self._warned:
                self._warned.add(kind)
                logger.warning("routecap: forward %d: %d of %d rows are missing: %s", summary.sequence, summary.rows_bad, summary.entries, summary)

    def _get_new_blocks(self, original: Callable[..., Any], count: int) -> Any:
        blocks = original(count)
        if blocks:
            # A block may be filled without a forward (KV from a connector): it must not show its previous tenant (R8).
            self.capturer.release_slots([block.block_id for block in blocks], unit=routecap.SlotUnit.PAGE)
        return blocks

    def _copy_blocks(self, copies: Any) -> None:
        pairs = np.array([(copy.src_block_id, copy.dst_block_id) for copy in copies], np.int64)
        sources, targets = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        self.capturer.copy_slots(sources, targets, unit=routecap.SlotUnit.PAGE)

    def _free_request(self, original: Callable[..., Any], request: Any, *arguments: Any, **options: Any) -> Any:
        emitted = self._emitted.pop(request.request_id, 0)
        if opted_in(request, self._default):
            record = self._record_of_ended(request)
            self.results.put(request.request_id, Ended(record, max(emitted, record.start)))
        return original(request, *arguments, **options)

    def _record_of_ended(self, request: Any) -> routecap.Record:
        """All rows of a request whose blocks are about to be freed. Of one that was cut short, those that were computed: nothing waits for the others."""
        for step in [step for step in self._steps if step.places is None]:
            self._steps.remove(step)
            self._finalize(step.output)
        # What is left waits for its drafts' acceptance: cut short now, the request has no row of it.
        waiting = sum(step.scheduled.num_scheduled_tokens.get(request.request_id, 0) for step in self._steps)
        return self._read(request, min(request.num_tokens, request.num_computed_tokens - waiting + 1), start_of(request))

    def _read(self, request: Any, tokens: int, start: int) -> routecap.Record:
        pages = np.array(self._scheduler.kv_cache_manager.get_block_ids(request.request_id)[self._group], np.int64)
        return self.capturer.read(pages, tokens, start=min(start, max(tokens - 1, 0)), unit=routecap.SlotUnit.PAGE)

    # ---- results

    def take(self, request_id: str, index: int = 0) -> routecap.Record | None:
        """The record of an ended request, which is the caller's from now on: rows [start, n - 1), n = prompt and generated tokens.

        Args:
            request_id: as the caller gave it or vLLM reported it.
            index: which of several completions (`SamplingParams.n`).

        Returns:
            None for a request that did not opt in, has not ended, or was taken before.

        """
        ended = self.results.pop(request_id, index)
        return None if ended is None else ended.record

    def take_delta(self, request_id: str, index: int = 0) -> routecap.Record | None:
        """The rows that have come since the last delta, of a request that still runs or has just ended. Deltas joined are what `take` gives (R5).

        The last delta completes the rows; afterwards the request is forgotten.

        Args:
            request_id: as for `take`.
            index: as for `take`.

        Returns:
            None where there is nothing new.

        """
        ended = self.results.pop(request_id, index)
        if ended is not None:
            end = ended.record.start + ended.record.rows
            return ended.record.slice(ended.emitted, end) if ended.emitted < end else None
        live = self._live_request((request_id, index))
        return None if live is None or not opted_in(live, self._default) else self._live_delta(live)

    def _live_request(self, name: Name) -> Any:
        requests = self._scheduler.requests
        if self._live.get(name) not in requests:
            self._live = {known: internal for internal in requests for known in names_of(internal)}
        internal = self._live.get(name)
        return None if internal is None else requests[internal]

    def _live_delta(self, request: Any) -> routecap.Record | None:
        start = self._emitted.get(request.request_id, start_of(request))
        end = min(request.num_computed_tokens, request.num_tokens - 1)
        if end <= start:
            return None
        self._emitted[request.request_id] = end
        return self._read(request, end + 1, start)


def attach(engine: Any, **options: Any) -> Attachment:
    """Attaches a capturer to an engine of this process.

    Args:
        engine: a `vllm.LLM`, `LLMEngine` or `EngineCore`.
        **options: `default`: True gives requests that say nothing their rows too; `most_results`: ended requests whose records are kept until they are
            taken; `check`: `CheckLevel.FULL` also looks for an expert chosen twice (R25).

    """
    if not any(hasattr(engine, name) for name in ("llm_engine", "engine_core", "scheduler")):
        raise TypeError(f"engine is a {type(engine).__name__}, a vllm.LLM, LLMEngine or EngineCore is needed")
    core = engine
    for name in ("llm_engine", "engine_core", "engine_core"):
        core = getattr(core, name, core)
    if not hasattr(core, "scheduler") or not hasattr(core, "model_executor"):
        raise ValueError(
            f"the engine of this {type(engine).__name__} runs in another process: set VLLM_ENABLE_V1_MULTIPROCESSING=0, or let vLLM load the plugin there"
            ' with additional_config={"routecap": {}}'
        )
    return Attachment(core, **options)


def _runner_of(core: Any) -> Any:
    driver = getattr(core.model_executor, "driver_worker", None)
    worker = getattr(driver, "worker", None)
    if worker is None:
        raise ValueError(f"the workers of a {type(core.model_executor).__name__} run in other processes; one worker in the engine's process is needed")
    return worker.model_runner


def _refuse_unsupported(config: Any) -> None:
    """Fails closed: what would give wrong rows is a start-up error that names it."""
    parallel = config.parallel_config
    for name in ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "decode_context_parallel_size", "prefill_context_parallel_size"):
        value = getattr(parallel, name, 1)
        if value != 1:
            raise ValueError(f"{name} is {value}; only engines of one rank are supported")
    if getattr(parallel, "enable_dbo", False):
        raise ValueError("enable_dbo is on; batches that run as two halves are not supported")
    _refuse_graphs(config.compilation_config, config.device_config.device_type)


def _refuse_graphs(compilation: Any, device: str) -> None:
    """Graphs are made when the engine starts, before anything can be hooked, and what they replay calls no hook: every row would be missing."""
    graphs = getattr(compilation.cudagraph_mode, "name", None)
    if graphs not in (None, "NONE"):
        raise ValueError(f"cudagraph_mode is {graphs}, only NONE is supported: enforce_eager=True sets it")
    # On a device the experts of a layer are one operator, which compiled code calls as it is. On a processor they are compiled themselves.
    mode = getattr(compilation.mode, "name", None)
    if device == "cpu" and mode not in (None, "NONE"):
        raise ValueError(f"the compilation mode is {mode}, on processors only NONE is supported: enforce_eager=True sets it")


def _full_attention_group(config: Any) -> tuple[int, int, str]:
    """Number, block size and a layer name of the KV group whose slots live as long as the request (hybrid models have others)."""
    from vllm.v1.kv_cache_interface import FullAttentionSpec, UniformTypeKVCacheSpecs

    for number, group in enumerate(config.kv_cache_groups):
        spec = group.kv_cache_spec
        if isinstance(spec, UniformTypeKVCacheSpecs):
            spec = next(iter(spec.kv_cache_specs.values()))
        if isinstance(spec, FullAttentionSpec):
            return number, int(group.kv_cache_spec.block_size), group.layer_names[0]
    kinds = sorted({type(group.kv_cache_spec).__name__ for group in config.kv_cache_groups})
    raise ValueError(f"none of the model's KV groups keeps every token ({', '.join(kinds) or 'it has none'})")
