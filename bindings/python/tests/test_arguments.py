# SPDX-License-Identifier: Apache-2.0
"""Every argument of every public function is given what a careless caller gives it: the call does what it says or refuses, by the argument's name. No
exception of another library comes out, nothing crashes and nothing leaks.
"""

from __future__ import annotations

import dataclasses
import enum
import gc
import inspect
import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import nasty
import routecap
from routecap import trainer
from routecap.trainer import megatron, nemo_rl, prime_rl, slime, verl
from scene import DEFAULTS, Scene

LAYERS = [3, 4, 9]
Keywords = dict[str, Any]


class World:
    """What calls are made on; each object is made when a call first asks for it."""

    def __init__(self) -> None:
        self.scene = Scene(finalize_mode=routecap.FinalizeMode.CALLER)
        self.made: list[Any] = []

    def keep(self, made: Any) -> Any:
        self.made.append(made)
        return made

    def unsealed(self) -> routecap.Capturer:
        capturer: routecap.Capturer = self.keep(routecap.Capturer(self.scene.config))
        return capturer

    def own_thread(self) -> routecap.Capturer:
        """With two settled outputs that nobody has taken."""
        scene = self.keep(Scene(finalize_mode=routecap.FinalizeMode.OWN_THREAD))
        descriptor = scene.capturer.completion_fd()
        for slot in (1, 2):
            with scene.end([slot]) as output:
                output.wait(10.0)
        import os

        os.close(descriptor)
        capturer: routecap.Capturer = scene.capturer
        return capturer

    def output(self, acceptance: routecap.Acceptance = routecap.Acceptance.ALL) -> routecap.Output:
        self.scene.capture(3)
        output: routecap.Output = self.keep(self.scene.capturer.end_forward(3, [1, 2, 3], acceptance=acceptance))
        return output

    def copied(self) -> routecap.Output:
        output = self.output()
        output.copy_to_host()
        return output

    def record(self, start: int = 0, rows: int = 3, layers: list[int] = LAYERS) -> routecap.Record:
        ids = np.arange(rows * len(layers) * 4, dtype=np.uint8).reshape(rows, len(layers), 4)
        record: routecap.Record = self.keep(routecap.Record.from_numpy(ids, num_experts=256, layer_ids=layers, start=start))
        return record

    def close(self) -> None:
        for made in reversed(self.made):
            made.close()
        self.scene.close()


class Case(NamedTuple):
    name: str
    """As it is called in `routecap` or `routecap.trainer`."""
    make: Callable[[World], tuple[Callable[..., Any], Keywords]]
    """The call, and all its arguments as they should be."""
    words: dict[str, str] = {}
    """What a refusal may say in place of an argument's name: the other argument that it contradicts, or what it is about."""


def read_of(method: str, **more: Any) -> Callable[[World], tuple[Callable[..., Any], Keywords]]:
    def make(world: World) -> tuple[Callable[..., Any], Keywords]:
        scene = world.keep(Scene(tags=True))
        scene.capture(3)
        with scene.capturer.end_forward(3, [1, 2, 3], tags=[7, 8, 9]) as output:
            output.copy_to_host()
            output.finalize()
        good = {"slots": [1, 2, 3], "tokens": 4, "start": 0, "unit": routecap.SlotUnit.SLOT, "include_last": False, "after_sequence": 1}
        return getattr(scene.capturer, method), {**good, "tags": [7, 8, 9], "timeout": 0.0, **more}

    return make


def forward_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    scene = world.keep(Scene(tags=True))
    scene.capture(3)
    good = {"tokens": 3, "slots": [1, 2, 3], "first_row": 0, "acceptance": routecap.Acceptance.GIVEN, "rows": [0, 1, 2], "tags": [1, 2, 3]}
    return scene.capturer.end_forward, {**good, "groups": 1, "group_width": 3, "slots_group_stride": 3, "rows_group_stride": 3, "step": 1, "weight_version": 1, "stream": 0}


