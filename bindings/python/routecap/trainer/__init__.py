# SPDX-License-Identifier: Apache-2.0
"""What a trainer needs to replay a record (R42, R43).

That is dense ids for its tokens and layers, and the splits of its parallelism, each with its exact inverse. A batch is a *pack*: sequences
one behind the other, each padded to a multiple. `pack_offsets` says where each begins (a trainer's `cu_seqlens`), `pad` and `strip` go
there and back, a `Partition` deals the pack out over context and sequence parallelism, and `stage_layers` says which layers a pipeline
stage has. `fill_pack` does all of it at once for records, without making the whole batch.

The shapes of single trainers: `routecap.trainer.megatron`, `.verl`, `.slime`, `.nemo_rl`, `.prime_rl`.
"""

from routecap._enums import Split
from routecap.trainer._fill import Filled, FilledPack, fill, fill_pack
from routecap.trainer._layers import gather_layers, split_layers, stage_layers
from routecap.trainer._pack import pack_offsets, pad, strip
from routecap.trainer._partition import Partition

__all__ = [
    "Filled",
    "FilledPack",
    "Partition",
    "Split",
    "fill",
    "fill_pack",
    "gather_layers",
    "pack_offsets",
    "pad",
    "split_layers",
    "stage_layers",
    "strip",
]
