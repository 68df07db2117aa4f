# SPDX-License-Identifier: Apache-2.0
import numpy as np
from command import DONE, FINDINGS, GOLDEN, Case, main, make_frame, output, refused, report, sglang
from make_golden import npy

E, K = 64, 4


def routes(rows, layers):
    random = np.random.default_rng(5)
    return np.array([[random.permutation(E)[:K] for _ in range(layers)] for _ in range(rows)])


class Diff(Case):
    def test_the_same_is_exit_0(self):
        self.assertEqual(output("diff", GOLDEN / "cells.frame", GOLDEN / "cells.frame-base64"), b"the same: 5 rows of 2 layers\n")
        told = report("diff", GOLDEN / "cells.frame", GOLDEN / "cells.frame-base64")
        self.assertEqual((told["equal"], told["cells_differ"], told["differences"]), (True, 0, []))

    def test_counts_agree_with_numpy(self):
        a, b = routes(50, 3), routes(50, 3)
        random = np.random.default_rng(6)
        for row, layer in zip(random.integers(0, 50, 40), random.integers(0, 3, 40)):
            b[row, layer] = random.permutation(E)[:K]
        for row in range(0, 50, 7):
            b[row, 2] = np.roll(b[row, 2], 1)
        cells_a, cells_b = random.random((50, 3)) < 0.9, random.random((50, 3)) < 0.9
        flags = [4, 4, 4]
        first = self.file("a", make_frame(a, E, flags=flags, valid=cells_a.any(axis=1), cells=cells_a))
        # The second lacks the first three rows.
        second = self.file("b", make_frame(b[3:], E, start=3, flags=flags, valid=cells_b[3:].any(axis=1), cells=cells_b[3:]))
        told = report("diff", first, second, "--limit", 1000, code=FINDINGS)
        va, vb = cells_a[3:], cells_b[3:]
        both = va & vb
        order = both & (a[3:] != b[3:]).any(axis=2)
        sets = both & (np.sort(a[3:], axis=2) != np.sort(b[3:], axis=2)).any(axis=2)
        self.assertEqual((told["start"], told["rows"], told["rows_only_first"], told["rows_only_second"]), (3, 47, 3, 0))
        self.assertEqual((told["cells"], told["cells_differ"], told["cells_differ_as_sets"]), (both.sum(), order.sum(), sets.sum()))
        self.assertEqual((told["cells_only_first"], told["cells_only_second"]), ((va & ~vb).sum(), (vb & ~va).sum()))
        for column, layer in enumerate(told["layers"]):
            expected = {
                "layer": column,
                "cells": both[:, column].sum(),
                "differ": order[:, column].sum(),
                "differ_as_sets": sets[:, column].sum(),
                "only_first": (va & ~vb)[:, column].sum(),
                "only_second": (vb & ~va)[:, column].sum(),
            }
            self.assertEqual(layer, expected)
        wrong = np.argwhere(order | (va != vb))
        self.assertEqual([(one["row"], one["layer"]) for one in told["differences"]], [(row + 3, layer) for row, layer in wrong])
        for one in told["differences"]:
            row, layer = one["row"], one["layer"]
            self.assertEqual(one["first"], a[row, layer].tolist() if cells_a[row, layer] else None)
            self.assertEqual(one["second"], b[row, layer].tolist() if cells_b[row, layer] else None)
            how = "missing in the second" if one["second"] is None else "missing in the first" if one["first"] is None else None
            self.assertEqual(one["how"], how or ("other ids" if sets[row - 3, layer] else "another order"))
        self.assertEqual(len(report("diff", first, second, code=FINDINGS)["differences"]), min(10, len(wrong)))

    def test_text_shows_the_first_differences(self):
        a = routes(5, 2)
        b = a.copy()
        b[3, 1] = b[3, 1][::-1]
        b[4, 0] = (b[4, 0] + 1) % E
        first, second = self.file("a", make_frame(a, E)), self.file("b", make_frame(b, E))
        text = output("diff", first, second, code=FINDINGS).decode()
        ids = [" ".join(map(str, row)) for row in (a[3, 1], b[3, 1], a[4, 0], b[4, 0])]
        self.assertIn("position 3, layer 1: %s | %s; another order\n" % tuple(ids[:2]), text)
        self.assertIn("position 4, layer 0: %s | %s; other ids\n" % tuple(ids[2:]), text)
        self.assertIn("cells:    10 in both, 2 differ, 1 of them also as sets;", text)

    def test_weights_and_versions_count(self):
        ids = routes(6, 2)
        weights = np.full(ids.shape, 0.25)
        other = weights.copy()
        other[2, 1, 0] = 0.5
        first = self.file("a", make_frame(ids, E, weights=weights))
        second = self.file("b", make_frame(ids, E, weights=other, spans=[(0, 0), (4, 1)]))
        told = report("diff", first, second, code=FINDINGS)
        self.assertEqual((told["cells_differ"], told["cells_differ_in_weights"], told["rows_differ_in_version"]), (0, 1, 2))
        output("diff", "--ids-only", first, second, code=DONE)

    def test_other_shapes_are_told_and_ids_can_be_compared_alone(self):
        ids = routes(6, 2)
        ids[3] = -1
        first = self.file("a", make_frame(ids, E, weights=np.full(ids.shape, 0.25), valid=ids[:, 0, 0] >= 0, flags=[2, 0], spans=[(0, 7)]))
        second = self.file("b.npy", npy(ids, "<i4"))
        told = report("diff", first, second, "--start", 0, "--experts", E, code=FINDINGS)
        self.assertEqual((told["same_shape"], told["shape_differences"]), (False, ["weights: float32 and none"]))
        self.assertIn(b"--ids-only", output("diff", first, second, "--start", 0, "--experts", E, code=FINDINGS))
        self.assertEqual(output("diff", "--ids-only", first, second, "--start", 0, "--experts", E), b"the same: 6 rows of 2 layers\n")
        flat = self.file("c", sglang(ids))
        output("diff", "--ids-only", first, flat, "--from", "sglang", "--start", 0, "--experts", E, "--layers", 2, "--top-k", K)

    def test_a_kind_of_weights_that_no_weights_have_is_told(self):
        ids = routes(6, 2)
        first, second = self.file("a", make_frame(ids, E)), self.file("b", make_frame(ids, E, kind=2))
        text = "weights kind: as routed and scaled, although neither has weights"
        self.assertEqual(report("diff", first, second, code=FINDINGS)["shape_differences"], [text])
        self.assertEqual(
            output("diff", first, second, code=FINDINGS).decode(),
            "the shapes differ, rows are not compared:\n  %s\n  (--ids-only leaves weights, flags and versions out)\n" % text,
        )
        self.assertEqual(output("diff", "--ids-only", first, second), b"the same: 6 rows of 2 layers\n")

    def test_flags_that_differ_alone_are_told(self):
        ids = routes(6, 2)
        first, second = self.file("a", make_frame(ids, E)), self.file("b", make_frame(ids, E, flags=[0, 2]))
        self.assertIn("\nlayer flags: 0,0 and 0,2\n", output("diff", first, second, code=FINDINGS).decode())

    def test_a_limit_of_0_lists_all(self):
        a = routes(30, 1)
        first, second = self.file("a", make_frame(a, E)), self.file("b", make_frame((a + 1) % E, E))
        self.assertEqual(len(report("diff", first, second, "--limit", 0, code=FINDINGS)["differences"]), 30)
        self.assertEqual(len(report("diff", first, second, "--limit", 7, code=FINDINGS)["differences"]), 7)

    def test_trouble_is_neither_0_nor_1(self):
        refused("diff", GOLDEN / "cells.frame", self.folder / "absent", code=3)
        refused("diff", GOLDEN / "cells.frame", GOLDEN / "plain.npy")


if __name__ == "__main__":
    main()
