# SPDX-License-Identifier: Apache-2.0
"""Random schedules as SGLang's scheduler makes them, played to several capturers at once.

The oracle knows tokens, not slots: for every token it keeps the ids that its last forward chose. Slots come from SGLang's own allocator.
"""

import dataclasses
import random

import numpy as np
import original
import torch
from sides import E, K, LAYERS, ROUTED


@dataclasses.dataclass
class Request:
    number: int
    prompt: int
    most: int  # tokens generated until it ends
    slots: list = dataclasses.field(default_factory=list)
    rows: list = dataclasses.field(default_factory=list)  # the oracle's, one for each token that was an input: int32 [ROUTED, K]
    shared: int = 0  # tokens whose KV belongs to the prefix cache
    generated: int = 0
    flying: int = 0  # forwards with it whose result was not looked at
    ended: bool = False

    @property
    def tokens(self):
        return self.prompt + self.generated


class Schedule:
    def __init__(self, sides, seed, slots=160, chunk=24, shared=0, page=1, overlap=False):
        self.sides, self.chunk, self.shared, self.overlap = sides, chunk, shared, overlap
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.allocator = original.TokenToKVPoolAllocator(slots - 1, torch.int32, "cpu", None, need_sort=False)
        self.table = torch.zeros((16, 256), dtype=torch.int32)
        self.running, self.cache, self.in_flight = [], [], []
        self.made = 0
        self.answers = []  # (oracle's rows, [each side's rows])
        self.counts = dict.fromkeys(("prefix", "chunked", "mixed", "retracted", "padded", "evicted", "warm_up", "ahead"), 0)

    # ---- memory

    def allocate(self, count):
        while self.allocator.available_size() < count:
            if self.cache:
                slots, _ = self.cache.pop(0)
                self.allocator.free(torch.tensor(slots))
                self.counts["evicted"] += 1
            else:
                return None
        return self.allocator.alloc(count).tolist()

    def start(self):
        prompt = self.random.randint(1, 40)
        request = Request(self.made, prompt, self.random.randint(1, 12))
        self.made += 1
        if self.cache and self.random.random() < 0.5:
            # At least the last token of the prompt is forwarded again, so that there is something to sample from. The entry leaves the cache: an
            # entry has one user, so that nothing of it is evicted under a request.
            slots, rows = self.cache.pop(self.random.randrange(len(self.cache)))
            request.shared = min(len(slots), prompt - 1)
            request.slots, request.rows = slots[: request.shared], rows[: request.shared]
            if slots[request.shared :]:
                self.allocator.free(torch.tensor(slots[request.shared :]))
            self.counts["prefix"] += request.shared > 0
        self.running.append(request)

    def release(self, request, keep):
        """Its KV goes to the prefix cache, or back to the allocator."""
        rows = request.tokens - 1
        if keep and rows > 0:
            self.cache.append((request.slots[:rows], request.rows[:rows]))
            rest = request.slots[rows:]
        else:
            rest = request.slots
        if rest:
            self.allocator.free(torch.tensor(rest))

    def retract(self):
        """Preempted: its memory goes, and all its tokens are computed again later."""
        request = self.random.choice(self.running)
        self.release(request, keep=False)
        request.slots, request.rows, request.shared = [], [], 0
        self.counts["retracted"] += 1

    # ---- forwards

    def ids(self, rows, padding):
        """int32 [rows + padding, K + shared] for every layer that routes; the padding holds anything."""
        found = {}
        for layer in ROUTED:
            chosen = np.argsort(self.numbers.random((rows + padding, E)), axis=1)[:, :K].astype(np.int32)
            chosen[rows:] = self.numbers.integers(-5, 100_000, (padding, K))
            extra = self.numbers.integers(E, E + 4, (rows + padding, self.shared)).astype(np.int32)
            found[layer] = torch.from_numpy(np.concatenate((chosen, extra), axis=1))
        return found

    def step(self):
        work, budget = [], self.chunk
        for request in self.random.sample(self.running, len(self.running)):
            # With overlap the next token is forwarded before it is known, one row too many for a request that ends with the forward in flight.
            ahead = self.overlap and request.flying > 0 and len(request.rows) == request.tokens
            count = min(request.tokens + ahead - len(request.rows), budget)
            if count == 0:
                continue
            slots = self.allocate(count)
            if slots is None:
                continue
            self.counts["chunked"] += len(request.rows) + count < request.prompt
            self.counts["ahead"] += ahead
            work.append((request, count, slots))
            budget -= count
        if not work:
            return
        self.counts["mixed"] += len({count == 1 for _, count, _ in work}) == 2
        rows = sum(count for _, count, _ in work)
        padding = self.random.choice((0, 0, 1, 7))
        self.counts["padded"] += padding > 0
        ids = self.ids(rows, padding)
        if self.counts["warm_up"] == 0:
            self.warm_up()
        slots = [slot for _, _, part in work for slot in part]
        outputs = []
        for side in self.sides:
            outputs.append(side.step(ids, slots, overlap=self.overlap))
        at = 0
        chosen = np.stack([ids[layer].numpy()[:, :K] for layer in ROUTED], axis=1)
        for request, count, part in work:
            request.rows = request.rows + list(chosen[at : at + count])
            request.slots = request.slots + part
            request.flying += 1
            at += count
        self.in_flight.append((outputs, [(request, len(request.rows)) for request, _, _ in work]))

    def warm_up(self):
        """Forwards that nobody ends, before the first that is."""
        self.counts["warm_up"] += 1
        for _ in range(2):
            ids = self.ids(5, 0)
            for side in self.sides:
                side.forward(ids)

    def finish(self):
        """The oldest forward's result: its rows are stored, tokens are appended, requests end."""
        outputs, requests = self.in_flight.pop(0)
        if self.overlap:
            for output in outputs:
                output.map_device_tensors(lambda tensor: tensor.clone())
                output.finalize()
        for request, reached in requests:
            request.flying -= 1
            if not request.ended and reached >= request.tokens:
                request.generated += 1
                if request.generated == request.most:
                    self.end(request)
            if request.ended and request.flying == 0:
                self.release(request, keep=self.random.random() < 0.7)

    def end(self, request):
        self.running.remove(request)
        n = request.tokens
        row = request.number % len(self.table)
        self.table[row, : len(request.slots)] = torch.tensor(request.slots, dtype=torch.int32)
        start = self.random.choice((0, 0, self.random.randint(0, request.prompt), n - 1))
        oracle = np.zeros((n - 1 - start, LAYERS, K), np.int32)
        if n - 1 > start:
            oracle[:, ROUTED] = np.stack(request.rows[start : n - 1])
        self.answers.append((oracle, [side.collect(self.table, row, request.prompt, request.generated, start) for side in self.sides]))
        request.ended = True

    def play(self, steps):
        for _ in range(steps):
            if len(self.running) < 8 and self.random.random() < 0.5:
                self.start()
            if self.running and not self.in_flight and self.random.random() < 0.06:
                self.retract()
            self.step()
            # With overlap the next forward is launched before the last one's result is looked at.
            while len(self.in_flight) > (1 if self.overlap else 0) or (self.in_flight and self.random.random() < 0.5):
                self.finish()
        while self.in_flight:
            self.finish()
