# SPDX-License-Identifier: Apache-2.0
"""The shapes and the data that every subject of the comparison gets: the same ids, the same order of slots, the same batch sizes."""

import json
import os
import pathlib
from dataclasses import asdict, dataclass

import numpy as np

BATCHES = (1, 64, 256, 8192)
ROWS = max(BATCHES)


@dataclass(frozen=True)
class Workload:
    name: str
    layers: int  # of the model: what an engine whose buffers have a column for every layer keeps
    captured: int  # layers that route, the last ones
    top_k: int
    experts: int
    slots: int
    source: str

    @property
    def dense(self):
        return self.layers - self.captured


def synthetic_ids(workload, seed=1):
    """int32 [captured layers, ROWS, K]: K different experts for every row, each expert as likely as any other."""
    random = np.random.default_rng(seed)
    shape = (workload.captured, ROWS, 1)
    # With a power of two of experts, odd steps from any start meet each of them once.
    start = random.integers(0, workload.experts, shape, dtype=np.int32)
    step = random.integers(0, workload.experts // 2, shape, dtype=np.int32) * 2 + 1
    return np.ascontiguousarray((start + step * np.arange(workload.top_k, dtype=np.int32)) % workload.experts)


def recorded_ids(folder):
    """The same from recorded routes, uint8 [tokens, layers, K]: the first ROWS tokens, layer by layer."""
    rows = np.load(folder / "ids_u8.npy", mmap_mode="r")
    if rows.shape[0] < ROWS:
        raise SystemExit(f"peers: {folder} holds {rows.shape[0]} rows, {ROWS} are wanted")
    return np.ascontiguousarray(rows[:ROWS].transpose(1, 0, 2).astype(np.int32))


def traces_folder(root):
    named = os.environ.get("ROUTECAP_TRACES")
    return pathlib.Path(named or root / ".." / "shared" / "traces") / "gpt-oss-20b"


def known(root):
    """By name; the recorded one only where its routes are found."""
    found = {
        "deepseek-v3": Workload("deepseek-v3", 61, 58, 8, 256, 200_000, "synthetic"),
        "qwen3-30b": Workload("qwen3-30b", 48, 48, 8, 128, 200_000, "synthetic"),
    }
    if (traces_folder(root) / "ids_u8.npy").exists():
        found["gpt-oss-20b"] = Workload("gpt-oss-20b", 24, 24, 4, 32, 200_000, "recorded routes")
    return found


@dataclass(frozen=True)
class Data:
    """A workload on disk, in the plain arrays that a C program reads too."""

    folder: pathlib.Path
    workload: Workload

    @property
    def ids_file(self):
        return self.folder / "ids.i32"

    @property
    def order_file(self):
        return self.folder / "order.i64"

    @property
    def check_folder(self):
        return self.folder / "check"

    def ids(self):
        return np.fromfile(self.ids_file, np.int32).reshape(self.workload.captured, ROWS, self.workload.top_k)

    def order(self, kind):
        return np.fromfile(self.order_file, np.int64) if kind == "random" else np.arange(self.workload.slots)

    def layer_ids(self, n):
        """For every captured layer its ids [n, K], each an array of its own."""
        return [np.ascontiguousarray(layer[:n]) for layer in self.ids()]

    def rows_of_routecap(self, n):
        """What the C program read back: int32 [n, captured layers, K]."""
        return np.fromfile(self.check_folder / f"n{n}.ids", np.int32).reshape(n, self.workload.captured, self.workload.top_k)

    def text_of_routecap(self, n, form):
        return (self.check_folder / f"n{n}.{form}.text").read_bytes()


def write(workload, folder, root):
    folder.mkdir(parents=True, exist_ok=True)
    data = Data(folder, workload)
    data.check_folder.mkdir(exist_ok=True)
    ids = recorded_ids(traces_folder(root)) if workload.source == "recorded routes" else synthetic_ids(workload)
    ids.tofile(data.ids_file)
    np.random.default_rng(2).permutation(workload.slots).astype(np.int64).tofile(data.order_file)
    (folder / "workload.json").write_text(json.dumps(asdict(workload)))
    return data


def load(folder):
    folder = pathlib.Path(folder)
    return Data(folder, Workload(**json.loads((folder / "workload.json").read_text())))
