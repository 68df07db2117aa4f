# SPDX-License-Identifier: Apache-2.0
"""`routecap stats` against the same numbers from numpy."""

import csv
import io
import itertools
from collections import Counter

import numpy as np
from records import PARTIAL, Record, random_record, traces, with_holes
from view_case import ViewCase, main


def expected(record, column, weighted=False):
    """One layer's statistics, from their definitions."""
    valid = record.valid[:, column]
    ids = record.ids[:, column]
    chosen = ids[valid].reshape(-1)
    by = record.weights[:, column][valid].reshape(-1) if weighted else None
    load = np.bincount(chosen, by, record.experts).astype(float)
    found = {"layer": record.layer_ids[column], "cells": int(valid.sum()), "cells_missing": int((~valid).sum()), "total": load.sum(), "max": load.max()}
    found.update(mean=load.mean(), experts_used=int((load > 0).sum()), load=load, imbalance=None, entropy_bits=None, cv=None, reuse=None)
    if load.sum() > 0:
        share = load[load > 0] / load.sum()
        found.update(imbalance=load.max() / load.mean(), entropy_bits=-(share * np.log2(share)).sum(), cv=load.std() / load.mean())
    both = [row for row in range(1, len(valid)) if valid[row] and valid[row - 1]]
    pairs = [(set(ids[row]), set(ids[row - 1])) for row in both]
    if pairs:
        found["reuse"] = sum(len(now & before) for now, before in pairs) / sum(len(now) for now, _ in pairs)
    sets = [sorted(set(row)) for row in ids[valid].tolist()]
    together = Counter(itertools.chain.from_iterable(itertools.combinations(row, 2) for row in sets))
    alone = Counter(itertools.chain.from_iterable(sets))
    best = sorted(together.items(), key=lambda item: (-item[1], item[0]))
    found["pairs"] = [(pair, count, count * len(sets) / (alone[pair[0]] * alone[pair[1]])) for pair, count in best]
    found["busiest"] = sorted((int(expert) for expert in np.flatnonzero(load)), key=lambda expert: (-load[expert], expert))
    return found


