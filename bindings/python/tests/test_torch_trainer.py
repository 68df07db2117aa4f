# SPDX-License-Identifier: Apache-2.0
"""Trainers' tensors, and Megatron-Core's own code: its RouterReplay and its arithmetic of pipeline stages take what the adapter gives.

Of its package two files are read, so that neither its dependencies nor a GPU is needed: `pip install --no-deps megatron-core`, and torch.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import routecap
from routecap import trainer
from routecap.trainer import Partition, Split, megatron

torch = pytest.importorskip("torch")


def source(name: str) -> Path:
    """A file of Megatron-Core, found without importing it."""
    found = importlib.util.find_spec("megatron")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        path = Path(folder, "core", "transformer", name)
        if path.exists():
            return path
    pytest.skip("megatron-core is not installed")


@pytest.fixture(scope="module")
def router_replay() -> ModuleType:
    spec = importlib.util.spec_from_file_location("router_replay", source("moe/router_replay.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def layer_offset() -> Any:
    """`get_transformer_layer_offset` by itself."""
    tree = ast.parse(source("transformer_layer.py").read_text())
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "get_transformer_layer_offset")
    function.args.defaults = [ast.Constant(None), ast.Constant(None)]
    for argument in function.args.args:
        argument.annotation = None
    utilities = ModuleType("megatron.core.pipeline_parallel.utils")
    utilities.is_vp_first_stage = lambda vp_stage, vp_size: vp_stage in (0, None)  # type: ignore[attr-defined]
    names: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "transformer_layer.py", "exec"), names)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("megatron", "megatron.core", "megatron.core.pipeline_parallel"):
            patch.setitem(sys.modules, name, ModuleType(name))
        patch.setitem(sys.modules, utilities.__name__, utilities)
        yield names["get_transformer_layer_offset"]


def test_router_replay_takes_the_list_and_gathers_the_engines_experts(router_replay: ModuleType) -> None:
    replay, action = router_replay.RouterReplay, router_replay.RouterReplayAction
    random = np.random.default_rng(7)
    layers, experts, top_k, lengths = [3, 4, 6], 16, 4, [11, 5, 24]
    ids = [np.argsort(random.random((length - 1, len(layers), experts)), axis=2)[:, :, :top_k].astype(np.uint8) for length in lengths]
    records = [routecap.Record.from_numpy(one, num_experts=experts, layer_ids=np.array(layers, np.int32)) for one in ids]
    local = trainer.stage_layers(layers, 8, pp_size=2, pp_rank=1)
    assert local == [4, 6]
    routers = [replay() for _ in local]
    try:
        for cp_rank in range(2):
            for sp_rank in range(2):
                rank = Partition(Split.ZIGZAG, 2, cp_rank, 2, sp_rank)
                offsets = trainer.pack_offsets(lengths, rank.multiple)
                made = megatron.replay_data(records, lengths, offsets, rank, layers=local)
                replay.set_replay_data([torch.from_numpy(one) for one in made.data])
                replay.set_global_router_replay_action(action.REPLAY_FORWARD)
                tokens = rank.tokens(offsets)
                for router, layer in zip(routers, local):
                    scores = torch.rand(tokens, experts)
                    probabilities, chosen = router.get_replay_topk(scores, top_k)
                    # What the dispatcher counts on: no expert twice in a row.
                    assert int(torch.zeros(tokens, experts).scatter(1, chosen, 1.0).sum()) == tokens * top_k
                    assert torch.equal(probabilities, scores.gather(1, chosen))
                    for row, index in enumerate(rank.indices(offsets)):
                        sequence = int(np.searchsorted(offsets, index, side="right")) - 1
                        place = int(index - offsets[sequence])
                        known = place < lengths[sequence] - 1
                        assert bool(made.mask[row]) == known
                        if known:
                            assert chosen[row].tolist() == ids[sequence][place, layers.index(layer)].tolist()
                # Recomputation takes one entry for each micro-batch.
                replay.set_global_router_replay_action(action.REPLAY_BACKWARD)
                for router, one in zip(routers, made.data):
                    assert torch.equal(router.get_replay_topk(torch.rand(tokens, experts), top_k)[1], torch.from_numpy(one))
        with pytest.raises(ValueError, match="does not match instances"):
            replay.set_replay_data([torch.from_numpy(one) for one in made.data[:1]])
    finally:
        replay.clear_global_router_replay_instances()


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    pp_size=st.integers(1, 5),
    vp_size=st.integers(1, 3),
    middle=st.integers(1, 3),
    first=st.integers(0, 3),
    last=st.integers(0, 3),
)
def test_stages_have_the_layers_that_megatron_gives_them(layer_offset: Any, pp_size: int, vp_size: int, middle: int, first: int, last: int) -> None:
    # Layers of each stage in one round; 0 = as the others.
    assume(pp_size > 1 or first == last == 0)
    share = [middle] * pp_size
    if first:
        share[0] = first
    if last:
        share[-1] = last
    num_layers = sum(share) * vp_size
    config = SimpleNamespace(
        num_layers=num_layers,
        pipeline_model_parallel_size=pp_size,
        virtual_pipeline_model_parallel_size=vp_size if vp_size > 1 else None,
        num_layers_in_first_pipeline_stage=first * vp_size or None,
        num_layers_in_last_pipeline_stage=last * vp_size or None,
        pipeline_model_parallel_layout=None,
        account_for_embedding_in_pipeline_split=False,
        account_for_loss_in_pipeline_split=False,
    )
    assume(pp_size > 1 or vp_size == 1)  # one stage has no offset in Megatron, whatever its chunks are
    assume(not (pp_size == 2 and first and last and vp_size > 1))  # there Megatron divides by the number of stages between, which is 0
    for pp_rank in range(pp_size):
        for vp_rank in range(vp_size):
            begin = layer_offset(config, vp_rank if vp_size > 1 else None, pp_rank)
            ours = trainer.stage_layers(
                range(num_layers),
                num_layers,
                pp_size=pp_size,
                pp_rank=pp_rank,
                vp_size=vp_size,
                vp_rank=vp_rank,
                first_layers=first * vp_size,
                last_layers=last * vp_size,
            )
            assert ours == list(range(begin, begin + share[pp_rank]))


def test_tensors_are_split_where_they_lie() -> None:
    partition, offsets = Partition(Split.ZIGZAG, cp_size=2), torch.tensor([0, 8], dtype=torch.int32)
    whole = torch.arange(16).reshape(8, 2)
    assert torch.equal(torch.from_numpy(partition.take(whole, offsets)), whole[[0, 1, 6, 7]])
    assert torch.equal(whole.index_select(0, torch.from_numpy(partition.indices(offsets))), whole[[0, 1, 6, 7]])
    with pytest.raises(TypeError, match="must lie in one piece"):
        partition.take(whole.T, offsets)
