# SPDX-License-Identifier: Apache-2.0
"""Random schedules of an engine against a naive model of the contract in numpy."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import routecap
from routecap import Acceptance, Array, DType, Record

SLOTS, RESERVED, ROWS, DEPTH = 24, 1, 8, 3
LAYERS = (2, 3, 7)
IDS = [np.uint8, np.uint16, np.int16, np.int32, np.int64]


@dataclass
class Forward:
    """A forward as the model has it. `writes` is None until it is known which rows go where."""

    output: routecap.Output | None
    rows: np.ndarray
    weights: np.ndarray | None
    slots: list[int]  # of every row
    writes: dict[int, int] | None
    good: bool
    state: str = "staged"  # copied, settled, dropped

    @property
    def pending(self) -> bool:
        return self.state in ("staged", "copied")

    def may_write(self, slot: int) -> bool:
        return slot in (self.slots if self.writes is None else self.writes)

    @property
    def unknown(self) -> bool:
        """LATER with no slots may write any, for all that is known when it ends: here a forward without tokens, which writes none."""
        return self.writes is None and not self.slots


@dataclass
class Release:
    slots: set[int] | None  # None is all of them


@dataclass
class Copy:
    pairs: dict[int, int]  # target: source


class NotReady(Exception):
    pass


class Engine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        # Number n is events[n - 1]: what a slot shows is worked out anew at every look.
        self.events: list[Forward | Release | Copy] = []
        self.live = routecap.live_handles()

    @initialize(
        num_experts=st.sampled_from([8, 256, 257, 70000]),
        top_k=st.integers(1, 3),
        weights=st.sampled_from([DType.NONE, DType.FLOAT32, DType.BFLOAT16]),
        seed=st.integers(0, 2**32 - 1),
    )
    def start(self, num_experts: int, top_k: int, weights: DType, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.config = routecap.Config(
            num_experts=num_experts, top_k=top_k, layer_ids=LAYERS, chunked_prefill_size=ROWS, num_slots=SLOTS, reserved_slots=RESERVED,
            pipeline_depth=DEPTH, weights_dtype=weights,
        )
        self.capturer = routecap.Capturer(self.config)
        target, draft = (self.capturer.add_model(role, role.name) for role in (routecap.Role.TARGET, routecap.Role.DRAFT))
        self.taps = [target.add_tap(layer) for layer in LAYERS]
        self.draft = draft.add_tap(LAYERS[0])
        self.capturer.seal()

    # The model.

    def shows(self, slot: int, before: int | None = None) -> tuple[np.ndarray, np.ndarray | None] | None:
        """What a slot shows; None is missing.

        With `before`, what it shows as a copy's source, of the events numbered below: a forward that may still change that is waited for (R12).
        """
        if slot < RESERVED:
            return None
        for number in range(len(self.events) if before is None else before - 1, 0, -1):
            event = self.events[number - 1]
            if before is not None and isinstance(event, Forward) and event.pending and event.may_write(slot):
                raise NotReady
            if isinstance(event, Release):
                if event.slots is None or slot in event.slots:
                    return None
            elif isinstance(event, Copy):
                if slot in event.pairs:
                    return self.shows(event.pairs[slot], number)
            elif not event.pending and event.writes is not None and slot in event.writes:
                if event.state == "settled" and event.good:
                    row = event.writes[slot]
                    return event.rows[row], None if event.weights is None else event.weights[row]
                return None
        return None

    def unsettled_writers(self, slot: int, before: int) -> bool:
        """Whether a forward numbered below `before` may still change a slot, through copies too."""
        for number in range(before - 1, 0, -1):
            event = self.events[number - 1]
            if isinstance(event, Forward) and event.pending and (event.may_write(slot) or event.unknown):
                return True
            if isinstance(event, Copy) and slot in event.pairs and self.unsettled_writers(event.pairs[slot], number):
                return True
        return False

    def copy_pending(self, slot: int) -> bool:
        return any(
            isinstance(event, Copy) and slot in event.pairs and self.unsettled_writers(event.pairs[slot], number)
            for number, event in enumerate(self.events, 1)
        )

    def pending(self) -> list[tuple[int, Forward]]:
        return [(number, event) for number, event in enumerate(self.events, 1) if isinstance(event, Forward) and event.pending]

    # The engine.

    def captured(self, tokens: int, *, leave_out: bool) -> tuple[np.ndarray, np.ndarray | None]:
        config = self.config
        shape = (tokens, len(LAYERS), config.top_k)
        rows = self.random.integers(0, config.num_experts, shape)
        weights = None if config.weights_dtype is DType.NONE else self.random.random(shape).astype(np.float32)
        if config.weights_dtype is DType.BFLOAT16:
            weights = (weights.view(np.uint32) >> 16).astype(np.uint16)
        self.draft.capture(rows[:, 0])
        for column, tap in enumerate(self.taps):
            if leave_out and column == 1:
                continue
            fitting = [dtype for dtype in IDS if np.iinfo(dtype).max >= config.num_experts - 1]
            ids = rows[:, column].astype(fitting[self.random.integers(len(fitting))])
            if self.random.random() < 0.3:
                wide = np.zeros((tokens, config.top_k + 2), ids.dtype)
                wide[:, : config.top_k] = ids
                ids = wide[:, : config.top_k]
            beside: Any = None
            if weights is not None:
                beside = np.ascontiguousarray(weights[:, column])
                if config.weights_dtype is DType.BFLOAT16:
                    beside = Array.of(beside, dtype=DType.BFLOAT16)
            cut = int(self.random.integers(0, tokens + 1)) if weights is None else 0
            # In two pieces now and then, as a forward of two half-batches.
            for first, last in ((0, cut), (cut, tokens)):
                if last > first or tokens == 0:
                    tap.capture(ids[first:last], beside, first_row=first)
        return rows, weights

    @rule(
        slots=st.lists(st.integers(RESERVED - 1, SLOTS - 1), max_size=ROWS, unique=True),
        acceptance=st.sampled_from(Acceptance),
        leave_out=st.sampled_from([False] * 7 + [True]),
        int32=st.booleans(),
        choice=st.randoms(use_true_random=False),
    )
    def forward(self, slots: list[int], acceptance: Acceptance, leave_out: bool, int32: bool, choice: Any) -> None:
        tokens = len(slots)
        rows, weights = self.captured(tokens, leave_out=leave_out)
        listed: Any = np.array(slots, np.int32 if int32 else np.int64) if choice.random() < 0.7 else slots
        given: Any = None
        writes: dict[int, int] | None = dict(zip(slots, range(tokens)))
        if acceptance is Acceptance.GIVEN:
            chosen = choice.sample(range(tokens), choice.randint(0, tokens))
            named = {row: slots[index] for index, row in enumerate(chosen)}
            given = np.array(chosen, np.int64)
            listed = np.array(list(named.values()), np.int64)
            writes = {slot: row for row, slot in named.items()}
        elif acceptance is Acceptance.LATER:
            writes = None
        arguments = {"acceptance": acceptance, "rows": given, "step": len(self.events)}
        if len(self.pending()) == DEPTH:
            with np.testing.assert_raises(routecap.BusyError):
                self.capturer.end_forward(tokens, listed, **arguments)
            # Nothing is lost: the oldest is settled and the call repeated.
            self.settle(self.pending()[0][1])
        output = self.capturer.end_forward(tokens, listed, **arguments)
        good = not leave_out or tokens == 0
        self.events.append(Forward(output, rows, weights, slots, writes, good))
        assert output.sequence == len(self.events)

    @rule(tokens=st.integers(0, ROWS))
    def warm_up(self, tokens: int) -> None:
        """R27."""
        self.captured(tokens, leave_out=False)
        self.capturer.discard_forward()

    def accept(self, forward: Forward) -> None:
        tokens = len(forward.rows)
        chosen = [int(row) for row in self.random.permutation(tokens)[: self.random.integers(0, tokens + 1)]]
        assert forward.output is not None
        forward.output.accept(chosen if self.random.random() < 0.5 else np.array(chosen, np.int32))
        forward.writes = {forward.slots[row]: row for row in chosen}

    def settle(self, forward: Forward) -> None:
        if forward.writes is None:
            self.accept(forward)
        output = forward.output
        assert output is not None
        output.copy_to_host()
        output.wait(10.0)
        summary = output.finalize()
        forward.state = "settled"
        writes = {slot: row for slot, row in (forward.writes or {}).items() if slot >= RESERVED}
        assert summary.entries == len(forward.writes or {}) and summary.rows_reserved == summary.entries - len(writes) or not forward.good
        assert (summary.rows_bad > 0) == (not forward.good and bool(forward.writes))
        assert output.finalize() == summary
        output.close()
        forward.output = None

    @precondition(lambda self: self.pending())
    @rule(choice=st.randoms(use_true_random=False))
    def finalize(self, choice: Any) -> None:
        """In any order (R10)."""
        self.settle(choice.choice(self.pending())[1])

    @precondition(lambda self: self.pending())
    @rule(choice=st.randoms(use_true_random=False))
    def drop(self, choice: Any) -> None:
        """R33: its slots settle as missing at its number; one that was never accepted touches none."""
        _, forward = choice.choice(self.pending())
        if choice.random() < 0.5:
            forward.output.copy_to_host()
        forward.output.close()
        forward.output = None
        forward.state = "dropped"
        forward.writes = forward.writes or {}

    @rule(slots=st.lists(st.integers(0, SLOTS - 1), max_size=6), everything=st.sampled_from([False] * 9 + [True]))
    def release(self, slots: list[int], everything: bool) -> None:
        if everything:
            self.capturer.release_all()
        else:
            self.capturer.release_slots(slots)
        self.events.append(Release(None if everything else set(slots)))

    @rule(pairs=st.dictionaries(st.integers(RESERVED, SLOTS - 1), st.integers(0, SLOTS - 1), max_size=5))
    def copy(self, pairs: dict[int, int]) -> None:
        self.capturer.copy_slots(np.array(list(pairs.values()), np.int64), np.array(list(pairs), np.int64))
        self.events.append(Copy(pairs))

    @rule(slots=st.lists(st.integers(-1, SLOTS - 1), min_size=1, max_size=10), choice=st.randoms(use_true_random=False), last=st.booleans())
    def read(self, slots: list[int], choice: Any, last: bool) -> None:
        tokens = len(slots) + (not last)
        start = choice.randint(0, tokens)
        self.check_read(slots, tokens, start, include_last=last)

    def check_read(self, slots: list[int], tokens: int, start: int, *, include_last: bool) -> None:
        looked_at = [slot for slot in slots[start:] if slot >= 0]
        try:
            record = self.capturer.read(slots, tokens, start=start, include_last=include_last)
        except routecap.NotReadyError:
            assert any(self.copy_pending(slot) for slot in looked_at)
            return
        shown = []
        for slot in slots:
            try:
                shown.append(self.shows(slot) if slot >= 0 else None)
            except NotReady:
                assert slot not in looked_at[: record.rows], "the target of a pending copy was read"
                shown.append(None)
        rows = tokens - 1
        # R2: the last one is there if its slot is valid.
        if include_last and tokens and shown[tokens - 1] is not None:
            rows = tokens
        with record:
            assert (record.start, record.rows) == (start, max(0, rows - start))
            want = shown[start:rows]
            np.testing.assert_array_equal(record.valid, np.array([row is not None for row in want], np.bool_))
            for row, cell in enumerate(want):
                if cell is None:
                    assert (record.ids[row].view(np.uint8) == 0xFF).all()
                    continue
                np.testing.assert_array_equal(record.ids[row], cell[0])
                if cell[1] is not None:
                    np.testing.assert_array_equal(record.weights[row], cell[1])
            frame = bytes(record)
            assert self.capturer.encode(slots, tokens, "frame", start=start, include_last=include_last) == frame
            with Record.decode("frame", frame) as again:
                assert again == record

    @invariant()
    def counters(self) -> None:
        if hasattr(self, "capturer"):
            stats = self.capturer.stats()
            assert stats.in_flight == len(self.pending()) and stats.last_sequence == len(self.events)

    def teardown(self) -> None:
        if not hasattr(self, "capturer"):
            return
        try:
            for _, forward in self.pending():
                self.settle(forward)
            # All is settled: every slot shows what it should, and nothing waits any more.
            slots = list(range(SLOTS))
            assert not any(self.copy_pending(slot) for slot in slots)
            last = max((number for number, event in enumerate(self.events, 1) if isinstance(event, Forward)), default=0)
            self.capturer.read(slots, SLOTS + 1, after_sequence=last).close()
            self.check_read(slots, SLOTS + 1, 0, include_last=False)
        finally:
            for event in self.events:
                if isinstance(event, Forward) and event.output is not None:
                    event.output.close()
            self.capturer.close()
        assert routecap.live_handles() == self.live


Engine.TestCase.settings = settings(
    max_examples=int(os.environ.get("ROUTECAP_PYTHON_EXAMPLES", "40")),
    stateful_step_count=40,
    deadline=None,
    database=None,
    # The same schedules in every run, unless others are asked for by a seed (pytest --hypothesis-seed=N).
    derandomize=not any(argument.startswith("--hypothesis-seed") for argument in sys.argv),
    suppress_health_check=list(HealthCheck),
)
TestEngine = Engine.TestCase
