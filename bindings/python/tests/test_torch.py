# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch on their way in and out, and captures inside compiled graphs."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import routecap
from routecap import Array, DType, Record
from scene import Scene

torch = pytest.importorskip("torch")
from routecap import torch as graphs  # noqa: E402

DTYPES = {torch.uint8: 1, torch.int16: 2, torch.int32: 4, torch.int64: 8, torch.uint16: 2}


def stored(scene: Scene, given: torch.Tensor) -> np.ndarray:
    """The rows that a read gives for ids that every layer hands over."""
    tokens = len(given)
    for tap in scene.taps:
        tap.capture(given)
    slots = list(range(tokens))
    with scene.capturer.end_forward(tokens, torch.tensor(slots)) as output:
        output.copy_to_host()
        assert output.finalize().rows_stored == tokens
    with scene.capturer.read(slots, tokens + 1) as record:
        return record.ids.copy()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_of_ids(scene: Scene, dtype: torch.dtype) -> None:
    ids = scene.ids(5)
    np.testing.assert_array_equal(stored(scene, torch.from_numpy(ids).to(dtype))[:, 1], ids)


def test_rows_apart_and_parameters(scene: Scene) -> None:
    wide = torch.full((7, 11), 9999)
    ids = scene.ids(5)
    wide[1:6, 3:7] = torch.from_numpy(ids)
    np.testing.assert_array_equal(stored(scene, wide[1:6, 3:7])[:, 0], ids)
    np.testing.assert_array_equal(stored(scene, torch.nn.Parameter(torch.from_numpy(ids), requires_grad=False))[:, 0], ids)
    np.testing.assert_array_equal(stored(scene, torch.topk(torch.from_numpy(ids).float(), 4, sorted=False).indices)[:, 0].max(), 3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.zeros(2, 4), "ids: FLOAT32, and not one of"),
        (lambda: torch.zeros(2, 4, dtype=torch.bool), "ids: elements of torch.bool are none that routecap knows"),
        (lambda: torch.zeros(2, 4, dtype=torch.float64), "ids: elements of torch.float64"),
        (lambda: torch.zeros(8, dtype=torch.int32), "ids: 1 dimensions, and not 2"),
        (lambda: torch.zeros(4, 2, dtype=torch.int32).t(), "ids: the elements of a row lie 8 bytes apart, and not 4"),
        (lambda: torch.zeros(1, 4, dtype=torch.int32).expand(2, 4), "ids: the rows lie 0 bytes apart"),
        (lambda: torch.zeros(2, 4, dtype=torch.int32, device="meta"), "tensor on meta has no memory"),
        (lambda: torch.zeros(2, 4, dtype=torch.int32).to_sparse(), "sparse_coo tensor on cpu has no memory"),
    ],
)
def test_what_is_not_ids_is_a_type_error(scene: Scene, make: Callable[[], torch.Tensor], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        scene.taps[0].capture(make())
    assert scene.forward([5, 6]).rows_stored == 2


def test_weights_of_torch() -> None:
    with Scene(weights_dtype=DType.BFLOAT16) as scene:
        ids, weights = torch.from_numpy(scene.ids(3)), torch.rand(3, 4).to(torch.bfloat16)
        scene.taps[0].capture(ids, weights)
        scene.taps[1].capture(ids, weights.float())
        padded = torch.zeros(3, 6, dtype=torch.bfloat16)
        padded[:, :4] = weights
        scene.taps[2].capture(ids, padded[:, :4])
        negative = torch.complex(torch.zeros(3, 4), weights.float()).conj().imag
        assert negative.is_neg()
        with pytest.raises(TypeError, match="weights: the tensor's memory holds the negative"):
            scene.taps[2].capture(ids, negative)
        with scene.capturer.end_forward(3, [1, 2, 3]) as output:
            output.copy_to_host()
            output.finalize()
        with scene.capturer.read([1, 2, 3], 4) as record:
            for column in range(3):
                assert torch.equal(record.to_torch("weights")[:, column], weights)


def test_a_record_is_a_tensor_where_it_lies() -> None:
    before = routecap.live_handles()
    for experts, numpy_dtype, dtype in ((256, np.uint8, torch.uint8), (257, np.uint16, torch.uint16), (70000, np.int32, torch.int32)):
        ids = np.arange(24).reshape(4, 2, 3).astype(numpy_dtype)
        weights = torch.rand(4, 2, 3).to(torch.bfloat16)
        record = Record.create(ids, num_experts=experts, layer_ids=[0, 1], weights=weights)
        address = record.ids.__array_interface__["data"][0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tensors = [record.to_torch(), torch.from_dlpack(record), torch.from_dlpack(record.tensor("ids"))]
            floats = [record.to_torch("weights"), torch.from_dlpack(record.tensor("weights"))]
        record.close()
        del record
        for tensor in tensors:
            assert tensor.dtype == dtype and tensor.data_ptr() == address
            np.testing.assert_array_equal(tensor.numpy(), ids)
        for tensor in floats:
            assert tensor.dtype == torch.bfloat16 and torch.equal(tensor, weights)
        assert routecap.live_handles() == before + 1
        del tensor, tensors, floats
        gc.collect()
        assert routecap.live_handles() == before
    with Record.from_numpy(np.empty((0, 2, 3), np.uint16), num_experts=300, layer_ids=[0, 1]) as record:
        assert record.to_torch().shape == (0, 2, 3) and record.to_torch().dtype == torch.uint16


def test_lists_of_torch(scene: Scene) -> None:
    rows = scene.capture(4)
    locations = torch.tensor([[20, 21], [30, 31]], dtype=torch.int32)
    accepted = torch.tensor([[3, -1], [0, 1]])
    with scene.capturer.end_forward(4, locations, acceptance=routecap.Acceptance.GIVEN, rows=accepted) as output:
        output.copy_to_host()
        assert output.finalize().rows_stored == 3
    with scene.capturer.read(torch.tensor([20, 30, 31]), 4) as record:
        np.testing.assert_array_equal(record.ids, rows[[3, 0, 1]])
    ids = torch.zeros(3, 3, 4, dtype=torch.uint8)
    scene.capturer.read_into(torch.tensor([20, 30, 31]), 4, ids=ids)
    np.testing.assert_array_equal(ids.numpy(), rows[[3, 0, 1]])


class Layer(torch.nn.Module):
    """A router whose ids go to the tap and, of what it computes, nowhere else."""

    def __init__(self, tap: routecap.Tap, experts: int, top_k: int) -> None:
        super().__init__()
        self.router = torch.nn.Linear(8, experts, bias=False)
        self.top_k = top_k
        self.tap = graphs.tap_number(tap)
        self.register_buffer("cache", graphs.cache_of(tap.capturer), persistent=False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        ids = torch.topk(self.router(hidden), self.top_k).indices
        torch.ops.routecap.capture(self.cache, ids, self.tap)
        return torch.tanh(hidden + 1)


def expected_ids(layers: torch.nn.Sequential, hidden: torch.Tensor) -> np.ndarray:
    ids = []
    for layer in layers:
        ids.append(torch.topk(layer.router(hidden), layer.top_k).indices.numpy())
        hidden = torch.tanh(hidden + 1)
    return np.stack(ids, axis=1)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_compiled_graph_captures_every_layer(scene: Scene, backend: str) -> None:
    torch.manual_seed(7)
    torch._dynamo.reset()
    layers = torch.nn.Sequential(*(Layer(tap, 256, 4) for tap in scene.taps))
    compiled = torch.compile(layers, backend=backend, fullgraph=True)
    with torch.no_grad():
        for step in range(3):
            hidden = torch.randn(5, 8)
            result = compiled(hidden)
            torch.testing.assert_close(result, torch.tanh(torch.tanh(torch.tanh(hidden + 1) + 1) + 1))
            slots = [10 * step + row for row in range(5)]
            with scene.capturer.end_forward(5, slots) as output:
                output.copy_to_host()
                summary = output.finalize()
            assert summary.rows_stored == 5, summary
            with scene.capturer.read(slots, 6) as record:
                np.testing.assert_array_equal(record.ids, expected_ids(layers, hidden))


def test_captures_keep_their_order(scene: Scene) -> None:
    torch._dynamo.reset()
    calls: list[int] = []
    numbers, plain = [graphs.tap_number(tap) for tap in scene.taps], graphs._taps
    cache = graphs.cache_of(scene.capturer)

    class Watched:
        def get(self, number: int) -> routecap.Tap | None:
            calls.append(number)
            return plain.get(number)

    graphs._taps = Watched()  # type: ignore[assignment]
    try:
        def forward(ids: torch.Tensor) -> torch.Tensor:
            for number in (numbers[2], numbers[0], numbers[1]):
                torch.ops.routecap.capture(cache, ids + 1, number)
            return ids * 2

        compiled = torch.compile(forward, backend="aot_eager", fullgraph=True)
        compiled(torch.zeros(2, 4, dtype=torch.int32))
    finally:
        graphs._taps = plain
    assert calls == [numbers[2], numbers[0], numbers[1]]


def test_an_operator_that_hides_its_effect_is_dropped(scene: Scene) -> None:
    """Why the operator says that it writes to the cache: without that, torch compiles the capture away."""
    torch._dynamo.reset()
    calls: list[str] = []
    library = torch.library.Library("routecap_test", "FRAGMENT")
    library.define("quiet(Tensor cache, Tensor ids) -> Tensor")
    library.define("loud(Tensor(a!) cache, Tensor ids) -> ()")
    library.impl("quiet", lambda cache, ids: (calls.append("quiet"), ids.clone())[1], "CompositeExplicitAutograd")
    library.impl("loud", lambda cache, ids: calls.append("loud"), "CompositeExplicitAutograd")
    torch.library.register_fake("routecap_test::quiet", lambda cache, ids: torch.empty_like(ids), lib=library)
    torch.library.register_fake("routecap_test::loud", lambda cache, ids: None, lib=library)
    cache = graphs.cache_of(scene.capturer)

    def forward(ids: torch.Tensor) -> torch.Tensor:
        torch.ops.routecap_test.quiet(cache, ids)
        torch.ops.routecap_test.loud(cache, ids)
        return ids + 1

    torch.compile(forward, backend="aot_eager", fullgraph=True)(torch.zeros(2, 4))
    assert calls == ["loud"]
    assert torch.ops.routecap.capture.default._schema.arguments[0].alias_info.is_write


def test_numbers_of_taps() -> None:
    with Scene() as first, Scene() as second:
        numbers = [graphs.tap_number(tap) for scene in (first, second) for tap in scene.taps]
        assert len(set(numbers)) == 6 and numbers == [graphs.tap_number(tap) for scene in (first, second) for tap in scene.taps]
        ids = torch.from_numpy(second.ids(1))
        cache = graphs.cache_of(second.capturer)
        assert cache is graphs.cache_of(second.capturer) and cache is not graphs.cache_of(first.capturer)
        # Each goes to its own capturer.
        for number in numbers[3:]:
            torch.ops.routecap.capture(cache, ids, number)
        with second.capturer.end_forward(1, [1]) as output:
            output.copy_to_host()
            assert output.finalize().rows_stored == 1
        assert first.capturer.stats().forwards == 0
        with pytest.raises(routecap.NotFoundError, match="tap number 1 is none of this process"):
            torch.ops.routecap.capture(cache, ids, 1)
        with pytest.raises(TypeError, match="ids: FLOAT32"):
            torch.ops.routecap.capture(cache, ids.float(), numbers[3])
        number = numbers[0]
    with pytest.raises(routecap.ClosedError):
        torch.ops.routecap.capture(cache, ids, number)
    del first, second
    gc.collect()
    with pytest.raises(routecap.NotFoundError):
        torch.ops.routecap.capture(cache, ids, number)


def test_arrays_of_tensors() -> None:
    tensor = torch.zeros(3, 4, dtype=torch.bfloat16)[:, 1:3]
    array = Array.of(tensor)
    assert (array.dtype, array.shape, array.strides, array.device) == (DType.BFLOAT16, (3, 2), (8, 2), ("cpu", 0))
    assert array.address == tensor.data_ptr()


def test_lists_of_slots_as_tensors(scene: Scene) -> None:
    """As an engine has them: both dtypes, a part of a longer one, and with space between, which goes the long way and is refused."""
    whole = torch.arange(20, 60, dtype=torch.int64)
    for slots in (whole[:3], whole.to(torch.int32)[3:6], torch.tensor([7], dtype=torch.int64).expand(3)[:1]):
        rows = scene.capture(len(slots))
        with scene.capturer.end_forward(len(slots), slots) as output:
            output.copy_to_host()
            assert output.finalize().rows_stored == len(slots)
        with scene.capturer.read(slots.tolist(), len(slots) + 1) as record:
            np.testing.assert_array_equal(record.ids, rows)
    scene.capture(3)
    for slots, kind, text in (
        (whole[:6:2], TypeError, "slots: the array is strided"),
        (whole[:4], routecap.InvalidArgumentError, "slots has 4 elements, tokens is 3"),
        (whole[:3].to(torch.float32), TypeError, "slots: FLOAT32, and not one of INT32, INT64"),
        (whole[:3].to(torch.bool), TypeError, "slots: elements of torch.bool are none that routecap knows"),
        (torch.empty(3, dtype=torch.int64, device="meta"), TypeError, "slots: a torch.strided tensor on meta has no memory"),
    ):
        with pytest.raises(kind, match=text):
            scene.capturer.end_forward(3, slots)
    scene.capturer.discard_forward()


def test_a_tensor_that_stands_for_others_is_refused(scene: Scene) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros((1, 4), dtype=torch.int32)
    with pytest.raises(TypeError, match="ids: "):
        scene.taps[0].capture(fake)
    with pytest.raises(TypeError, match="first_row is 1.5, a float and not an integer"):
        scene.taps[0].capture(torch.zeros((1, 4), dtype=torch.int32), first_row=1.5)  # type: ignore[arg-type]
    with pytest.raises(routecap.OutOfRangeError, match=r"first_row is 1180591620717411303424, allowed are"):
        scene.taps[0].capture(torch.zeros((1, 4), dtype=torch.int32), first_row=1 << 70)
    with pytest.raises(routecap.OutOfRangeError, match="ids: 1099511627776 columns, allowed are at most 2147483647"):
        scene.taps[0].capture(torch.zeros((0, 1 << 40), dtype=torch.int32))


def test_what_is_asked_of_a_record_is_named() -> None:
    import nasty

    with routecap.Record.from_numpy(np.zeros((1, 1, 1), np.uint8), num_experts=4, layer_ids=[0]) as record:
        for label, value in nasty.values().items():
            with pytest.raises((TypeError, ValueError), match="what is ") as raised:
                record.to_torch(value)
            assert type(raised.value) in (TypeError, ValueError), label


def test_what_graphs_are_given_is_named(scene: Scene) -> None:
    import nasty

    for label, value in nasty.values().items():
        for call, name in ((graphs.cache_of, "capturer"), (graphs.tap_number, "tap")):
            with pytest.raises(TypeError, match=rf"^{name} is ") as raised:
                call(value)
            assert type(raised.value) is TypeError, label
    for device in ("nowhere", "cuda:x", "a\0b", 1.5, object()):
        with pytest.raises(TypeError, match="^device is "):
            graphs.cache_of(scene.capturer, device)  # type: ignore[arg-type]
