# SPDX-License-Identifier: Apache-2.0
"""SGLang's own modules, executed unchanged from its wheel: the capturer and its host store, the gate in front of it, the KV allocators, the function that
collects a finished request's rows, and the copy of overlapped scheduling. Whatever else they import is a stand-in.
"""

import os
import pathlib
import sys
from types import SimpleNamespace

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "peers"))
import stand_ins  # noqa: E402

REAL = [
    "sglang.srt.environ",
    "sglang.srt.layers.moe.topk",
    "sglang.srt.managers.detokenizer_manager",
    "sglang.srt.managers.scheduler_components.batch_result_processor",
    "sglang.srt.mem_cache.allocator.base",
    "sglang.srt.mem_cache.allocator.paged",
    "sglang.srt.mem_cache.allocator.token",
    "sglang.srt.mem_cache.pool_host.common",
    "sglang.srt.mem_cache.storage.mmap.mmap_allocator",
    "sglang.srt.state_capturer.base",
    "sglang.srt.state_capturer.routed_experts",
]
ABSENT = ["aiter", "psutil", "setproctitle", "sgl_kernel", "triton", "triton_kernels", "zmq"]

# What the engine would answer; tests change the attributes.
exec_ = SimpleNamespace(features=SimpleNamespace(enable_return_routed_experts=True))
resources = SimpleNamespace(experts_capturer=None)
schedule = SimpleNamespace(chunked_prefill_size=64)
parallel = SimpleNamespace(num_dp_ranks=1, attn_tp_size=1)
dp_attention = SimpleNamespace(enabled=False)


def folder():
    named = os.environ.get("ROUTECAP_ENGINES")
    if not named or not (pathlib.Path(named) / "sglang" / "sglang").is_dir():
        raise SystemExit("ROUTECAP_ENGINES names no folder with SGLang's unpacked wheel; `packaging/run test engines` makes one")
    return pathlib.Path(named) / "sglang"


def _set_up():
    stand_ins.use("sglang", folder(), REAL, ABSENT)
    stand_ins.answer("sglang.srt.utils", is_cuda=False, is_hip=False, is_cpu=False, is_npu=False, is_xpu=False, is_musa=False)
    local = SimpleNamespace(is_deepep=lambda: False, is_deepep_v2=lambda: False)
    stand_ins.answer("sglang.srt.layers.moe", get_moe_a2a_backend=local)
    model = SimpleNamespace(shared_experts=SimpleNamespace(use_waterfill=False, num_shared_topk_slots=0))
    flags = SimpleNamespace(moe=SimpleNamespace(in_speculative_scope=False))
    stand_ins.answer(
        "sglang.srt.runtime_context",
        get_exec=exec_,
        get_resources=resources,
        get_schedule=schedule,
        get_parallel=parallel,
        get_model=model,
        get_flags=flags,
    )
    import sglang.srt.layers.dp_attention as attention

    attention.is_dp_attention_enabled = lambda: dp_attention.enabled
    # A rank whose rows follow those of the ranks before it, as `get_dp_local_slice_cpu` says of a batch that no graph runs.
    attention.get_dp_local_slice_cpu = lambda batch, can_run_graph, graph_batch: (sum(batch.tokens_of_ranks[: batch.rank]), batch.tokens_of_ranks[batch.rank])
    _use_its_allocator()


def _use_its_allocator():
    """Its host memory, without the registration that only a GPU's driver can do."""
    import sglang.srt.mem_cache.storage.mmap as package
    from sglang.srt.mem_cache.storage.mmap import mmap_allocator

    package.alloc_mmap = mmap_allocator.alloc_mmap
    package.alloc_shm = mmap_allocator.alloc_shm
    from sglang.srt.mem_cache.pool_host import common

    plain = common.alloc_with_host_register
    common.ALLOC_MEMORY_FUNCS["cpu"] = lambda dims, dtype, device, pin_memory, allocator: plain(dims, dtype, device, False, allocator)


def _import_top_k():
    """Kernels that the gate does not use are compiled at the import."""
    compiled, torch.compile = torch.compile, lambda *_, **__: lambda function: function
    try:
        from sglang.srt.layers.moe import topk
    finally:
        torch.compile = compiled
    return topk


_set_up()
top_k_module = _import_top_k()
from sglang.srt.managers.detokenizer_manager import DetokenizerManager  # noqa: E402
from sglang.srt.managers.scheduler_components import batch_result_processor  # noqa: E402
from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator  # noqa: E402, F401
from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator  # noqa: E402, F401
from sglang.srt.state_capturer import routed_experts  # noqa: E402

# The result processor was given a stand-in of this name at its import.
batch_result_processor.get_global_experts_capturer = routed_experts.get_global_experts_capturer
gate = top_k_module.capture_routed_experts_if_allowed
TopK, TopKConfig = top_k_module.TopK, top_k_module.TopKConfig
to_text = DetokenizerManager._b64_encode_per_request


def collect(request, table):
    """SGLang's own collection of a finished request's rows, by its scheduler's method."""
    own = next(value for value in vars(batch_result_processor).values() if isinstance(value, type) and "_maybe_collect_routed_experts" in vars(value))
    own._maybe_collect_routed_experts(SimpleNamespace(req_to_token_pool=SimpleNamespace(req_to_token=table)), request)
    return request.routed_experts
