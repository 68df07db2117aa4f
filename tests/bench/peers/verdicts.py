# SPDX-License-Identifier: Apache-2.0
"""Pairs what the subjects measured, and holds the ratios against the aims."""

from dataclasses import dataclass
from typing import Optional

OURS = "routecap-c"
PYTHON = "routecap-python"

# How many times a stage shall be faster than the peer's, by batch size: one thread, DeepSeek-V3's shape. (peer, stage, reach) -> {n: ratio}
AIMS = {
    ("sglang", "capture", None): {1: 50, 64: 40, 256: 20, 8192: 2.5},
    ("sglang", "finalize", "reused"): {256: 12, 8192: 5},
    ("sglang", "finalize", "walked"): {256: 7, 8192: 5},
    ("sglang", "readback", "walked"): {256: 9, 8192: 12},
    ("sglang", "readback", "reused"): {256: 20, 8192: 14},
    ("sglang", "step", "walked"): {1: 40, 64: 20, 256: 10, 8192: 5},
}
EVERY_STAGE_OF_VLLM = {8192: 2}
AIMED_WORKLOAD = "deepseek-v3"
MEMORY_AIM = 4.2
WIRE_AIM = 5.6

# Stages of ours that do what a stage of the peer's does under another name: (peer, its stage) -> ours.
SAME_WORK = {
    ("vllm", "commit_stored"): "commit",
    ("vllm", "commit_decode"): "commit",
}
TITLES = {
    "capture": "capture, every layer",
    "end_forward": "end_forward (snapshot)",
    "finalize": "finalize into the slots",
    "commit": "end_forward and finalize",
    "commit_stored": "end_forward and finalize, until stored",
    "commit_decode": "end_forward and finalize, n requests",
    "step": "whole decode step",
    "read": "read a request's rows",
    "encode": "encode (base64)",
    "encode_npy": "encode (base64 of .npy)",
    "readback": "slots to wire text",
    "readback_npy": "slots to wire text (.npy)",
}


@dataclass
class Line:
    workload: str
    peer: str
    stage: str
    n: int
    threads: int
    slots: Optional[str]
    reach: Optional[str]
    theirs: dict
    ours: dict
    python: Optional[dict]
    aim: Optional[float]

    @property
    def ratio(self):
        """Of the medians of the quietest rounds: what another program did meanwhile is in neither."""
        return self.theirs["best_round_us"] / self.ours["best_round_us"]

    @property
    def ratio_of_medians(self):
        return self.theirs["median_us"] / self.ours["median_us"]

    @property
    def verdict(self):
        if self.aim is None:
            return ""
        return "met" if self.ratio >= self.aim else "MISSED"


def aim_of(workload, row):
    if workload != AIMED_WORKLOAD or row["threads"] != 1:
        return None
    if row["peer"] == "vllm":
        return EVERY_STAGE_OF_VLLM.get(row["n"])
    return AIMS.get((row["peer"], row["stage"], row["reach"]), {}).get(row["n"])


def place(row):
    return row["stage"], row["n"], row["slots"], row["reach"]


def ours_for(peer_row, ours):
    """Our row of the same work. With more threads than one, where no backend of ours has them, ours of one thread."""
    stage = SAME_WORK.get((peer_row["peer"], peer_row["stage"]), peer_row["stage"])
    slots, reach = peer_row["slots"], peer_row["reach"]
    if stage == "commit" and slots is None:
        slots, reach = "random", "walked"
    for threads in (peer_row["threads"], 1):
        found = ours.get((stage, peer_row["n"], slots, reach, threads))
        if found:
            return found
    return None


def lines(report):
    """Every row of a peer's beside ours."""
    workload = report["workload"]["name"]
    ours = {(*place(row), row["threads"]): row for row in report["rows"] if row["peer"] == OURS}
    python = {place(row): row for row in report["rows"] if row["peer"] == PYTHON}
    joined = []
    for row in report["rows"]:
        if row["peer"] in (OURS, PYTHON):
            continue
        mine = ours_for(row, ours)
        if mine is None:
            raise SystemExit(f"peers: nothing of ours stands beside {row['peer']}'s {row['stage']} of {row['n']} rows")
        joined.append(
            Line(workload, row["peer"], row["stage"], row["n"], row["threads"], row["slots"], row["reach"], row, mine, python.get(place(mine)), aim_of(workload, row))
        )
    return joined


@dataclass
class Size:
    what: str
    peer: str
    theirs: int
    ours: int
    aim: Optional[float] = None

    @property
    def ratio(self):
        return self.theirs / self.ours

    @property
    def verdict(self):
        # To the precision that the aim is given in.
        return "" if self.aim is None else "met" if round(self.ratio, 1) >= self.aim else "MISSED"


def sizes(report):
    aimed = report["workload"]["name"] == AIMED_WORKLOAD
    found = []
    for peer, bytes_per_slot in report["memory"].items():
        if peer != OURS:
            aim = MEMORY_AIM if aimed and peer == "sglang" else None
            found.append(Size("memory of a slot", peer, bytes_per_slot, report["memory"][OURS], aim))
    wire = {(line["peer"], line["n"]): line["bytes"] for line in report["wire"]}
    for (peer, n), theirs in wire.items():
        if peer == OURS:
            continue
        (form, size), = theirs.items()
        for our_form, our_size in wire[(OURS, n)].items():
            aim = WIRE_AIM if aimed and peer == "sglang" and our_form == "frame" and n == 8192 else None
            found.append(Size(f"{n} rows on the wire, {form} and our {our_form}", peer, size, our_size, aim))
    return found
