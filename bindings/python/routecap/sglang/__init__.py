# SPDX-License-Identifier: Apache-2.0
"""SGLang's routed-experts capturer, on routecap: the names and methods of `sglang.srt.state_capturer.routed_experts`, so that one import is changed.

In `sglang/srt/model_executor/model_runner.py`:

    from routecap.sglang import RoutedExpertsCapturer, disable_routed_experts_capture_for_draft

Everything else of SGLang stays: it reaches the capturer through its own `get_global_experts_capturer()`. What the original answers on a legal sequence of calls
is answered here to the last bit. Where the original answers with another request's rows, an older row or zeros, here the row is missing, which `get_topk` shows
as -1 in every column, `get_record` as a cleared validity bit, and a log line explains; or the call is refused. `docs/sglang.md` lists these cases.
"""

from routecap.sglang._capturer import MISSING, RoutedExpertsCapturer, TopkCaptureOutput
from routecap.sglang._model import Geometry, expert_count, layers_of_config, layers_of_model
from routecap.sglang._module import (
    destroy_global_experts_capturer,
    disable_routed_experts_capture_for_draft,
    extract_routed_experts_from_meta_info,
    get_global_experts_capturer,
    set_global_experts_capturer,
)

__all__ = [
    "MISSING",
    "Geometry",
    "RoutedExpertsCapturer",
    "TopkCaptureOutput",
    "destroy_global_experts_capturer",
    "disable_routed_experts_capture_for_draft",
    "expert_count",
    "extract_routed_experts_from_meta_info",
    "get_global_experts_capturer",
    "layers_of_config",
    "layers_of_model",
    "set_global_experts_capturer",
]
