# SPDX-License-Identifier: Apache-2.0
"""Runs the command, and what the tests share: records as numpy arrays, and their forms made without the library."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "wire"), str(HERE.parent / "wire" / "golden")]

import frame_reader  # noqa: E402
import make_golden  # noqa: E402

COMMAND = os.environ["ROUTECAP_COMMAND"]
GOLDEN = HERE.parent / "wire" / "golden"
DONE, FINDINGS, REFUSED, INPUT_OUTPUT = 0, 1, 2, 3


def run(*arguments, data=b"", **more):
    """The finished process. Nothing may end by a signal, and whatever stands on standard error is one line of ours."""
    done = subprocess.run([COMMAND, *map(str, arguments)], input=data, capture_output=True, timeout=300, **more)
    said = done.stderr.decode()
    assert done.returncode in (DONE, FINDINGS, REFUSED, INPUT_OUTPUT), (arguments, done.returncode, said)
    assert said == "" or (said.startswith("routecap: ") and said.count("\n") == 1 and said.endswith("\n")), said
    assert (done.returncode in (DONE, FINDINGS)) == (said == ""), (arguments, done.returncode, said)
    return done


def output(*arguments, code=DONE, **more):
    done = run(*arguments, **more)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done.stdout


def refused(*arguments, code=REFUSED, **more):
    """The text on standard error of a command that must be refused, and that prints nothing else."""
    done = run(*arguments, **more)
    assert done.returncode == code and done.stdout == b"", (arguments, done.returncode, done.stdout[:200], done.stderr)
    return done.stderr.decode()[len("routecap: ") : -1]


def report(*arguments, **more):
    return json.loads(output(*arguments, "--json", **more))


def frames(data):
    return frame_reader.read_file(data)


def frame(data):
    (one,) = frames(data)
    return one


def make_frame(ids, experts, start=0, layers=None, flags=None, valid=None, cells=None, weights=None, kind=0, spans=None):
    """A frame of ids [rows, L, K], written by the script that makes the golden files."""
    rows, columns, top_k = ids.shape
    layers = list(range(columns)) if layers is None else layers
    flags = [0] * columns if flags is None else flags
    valid = np.ones(rows, bool) if valid is None else np.asarray(valid, bool)
    shown = np.repeat(valid[:, None], columns, axis=1) if cells is None else np.asarray(cells, bool)
    code, dtype = (1, "<u1") if experts <= 256 else (2, "<u2") if experts <= 65536 else (4, "<i4")
    ids = ids.astype(dtype)
    ids[~shown] = np.frombuffer(b"\xff" * ids.itemsize, dtype)[0]
    weights_code = 0
    if weights is not None:
        weights_code = 8
        weights = weights.astype("<f4")
        weights[~shown] = np.frombuffer(b"\xff" * 4, "<f4")[0]
    edges = np.flatnonzero(np.diff(valid)) + 1
    runs = [int(run) for run in np.diff([0, *edges, rows])] if rows else []
    if runs and not valid[0]:
        runs.insert(0, 0)
    spans = ([(start, 0)] if valid.any() else []) if spans is None else spans
    return make_golden.frame(
        start, experts, layers, flags, ids, code, runs, None if cells is None else shown, spans, weights, weights_code, kind
    )


def sglang(ids, dtype="<i4"):
    return base64.b64encode(ids.astype(dtype).tobytes())


def vllm(ids, dtype="<u1"):
    return base64.b64encode(make_golden.npy(ids, dtype))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return path

    def same_ids(self, found, expected):
        np.testing.assert_array_equal(np.asarray(found).astype(np.int64), np.asarray(expected).astype(np.int64))


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=1)
