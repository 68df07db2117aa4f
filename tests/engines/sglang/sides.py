# SPDX-License-Identifier: Apache-2.0
"""The original capturer and routecap's, made for the same model and driven by the same calls."""

from types import SimpleNamespace

import original
import torch

from routecap import sglang as drop_in

LAYERS, DENSE, K, E = 6, (0, 3), 4, 64
ROUTED = [layer for layer in range(LAYERS) if layer not in DENSE]


def model_config(layers=LAYERS, experts=E, top_k=K, dense=DENSE):
    return SimpleNamespace(
        hf_text_config=SimpleNamespace(num_hidden_layers=layers, num_experts_per_tok=top_k, num_experts=experts, mlp_only_layers=list(dense))
    )


class Side:
    """One capturer behind SGLang's own gate, as the model runner and the scheduler use it."""

    def __init__(self, kind, slots, shared=0, running=32, config=None, **options):
        make = original.routed_experts.RoutedExpertsCapturer if kind == "original" else drop_in.RoutedExpertsCapturer
        if kind == "original":
            options = {}
        self.capturer = make(
            config or model_config(), num_tokens=slots, max_running_requests=running, num_fused_shared_experts=shared, device="cpu", **options
        )
        self.configuration = original.TopKConfig(top_k=K + shared)

    def forward(self, ids, layers=None):
        """Captures ids[layer] [rows, columns] of every layer through the gate."""
        original.resources.experts_capturer = self.capturer
        for layer in layers if layers is not None else sorted(ids):
            original.gate(self.configuration, layer, ids[layer])

    def end(self, slots, overlap=False, **batch):
        slots = slots if isinstance(slots, torch.Tensor) else torch.tensor(slots, dtype=torch.int64)
        forward_batch = SimpleNamespace(out_cache_loc=slots, out_cache_loc_virtual=None)
        vars(forward_batch).update(batch)
        return self.capturer.on_forward_end(forward_batch, False, None, no_copy_to_cpu=overlap)

    def step(self, ids, slots, **batch):
        self.forward(ids)
        return self.end(slots, **batch)

    def collect(self, table, row, prompt, generated, start=0):
        """What the client of a finished request gets: int32 [rows, layers, K]."""
        original.resources.experts_capturer = self.capturer
        request = SimpleNamespace(
            return_routed_experts=True,
            routed_experts_start_len=start,
            origin_input_ids=[0] * prompt,
            output_ids_through_stop=[0] * generated,
            kv=SimpleNamespace(req_pool_idx=row),
            rid="request",
            seqlen=prompt + generated,
            cached_tokens=0,
            routed_experts=None,
        )
        return original.collect(request, table)

    def rows(self, slots, start=0):
        """Rows of a request that stands in these slots and has one more token."""
        table = torch.zeros((1, len(slots) + 1), dtype=torch.int32)
        table[0, : len(slots)] = torch.as_tensor(slots, dtype=torch.int32)
        return self.capturer.get_topk(0, len(slots) + 1, SimpleNamespace(req_to_token=table), start_len=start)


def pair(slots=64, shared=0, **options):
    return Side("original", slots, shared), Side("routecap", slots, shared, **options)
