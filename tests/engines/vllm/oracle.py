# SPDX-License-Identifier: Apache-2.0
"""The ids that the fused-MoE kernel consumed, filed by KV slot: what rows are compared with. It shares nothing with routecap: it stands at the kernel,
behind the router and its hook, knows layers by the address of their weights, and looks at a request's blocks just before they are freed.
"""

import re

import numpy as np

_active = []


def _listen():
    """Puts a listener in front of the kernel, once a process."""
    from vllm.forward_context import get_forward_context
    from vllm.model_executor.layers.fused_moe.experts import cpu_moe

    kernel = cpu_moe.cpu_fused_moe
    if getattr(kernel, "listens", False):
        return

    def cpu_fused_moe(output, hidden, w1, w2, b1, b2, weights, ids, *rest):
        for oracle in _active:
            if w1.data_ptr() in oracle.layers:
                oracle.consumed(oracle.layers[w1.data_ptr()], ids, get_forward_context().slot_mapping)
        return kernel(output, hidden, w1, w2, b1, b2, weights, ids, *rest)

    cpu_fused_moe.listens = True
    cpu_moe.cpu_fused_moe = cpu_fused_moe


class Oracle:
    """One engine's. `ended[request id]` is int64 [n - 1, layers, K], -1 where nothing was computed."""

    def __init__(self, core):
        _listen()
        runner = core.model_executor.driver_worker.worker.model_runner
        self.layers = {}
        for name, parameter in runner.get_model().named_parameters():
            found = re.search(r"layers\.(\d+)\..*w13_weight$", name)
            if found:
                self.layers[parameter.data_ptr()] = int(found[1])
        assert self.layers
        self.numbers = sorted(self.layers.values())
        self.column = {number: column for column, number in enumerate(self.numbers)}
        group = runner.kv_cache_config.kv_cache_groups[0]
        self.block, self.name = group.kv_cache_spec.block_size, group.layer_names[0]
        top_k = core.vllm_config.model_config.get_num_experts_per_tok()
        self.rows = np.full((runner.kv_cache_config.num_blocks * self.block, len(self.numbers), top_k), -1, np.int64)
        self.ended, self.forwards, self.preempted, self.requests = {}, [], 0, {}
        self.scheduler = core.scheduler
        self._watch_blocks()
        _active.append(self)

    def close(self):
        _active.remove(self)

    def consumed(self, layer, ids, mapping):
        if not mapping:
            return  # a warm-up
        slots = mapping[self.name]
        count = min(len(slots), len(ids))
        slots = slots[:count].numpy()
        real = slots >= 0
        self.rows[slots[real], self.column[layer]] = ids[:count].numpy()[real]
        if layer == self.numbers[0]:
            self.forwards.append(int(real.sum()))

    def _watch_blocks(self):
        pool, free, preempt = self.scheduler.kv_cache_manager.block_pool, self.scheduler._free_request, self.scheduler._preempt_request
        get = pool.get_new_blocks

        def get_new_blocks(count):
            blocks = get(count)
            for block in blocks:
                self.rows[block.block_id * self.block : (block.block_id + 1) * self.block] = -1
            return blocks

        def free_request(request, *arguments, **options):
            self.ended[request.request_id] = self.of(request)
            self.requests[request.request_id] = (list(request.prompt_token_ids), list(request.output_token_ids))
            return free(request, *arguments, **options)

        def preempt_request(*arguments, **options):
            self.preempted += 1
            return preempt(*arguments, **options)

        pool.get_new_blocks = get_new_blocks
        self.scheduler._free_request = free_request
        self.scheduler._preempt_request = preempt_request

    def of(self, request):
        blocks = np.array(self.scheduler.kv_cache_manager.get_block_ids(request.request_id)[0], np.int64)
        slots = (blocks[:, None] * self.block + np.arange(self.block)).reshape(-1)[: max(request.num_tokens - 1, 0)]
        return self.rows[slots].copy()

    def named(self, request_id, index=0):
        """What the request of this name used, by vLLM's internal ids."""
        for prefix in (f"{index}_", ""):
            for internal, rows in reversed(self.ended.items()):
                if re.fullmatch(rf"{prefix}{re.escape(request_id)}(-[0-9a-f]{{8}})?", internal):
                    return rows
        raise KeyError(f"{request_id} of {list(self.ended)}")