def plain_forward_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    world.scene.capture(3)
    good = {"tokens": 3, "slots": np.array([1, 2, 3]), "first_row": 0, "acceptance": routecap.Acceptance.ALL}
    return world.scene.capturer.end_forward, {**good, "step": 1, "weight_version": 1, "stream": None}


def capture_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    config = routecap.Config(**{**DEFAULTS, "layer_ids": [3], "weights_dtype": routecap.DType.FLOAT32})
    capturer = world.keep(routecap.Capturer(config))
    tap = capturer.add_model(routecap.Role.TARGET, "target").add_tap(3, flags=routecap.TapFlags.PARTIAL)
    capturer.seal()
    ids = np.arange(12, dtype=np.int32).reshape(3, 4)
    return tap.capture, {"ids": ids, "weights": ids.astype(np.float32), "row_ids": np.arange(3, dtype=np.int32), "first_row": 0, "stream": None}


def record_of(method: str, *, given: Callable[[World], Keywords]) -> Callable[[World], tuple[Callable[..., Any], Keywords]]:
    return lambda world: (getattr(world.record(), method), given(world))


def partition_of(method: str, **given: Any) -> Callable[[World], tuple[Callable[..., Any], Keywords]]:
    return lambda _: (getattr(trainer.Partition(routecap.Split.ZIGZAG, cp_size=2), method), {"offsets": [0, 4, 8], **given})


def closing(call: Callable[..., Any]) -> Callable[..., Any]:
    """What is made only to be looked at."""

    def made(**given: Any) -> None:
        result = call(**given)
        if hasattr(result, "close"):
            result.close()

    return made


def config_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    """With what it needs, and what it is needed for."""
    fields = {field.name: field.default for field in dataclasses.fields(routecap.Config)}
    good = {**fields, "num_experts": 256, "top_k": 4, "layer_ids": LAYERS, "chunked_prefill_size": 64, "num_slots": 64}
    return lambda **given: routecap.Config(**given).plan(), good


def encoded_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    record = world.record()
    good = {field.name: field.default for field in dataclasses.fields(routecap.EncodeOptions)}
    return lambda **given: record.encode(routecap.Format.CSV, routecap.EncodeOptions(**given)), good


def decoded_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    text = world.record().encode(routecap.Format.SGLANG)
    good = {**{field.name: field.default for field in dataclasses.fields(routecap.DecodeHints)}, "num_experts": 256, "top_k": 4, "layer_ids": LAYERS, "start": 0}
    return closing(lambda **given: routecap.Record.decode(routecap.Format.SGLANG, text, routecap.DecodeHints(**given))), good


def frames_of(world: World) -> tuple[Callable[..., Any], Keywords]:
    data = bytes(world.record())
    return lambda file: [record.close() for record in routecap.Record.frames(file)], {"file": io.BytesIO(data)}


IDS = np.arange(36, dtype=np.uint8).reshape(3, 3, 4)
MADE: Keywords = {
    "ids": IDS,
    "num_experts": 256,
    "layer_ids": LAYERS,
    "start": 0,
    "layer_flags": [0, 0, 0],
    "weights": IDS.astype(np.float32),
    "weights_kind": routecap.WeightsKind.AS_ROUTED,
    "weight_version": 0,
}
PACKED = np.arange(8, dtype=np.int64)

