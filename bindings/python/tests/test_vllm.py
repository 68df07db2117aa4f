# SPDX-License-Identifier: Apache-2.0
"""What `routecap.vllm` decides without vLLM. What it does inside vLLM is tested by `packaging/run test engines`."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

import pytest

from routecap.vllm import _attachment as attachment


class Mode(enum.IntEnum):
    """As vLLM's."""

    NONE = 0
    DYNAMO_TRACE_ONCE = 2
    VLLM_COMPILE = 3


class Graphs(enum.Enum):
    NONE = 0
    PIECEWISE = 1
    FULL_AND_PIECEWISE = (2, 1)


def config(mode: Mode, graphs: Graphs, device: str) -> Any:
    parallel = SimpleNamespace(tensor_parallel_size=1, pipeline_parallel_size=1, data_parallel_size=1, enable_dbo=False)
    compilation = SimpleNamespace(mode=mode, cudagraph_mode=graphs)
    return SimpleNamespace(parallel_config=parallel, compilation_config=compilation, device_config=SimpleNamespace(device_type=device))


def test_graphs_that_are_made_before_a_hook_are_refused() -> None:
    """They would call no hook, and every row would be missing."""
    for mode, graphs, device, text in (
        (Mode.DYNAMO_TRACE_ONCE, Graphs.NONE, "cpu", "the compilation mode is DYNAMO_TRACE_ONCE, on processors only NONE is supported: enforce_eager=True"),
        (Mode.NONE, Graphs.PIECEWISE, "cuda", "cudagraph_mode is PIECEWISE, only NONE is supported: enforce_eager=True"),
        (Mode.VLLM_COMPILE, Graphs.FULL_AND_PIECEWISE, "cuda", "cudagraph_mode is FULL_AND_PIECEWISE, only NONE"),
    ):
        with pytest.raises(ValueError, match=text):
            attachment._refuse_unsupported(config(mode, graphs, device))
    # On a device the experts of a layer are one operator, which compiled code calls as it is.
    for mode, device in ((Mode.NONE, "cpu"), (Mode.NONE, "cuda"), (Mode.VLLM_COMPILE, "cuda")):
        attachment._refuse_unsupported(config(mode, Graphs.NONE, device))


def test_more_ranks_than_one_are_refused() -> None:
    wide = config(Mode.NONE, Graphs.NONE, "cuda")
    wide.parallel_config.tensor_parallel_size = 2
    with pytest.raises(ValueError, match="tensor_parallel_size is 2; only engines of one rank are supported"):
        attachment._refuse_unsupported(wide)
