# SPDX-License-Identifier: Apache-2.0
# pyright: reportMissingImports=false
"""The functions that stand beside the class in SGLang's module."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from routecap.sglang._capturer import RoutedExpertsCapturer


def get_global_experts_capturer() -> RoutedExpertsCapturer | None:
    """The capturer in SGLang's resources of this process."""
    from sglang.srt.runtime_context import get_resources

    capturer: RoutedExpertsCapturer | None = get_resources().experts_capturer
    return capturer


def set_global_experts_capturer(capturer: RoutedExpertsCapturer | None) -> None:
    """Puts a capturer where SGLang's gates, model runner and scheduler look for it."""
    from sglang.srt.runtime_context import get_resources

    get_resources().experts_capturer = capturer


def destroy_global_experts_capturer() -> None:
    """Ends the capturer in SGLang's resources, if there is one."""
    capturer = get_global_experts_capturer()
    if capturer is not None:
        capturer.destroy()
    set_global_experts_capturer(None)


def extract_routed_experts_from_meta_info(data: dict[str, Any]) -> np.ndarray:
    """Flat int32 ids out of an answer's `meta_info.routed_experts`."""
    return np.frombuffer(base64.b64decode(data["meta_info"]["routed_experts"]), dtype=np.int32)


def disable_routed_experts_capture_for_draft(model: Any) -> None:
    """Opts every draft `TopK` out, before kernels or graphs are built (R20): capture is of the target alone."""
    from sglang.srt.layers.moe.topk import TopK

    for module in model.modules():
        if isinstance(module, TopK):
            module.topk_config.allow_routed_experts_capture = False
