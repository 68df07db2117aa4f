# SPDX-License-Identifier: Apache-2.0
"""Geometry of a capturer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from routecap import _arguments as arguments
from routecap import _arrays as arrays
from routecap import _native as native
from routecap._enums import BusyPolicy, CheckLevel, DType, FinalizeMode, WeightsKind
from routecap._structs import Plan


@dataclass(frozen=True, kw_only=True)
class Config:
    """Geometry of a capturer, in the engine's own numbers. Exactly one of `chunked_prefill_size` and `max_forward_tokens` is given."""

    num_experts: int
    """E: logical routed experts of a layer. Decides the dtype of stored ids: uint8 up to 256, uint16 up to 65536, else int32 (R28)."""

    top_k: int
    """K: experts chosen per token and layer, shared experts not counted."""

    layer_ids: Sequence[int]
    """The captured layers' numbers in the model, ascending."""

    num_fused_shared_experts: int = 0
    """Columns behind the first K that a kernel with fused shared experts adds; they are dropped (R23)."""

    weights_dtype: DType = DType.NONE
    """FLOAT16, BFLOAT16 or FLOAT32 keeps routing weights beside the ids (R29)."""

    weights_kind: WeightsKind = WeightsKind.AS_ROUTED
    """What the weights mean; a label that travels with the records."""

    check_level: CheckLevel = CheckLevel.BASIC
    """How closely rows are checked before they are stored."""

    finalize_mode: FinalizeMode = FinalizeMode.CALLER
    """Who finalizes outputs: the caller, or a thread of the capturer's own, whose outputs can be awaited."""

    busy_policy: BusyPolicy = BusyPolicy.REFUSE
    """What `Capturer.end_forward` does when every staging block is in flight (R32)."""

    busy_timeout: float = 0.0
    """Longest wait of BusyPolicy.WAIT in seconds; `math.inf` = for ever."""

    tags: bool = False
    """Keeps a caller's 64-bit tag with every row and compares it at the read (R8)."""

    pipeline_depth: int = 2
    """Staging blocks: forwards that may be unsettled at once, 1 .. 4096."""

    chunked_prefill_size: int = 0
    """Tokens of the largest prefill chunk of one rank."""

    max_forward_tokens: int = 0
    """Tokens of the largest forward of one rank where prefill is not chunked."""

    max_running_requests: int = 1
    """Requests of one rank that may decode at once."""

    num_verify_tokens: int = 0
    """Tokens that a verify forward has per request (drafts + 1); 0 = no speculative decoding."""

    max_graph_tokens: int = 0
    """Rows of the largest graph batch of one rank, padding included; 0 = no graphs."""

    dp_size: int = 1
    """Data-parallel ranks that write into one device buffer."""

    attn_tp_size: int = 1
    """Attention tensor parallel size: rows are rounded up to a multiple of it."""

    num_slots: int = 0
    """KV slots of this rank; 0 = it captures and stages, and does not store."""

    page_size: int = 1
    """Slots of one KV page; `num_slots` is a multiple of it. Lets slots be named by page (SlotUnit.PAGE)."""

    reserved_slots: int = 0
    """The first slots are the engine's padding or null block: rows for them are discarded by contract (R15)."""

    def __post_init__(self) -> None:
        """Every field as the library takes it; another is refused here, by its name. What the numbers must be to each other the library says."""
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if isinstance(kind, tuple):
                value = arguments.integer(value, name, *kind)
            else:
                value = arguments.choice(value, name, kind)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "tags", arguments.truth(self.tags, "tags"))
        arrays.host_vector(self.layer_ids, "layer_ids", _LAYER_IDS)
        if self.busy_timeout is None:
            raise TypeError("busy_timeout is None, and not a number of seconds")
        longest = arguments.seconds(self.busy_timeout, "busy_timeout")
        object.__setattr__(self, "busy_timeout", math.inf if longest is None else longest)

    def plan(self) -> Plan:
        """What a capturer of this geometry will need, before anything is allocated."""
        struct, layers = self._struct()
        plan, error = native.out("rcap_capturer_plan"), native.new_error()
        status = native.functions().capturer_plan_get(struct, layers.address, layers.shape[0], plan, error)
        native.check(status, error)
        return Plan._read(plan)

    def _struct(self) -> tuple[Any, arrays.Array]:
        struct = native.new(
            "rcap_capturer_config",
            num_experts=self.num_experts,
            top_k=self.top_k,
            num_fused_shared_experts=self.num_fused_shared_experts,
            weights_dtype=self.weights_dtype,
            weights_kind=self.weights_kind,
            check_level=self.check_level,
            finalize_mode=self.finalize_mode,
            busy_policy=self.busy_policy,
            tags=int(self.tags),
            pipeline_depth=self.pipeline_depth,
            chunked_prefill_size=self.chunked_prefill_size,
            max_forward_tokens=self.max_forward_tokens,
            max_running_requests=self.max_running_requests,
            num_verify_tokens=self.num_verify_tokens,
            max_graph_tokens=self.max_graph_tokens,
            dp_size=self.dp_size,
            attn_tp_size=self.attn_tp_size,
            num_slots=self.num_slots,
            page_size=self.page_size,
            reserved_slots=self.reserved_slots,
            busy_timeout_ns=arguments.INT64[1] if math.isinf(self.busy_timeout) else round(self.busy_timeout * 1e9),
        )
        return struct, arrays.host_vector(self.layer_ids, "layer_ids", _LAYER_IDS)


_LAYER_IDS = frozenset({DType.INT32})

_KINDS: dict[str, Any] = {
    **dict.fromkeys(("num_experts", "top_k", "num_fused_shared_experts", "pipeline_depth"), arguments.INT32),
    **dict.fromkeys(
        (
            "chunked_prefill_size",
            "max_forward_tokens",
            "max_running_requests",
            "num_verify_tokens",
            "max_graph_tokens",
            "dp_size",
            "attn_tp_size",
            "num_slots",
            "page_size",
            "reserved_slots",
        ),
        arguments.INT64,
    ),
    "weights_dtype": DType,
    "weights_kind": WeightsKind,
    "check_level": CheckLevel,
    "finalize_mode": FinalizeMode,
    "busy_policy": BusyPolicy,
}
"""Bounds of an integer, or the enumeration, of every field but three."""
