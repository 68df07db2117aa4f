# SPDX-License-Identifier: Apache-2.0
"""How SGLang makes and ends a capturer, and what stands beside the class in its module."""

import inspect
from types import SimpleNamespace

import original
import pytest
import torch
from sides import E, K, LAYERS, ROUTED, Side, model_config

from routecap import sglang as drop_in


class Model(torch.nn.Module):
    """The top-k modules of SGLang, one in each of some layers."""

    def __init__(self, layers, shared=0):
        super().__init__()
        self.shared_experts_config = SimpleNamespace(num_fused_shared_experts=shared)
        self.top_k = {layer: original.TopK(K, layer_id=layer, is_draft=False) for layer in layers}

    def modules(self):
        return iter([self, *self.top_k.values()])


def create(model, **options):
    return drop_in.RoutedExpertsCapturer.create(
        model=model, model_config=model_config(dense=()), num_tokens=32, max_running_requests=4, device="cpu", **options
    )


def test_every_public_name_and_method_of_the_original_is_there():
    theirs, ours = original.routed_experts, drop_in
    own = [
        name
        for name, value in vars(theirs).items()
        if not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == theirs.__name__
    ]
    assert {"RoutedExpertsCapturer", "disable_routed_experts_capture_for_draft", "get_global_experts_capturer"} <= set(own)
    assert all(hasattr(ours, name) for name in own)
    for name in ("create", "capture", "on_forward_end", "get_topk", "destroy", "__init__"):
        original_parameters = inspect.signature(getattr(theirs.RoutedExpertsCapturer, name)).parameters
        parameters = inspect.signature(getattr(ours.RoutedExpertsCapturer, name)).parameters
        assert list(parameters)[: len(original_parameters)] == list(original_parameters), name
    from sglang.srt.state_capturer.base import TopkCaptureOutput

    assert all(hasattr(ours.TopkCaptureOutput, name) for name in ("map_device_tensors", "finalize"))
    assert TopkCaptureOutput is not ours.TopkCaptureOutput


def test_create_takes_the_layers_from_the_models_own_modules():
    capturer = create(Model([2, 4, 5]))
    assert list(capturer.capturer.config.layer_ids) == [2, 4, 5]
    assert (capturer.num_layers, capturer.topk_size) == (LAYERS, K)


def test_a_draft_module_inside_the_target_is_no_layer_of_it():
    model = Model([1, 2])
    model.top_k[3] = original.TopK(K, layer_id=3, is_draft=True)
    assert list(create(model).capturer.config.layer_ids) == [1, 2]


def test_create_gives_nothing_where_rows_are_not_wanted(monkeypatch):
    monkeypatch.setattr(original.exec_.features, "enable_return_routed_experts", False)
    assert create(Model([1])) is None


def test_a_model_without_such_modules_is_described_by_its_configuration():
    assert list(create(Model([])).capturer.config.layer_ids) == list(range(LAYERS))
    assert list(Side("routecap", 32).capturer.capturer.config.layer_ids) == ROUTED


@pytest.mark.parametrize(
    ("fields", "layers"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"first_k_dense_replace": 2}, [2, 3, 4, 5]),
        ({"first_k_dense_replace": 1, "moe_layer_freq": 2}, [2, 4]),
        ({"moe_layer_freq": [0, 1, 1, 0, 1, 0]}, [1, 2, 4]),
        ({"decoder_sparse_step": 2}, [1, 3, 5]),
        ({"decoder_sparse_step": 1, "mlp_only_layers": [0, 5]}, [1, 2, 3, 4]),
    ],
)
def test_layers_of_a_configuration(fields, layers):
    assert drop_in.layers_of_config(SimpleNamespace(num_hidden_layers=6, **fields)) == layers


@pytest.mark.parametrize("name", ["n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"])
def test_experts_of_a_configuration(name):
    assert drop_in.expert_count(SimpleNamespace(**{name: 96})) == 96


def test_a_configuration_without_experts_is_refused():
    with pytest.raises(ValueError, match="none of n_routed_experts, num_experts"):
        drop_in.expert_count(SimpleNamespace())


def test_a_model_without_routing_layers_is_refused():
    with pytest.raises(ValueError, match=r"layers that route are \[\], allowed are 0 .. 5 and at least one"):
        Side("routecap", 32, config=model_config(dense=range(LAYERS)))


def test_the_buffer_has_room_for_verify_forwards_of_every_request():
    """R13: the original counts requests, not the tokens that a verify forward has for each."""
    geometry = drop_in.Geometry(chunked_prefill_size=16, num_verify_tokens=5)
    ours = Side("routecap", 64, running=8, geometry=geometry)
    ids = {layer: torch.randint(0, E, (40, K), dtype=torch.int32) for layer in ROUTED}
    ours.step(ids, list(range(1, 41)))
    assert torch.equal(ours.rows([40])[0, ROUTED[0]], ids[ROUTED[0]][39])


def test_the_global_capturer_is_sglangs():
    ours = Side("routecap", 32)
    drop_in.set_global_experts_capturer(ours.capturer)
    assert original.routed_experts.get_global_experts_capturer() is ours.capturer
    assert drop_in.get_global_experts_capturer() is ours.capturer
    drop_in.destroy_global_experts_capturer()
    assert original.resources.experts_capturer is None
    drop_in.destroy_global_experts_capturer()  # nothing there, nothing wrong


def test_rows_of_an_answer():
    text = original.to_text([torch.arange(12, dtype=torch.int32)])[0]
    answer = {"meta_info": {"routed_experts": text}}
    assert drop_in.extract_routed_experts_from_meta_info(answer).tolist() == list(range(12))
    assert original.routed_experts.extract_routed_experts_from_meta_info(answer).tolist() == list(range(12))


def test_the_opt_out_of_a_draft_is_what_the_gate_looks_at():
    draft = Model([1, 2])
    drop_in.disable_routed_experts_capture_for_draft(draft)
    ours = Side("routecap", 32)
    original.resources.experts_capturer = ours.capturer
    for layer, top_k in draft.top_k.items():
        original.gate(top_k.topk_config, layer, torch.full((2, K), 63, dtype=torch.int32))
    target = {layer: torch.full((2, K), layer, dtype=torch.int32) for layer in ROUTED}
    ours.step(target, [1, 2])
    assert ours.capturer.rows_missing == 0
    assert torch.equal(ours.rows([1])[0, 1], target[1][0])
