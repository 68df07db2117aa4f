# SPDX-License-Identifier: Apache-2.0
# pyright: reportMissingImports=false
"""The capturer and the outputs of its forwards."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

import routecap
from routecap.sglang._model import Geometry, expert_count, layers_of_config, layers_of_model

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("routecap.sglang")

MISSING = -1
"""What `get_topk` has in every column of a row that is not there. No expert has this id."""

_LONGEST_COPY = 10.0  # seconds


class TopkCaptureOutput:
    """A forward's rows on their way to the host. Dropped without `finalize`, its rows are missing (R33)."""

    def __init__(self, capturer: RoutedExpertsCapturer, output: routecap.Output) -> None:
        self._capturer = capturer
        self._output = output
        self._copied = False

    def map_device_tensors(self, fn: Callable[[torch.Tensor], torch.Tensor] | None = None) -> None:
        """Starts the copy to the host, on the stream that is current. `fn` is SGLang's own copy; it is not needed, the library has pinned memory."""
        del fn
        self._output.copy_to_host(stream=self._capturer._stream())
        self._copied = True

    def finalize(self) -> None:
        """Stores the rows; called once the copy is done. Bad rows are missing, and the log says why."""
        if not self._copied:
            self.map_device_tensors()
        try:
            summary = self._output.finalize()
        except routecap.NotReadyError:
            self._output.wait(_LONGEST_COPY)
            summary = self._output.finalize()
        self._output.close()
        self._capturer._settled(summary)