CASES = [
    Case("Array", lambda _: (routecap.Array, {"address": 0, "shape": (0, 4), "dtype": routecap.DType.INT32, "strides": (16, 4),
                                              "memory": routecap.Memory.HOST, "device": ("cpu", 0), "owner": None}), {"strides": "stride"}),
    Case("Array.of", lambda _: (routecap.Array.of, {"source": np.zeros((2, 2), np.uint16), "dtype": routecap.DType.BFLOAT16}), {"source": "source|dtype is BFLOAT16"}),
    Case("Backend", lambda _: (closing(routecap.Backend), {"name": "host", "device_ordinal": 0, "threads": 0}), {"name": "name|backend"}),
    Case("Backend.search", lambda _: (routecap.Backend.search, {"name": "host"})),
    Case("Capturer", lambda world: (closing(routecap.Capturer), {"config": world.scene.config, "backend": None})),
    Case("Capturer.add_model", lambda world: (world.unsealed().add_model, {"role": routecap.Role.TARGET, "name": "target"})),
    Case("Capturer.tap", lambda world: (world.scene.capturer.tap, {"tap_id": 0})),
    Case("Capturer.end_forward", forward_of, {"slots": "slots|groups", "acceptance": "acceptance|rows"}),
    Case("Capturer.end_forward", plain_forward_of, {"slots": "slots|groups", "acceptance": "acceptance|rows"}),
    Case("Capturer.discard_forward", lambda world: (world.scene.capturer.discard_forward, {"stream": None})),
    Case("Capturer.release_slots", lambda world: (world.scene.capturer.release_slots, {"slots": [1, 2], "unit": routecap.SlotUnit.SLOT, "stream": None})),
    Case("Capturer.release_all", lambda world: (world.scene.capturer.release_all, {"stream": None})),
    Case("Capturer.copy_slots", lambda world: (world.scene.capturer.copy_slots, {"source": [1, 2, 3], "target": [4, 5, 6],
                                                                                "unit": routecap.SlotUnit.SLOT, "stream": None})),
    Case("Capturer.slot_info", lambda world: (world.scene.capturer.slot_info, {"slot": 1})),
    Case("Capturer.read", read_of("read")),
    Case("Capturer.read_into", read_of("read_into", ids=np.zeros((3, 3, 4), np.uint8), weights=None, validity=np.zeros(1, np.uint8))),
    Case("Capturer.encode", read_of("encode", format=routecap.Format.FRAME, options=routecap.EncodeOptions())),
    Case("Capturer.next_completed", lambda world: (world.own_thread().next_completed, {"timeout": 0.0})),
    Case("Config", config_of, {"num_experts": "num_experts|top_k"}),
    Case("DecodeHints", decoded_of, {"layer_ids": "layer_ids|layers"}),
    Case("EncodeOptions", encoded_of),
    Case("Format.of", lambda _: (routecap.Format.of, {"name": "frame"}), {"name": "name|format"}),
    Case("Model.add_tap", lambda world: (world.unsealed().add_model(routecap.Role.TARGET, "t").add_tap,
                                         {"layer_number": 3, "flags": routecap.TapFlags(0), "id_map": np.arange(256)})),
    Case("Model.set_capture", lambda world: (world.unsealed().add_model(routecap.Role.TARGET, "t").set_capture, {"gate": routecap.Gate.ALLOW})),
    Case("Output.accept", lambda world: (world.output(routecap.Acceptance.LATER).accept,
                                         {"rows": [0, 1, 2], "slots": [1, 2, 3], "groups": 1, "group_width": 3, "slots_group_stride": 3,
                                          "rows_group_stride": 3, "stream": None})),
    Case("Output.copy_to_host", lambda world: (world.output().copy_to_host, {"stream": None})),
    Case("Output.wait", lambda world: (world.copied().wait, {"timeout": 1.0})),
    Case("Record.append", record_of("append", given=lambda world: {"following": world.record(3), "overlap": routecap.Overlap.REFUSE})),
    Case("Record.compare", record_of("compare", given=lambda world: {"other": world.record()})),
    Case("Record.compare_by_layer", record_of("compare_by_layer", given=lambda world: {"other": world.record()})),
    Case("Record.create", lambda _: (closing(routecap.Record.create), {**MADE, "validity": np.array([7], np.uint8)}), {"num_experts": "num_experts|top_k", "layer_flags": "layer_flags|validity"}),
    Case("Record.decode", lambda world: (closing(routecap.Record.decode), {"format": "frame", "data": bytes(world.record()),
                                                                           "hints": routecap.DecodeHints()}), {"data": "data|frame"}),
    Case("Record.decode_prefix", lambda world: (lambda **given: routecap.Record.decode_prefix(**given)[0].close(),
                                                {"format": "frame", "data": bytes(world.record()), "hints": None}), {"data": "data|frame"}),
    Case("Record.encode", record_of("encode", given=lambda _: {"format": "frame", "options": None})),
    Case("Record.frames", frames_of),
    Case("Record.from_numpy", lambda _: (closing(routecap.Record.from_numpy), {**MADE, "layer_flags": [4, 4, 4], "valid": np.ones(3, np.bool_),
                                                                               "cell_valid": np.ones((3, 3), np.bool_)}), {"num_experts": "num_experts|top_k", "layer_flags": "layer_flags|PARTIAL"}),
    Case("Record.interleave", lambda world: (world.record().interleave, {"positions": [0, 2, 4], "other": world.record(), "other_positions": [1, 3, 5]}), {"positions": "position", "other_positions": "position"}),
    Case("Record.merge", record_of("merge", given=lambda world: {"decode": world.record(2), "boundary": 3})),
    Case("Record.read_from", lambda world: (closing(routecap.Record.read_from), {"file": io.BytesIO(bytes(world.record()))})),
    Case("Record.slice", record_of("slice", given=lambda _: {"start": 0, "end": 2}), {"start": "slice|start", "end": "slice|end"}),
    Case("Record.stack", record_of("stack", given=lambda world: {"other": world.record(layers=[5, 6])})),
    Case("Record.tensor", record_of("tensor", given=lambda _: {"what": "ids"})),
    Case("Record.to_compact", record_of("to_compact", given=lambda _: {"layer_ids": [3, 9]})),
    Case("Record.to_full_axis", record_of("to_full_axis", given=lambda _: {"num_layers": 10, "fill": routecap.Fill.VALUE, "fill_id": 0})),
    Case("Record.to_numpy", record_of("to_numpy", given=lambda _: {"dtype": np.int32, "missing": -1})),
    Case("Record.truncate", record_of("truncate", given=lambda _: {"tokens": 3, "include_last": False})),
    Case("Record.write_to", record_of("write_to", given=lambda _: {"file": io.BytesIO(), "zstd_level": 0})),
    Case("Record[]", lambda world: (lambda rows: world.record()[rows], {"rows": slice(0, 2)})),
    Case("Record[]", lambda world: (lambda start: world.record()[start:2], {"start": 0})),
    Case("Record[]", lambda world: (lambda stop: world.record()[0:stop], {"stop": 2})),
    Case("Record[]", lambda world: (lambda step: world.record()[::step], {"step": 1})),
    Case("Record.__dlpack__", record_of("__dlpack__", given=lambda _: {"stream": None, "max_version": (1, 0), "dl_device": (1, 0), "copy": False})),
    Case("Tap.capture", capture_of),
    Case("Tensor", lambda world: (routecap.Tensor, {"view": IDS, "dtype": routecap.DType.UINT8})),
    Case("detect", lambda world: (routecap.detect, {"data": bytes(world.record())}), {"data": "data|bytes"}),
    Case("layout_rows", lambda _: (routecap.layout_rows, {"kind": routecap.RowsKind.SHARDED, "tokens_per_rank": [3, 5], "dp_rank": 0, "attn_tp_size": 2,
                                                          "attn_tp_rank": 1, "padded_tokens_per_rank": 8})),
    Case("trainer.Partition", lambda _: (lambda **given: trainer.Partition(**given).tokens([0, 8]),
                                         {"split": routecap.Split.ZIGZAG, "cp_size": 2, "cp_rank": 1, "sp_size": 2, "sp_rank": 0}), {"cp_size": "cp_size|cp_rank", "sp_size": "sp_size|sp_rank"}),
    Case("trainer.Partition.tokens", partition_of("tokens"), {"offsets": "offsets|in the pack"}),
    Case("trainer.Partition.indices", partition_of("indices"), {"offsets": "offsets|in the pack"}),
    Case("trainer.Partition.take", partition_of("take", whole=PACKED), {"offsets": "offsets|in the pack"}),
    Case("trainer.Partition.gather", partition_of("gather", parts=PACKED), {"offsets": "offsets|in the pack"}),
    Case("trainer.fill", lambda world: (trainer.fill, {"record": world.record(), "length": 4, "start": 0, "tokens": 4, "positions": None, "layers": [3, 9],
                                                       "dtype": np.int64, "layers_first": False, "value": None, "first_fill": 0}), {"positions": "positions|tokens"}),
    Case("trainer.fill", lambda world: (trainer.fill, {"record": world.record(), "length": 4, "positions": [0, 1, 2, -1], "value": 0})),
    Case("trainer.fill_pack", lambda world: (trainer.fill_pack, {"records": [world.record(), None], "lengths": [4, 2], "offsets": [0, 4, 8],
                                                                 "partition": trainer.Partition(), "layers": LAYERS, "dtype": np.int32,
                                                                 "layers_first": True, "value": None, "first_fill": 0})),
    Case("trainer.gather_layers", lambda _: (trainer.gather_layers, {"part": np.zeros((3, 2), np.int64), "layers": LAYERS, "selected": [3, 9],
                                                                     "whole": np.zeros((3, 3), np.int64), "layers_first": False}), {"selected": "selected|part", "layers_first": "layers_first|part"}),
    Case("trainer.split_layers", lambda _: (trainer.split_layers, {"whole": np.zeros((3, 3), np.int64), "layers": LAYERS, "selected": [3, 9],
                                                                   "layers_first": False})),
    Case("trainer.pack_offsets", lambda _: (trainer.pack_offsets, {"lengths": [3, 5], "multiple": 4})),
    Case("trainer.pad", lambda _: (trainer.pad, {"tokens": PACKED, "lengths": [3, 5], "offsets": [0, 4, 12], "value": 0}), {"offsets": "offsets|in the pack"}),
    Case("trainer.strip", lambda _: (trainer.strip, {"packed": np.arange(12), "lengths": [3, 5], "offsets": [0, 4, 12]}), {"offsets": "offsets|in the pack"}),
    Case("trainer.stage_layers", lambda _: (trainer.stage_layers, {"moe_layers": LAYERS, "num_layers": 12, "pp_size": 2, "pp_rank": 0, "vp_size": 1,
                                                                   "vp_rank": 0, "first_layers": 0, "last_layers": 0})),
    Case("trainer.megatron.replay_data", lambda world: (megatron.replay_data, {"records": [world.record()], "lengths": [4], "offsets": [0, 4],
                                                                               "partition": trainer.Partition(), "layers": LAYERS})),
    Case("trainer.megatron.replay_batch", lambda world: (megatron.replay_batch, {"records": [world.record()], "lengths": [4], "seq_length": 4,
                                                                                 "partition": trainer.Partition(), "layers": LAYERS})),
    Case("trainer.nemo_rl.routed_experts", lambda world: (nemo_rl.routed_experts, {"record": world.record(), "length": 4, "num_layers": 10})),
    Case("trainer.prime_rl.routed_experts", lambda world: (prime_rl.routed_experts, {"record": world.record(), "length": 4})),
    Case("trainer.slime.rollout_routed_experts", lambda world: (slime.rollout_routed_experts, {"record": world.record(), "length": 4, "num_layers": 10,
                                                                                               "start": 0, "first_fill": 0})),
    Case("trainer.verl.batch", lambda world: (verl.batch, {"records": [world.record()], "lengths": [4], "total_length": 6, "starts": [1], "num_layers": 10})),
    Case("trainer.verl.jagged", lambda world: (verl.jagged, {"records": [world.record()], "lengths": [4], "num_layers": 10})),
]


