# SPDX-License-Identifier: Apache-2.0
"""vLLM's own capturer, worker connector, block store and wire encoder, from its CPU wheel."""

import base64
import io
import time
from types import SimpleNamespace

import numpy as np
import torch

import stand_ins
from checks import same
from timing import Stage

NAME = "vllm"
BLOCK = 16  # tokens of a KV block, and of an object in its store
MOST_REQUESTS = 1024
PROMPTS_AT_ONCE = 256  # requests whose prompts, of up to a block each, go through one forward before they decode
HASH_BYTES = 32

OUTPUTS = "vllm.distributed.aux_output_connector."
REAL = [
    "vllm.model_executor.layers.fused_moe.routed_experts_capturer",
    "vllm.utils.serial_utils",
    OUTPUTS + "connector",
    OUTPUTS + "routed_experts",
    OUTPUTS + "store",
    OUTPUTS + "worker",
]
ABSENT = ["psutil", "setproctitle", "triton", "zmq"]


class Worker:
    """Its worker connector, told of requests as its scheduler would."""

    def __init__(self, folder, workload, most_tokens):
        stand_ins.use("vllm", folder, REAL, ABSENT)
        stand_ins.answer("vllm.forward_context", get_forward_context=SimpleNamespace(dp_metadata=None))
        stand_ins.answer("vllm.distributed.parallel_state", get_tp_group=SimpleNamespace(is_first_rank=True))
        stand_ins.answer("vllm.v1.core.kv_cache_utils", resolve_kv_cache_block_sizes=(BLOCK, BLOCK))
        import vllm.platforms

        vllm.platforms.current_platform = SimpleNamespace(device_type="cpu")
        from vllm.distributed.aux_output_connector import connector, routed_experts, store, worker
        from vllm.utils import serial_utils

        worker.bind_routed_experts_capturer = lambda model, capturer: None  # there is no model to bind to
        self.connector, self.routed_experts, self.store_module = connector, routed_experts, store
        self.to_text = serial_utils.numpy2base64
        model = SimpleNamespace(
            get_total_num_hidden_layers=lambda: workload.layers,
            get_num_experts=lambda: workload.experts,
            get_num_experts_per_tok=lambda: workload.top_k,
            hf_text_config=SimpleNamespace(model_type="bench"),
        )
        config = SimpleNamespace(
            scheduler_config=SimpleNamespace(max_num_batched_tokens=most_tokens, max_num_seqs=MOST_REQUESTS),
            model_config=model,
            parallel_config=SimpleNamespace(data_parallel_rank=0, tensor_parallel_size=1),
            aux_output_config=SimpleNamespace(max_bytes=None),
            max_concurrent_batches=2,
        )
        self.worker = worker.AuxOutputWorkerConnector(
            vllm_config=config, model=None, kv_cache_config=SimpleNamespace(num_blocks=workload.slots // BLOCK)
        )
        self.capturer = self.worker._capturer
        self.hashes_made = 0

    def new_hashes(self, blocks):
        first = self.hashes_made
        self.hashes_made += blocks
        return b"".join((first + i).to_bytes(HASH_BYTES, "little") for i in range(blocks))

    def begin(self, emit_from, hashes, finished):
        packed = {request: self.connector.PackedBlockHashes(data, HASH_BYTES) for request, data in hashes.items() if data}
        self.worker.begin_step(self.connector.AuxOutputConnectorMetadata(0, emit_from, packed, tuple(finished)))

    def forward(self, requests, starts, lengths):
        """Snapshot, copy and commit of a batch: `lengths[i]` tokens of `requests[i]` from position `starts[i]`, all of them kept."""
        batch = SimpleNamespace(
            req_ids=requests, query_start_loc_np=np.concatenate(([0], np.cumsum(lengths))), num_computed_tokens_np=np.asarray(starts)
        )
        pending = self.worker.prepare_output(batch)
        pending.enqueue_cpu_copy(np.ones(len(requests), np.int32), np.zeros(len(requests), np.int32))
        return pending.process_output()

    def wait_until_stored(self):
        self.worker._store._queue.join()


class Decoding:
    """n requests that decode one token each in every step, their offsets in a block spread evenly."""

    MOST_STEPS = 500

    def __init__(self, own, n, wanted):
        self.own, self.n, self.wanted = own, n, wanted
        self.requests = [f"decode-{n}-{i}" for i in range(n)]
        self.positions = None
        self.steps = 0

    def start(self):
        own = self.own
        if self.positions is not None:
            own.begin({}, {}, self.requests)
        self.positions = 1 + np.arange(self.n) % BLOCK
        own.begin({request: 0 for request in self.requests}, {}, ())
        for first in range(0, self.n, PROMPTS_AT_ONCE):
            part = slice(first, first + PROMPTS_AT_ONCE)
            lengths = self.positions[part]
            own.forward(self.requests[part], np.zeros(len(lengths), np.int64), lengths)
        self.steps = 0

    def step(self, _):
        if self.positions is None or self.steps == self.MOST_STEPS:
            self.start()
        self.steps += 1
        filled = np.flatnonzero((self.positions + 1) % BLOCK == 0)  # a block gets its hash as it fills
        hashes = {self.requests[i]: self.own.new_hashes(1) for i in filled}
        emit_from = {request: int(position) for request, position in zip(self.requests, self.positions)}
        start = time.perf_counter_ns()
        self.own.begin(emit_from, hashes, ())
        rows = self.own.forward(self.requests, self.positions, np.ones(self.n, np.int64))
        spent = time.perf_counter_ns() - start
        if self.steps == 1:
            same(rows[self.requests[-1]].rows[-1], self.wanted[-1], f"vllm's last decoded row of {self.n}")
        self.positions = self.positions + 1
        return spent


class Subject:
    def __init__(self, folder, data, batches):
        self.data, self.workload = data, data.workload
        self.own = Worker(folder, self.workload, max(*batches, PROMPTS_AT_ONCE * BLOCK))
        self.finished = []
        self.serial = 0

    def set_threads(self, threads):
        torch.set_num_threads(threads)

    def facts(self):
        return [{"fact": "memory", "bytes_per_slot": self.workload.layers * self.workload.top_k * np.dtype(self.own.capturer.output_dtype_name).itemsize}]

    def info(self):
        return {"torch": torch.__version__, "cpu_capability": torch.backends.cpu.get_cpu_capability(), "numpy": np.__version__, "block": BLOCK}

    def wanted(self, n):
        """The rows routecap gave back, in vLLM's buffer: a column for every layer."""
        rows = np.zeros((n, self.workload.layers, self.workload.top_k), np.uint8)
        rows[:, self.workload.dense :] = self.data.rows_of_routecap(n)
        return rows

    def stages(self, n):
        dense = self.workload.dense
        capturer = self.own.capturer
        ids = [torch.from_numpy(layer) for layer in self.data.layer_ids(n)]
        wanted = self.wanted(n)

        def capture(_):
            for column, layer in enumerate(ids):
                capturer.capture(dense + column, layer)

        capture(0)
        same(capturer.snapshot_routing_data(n).numpy(), wanted, f"vllm's snapshot of {n} tokens")
        rows, _ = self.prefill(n)
        same(rows, wanted, f"vllm's rows of {n} tokens")
        text = self.own.to_text(wanted)
        self.wire = {"fact": "wire", "n": n, "bytes": {"vllm": len(text)}}
        self.check_text(n, text)
        made = [
            Stage("capture", capture),
            Stage("end_forward", lambda _: capturer.snapshot_routing_data(n)),
            Stage("encode_npy", lambda _: self.own.to_text(wanted)),
        ]
        if n <= MOST_REQUESTS:
            made.append(Stage("commit_decode", Decoding(self.own, n, wanted).step))
        if n >= BLOCK:
            made.append(Stage("commit", lambda _: self.prefill(n)[1][0]))
            made.append(Stage("commit_stored", lambda _: self.prefill(n)[1][1]))
            made += self.readers(n, wanted)
        return made

    def prefill(self, n):
        """One request of n tokens. @return its rows; nanoseconds until the engine goes on, and until its writer thread has stored everything."""
        request = f"prefill-{self.serial}"
        self.serial += 1
        hashes = self.own.new_hashes(n // BLOCK)
        start = time.perf_counter_ns()
        self.own.begin({request: 0}, {request: hashes}, self.finished)
        rows = self.own.forward([request], [0], [n])[request].rows
        returned = time.perf_counter_ns()
        self.own.wait_until_stored()
        stored = time.perf_counter_ns()
        self.finished = [request]
        return rows, (returned - start, stored - start)

    def readers(self, n, wanted):
        """Reads by block, from a store of its class that holds as many tokens as the others have slots."""
        module, routes = self.own.store_module, self.own.routed_experts
        shape = (self.workload.layers, self.workload.top_k)
        blocks = self.workload.slots // BLOCK
        per_request = n // BLOCK
        store = module.BlockObjectStore(max_bytes=blocks * BLOCK * shape[0] * shape[1], object_nbytes=BLOCK * shape[0] * shape[1])
        keys = [f"block-{i}" for i in range(blocks)]
        for i, key in enumerate(keys):
            first = i % per_request * BLOCK
            store.put([module.BlockObject(key, wanted[first : first + BLOCK].tobytes())])
        sets = max(1, min(blocks // per_request, 4096))
        made = []
        for kind in ("random", "sequential"):
            # A request's blocks stand one behind the other in the store, or anywhere; either way they hold its rows in order.
            pick = scattered if kind == "random" else adjacent
            lists = [[keys[block] for block in pick(per_request, blocks, request)] for request in range(sets)]
            for reach in ("walked", "reused"):
                over = sets if reach == "walked" else 1

                def read(call, lists=lists, over=over):
                    return routes.materialize_routed_experts(store, lists[call % over], shape_per_token=shape, dtype=np.dtype(np.uint8))

                def readback_npy(call, read=read):
                    return self.own.to_text(read(call))

                same(read(0), wanted[: per_request * BLOCK], f"vllm's stored rows of {n} tokens")
                made.append(Stage("read", read, kind, reach))
                made.append(Stage("readback_npy", readback_npy, kind, reach))
        return made

    def check_text(self, n, text):
        """Theirs has every layer, ours the captured ones; both are base64 of a .npy."""
        theirs, ours = npy(text), npy(self.data.text_of_routecap(n, "npy"))
        same(theirs[:, self.workload.dense :], ours, f"the wire texts (npy) of {n} tokens")


def adjacent(per_request, blocks, request):
    return range(request * per_request, (request + 1) * per_request)


def scattered(per_request, blocks, request):
    copies = np.random.default_rng(request).integers(0, blocks // per_request, per_request)
    return [int(copy) * per_request + i for i, copy in enumerate(copies)]


def npy(text):
    return np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
