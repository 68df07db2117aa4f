# SPDX-License-Identifier: Apache-2.0
"""What every subject does before it is timed: its rows, and those of its wire text, are compared with what the C program read back."""

import base64

import numpy as np

MOST_SETS = 4096  # requests of a walk through the slots, as many as the C program makes


def same(theirs, ours, what):
    if theirs.shape != ours.shape or not (theirs == ours).all():
        raise SystemExit(f"peers: {what} differ from routecap's; nothing was timed")


def decoded(text, dtype, shape):
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)
