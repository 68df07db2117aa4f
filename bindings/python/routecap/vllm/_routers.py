# SPDX-License-Identifier: Apache-2.0
# pyright: reportMissingImports=false
"""Where a model of vLLM chooses experts, and how ids are had there."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

Capture = Callable[[Any], Any]


@dataclasses.dataclass
class Router:
    """One MoE layer's router. Its hook has room for one function: a function that is there already (vLLM's own feature) is called first."""

    layer: int
    top_k: int | None
    module: Any
    previous: Capture | None = None

    def hook(self, capture: Capture) -> None:
        """Has `capture` called with the logical ids [tokens, K] of every forward, before the kernel."""
        self.previous = previous = self.module.capture_fn
        if previous is None:
            self._set(capture)
            return

        def both(ids: Any) -> None:
            previous(ids)
            capture(ids)

        self._set(both)

    def unhook(self) -> None:
        """Puts back what was there."""
        self._set(self.previous)

    def _set(self, capture: Capture | None) -> None:
        if hasattr(self.module, "set_capture_fn"):
            self.module.set_capture_fn(capture)
        else:
            self.module.capture_fn = capture


def routers_of(model: Any) -> list[Router]:
    """The routers of a model, in the order of its modules; empty for a model without experts.

    A layer whose kernel chooses experts inside itself cannot be heard here, and is an error (R27: never rows of zeros).
    """
    from vllm.model_executor.layers.fused_moe.layer import MoERunner
    from vllm.model_executor.layers.fused_moe.routed_experts_capturer import RoutedExpertsCaptureSource
    from vllm.model_executor.layers.fused_moe.router.base_router import BaseRouter

    found = []
    for name, module in model.named_modules():
        if isinstance(module, RoutedExpertsCaptureSource):
            found.append(Router(int(module.layer_id), None, module))
        elif isinstance(module, MoERunner):
            if module._quant_method.is_monolithic:
                raise ValueError(f"layer {module.layer_id} ({name}): its kernel {type(module._quant_method).__name__} chooses experts inside itself")
            if not isinstance(module.router, BaseRouter):
                raise ValueError(f"layer {module.layer_id} ({name}): no ids can be had from a {type(module.router).__name__}")
            found.append(Router(int(module.layer_id), int(module.router.top_k), module.router))
    return found
