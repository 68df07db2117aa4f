# SPDX-License-Identifier: Apache-2.0
"""`routecap heatmap`: the picture's cells against counts by numpy, its colours against what they are for."""

import os
import re

import numpy as np
from pictures import LEVELS, VISIONS, cells, cielab, contrast, level, linear, schemes, svg_of, texts
from records import PARTIAL, Record, random_record, traces, with_holes
from view_case import ViewCase, main, run


def shares(record):
    """Percent of each layer's captured tokens that chose each expert [L, E]; NaN where none was captured."""
    found = np.full((len(record.layer_ids), record.experts), np.nan)
    for column in range(len(record.layer_ids)):
        ids = record.ids[record.valid[:, column], column]
        if len(ids):
            found[column] = 100.0 * np.array([(ids == expert).any(axis=1).sum() for expert in range(record.experts)]) / len(ids)
    return found


def lines(record):
    """Lines of the picture: (text of the layer axis, column or None)."""
    found = []
    behind = 0
    for column, layer in enumerate(record.layer_ids):
        if layer > behind:
            found.append((str(behind) if layer - 1 == behind else "%d–%d" % (behind, layer - 1), None))
        found.append((str(layer), column))
        behind = layer + 1
    return found


def expected_cells(record, top=None):
    values = shares(record)
    if top is None:
        top = np.nanmax(values) if np.isfinite(values).any() and np.nanmax(values) > 0 else 100
    none = ["no"] * record.experts
    return [none if column is None else [level(None if np.isnan(v) else v, top) for v in values[column]] for _, column in lines(record)]