# So many rows are made where they are asked for: gigabytes, which a test need not fill.
SERVED = dict.fromkeys(("length", "tokens", "total_length", "seq_length", "num_layers"), ("2**31",))


def walk(case: Case, argument: str) -> Iterator[str]:
    """What is wrong with the answers to nasty values of one argument."""
    world, call, good = None, None, None
    for label, value in nasty.values().items():
        if label in SERVED.get(argument, ()):
            continue
        if world is None:
            world = World()
            call, good = case.make(world)
        try:
            result = call(**{**good, argument: value})  # type: ignore[misc, dict-item]
        except Exception as error:
            own = isinstance(error, routecap.RoutecapError)
            protocol = isinstance(error, (EOFError, BufferError)) and argument in ("file", "stream", "dl_device")
            text = str(error)
            if not own and type(error) not in (TypeError, ValueError) and not protocol:
                yield f"{label}: a {type(error).__name__}: {text}"
            elif not any(word in text for word in case.words.get(argument, argument).split("|")) and not protocol:
                yield f"{label}: does not say {argument}: {type(error).__name__}: {text}"
            elif "\n" in text or "\0" in text or len(text) > 400 or "rcap_" in text or "RCAP_" in text or "->" in text:
                yield f"{label}: {text!r}"
            continue
        # It was taken; what it did must not be seen by the next one.
        if hasattr(result, "close"):
            result.close()
        world.close()
        world = None
    if world is not None:
        world.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_refused_is_named(case: Case) -> None:
    world = World()
    call, good = case.make(world)
    result = call(**good)
    if hasattr(result, "close"):
        result.close()
    world.close()
    del call, good, result
    gc.collect()
    before = routecap.live_handles()
    wrong: list[str] = []
    world = World()
    names = list(case.make(world)[1])
    world.close()
    for argument in names:
        wrong += [f"{argument} = {text}" for text in walk(case, argument)]
    gc.collect()
    if routecap.live_handles() != before:
        wrong.append(f"{routecap.live_handles() - before} handles are left")
    assert wrong == []


