# SPDX-License-Identifier: Apache-2.0
"""prime-rl: a sample's routing beside its tokens, uint8 or uint16 [tokens, L, K], with zeros where there is none; the loss leaves these tokens out.

The dtype follows from the number of experts alone, so that the turns of a sample are of one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routecap._arguments import instance
from routecap._record import Record
from routecap.trainer import _host as host
from routecap.trainer._fill import fill


class Sample(NamedTuple):
    """Routing of a sample."""

    routed_experts: host.Array
    """uint8 (up to 256 experts) or uint16 [tokens, L, K]."""
    mask: npt.NDArray[np.bool_]
    """bool [tokens]: whether the ids of all layers are the engine's; what is not is zeros."""


def routed_experts(record: Record, length: int) -> Sample:
    """Routing of a sample from a record.

    Args:
        record: rows of the sample.
        length: tokens of the sample: as many rows come back.

    Raises:
        OutOfRangeError: more experts than uint16 holds, or a record that reaches behind the sample.

    """
    instance(record, "record", Record)
    made = fill(record, length, dtype=np.uint8 if record.num_experts <= 256 else np.uint16, value=0)
    return Sample(made.ids, made.mask)
