# SPDX-License-Identifier: Apache-2.0
"""Times the stages of one subject, as the C program times ours: rounds over all stages, a few calls to warm up in each."""

import gc
import statistics
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

WARM = 3


@dataclass
class Stage:
    name: str
    run: Callable  # run(call); may return the nanoseconds of what counts, where the rest of it is preparation
    slots: Optional[str] = None
    reach: Optional[str] = None
    prepare: Optional[Callable] = None
    samples: list = field(default_factory=list)
    best_round: float = float("inf")
    calls: int = 0


def repetitions(n, scale):
    return max(3, int((400 if n <= 8 else 200 if n <= 64 else 120 if n <= 512 else 5) * scale))


def one_round(stage, count):
    samples = []
    for repetition in range(WARM + count):
        if stage.prepare:
            stage.prepare(stage.calls)
        start = time.perf_counter_ns()
        told = stage.run(stage.calls)
        spent = time.perf_counter_ns() - start
        stage.calls += 1
        if repetition >= WARM:
            samples.append((told if type(told) is int else spent) / 1000)
        told = None  # freed outside the next measurement
    stage.samples += samples
    stage.best_round = min(stage.best_round, statistics.median(samples))


def measure(stages, n, rounds, scale):
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for stage in stages:
                one_round(stage, repetitions(n, scale))
    finally:
        gc.enable()


def row(peer, stage, n, threads):
    """One line of JSON for a measured stage, all times in microseconds."""
    sorted_samples = sorted(stage.samples)
    at = lambda share: sorted_samples[min(len(sorted_samples) - 1, int(share * len(sorted_samples)))]
    return {
        "peer": peer,
        "stage": stage.name,
        "n": n,
        "threads": threads,
        "slots": stage.slots,
        "reach": stage.reach,
        "median_us": at(0.5),
        "best_round_us": stage.best_round,
        "min_us": sorted_samples[0],
        "p10_us": at(0.1),
        "p90_us": at(0.9),
        "max_us": sorted_samples[-1],
        "reps": len(sorted_samples),
    }
