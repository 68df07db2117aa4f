# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a few million random weights, whose routers choose clearly different experts for different tokens."""

import json

import torch
from safetensors.torch import save_file

VOCABULARY, HIDDEN, EXPERT_WIDTH, HEADS, KV_HEADS, HEAD = 512, 128, 64, 4, 2, 64


def write(folder, *, layers=6, experts=64, top_k=8, dense=(), seed=1, longest=512):
    """A Qwen3-MoE checkpoint without a tokenizer; `dense` layers have one plain MLP."""
    generator = torch.Generator().manual_seed(seed)

    def random(rows, columns, scale=1.0):
        return (torch.randn(rows, columns, generator=generator) * scale / columns**0.5).to(torch.bfloat16)

    def ones(count):
        return torch.ones(count, dtype=torch.bfloat16)

    weights = {
        "model.embed_tokens.weight": random(VOCABULARY, HIDDEN, HIDDEN**0.5),
        "model.norm.weight": ones(HIDDEN),
        "lm_head.weight": random(VOCABULARY, HIDDEN, 2.0),
    }
    for layer in range(layers):
        at = f"model.layers.{layer}."
        for name, width in (("input_layernorm", HIDDEN), ("post_attention_layernorm", HIDDEN), ("self_attn.q_norm", HEAD), ("self_attn.k_norm", HEAD)):
            weights[f"{at}{name}.weight"] = ones(width)
        weights[f"{at}self_attn.q_proj.weight"] = random(HEADS * HEAD, HIDDEN)
        weights[f"{at}self_attn.k_proj.weight"] = random(KV_HEADS * HEAD, HIDDEN)
        weights[f"{at}self_attn.v_proj.weight"] = random(KV_HEADS * HEAD, HIDDEN)
        weights[f"{at}self_attn.o_proj.weight"] = random(HIDDEN, HEADS * HEAD)
        if layer in dense:
            blocks, width = [f"{at}mlp."], 4 * EXPERT_WIDTH
        else:
            weights[f"{at}mlp.gate.weight"] = random(experts, HIDDEN, 2.0)
            blocks, width = [f"{at}mlp.experts.{expert}." for expert in range(experts)], EXPERT_WIDTH
        for block in blocks:
            weights[f"{block}gate_proj.weight"] = random(width, HIDDEN)
            weights[f"{block}up_proj.weight"] = random(width, HIDDEN)
            weights[f"{block}down_proj.weight"] = random(HIDDEN, width)
    configuration = {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        "torch_dtype": "bfloat16",
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD,
        "intermediate_size": 4 * EXPERT_WIDTH,
        "moe_intermediate_size": EXPERT_WIDTH,
        "num_experts": experts,
        "num_experts_per_tok": top_k,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": sorted(dense),
        "max_position_embeddings": longest,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "tie_word_embeddings": False,
        "use_sliding_window": False,
        "use_cache": True,
        "output_router_logits": False,
        "router_aux_loss_coef": 0.001,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(configuration, indent=1))
    return folder
