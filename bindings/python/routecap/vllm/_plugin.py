# SPDX-License-Identifier: Apache-2.0
# pyright: reportMissingImports=false
"""What vLLM loads, in each of its processes, through the entry point `vllm.general_plugins`. It is inert unless `additional_config` has `routecap`."""

from __future__ import annotations

import base64
import functools
import io
import logging
from typing import Any

import numpy as np

import routecap
from routecap.vllm._attachment import Attachment

logger = logging.getLogger(__name__)

CONFIG = "routecap"
"""Key of vLLM's `additional_config` whose value are the options of `attach`."""

MAGIC = b"\x89RCAP\r\n\x1a"
_ENDPOINTS = (
    "vllm.entrypoints.openai.completion.serving",
    "vllm.entrypoints.openai.chat_completion.serving",
    "vllm.entrypoints.scale_out.token_in_token_out.serving",
)


def register() -> None:
    """Makes engines that are started in this process attach themselves, and the server's answers carry records."""
    from vllm.v1.engine.core import EngineCore, EngineCoreProc
    from vllm.v1.engine.output_processor import OutputProcessor

    if getattr(EngineCore.__init__, "_routecap", False):
        return
    EngineCore.__init__ = _attaching(EngineCore.__init__)
    # The process of a server's engine loads plugins when that engine's __init__ has begun: there it attaches before it takes its first request.
    EngineCoreProc.run_busy_loop = _attaching(EngineCoreProc.run_busy_loop, before=True)
    OutputProcessor._trim_surplus_tokens = staticmethod(_trimming(OutputProcessor._trim_surplus_tokens))
    _patch_endpoints()


def _attaching(original: Any, before: bool = False) -> Any:
    @functools.wraps(original)
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if before:
            _attach_if_asked(self)
        result = original(self, *arguments, **options)
        if not before:
            _attach_if_asked(self)
        return result

    method._routecap = True  # type: ignore[attr-defined]
    return method


def _attach_if_asked(core: Any) -> None:
    extra = core.vllm_config.additional_config
    if hasattr(core, "routecap") or not isinstance(extra, dict) or extra.get(CONFIG) is None:
        return
    core.routecap = Attachment(core, **extra[CONFIG])
    _Delivery(core.routecap).install(core.scheduler)
    logger.info("routecap: attached, %d layers", len(core.routecap.capturer.config.layer_ids))


class _Delivery:
    """Sends records to the process that answers clients, in the place that vLLM has for routed experts: the bytes of frames."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment

    def install(self, scheduler: Any) -> None:
        original = scheduler.update_from_output

        def update_from_output(scheduled: Any, model_output: Any) -> Any:
            # A request with stop strings is ended by the other process, which cannot ask any more: its rows go along with every token.
            running = [key for key in scheduled.num_scheduled_tokens if self._has_stop_strings(scheduler.requests.get(key))]
            outputs = original(scheduled, model_output)
            for part in outputs.values():
                for output in part.outputs:
                    self._add(output, by_delta=output.request_id in running)
            return outputs

        scheduler.update_from_output = update_from_output

    @staticmethod
    def _has_stop_strings(request: Any) -> bool:
        return bool(request is not None and request.sampling_params is not None and request.sampling_params.stop)

    def _add(self, output: Any, by_delta: bool) -> None:
        if by_delta:
            record = self._attachment.take_delta(output.request_id)
        elif output.finish_reason is not None:
            record = self._attachment.take(output.request_id)
        else:
            return
        if record is not None:
            output.routed_experts = np.frombuffer(record.encode(routecap.Format.FRAME), np.uint8)


# ---- the process that answers clients


def is_frames(array: np.ndarray) -> bool:
    """Whether these are frames, and not vLLM's own rows [tokens, layers, K]."""
    return array.ndim == 1 and array.dtype == np.uint8 and array[: len(MAGIC)].tobytes() == MAGIC


def joined(frames: bytes) -> routecap.Record:
    """One record out of the frames of a request's deltas, which stand one behind the other."""
    records = list(routecap.Record.frames(io.BytesIO(frames)))
    whole = records[0]
    for record in records[1:]:
        whole = whole.append(record)
    return whole


def _trimming(original: Any) -> Any:
    """Tokens behind a stop string are dropped, and so are their rows (R4); vLLM would cut bytes off the frame."""

    @functools.wraps(original)
    def trim(req_state: Any, output: Any, num_prev_tokens: int) -> None:
        frames, before = output.routed_experts, len(output.new_token_ids)
        if frames is None or not is_frames(frames):
            original(req_state, output, num_prev_tokens)
            return
        output.routed_experts = None
        original(req_state, output, num_prev_tokens)
        dropped = before - len(output.new_token_ids)
        record = joined(frames.tobytes())
        if dropped > 0:
            kept = record.slice(record.start, max(record.start, record.start + record.rows - dropped))
            req_state.routed_experts_chunks[-1] = np.frombuffer(kept.encode(routecap.Format.FRAME), np.uint8)

    return trim


def _patch_endpoints() -> None:
    """The field `routed_experts` of a choice is base64 of a frame instead of base64 of a `.npy`, where a record came."""
    import importlib

    for name in _ENDPOINTS:
        try:
            module: Any = importlib.import_module(name)
        except ImportError:  # this process answers no clients
            continue
        module.numpy2base64 = _encoding(module.numpy2base64)


def _encoding(original: Any) -> Any:
    @functools.wraps(original)
    def encode(array: np.ndarray) -> str:
        if not is_frames(array):
            return str(original(array))
        return base64.b64encode(joined(array.tobytes()).encode(routecap.Format.FRAME)).decode("ascii")

    return encode
