# SPDX-License-Identifier: Apache-2.0
"""SGLang's own capturer, host store and wire encoder, from its wheel."""

from types import SimpleNamespace

import numpy as np
import pybase64
import torch

import stand_ins
from checks import MOST_SETS, decoded, same
from timing import Stage

NAME = "sglang"

REAL = [
    "sglang.srt.environ",
    "sglang.srt.managers.detokenizer_manager",
    "sglang.srt.mem_cache.pool_host.common",
    "sglang.srt.mem_cache.storage.mmap.mmap_allocator",
    "sglang.srt.state_capturer.base",
    "sglang.srt.state_capturer.routed_experts",
]
# What its files import and a machine without a GPU lacks.
ABSENT = ["aiter", "psutil", "setproctitle", "sgl_kernel", "triton", "triton_kernels", "zmq"]


class Capturer:
    def __init__(self, folder, workload, most_tokens):
        stand_ins.use("sglang", folder, REAL, ABSENT)
        stand_ins.answer("sglang.srt.utils", is_cuda=False, is_hip=False, is_cpu=False, is_npu=False, is_xpu=False, is_musa=False)
        stand_ins.answer("sglang.srt.layers.dp_attention", is_dp_attention_enabled=False)
        local = SimpleNamespace(is_deepep=lambda: False, is_deepep_v2=lambda: False)
        stand_ins.answer("sglang.srt.layers.moe", get_moe_a2a_backend=local)
        stand_ins.answer(
            "sglang.srt.runtime_context",
            get_schedule=SimpleNamespace(chunked_prefill_size=most_tokens),
            get_parallel=SimpleNamespace(num_dp_ranks=1, attn_tp_size=1),
        )
        self._use_its_allocator()
        from sglang.srt.managers.detokenizer_manager import DetokenizerManager
        from sglang.srt.state_capturer.routed_experts import RoutedExpertsCapturer

        self.encode = DetokenizerManager._b64_encode_per_request
        model = SimpleNamespace(hf_text_config=SimpleNamespace(num_experts_per_tok=workload.top_k, num_hidden_layers=workload.layers))
        self.capturer = RoutedExpertsCapturer(
            model,
            num_tokens=workload.slots,
            max_running_requests=min(most_tokens, 1024),
            num_fused_shared_experts=0,
            device="cpu",
        )

    @staticmethod
    def _use_its_allocator():
        """Its host memory, without the registration that only a GPU's driver can do."""
        import sglang.srt.mem_cache.storage.mmap as package
        from sglang.srt.mem_cache.storage.mmap import mmap_allocator

        package.alloc_mmap = mmap_allocator.alloc_mmap
        package.alloc_shm = mmap_allocator.alloc_shm
        from sglang.srt.mem_cache.pool_host import common

        plain = common.alloc_with_host_register
        common.ALLOC_MEMORY_FUNCS["cpu"] = lambda dims, dtype, device, pin_memory, allocator: plain(dims, dtype, device, False, allocator)


class Subject:
    """Prepares one workload; `stages` checks a batch size and gives what is timed of it."""

    def __init__(self, folder, data, batches):
        self.data, self.workload = data, data.workload
        self.own = Capturer(folder, self.workload, max(batches))
        self.capturer = self.own.capturer
        self.host = self.capturer.host_cache

    def set_threads(self, threads):
        torch.set_num_threads(threads)

    def facts(self):
        return [{"fact": "memory", "bytes_per_slot": self.capturer.host_cache.get_buffer_size_bytes() // self.workload.slots}]

    def info(self):
        return {
            "torch": torch.__version__,
            "build": " ".join(torch.__config__.show().split("\n")[1:3]).strip(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "pybase64": pybase64.get_version(),
            "numpy": np.__version__,
        }

    def stages(self, n):
        dense = self.workload.dense
        ids = [torch.from_numpy(layer) for layer in self.data.layer_ids(n)]

        def capture(_):
            for column, layer in enumerate(ids):
                self.capturer.capture(dense + column, layer)

        made = [Stage("capture", capture)]
        for kind in ("random", "sequential"):
            order = self.data.order(kind)
            sets = max(1, min(self.workload.slots // n, MOST_SETS))
            slots = [torch.from_numpy(order[i * n : (i + 1) * n].copy()) for i in range(sets)]
            table = torch.empty((sets, n + 1), dtype=torch.int32)
            for i, chosen in enumerate(slots):
                table[i, :n] = chosen
            pool = SimpleNamespace(req_to_token=table)
            batches = [SimpleNamespace(out_cache_loc=chosen, out_cache_loc_virtual=None) for chosen in slots]
            capture(0)
            outputs = [self.end_forward(batch) for batch in batches[:1]]
            outputs += [type(outputs[0])(out_cache_loc=chosen, topk=outputs[0].topk, host_cache=self.host) for chosen in slots[1:]]
            self.host.buffer.zero_()
            for output in outputs:
                output.finalize()
            self.check(n, pool, sets)
            if kind == "random":
                made.append(Stage("end_forward", lambda call, b=batches, s=sets: self.end_forward(b[call % s])))
                rows = self.capturer.get_topk(0, n + 1, pool)
                made.append(Stage("encode", lambda _, r=rows: self.own.encode([r])))
                text = self.own.encode([rows])[0]
                self.wire = {"fact": "wire", "n": n, "bytes": {"sglang int32": len(text)}}
            for reach in ("walked", "reused"):
                over = sets if reach == "walked" else 1
                self.add(made, n, kind, reach, over, capture, batches, outputs, pool)
        return made

    def end_forward(self, batch):
        return self.capturer.on_forward_end(batch, False, None, no_copy_to_cpu=True)

    def add(self, made, n, kind, reach, over, capture, batches, outputs, pool):
        def finalize(call):
            outputs[call % over].finalize()

        def commit(call):
            self.end_forward(batches[call % over]).finalize()

        def step(call):
            capture(call)
            commit(call)

        def read(call):
            return self.capturer.get_topk(call % over, n + 1, pool)

        def readback(call):
            return self.own.encode([read(call)])

        for stage in (finalize, commit, step, read, readback):
            made.append(Stage(stage.__name__, stage, kind, reach))

    def check(self, n, pool, sets):
        """The rows in its store, and in its wire text, are those that routecap gave back from its own."""
        wanted = self.data.rows_of_routecap(n)
        dense = self.workload.dense
        for request in {0, sets // 2, sets - 1}:
            rows = self.capturer.get_topk(request, n + 1, pool)
            same(rows.numpy()[:, dense:], wanted, f"sglang's rows of {n} tokens")
        theirs = decoded(self.own.encode([rows])[0].encode(), np.int32, (n, self.workload.layers, self.workload.top_k))[:, dense:]
        ours = self.data.workload.captured, self.workload.top_k
        same(theirs, decoded(self.data.text_of_routecap(n, "int32"), np.int32, (n, *ours)), f"the wire texts (int32) of {n} tokens")
        same(theirs, decoded(self.data.text_of_routecap(n, "uint8"), np.uint8, (n, *ours)), f"the wire texts (uint8) of {n} tokens")
