# SPDX-License-Identifier: Apache-2.0
# pyright: reportMissingImports=false
"""What a capturer must know of the model and of the engine: layers that route, experts, ranks."""

from __future__ import annotations

import dataclasses
from typing import Any

_EXPERT_COUNT_NAMES = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")


@dataclasses.dataclass(frozen=True)
class Geometry:
    """What the capturer asks the engine once. `of_engine` asks a running SGLang."""

    chunked_prefill_size: int
    """Tokens of the largest prefill chunk of one rank."""
    num_verify_tokens: int = 0
    """Tokens that a verify forward has per request (drafts + 1); 0 without speculative decoding."""
    num_dp_ranks: int = 1
    """Data-parallel ranks that share the device buffer."""
    attn_tp_size: int = 1
    """Attention tensor parallel size."""
    dp_attention: bool = False
    """Whether rows of all data-parallel ranks stand one behind the other in the buffer."""
    scattered: bool = False
    """Whether tokens are scattered over the attention-TP ranks when experts are chosen (DeepEP), so that ids are gathered before they are captured."""

    @staticmethod
    def of_engine() -> Geometry:
        """What SGLang says in this process."""
        from sglang.srt.layers.dp_attention import is_dp_attention_enabled
        from sglang.srt.layers.moe import get_moe_a2a_backend
        from sglang.srt.runtime_context import get_parallel, get_schedule

        backend = get_moe_a2a_backend()
        parallel = get_parallel()
        dp_attention = bool(is_dp_attention_enabled())
        return Geometry(
            chunked_prefill_size=int(get_schedule().chunked_prefill_size),
            num_dp_ranks=int(parallel.num_dp_ranks),
            attn_tp_size=int(parallel.attn_tp_size) if dp_attention else 1,
            dp_attention=dp_attention,
            scattered=bool(backend.is_deepep() or backend.is_deepep_v2()),
        )


def expert_count(text_config: Any) -> int:
    """E, logical routed experts of a layer, by the names that model configurations have for it."""
    for name in _EXPERT_COUNT_NAMES:
        value = getattr(text_config, name, None)
        if isinstance(value, int) and value > 0:
            return value
    raise ValueError(f"the model's configuration has none of {', '.join(_EXPERT_COUNT_NAMES)}; give num_experts")


def layers_of_config(text_config: Any) -> list[int]:
    """Layers that route, by the model's configuration: not the first `first_k_dense_replace`, not `mlp_only_layers`, not those between sparse steps."""
    layers = int(text_config.num_hidden_layers)
    dense = getattr(text_config, "first_k_dense_replace", 0) or 0
    frequency = getattr(text_config, "moe_layer_freq", 1) or 1
    step = getattr(text_config, "decoder_sparse_step", 1) or 1
    plain = set(getattr(text_config, "mlp_only_layers", None) or ())
    if isinstance(frequency, (list, tuple)):  # one entry for each layer
        routed = [layer for layer in range(layers) if frequency[layer]]
    else:
        routed = [layer for layer in range(layers) if layer % frequency == 0]
    return [layer for layer in routed if layer >= dense and layer not in plain and (layer + 1) % step == 0]


def layers_of_model(model: Any) -> list[int]:
    """Layers that route, by the model's own top-k modules; empty where it has none of SGLang's."""
    from sglang.srt.layers.moe.topk import TopK

    modules = (module for module in model.modules() if isinstance(module, TopK))
    return sorted({int(module.layer_id) for module in modules if module.topk_config.allow_routed_experts_capture})