class StatsTest(ViewCase):
    def close(self, got, want, what):
        if want is None:
            self.assertIsNone(got, what)
        else:
            self.assertIsNotNone(got, what)
            self.assertTrue(np.isclose(got, want, rtol=1e-12, atol=1e-12), "%s is %r, expected %r" % (what, got, want))

    def check(self, record, path, options=(), weighted=False, pairs=7, busiest=4):
        extra = ["--weighted"] if weighted else []
        got = self.done("stats", path, "--json", "--pairs", pairs, "--busiest", busiest, *extra, *options).json()
        rows, layers, top_k = record.ids.shape
        partial = all(flag & PARTIAL for flag in record.flags)
        rows_valid = rows if partial else int(record.valid.any(axis=1).sum())
        for key, want in (("start", record.start), ("rows", rows), ("rows_valid", rows_valid), ("experts", record.experts), ("top_k", top_k)):
            self.assertEqual(got[key], want, key)
        self.assertEqual(got["load"], "weights" if weighted else "choices")
        self.close(got["entropy_limit_bits"], np.log2(record.experts), "limit of entropy")
        self.assertEqual(len(got["layers"]), layers)
        for column, layer in enumerate(got["layers"]):
            want = expected(record, column, weighted)
            for key in ("layer", "cells", "cells_missing", "experts_used"):
                self.assertEqual(layer[key], want[key], key)
            for key in ("total", "mean", "max", "imbalance", "entropy_bits", "cv", "reuse"):
                self.close(layer[key], want[key], "layer %d: %s" % (want["layer"], key))
            self.assertEqual(len(layer["load"]), record.experts)
            np.testing.assert_allclose(layer["load"], want["load"], rtol=1e-12)
            self.assertEqual([one["expert"] for one in layer["busiest"]], want["busiest"][:busiest])
            for one in layer["busiest"]:
                self.close(one["load"], want["load"][one["expert"]], "load of a busy expert")
            self.assertEqual([(tuple(pair["experts"]), pair["cells"]) for pair in layer["pairs"]], [pair[:2] for pair in want["pairs"][:pairs]])
            for pair, (_, _, lift) in zip(layer["pairs"], want["pairs"]):
                self.close(pair["lift"], lift, "lift")
        return got

    def test_real_traces_agree_with_numpy(self):
        found = traces()
        if not found:
            self.skipTest("no recorded traces (ROUTECAP_TRACES)")
        self.assertEqual(len(found), 4)
        for name, path, options, record in found:
            with self.subTest(trace=name):
                self.check(record, path, options)
                if record.weights is not None:
                    self.check(record, path, options, weighted=True)

    def test_random_records_agree_with_numpy(self):
        shapes = ((40, 3, 16, 4), (300, 2, 256, 8), (25, 1, 257, 2), (9, 58, 256, 8), (12, 2, 1025, 5), (6, 2, 70000, 3))
        for seed, (rows, layers, experts, top_k) in enumerate(shapes):
            with self.subTest(shape=(rows, layers, experts, top_k)):
                record = random_record(rows, layers, experts, top_k, seed, layer_ids=range(3, 3 + 2 * layers, 2), start=11)
                self.check(record, record.write(self.path("whole")))
                holed = with_holes(record, seed)
                self.check(holed, holed.write(self.path("holes")))

    def test_missing_rows_and_cells_count_nowhere(self):
        # Row 1 is missing, and row 3 in layer 8 alone: neither counts, and no reuse is seen across them.
        ids = [[[0, 1], [2, 3]], [[7, 7], [7, 7]], [[1, 2], [2, 3]], [[1, 2], [7, 7]], [[0, 1], [2, 0]]]
        valid = np.array([[1, 1], [0, 0], [1, 1], [1, 0], [1, 1]], bool)
        record = Record(ids, 8, valid, [5, 8], [0, PARTIAL])
        got = self.check(record, record.write(self.path("f")))
        first, second = got["layers"]
        self.assertEqual(first["load"], [2, 4, 2, 0, 0, 0, 0, 0])
        self.assertEqual(first["cells"], 4)
        self.assertEqual(first["imbalance"], 4.0)  # 4 of a mean of 1
        self.assertEqual(first["entropy_bits"], 1.5)  # shares 1/4, 1/2, 1/4
        self.assertEqual(first["reuse"], 0.75)  # rows 3 (both) and 4 (one of two)
        self.assertEqual(second["load"], [1, 0, 3, 2, 0, 0, 0, 0])
        self.assertIsNone(second["reuse"])
        self.assertEqual(second["pairs"][0], {"experts": [2, 3], "cells": 2, "lift": 2 * 3 / (3 * 2)})

    def test_small_records(self):
        for name, record in {
            "one row": Record([[[4, 2]]], 8),
            "zero rows": Record(np.zeros((0, 3, 2), int), 8),
            "K = E": Record(np.tile(np.arange(5), (7, 2, 1)), 5),
            "E = 1": Record(np.zeros((3, 1, 1), int), 1),
            "no row captured": Record(np.zeros((4, 2, 2), int), 8, np.zeros((4, 2), bool)),
            "an expert twice in a cell": Record([[[3, 3]], [[3, 1]]], 4),
        }.items():
            with self.subTest(record=name):
                got = self.check(record, record.write(self.path("f")))
                if name == "K = E":
                    layer = got["layers"][0]
                    self.assertEqual((layer["imbalance"], layer["cv"], layer["reuse"], layer["pairs"][0]["lift"]), (1.0, 0.0, 1.0, 1.0))
                if name == "E = 1":
                    self.assertEqual(got["layers"][0]["entropy_bits"], 0.0)
                if name == "zero rows":
                    self.assertEqual([layer["imbalance"] for layer in got["layers"]], [None] * 3)

    def test_weighted_load(self):
        random = np.random.default_rng(5)
        for weights_type in ("f4", "f2", "bf"):
            with self.subTest(weights=weights_type):
                record = random_record(50, 3, 32, 4)
                record.weights = random.integers(0, 64, record.ids.shape) / 64.0  # exact in every type
                record.weights_type = weights_type
                record = with_holes(record)
                self.check(record, record.write(self.path("w")), weighted=True)
                self.check(record, record.write(self.path("w")))
        record.weights[:] = 0
        got = self.check(record, record.write(self.path("w")), weighted=True)
        self.assertEqual(got["layers"][0]["experts_used"], 0)

    def test_weights_that_are_no_load_are_refused(self):
        record = random_record(3, 2, 8, 2, layer_ids=[4, 9], start=100)
        self.refused("the record has no weights", "stats", record.write(self.path("f")), "--weighted")
        for weight in (-0.5, np.inf, np.nan):
            record.weights = np.ones(record.ids.shape)
            record.weights[2, 1, 0] = weight
            self.refused("position 102, layer 9: a weight of %s" % (weight if weight == weight else "nan"), "stats", record.write(self.path("f")), "--weighted")

    def test_csv_has_the_numbers_of_json(self):
        record = with_holes(random_record(60, 3, 12, 3, layer_ids=[1, 2, 5]))
        path = record.write(self.path("f"))
        got = self.done("stats", path, "--json").json()["layers"]
        table = list(csv.DictReader(io.StringIO(self.done("stats", path, "--csv").text())))
        self.assertEqual(len(table), 3)
        for line, layer in zip(table, got):
            for key in ("layer", "cells", "cells_missing", "total", "mean", "max", "imbalance", "entropy_bits", "cv", "experts_used", "reuse"):
                self.assertEqual(float(line[key]), float(layer[key]), key)
        table = list(csv.DictReader(io.StringIO(self.done("stats", path, "--csv", "--table", "load").text())))
        self.assertEqual(
            [(int(line["layer"]), int(line["expert"]), float(line["load"])) for line in table],
            [(layer["layer"], expert, load) for layer in got for expert, load in enumerate(layer["load"])],
        )
        table = list(csv.DictReader(io.StringIO(self.done("stats", path, "--csv", "--table", "pairs").text())))
        self.assertEqual(
            [(int(line["layer"]), [int(line["expert"]), int(line["other_expert"])], int(line["cells"]), float(line["lift"])) for line in table],
            [(layer["layer"], pair["experts"], pair["cells"], pair["lift"]) for layer in got for pair in layer["pairs"]],
        )
        # No number stands where there is none.
        empty = Record(np.zeros((0, 1, 2), int), 8)
        self.assertEqual(self.done("stats", empty.write(self.path("e")), "--csv").text().splitlines()[1], "0,0,0,0,0,0,,,,0,")

    def test_text_shows_the_layers(self):
        record = Record([[[0, 1], [2, 3]], [[0, 2], [2, 3]]], 4, layer_ids=[3, 7], flags=[0, 1])
        lines = self.done("stats", record.write(self.path("f")), "--busiest", 2, "--pairs", 1).text().splitlines()
        self.assertEqual(lines[0], "rows: 2 from position 0, 2 captured")
        self.assertEqual(lines[1], "experts: top 2 of 4; even load would be an entropy of 2 bits")
        self.assertEqual(lines[2], "load: choices")
        self.assertEqual(lines[4].split()[:8], ["layer", "cells", "missing", "imbalance", "entropy", "cv", "used", "reuse"])
        self.assertEqual(lines[5].split(), "3 2 0 2.00 1.500 0.707 3 50.0 % #0 50.0 %, #1 25.0 % #0+#1 1 x1.0".split())
        self.assertEqual(lines[6].split(), "7 (hash-routed) 2 0 2.00 1.000 1.000 2 100.0 % #2 50.0 %, #3 50.0 % #2+#3 2 x1.0".split())

    def test_output_appears_whole(self):
        path = random_record(4, 1, 8, 2).write(self.path("f"))
        shown = self.done("stats", path, "--csv").text()
        self.assertEqual(self.done("stats", path, "--csv", "-o", self.path("out")).out, b"")
        with open(self.path("out")) as file:
            self.assertEqual(file.read(), shown)
        self.refused("cannot", "stats", path, "-o", self.path("absent/out"), code=3)

    def test_bad_options_are_refused(self):
        path = random_record(4, 1, 8, 2).write(self.path("f"))
        self.refused("--csv", "stats", path, "--csv", "--json")
        self.refused("--table", "stats", path, "--table", "load")
        self.refused("--table", "stats", path, "--csv", "--table", "rows")
        self.refused("--busiest", "stats", path, "--busiest", "-1")
        self.refused("--pairs", "stats", path, "--pairs", "x")
        self.refused("FILE", "stats")

    def test_more_experts_than_can_be_counted_are_refused(self):
        record = Record(np.zeros((1, 1, 1), int), 2**31 - 1)
        self.refused("1 layers of 2147483647 experts", "stats", record.write(self.path("f")))


if __name__ == "__main__":
    main()
