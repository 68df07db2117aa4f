# SPDX-License-Identifier: Apache-2.0
"""Records as arrays with holes, layers and weights, their frames by the script that makes the golden files, and the recorded traces."""

import csv
import dataclasses
import json
import os
import pathlib

import numpy as np
from command import make_golden

PARTIAL = 4
WEIGHTS = {"f2": 6, "bf": 7, "f4": 8}


@dataclasses.dataclass
class Record:
    """ids [rows, L, K]; valid [rows, L]; weights as float64 [rows, L, K] or None."""

    ids: np.ndarray
    experts: int
    valid: np.ndarray = None
    layer_ids: list = None
    flags: list = None
    start: int = 0
    weights: np.ndarray = None
    weights_type: str = "f4"

    def __post_init__(self):
        self.ids = np.asarray(self.ids)
        rows, layers, _ = self.ids.shape
        if self.valid is None:
            self.valid = np.ones((rows, layers), bool)
        self.layer_ids = list(range(layers)) if self.layer_ids is None else list(self.layer_ids)
        self.flags = [0] * layers if self.flags is None else list(self.flags)

    def frame(self):
        """The bytes of a frame."""
        rows, layers, top_k = self.ids.shape
        dtype = ("<u1", 1) if self.experts <= 256 else ("<u2", 2) if self.experts <= 65536 else ("<i4", 4)
        is_partial = any(flag & PARTIAL for flag in self.flags)
        row_valid = self.valid.any(axis=1) | all(flag & PARTIAL for flag in self.flags)
        runs = []
        wanted = True
        at = 0
        while at < rows:
            end = at
            while end < rows and row_valid[end] == wanted:
                end += 1
            runs.append(end - at)
            at, wanted = end, not wanted
        cells = self.valid & row_valid[:, None]
        has_cells = is_partial or (row_valid[:, None] & ~self.valid).any()
        ids = self.ids.astype(dtype[0])
        ids.view("u1").reshape(rows, layers, top_k * ids.itemsize)[~self.valid] = 255
        weights, weights_code = None, 0
        if self.weights is not None:
            weights, weights_code = self.weight_bits(), WEIGHTS[self.weights_type]
            weights.view("u1").reshape(rows, layers, top_k * weights.itemsize)[~self.valid] = 255
        spans = [(self.start, 0)] if row_valid.any() else []
        return make_golden.frame(
            self.start, self.experts, self.layer_ids, self.flags, ids, dtype[1], runs, cells if has_cells else None, spans, weights, weights_code, 0
        )

    def weight_bits(self):
        if self.weights_type == "bf":
            return (self.weights.astype("<f4").view("<u4") >> 16).astype("<u2")
        return self.weights.astype("<" + self.weights_type)

    def write(self, path):
        pathlib.Path(path).write_bytes(self.frame())
        return str(path)


def random_record(rows, layers, experts, top_k, seed=1, **more):
    """Ids that differ inside a cell, some experts far more frequent than others."""
    random = np.random.default_rng(seed)
    popularity = random.exponential(1.0, (1, layers, experts)) ** 2
    keys = random.exponential(1.0, (rows, layers, experts)) / popularity
    return Record(np.argsort(keys, axis=2, kind="stable")[:, :, :top_k], experts, **more)


def with_holes(record, seed=2, share=0.2, whole_rows=0.1):
    """The same with cells and whole rows missing. A layer with holes of its own is partial."""
    random = np.random.default_rng(seed)
    rows, layers = record.valid.shape
    valid = random.random((rows, layers)) >= share
    valid[random.random(rows) < whole_rows] = False
    return dataclasses.replace(record, valid=valid, flags=[PARTIAL] * layers)


def traces():
    """Name, path, options that the command needs, and what the trace holds; nothing where there are no recorded routes."""
    folder = pathlib.Path(os.environ.get("ROUTECAP_TRACES") or os.environ["ROUTECAP_DEFAULT_TRACES"])
    found = []
    for path in sorted((folder / "bigmoe").glob("*.route.csv")):
        found.append((path.name, str(path), [], _moe_trace(path)))
    ids = folder / "gpt-oss-20b" / "ids_u8.npy"
    if ids.exists():
        with open(folder / "gpt-oss-20b" / "index.json") as file:
            index = json.load(file)
        found.append(("gpt-oss-20b", str(ids), ["--start", "0", "--experts", str(index["experts"])], Record(np.load(ids), index["experts"])))
    return found


def _moe_trace(path):
    """A moe-trace CSV of one turn: a line per step, layer and slot."""
    comments = {}
    with open(path) as file:
        lines = []
        for line in file:
            if line.startswith("#"):
                comments.update(word.split("=", 1) for word in line[1:].split() if "=" in word)
            else:
                lines.append(line)
    table = list(csv.DictReader(lines))
    step, layer, slot, expert = (np.array([int(line[name]) for line in table]) for name in ("step", "layer", "slot", "expert"))
    weight = np.array([float(line["weight"]) for line in table], "f4").astype("f8")
    layers = np.unique(layer)
    column = np.searchsorted(layers, layer)
    shape = (step.max() - step.min() + 1, len(layers), slot.max() + 1)
    ids = np.zeros(shape, int)
    weights = np.zeros(shape)
    filled = np.zeros(shape, bool)
    where = (step - step.min(), column, slot)
    ids[where], weights[where], filled[where] = expert, weight, True
    return Record(ids, int(comments["n_expert"]), filled.all(axis=2), layers.tolist(), None, int(step.min()), weights)
