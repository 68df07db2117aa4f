# SPDX-License-Identifier: Apache-2.0
"""`routecap diff --heatmap`: which cells differ, against numpy."""

import dataclasses

import numpy as np
from pictures import cells, level, svg_of, texts
from records import PARTIAL, random_record, with_holes
from view_case import ViewCase, main, run


def parted(one, other, as_sets):
    """Percent of a position's cells that differ [positions, L]; NaN where neither has the cell. Positions that both hold."""
    begin, end = max(one.start, other.start), min(one.start + len(one.ids), other.start + len(other.ids))
    left, right = slice(begin - one.start, end - one.start), slice(begin - other.start, end - other.start)
    ids, others = one.ids[left], other.ids[right]
    if as_sets:
        ids, others = np.sort(ids, axis=2), np.sort(others, axis=2)
    valid, other_valid = one.valid[left], other.valid[right]
    differs = np.where(valid & other_valid, (ids != others).any(axis=2), valid | other_valid)
    return np.where(valid | other_valid, 100.0 * differs, np.nan)


class DiffHeatmapTest(ViewCase):
    def draw(self, one, other, *options, name="picture.svg", code=1):
        first, second = one.write(self.path("first")), other.write(self.path("second"))
        result = run("diff", first, second, "--heatmap", self.path(name), "-o", self.path("text"), *options)
        self.assertEqual((result.code, result.err), (code, ""))
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def check(self, one, other, code=1):
        for as_sets in (False, True):
            values = parted(one, other, as_sets)
            top = max(np.nanmax(values, initial=0), 0) or 100
            wanted = [[level(None if np.isnan(value) else value, top) for value in line] for line in values.T]
            for name in ("picture.svg", "picture.html"):
                text = self.draw(one, other, *(["--as-sets"] if as_sets else []), name=name, code=code)
                self.assertEqual(cells(svg_of(text), len(wanted), len(values)), wanted)
        return text

    def test_cells_that_differ(self):
        one = random_record(40, 5, 16, 4, 1)
        other = dataclasses.replace(one, ids=one.ids.copy())
        other.ids[3, 2] = other.ids[3, 2, ::-1]  # another order
        other.ids[7:12, 4] = np.array([0, 1, 2, 3])
        other.ids[30] = (other.ids[30] + 1) % 16
        self.check(one, other)

    def test_cells_that_only_one_has(self):
        one = with_holes(random_record(60, 4, 16, 4, 1, start=5), 3)
        other = dataclasses.replace(with_holes(one, 4), start=20)
        self.check(one, other)

    def test_the_same(self):
        one = with_holes(random_record(20, 3, 16, 4, 1), 3)
        text = self.check(one, one, code=0)
        self.assertIn("all the same", texts(svg_of(text)))

    def test_many_positions_are_drawn_in_groups(self):
        random = np.random.default_rng(4)
        one = random_record(1500, 2, 8, 2, 1, start=7)
        other = dataclasses.replace(one, ids=one.ids.copy(), valid=random.random(one.valid.shape) > 0.02, flags=[PARTIAL] * 2)
        one.flags = [PARTIAL] * 2
        changed = random.random(len(one.ids)) < 0.2
        other.ids[changed, 1] = other.ids[changed, 1, ::-1]
        values = parted(one, other, False)
        means = [[np.nanmean(values[at : at + 4, column]) for at in range(0, 1500, 4)] for column in range(2)]
        top = max(max(line) for line in means)
        svg = svg_of(self.draw(one, other))
        self.assertEqual(cells(svg, 2, 375), [[level(value, top) for value in line] for line in means])
        self.assertIn("compared: 1500 rows: tokens 7–1506; 2 layers, top 2 of 8 experts", texts(svg))
        self.assertIn("a column stands for 4 tokens", texts(svg))

    def test_text_is_printed_as_without_a_picture(self):
        one, other = random_record(9, 2, 8, 2, 1), random_record(9, 2, 8, 2, 2)
        self.draw(one, other)
        plain = run("diff", self.path("first"), self.path("second"))
        with open(self.path("text"), "rb") as file:
            self.assertEqual(file.read(), plain.out)
        both = run("diff", self.path("first"), self.path("second"), "--heatmap", self.path("p.svg"), "--json")
        self.assertEqual(both.code, 1)
        self.assertEqual(both.json()["rows"], 9)

    def test_what_cannot_be_drawn_is_refused(self):
        one = random_record(9, 2, 8, 2, 1)
        first = one.write(self.path("first"))
        for other, why in (
            (random_record(9, 3, 8, 2, 1), "--heatmap: the shapes of the records differ (layers: 0-1 and 0-2)"),
            (dataclasses.replace(one, start=9), "the records have no token position in common"),
        ):
            second = other.write(self.path("second"))
            self.refused(why, "diff", first, second, "--heatmap", self.path("p.svg"))
        self.refused("ends neither in .svg nor in .html", "diff", first, first, "--heatmap", self.path("p.txt"))
        self.refused("both go to standard output", "diff", first, first, "--heatmap", "-", "--as", "svg")
        self.refused("--as-sets", "diff", first, first, "--as-sets")
        # One file cannot be both, whatever the path to it.
        (self.folder / "folder").mkdir()
        (self.folder / "d.svg").write_bytes(b"as it was")
        (self.folder / "link.svg").symlink_to(self.folder / "d.svg")
        for one, other in (("d.svg", "d.svg"), ("d.svg", "folder/../d.svg"), ("link.svg", "d.svg")):
            picture = self.path(one)
            result = self.refused("--heatmap", "diff", first, first, "--heatmap", picture, "-o", self.path(other))
            self.assertEqual(result.err, "routecap: --heatmap: picture and text would both go to %s; give them different names\n" % picture)
        self.refused("--max", "diff", first, first, "--max", "3")
        self.refused("cannot", "diff", first, first, "--heatmap", self.path("absent/p.svg"), code=3)


if __name__ == "__main__":
    main()