class RoutedExpertsCapturer:
    """The capturer of one SGLang rank."""

    @staticmethod
    def create(
        *, model: Any, model_config: Any, num_tokens: int, max_running_requests: int, device: str, **options: Any
    ) -> RoutedExpertsCapturer | None:
        """As SGLang calls it: None where the server was not asked to return routed experts."""
        from sglang.srt.runtime_context import get_exec

        if not get_exec().features.enable_return_routed_experts:
            return None
        if "layer_ids" not in options:
            options["layer_ids"] = layers_of_model(model) or None
        return RoutedExpertsCapturer(
            model_config,
            num_tokens=num_tokens,
            max_running_requests=max_running_requests,
            num_fused_shared_experts=model.shared_experts_config.num_fused_shared_experts,
            device=device,
            **options,
        )

    def __init__(
        self,
        model_config: Any,
        num_tokens: int,
        max_running_requests: int,
        num_fused_shared_experts: int,
        device: str,
        *,
        layer_ids: list[int] | None = None,
        num_experts: int | None = None,
        geometry: Geometry | None = None,
        reserved_slots: int = 1,
        pipeline_depth: int = 4,
    ) -> None:
        """Makes a capturer; the first five arguments are the original's.

        Args:
            model_config: its `hf_text_config` names layers, experts and top-k.
            num_tokens: KV slots, the padding page included.
            max_running_requests: requests that may decode at once.
            num_fused_shared_experts: columns behind the first K, which are dropped (R23).
            device: "cpu", or the name of a backend ("cuda").
            layer_ids: layers that route, ascending; None = `layers_of_config`. One that does not report spoils the rows of its forward (R27).
            num_experts: E; None = `expert_count`.
            geometry: None = asks SGLang.
            reserved_slots: the first slots, which are the engine's padding: SGLang's first page (R15).
            pipeline_depth: outputs that may be unfinished at once; one more is refused (R32).

        """
        text = model_config.hf_text_config
        self.num_layers = int(text.num_hidden_layers)
        self.topk_size = int(text.num_experts_per_tok)
        self.num_fused_shared_experts = num_fused_shared_experts
        self._geometry = geometry or Geometry.of_engine()
        self._on_device = device != "cpu"
        layers = list(layer_ids) if layer_ids is not None else layers_of_config(text)
        if not layers or layers[0] < 0 or layers[-1] >= self.num_layers:
            raise ValueError(f"the layers that route are {layers}, allowed are 0 .. {self.num_layers - 1} and at least one")
        config = routecap.Config(
            num_experts=num_experts or expert_count(text),
            top_k=self.topk_size,
            layer_ids=layers,
            num_fused_shared_experts=num_fused_shared_experts,
            chunked_prefill_size=self._geometry.chunked_prefill_size,
            max_running_requests=max_running_requests,
            num_verify_tokens=self._geometry.num_verify_tokens,
            dp_size=self._geometry.num_dp_ranks,
            attn_tp_size=self._geometry.attn_tp_size,
            num_slots=num_tokens,
            reserved_slots=reserved_slots,
            pipeline_depth=pipeline_depth,
        )
        self._capturer = routecap.Capturer(config, backend=routecap.Backend(device.partition(":")[0]) if self._on_device else None)
        target = self._capturer.add_model(routecap.Role.TARGET, "target")
        self._taps = {layer: target.add_tap(layer) for layer in layers}
        self._capturer.seal()
        self._columns: slice | np.ndarray = np.asarray(layers)
        if layers == list(range(layers[0], layers[-1] + 1)):
            self._columns = slice(layers[0], layers[-1] + 1)
        # Until the first forward is ended, passes that nobody ends are warm-ups; afterwards a layer that reports twice is a fault.
        self._warming_up = True
        self._last_layer = -1
        self._warned: set[tuple[int, int]] = set()
        self._gathered: torch.Tensor | None = None
        self.rows_missing = 0
        """Rows that could not be stored since the start."""

    # ---- the forward

    def capture(self, layer_id: int, topk_indices: torch.Tensor) -> None:
        """Takes a layer's ids, int32 or int64 [tokens, K or K + shared], any row stride; rows behind the forward's tokens are padding."""
        tap = self._taps.get(layer_id)
        if tap is None:
            raise ValueError(f"layer {layer_id} is not one that routes; those are {sorted(self._taps)}")
        if self._warming_up:
            self._forget_unended_pass(layer_id)
        if self._geometry.scattered:
            topk_indices = self._gather(topk_indices)
        tap.capture(topk_indices, stream=self._stream())

    def _forget_unended_pass(self, layer_id: int) -> None:
        if layer_id <= self._last_layer and not self._recording():
            self.discard_forward()
        self._last_layer = layer_id

    def discard_forward(self) -> None:
        """Forgets what was captured and not ended: a warm-up, a dummy batch, the recording of graphs, a forward that failed (R27)."""
        self._capturer.discard_forward(stream=self._stream())

    def on_forward_end(
        self, forward_batch: Any, can_run_graph: bool, cuda_graph_batch: int | None, no_copy_to_cpu: bool = False
    ) -> TopkCaptureOutput | None:
        """Stages the forward's rows for the slots of `forward_batch`.

        Returns:
            With `no_copy_to_cpu` the output, to be copied and finalized later in any order; else None, and the rows are stored.

        """
        slots, first_row = self._place(forward_batch, can_run_graph, cuda_graph_batch)
        output = TopkCaptureOutput(self, self._capturer.end_forward(len(slots), slots, first_row=first_row, stream=self._stream()))
        if len(slots) > 0:
            self._warming_up = False
        if no_copy_to_cpu:
            return output
        output.finalize()
        return None

    def _place(self, batch: Any, can_run_graph: bool, cuda_graph_batch: int | None) -> tuple[torch.Tensor, int]:
        """The slots of this rank's rows, and the first of these rows in the buffer."""
        first_row, rows = 0, len(batch.out_cache_loc)
        if self._geometry.dp_attention and not self._geometry.scattered:
            from sglang.srt.layers.dp_attention import get_dp_local_slice_cpu

            first_row, rows = get_dp_local_slice_cpu(batch, can_run_graph, cuda_graph_batch)
        slots = batch.out_cache_loc_virtual
        if slots is None:
            slots = batch.out_cache_loc
            if len(slots) != rows:
                raise ValueError(f"the batch names {len(slots)} slots and this rank has {rows} rows")
        elif len(slots) > rows:  # the kernels' batch may be padded, but it is never shorter
            raise ValueError(f"the batch names {len(slots)} slots and this rank has only {rows} rows")
        return slots, first_row

    def _gather(self, ids: torch.Tensor) -> torch.Tensor:
        """The ids of all attention-TP ranks, one shard behind the other."""
        import torch
        from sglang.srt.layers.dp_attention import attn_tp_all_gather_into_tensor

        if self._gathered is None:
            rows = self._capturer.config.plan().device_rows * self._geometry.attn_tp_size
            self._gathered = torch.empty((rows, ids.shape[1]), dtype=ids.dtype, device=ids.device)
        whole = self._gathered[: ids.shape[0] * self._geometry.attn_tp_size]
        attn_tp_all_gather_into_tensor(whole, ids)
        return whole

    def _stream(self) -> int | None:
        if not self._on_device:
            return None
        import torch

        return int(torch.cuda.current_stream().cuda_stream)

    def _recording(self) -> bool:
        if not self._on_device:
            return False
        import torch

        return bool(torch.cuda.is_current_stream_capturing())

    def _settled(self, summary: routecap.Summary) -> None:
        if summary.rows_bad == 0:
            return
        self.rows_missing += summary.rows_bad
        kind = (summary.first_bad_fault, summary.first_bad_layer)
        if kind not in self._warned:  # one line for each kind of mistake: an engine that makes one makes it in every forward
            self._warned.add(kind)
            logger.warning("routed experts of forward %d: %s; these rows are missing", summary.sequence, _fault_text(summary))

    # ---- slots

    def release_slots(self, slots: torch.Tensor) -> None:
        """Makes slots read as missing until they are written again (R8): after they were freed, before they may be read without a forward."""
        self._capturer.release_slots(slots, stream=self._stream())

    def watch(self, allocator: Any) -> None:
        """Releases what this KV allocator of SGLang frees from now on, and everything when it is cleared.

        Needed where KV may come to a slot without a forward (a host cache that is restored, KV sent by another server); otherwise such a slot shows the row
        of its previous tenant. A list in device memory is waited for.
        """
        # Only the innermost call reaches these; the grouped and segment forms end in one of them.
        page = int(allocator.page_size)

        def wrap(name: str, released: Callable[[Any], None]) -> None:
            original = getattr(allocator, name)

            def wrapped(*arguments: Any, **options: Any) -> Any:
                released(arguments[0] if arguments else None)
                return original(*arguments, **options)

            setattr(allocator, name, wrapped)

        def slots(freed: Any) -> None:
            if freed.numel() > 0:
                self.release_slots(freed)

        def pages(freed: Any) -> None:
            if freed.numel() > 0:
                import torch

                self.release_slots((freed[:, None] * page + torch.arange(page, device=freed.device)).reshape(-1))

        wrap("free", slots)
        wrap("free_segment", slots)
        if page > 1:
            wrap("free_page_ids", pages)
        wrap("clear", lambda _: self._capturer.release_all(stream=self._stream()))

    # ---- results

    def get_topk(self, req_pool_idx: int, seqlen: int, req_to_token_pool: Any, start_len: int = 0) -> torch.Tensor:
        """Rows [start_len, seqlen - 1) of a request of `seqlen` tokens.

        Returns:
            int32 [rows, num_hidden_layers, K] on the host: 0 in the columns of layers that do not route, `MISSING` everywhere in a row that is not there.

        """
        import torch

        first = self._checked_start(start_len, seqlen)
        slots = req_to_token_pool.req_to_token[req_pool_idx][first : max(seqlen - 1, 0)].cpu()
        with self._capturer.read(slots, tokens=len(slots) + 1 if seqlen > 0 else 0) as record:
            out = np.zeros((len(slots), self.num_layers, self.topk_size), np.int32)
            out[:, self._columns] = record.ids
            valid = record.valid
            if not valid.all():
                out[~valid] = MISSING
        return torch.from_numpy(out)

    def get_record(self, req_pool_idx: int, seqlen: int, req_to_token_pool: Any, start_len: int = 0) -> routecap.Record:
        """The same rows as a record: layers that route only, narrow ids, a validity bit for each row."""
        self._checked_start(start_len, seqlen)
        slots = req_to_token_pool.req_to_token[req_pool_idx][: max(seqlen - 1, 0)].cpu()
        return self._capturer.read(slots, tokens=seqlen, start=start_len)

    @staticmethod
    def _checked_start(start_len: int, seqlen: int) -> int:
        """R3: anything behind the last token is a mistake of the caller, not an empty answer."""
        if start_len < 0:
            raise ValueError(f"{start_len=} must be non-negative")
        if start_len > seqlen:
            raise ValueError(f"{start_len=} lies behind the {seqlen} tokens of the request")
        return min(start_len, max(seqlen - 1, 0))

    @property
    def capturer(self) -> routecap.Capturer:
        """The library's capturer: statistics, plan, slots."""
        return self._capturer

    def destroy(self) -> None:
        """Gives everything back. Outputs still in flight store nothing (R34); records live on."""
        self._capturer.close()


def _fault_text(summary: routecap.Summary) -> str:
    fault = routecap.Fault(summary.first_bad_fault).name.lower().replace("_", " ")
    text = f"{summary.rows_bad} of {summary.entries} rows are bad, first row {summary.first_bad_row} for slot {summary.first_bad_slot}: {fault}"
    if summary.layers_bad:
        text += (
            f"; layer {summary.first_bad_layer_number} captured {summary.layer_rows_captured} rows of {summary.layer_rows_expected}"
            f" ({summary.layers_bad} such layers)"
        )
    elif summary.first_bad_layer >= 0:
        text += f" in layer {summary.first_bad_layer}"
    return text