# What is given to the caller and takes nothing of his, or is Python's own protocol.
PASSIVE = (BaseException, enum.Enum)
NOT_CALLED = {"Completion", "DeviceRows", "LibraryInfo", "Rows", "VersionSpan", "ArrayLike", "IntegersLike"}
NOT_CALLED |= {"Filled", "FilledPack", "BackendInfo", "BuildInfo", "CompareReport", "Plan", "ReadInfo", "RecordInfo", "SlotInfo", "Stats", "Summary"}


# Needs torch: test_torch.py does it.
ELSEWHERE = {"Record.to_torch"}


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Name and object of what can be called with arguments."""
    modules = [("", routecap, routecap.__all__), ("trainer.", trainer, trainer.__all__)]
    for adapter in (megatron, nemo_rl, prime_rl, slime, verl):
        own = [name for name, value in vars(adapter).items() if getattr(value, "__module__", None) == adapter.__name__ and inspect.isfunction(value)]
        modules.append((f"trainer.{adapter.__name__.rpartition('.')[2]}.", adapter, [name for name in own if name[0] != "_"]))
    for prefix, module, names in modules:
        for name in names:
            value = getattr(module, name)
            if name in NOT_CALLED or not getattr(value, "__module__", "").startswith("routecap"):
                continue
            if inspect.isclass(value):
                if issubclass(value, PASSIVE):
                    continue
                yield prefix + name, value
                for attribute, member in vars(value).items():
                    if attribute[0] != "_" and (inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod))):
                        yield f"{prefix}{name}.{attribute}", getattr(value, attribute)
            else:
                yield prefix + name, value


def test_no_argument_is_forgotten() -> None:
    walked: dict[str, set[str]] = {}
    world = World()
    for case in CASES:
        walked.setdefault(case.name, set()).update(case.make(world)[1])
    world.close()
    missing, functions = [], 0
    for name, call in public():
        functions += 1
        for argument in inspect.signature(call).parameters:
            if argument != "self" and argument not in walked.get(name, set()) and name not in ELSEWHERE:
                missing.append(f"{name}({argument})")
    assert missing == [] and functions > 80