class HeatmapTest(ViewCase):
    def draw(self, record, *options, name="picture.svg"):
        self.done("heatmap", record.write(self.path("record")), "-o", self.path(name), *options)
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def check(self, record, top=None, *options):
        wanted = expected_cells(record, top)
        for name in ("picture.svg", "picture.html"):
            svg = svg_of(self.draw(record, *options, name=name))
            self.assertEqual(cells(svg, len(wanted), record.experts), wanted)
        return svg

    def test_cells_agree_with_numpy(self):
        for seed, (rows, layers, experts, top_k) in enumerate(((50, 3, 16, 4), (1, 1, 2, 1), (7, 2, 5, 5), (200, 12, 256, 8), (9, 1, 512, 8))):
            with self.subTest(shape=(rows, layers, experts, top_k)):
                record = random_record(rows, layers, experts, top_k, seed)
                self.check(record)
                self.check(with_holes(record, seed))

    def test_real_traces_agree_with_numpy(self):
        found = traces()
        if not found:
            self.skipTest("no recorded traces (ROUTECAP_TRACES)")
        for name, path, options, record in found:
            with self.subTest(trace=name):
                text = self.done("heatmap", path, "-o", "-", "--as", "svg", *options).text()
                wanted = expected_cells(record)
                self.assertEqual(cells(svg_of(text), len(wanted), record.experts), wanted)

    def test_what_was_not_captured_looks_other_than_what_was_not_chosen(self):
        # Layers 0-2, 5 and 7-11 are not in the record; layer 6 is and was captured for no row.
        record = Record(np.zeros((4, 4, 2), int) + [0, 3], 4, np.array([[1, 1, 0, 1]] * 4, bool), [3, 4, 6, 12], [0, 0, PARTIAL, 0])
        svg = self.check(record)
        shown = texts(svg)
        for label in ("0–2", "3", "4", "5", "6", "7–11", "12"):
            self.assertIn(label, shown)
        grid = cells(svg, 7, 4)
        self.assertEqual(grid[0], ["no"] * 4)
        self.assertEqual(grid[1], ["47", "z", "z", "47"])
        self.assertEqual(grid[4], ["no"] * 4)
        self.assertIn("not captured", shown)
        self.assertIn("chosen by no token", shown)

    def test_axes_and_legend_say_what_is_drawn(self):
        record = random_record(64, 5, 32, 4, 3, layer_ids=[0, 1, 2, 3, 4], start=100)
        shown = texts(svg_of(self.draw(record)))
        for label in ("layer", "expert", "0", "4", "31", "Expert load: record", "64 rows: tokens 100–163; 5 layers, top 4 of 32 experts",
                      "tokens of the layer that chose the expert, %", "even load: 12.5 %"):
            self.assertIn(label, shown)

    def test_max_sets_the_end_of_the_scale(self):
        record = random_record(64, 2, 16, 2, 3)
        svg = self.check(record, 5.0, "--max", "5")
        self.assertIn("5", texts(svg))
        names = {name for line in cells(svg, 2, 16) for name in line}
        self.assertIn(str(LEVELS - 1), names)

    def test_zero_rows(self):
        record = Record(np.zeros((0, 2, 2), int), 8)
        svg = self.check(record)
        self.assertIn("no rows; 2 layers, top 2 of 8 experts", texts(svg))

    def test_many_experts_are_drawn_in_groups(self):
        record = random_record(30, 2, 1200, 4, 1)
        svg = svg_of(self.draw(record))
        means = shares(record).reshape(2, 300, 4).mean(axis=2)
        self.assertEqual(cells(svg, 2, 300), [[level(value, means.max()) for value in line] for line in means])
        self.assertIn("experts are drawn in groups; a colour is the mean of the group's experts", texts(svg))

    def test_size_is_bounded(self):
        record = random_record(60, 128, 512, 16)
        self.assertLess(len(self.draw(record, name="p.svg")), 1_500_000)
        self.assertLess(len(self.draw(record, name="p.html")), 2_000_000)
        many = Record(np.zeros((1, 600, 1), int), 2)
        self.refused("the record has 600 layers, and a picture shows at most 512", "heatmap", many.write(self.path("record")), "-o", self.path("m.svg"))

    def test_colours_read_with_any_colour_vision(self):
        for name, rules in zip(("light", "dark"), schemes(self.draw(random_record(4, 1, 8, 2)))):
            scale = np.array([rules["rc-%d" % i] for i in range(LEVELS)])
            ground = rules["rc-paper"]
            for vision, seen in VISIONS.items():
                with self.subTest(scheme=name, vision=vision):
                    lab = cielab(np.clip(linear(scale) @ seen.T, 0, 1))
                    darker = -1 if name == "light" else 1
                    self.assertTrue((darker * np.diff(lab[:, 0]) > 0.4).all(), "lightness goes one way")
                    self.assertGreater(abs(lab[-1, 0] - lab[0, 0]), 70)
                    # Six steps apart (an eighth of the scale), two colours can be told apart with ease.
                    self.assertGreater(np.linalg.norm(lab[6:] - lab[:-6], axis=1).min(), 7)
            # Perceptually uniform: steps are about equally large.
            steps = np.linalg.norm(np.diff(cielab(linear(scale)), axis=0), axis=1)
            self.assertLess(steps.max() / steps.min(), 3)
            # The least value, zero and the ground can be told from each other.
            for one, other in ((scale[0], rules["rc-z"]), (scale[0], ground), (rules["rc-z"], ground)):
                self.assertGreater(np.linalg.norm(cielab(linear(one)) - cielab(linear(other))), 8, name)
            for text in ("rc-title", "rc-note", "rc-tick", "rc-label"):
                self.assertGreater(contrast(rules[text], ground), 4.5, text)
            for line in ("rc-frame", "rc-line", "rc-cursor"):
                self.assertGreater(contrast(rules[line], ground), 3, line)

    def test_scheme_can_be_chosen(self):
        record = random_record(4, 1, 8, 2)
        for name in ("p.svg", "p.html"):
            both = self.draw(record, name=name)
            self.assertIn("prefers-color-scheme:dark", both)
            light, dark = (self.draw(record, "--scheme", scheme, name=name) for scheme in ("light", "dark"))
            self.assertNotIn("prefers-color-scheme", light + dark)
            self.assertIn(".rc-paper{fill:#ffffff}", light)
            self.assertIn(".rc-paper{fill:#14171b}", dark)

    def test_page_loads_nothing(self):
        page = self.draw(random_record(4, 2, 8, 2), name="p.html")
        self.assertIn("default-src 'none'", page)
        for reference in re.findall(r"""(?:src|href|url|@import|fetch|XMLHttpRequest|https?:)[^\s;]{0,40}""", page):
            self.assertRegex(reference, r"^url\(#rc-hatched\)|^http://www\.w3\.org/2000/svg|^src 'none'|^src$")

    def test_hostile_titles_are_text(self):
        for title in ("</title><script>alert(1)</script>", "a & b < c > d \" e '", "\x01\x1b[31mred", "x" * 3000, "漢字" * 300):
            for name in ("p.svg", "p.html"):
                with self.subTest(title=title[:20], name=name):
                    text = self.draw(random_record(4, 1, 8, 2), "--title", title, name=name)
                    svg = svg_of(text)
                    self.assertEqual(svg[0].text, "".join("\ufffd" if ord(c) < 32 else c for c in title))
                    self.assertNotIn("<script>alert", text)
                    self.assertNotIn("\x01", text)
        # A file's name need not be UTF-8.
        path = os.fsencode(self.path("")) + b"n\xffme<b>"
        random_record(4, 1, 8, 2).write(os.fsdecode(path))
        self.done("heatmap", os.fsdecode(path), "-o", self.path("p.svg"))
        with open(self.path("p.svg"), encoding="utf-8") as file:
            self.assertEqual(svg_of(file.read())[0].text, "Expert load: n\ufffdme<b>")

    def test_bad_options_are_refused(self):
        path = random_record(4, 1, 8, 2).write(self.path("record"))
        self.refused("--output", "heatmap", path)
        self.refused("ends neither in .svg nor in .html", "heatmap", path, "-o", self.path("p.png"))
        self.refused("ends neither in .svg nor in .html", "heatmap", path, "-o", "-")
        self.refused("--as", "heatmap", path, "-o", self.path("p"), "--as", "png")
        self.refused("--scheme", "heatmap", path, "-o", self.path("p.svg"), "--scheme", "blue")
        for wrong in ("0", "-1", "101", "nan", "x"):
            self.refused("--max", "heatmap", path, "-o", self.path("p.svg"), "--max", wrong)
        self.refused("cannot", "heatmap", self.path("absent"), "-o", self.path("p.svg"), code=3)

    def test_output_appears_whole_or_not_at_all(self):
        path = random_record(4, 1, 8, 2).write(self.path("record"))
        with open(self.path("p.svg"), "w") as file:
            file.write("before")
        self.refused("cannot", "heatmap", path, "-o", self.path("absent/p.svg"), code=3)
        with open(self.path("record"), "r+b") as file:
            file.truncate(100)
        self.refused("", "heatmap", path, "-o", self.path("p.svg"))
        with open(self.path("p.svg")) as file:
            self.assertEqual(file.read(), "before")
        if os.path.exists("/dev/full"):
            random_record(4, 1, 8, 2).write(path)
            result = run("heatmap", path, "-o", "/dev/full", "--as", "svg")
            self.assertEqual(result.code, 3)


if __name__ == "__main__":
    main()
