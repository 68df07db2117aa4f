# SPDX-License-Identifier: Apache-2.0
"""The page of `routecap heatmap` in a real browser: what is seen and said of every cell, against counts by numpy."""

import dataclasses
import json
import re
import shutil
import subprocess
import unittest

import numpy as np
from records import Record, random_record, with_holes
from test_heatmap import expected_cells, lines
from view_case import ViewCase, main, run

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)

# Points at the middle of every cell and writes down what is drawn there and what the page says; then uses the keyboard; then measures all text.
PROBE = """
<script>
{
const found = { cells: [], keys: [], texts: [], errors: [] };
window.addEventListener("error", (event) => found.errors.push(event.message));
document.addEventListener("securitypolicyviolation", (event) => found.errors.push(event.blockedURI));
const picture = document.getElementById("rc-picture");
const svg = picture.querySelector("svg");
const box = document.getElementById("rc-values");
const said = () => [...box.children].map((line) => [...(line.children.length ? line.children : [line])].map((part) => part.textContent));
const page = JSON.parse(document.getElementById("rc-data").textContent);
for (let row = 0; row < ROWS; ++row) {
  for (let column = 0; column < COLUMNS; ++column) {
    const at = new DOMPoint(page.left + (column + 0.5) * page.cellWidth, page.top + (row + 0.5) * page.cellHeight).matrixTransform(svg.getScreenCTM());
    const drawn = document.elementFromPoint(at.x, at.y);
    picture.dispatchEvent(new PointerEvent("pointermove", { clientX: at.x, clientY: at.y, bubbles: true }));
    const place = box.getBoundingClientRect();
    const fits = place.left >= 0 && place.top >= 0 && place.right <= innerWidth && place.bottom <= innerHeight;
    found.cells.push([drawn && drawn.getAttribute("class"), said(), fits, getComputedStyle(box).opacity]);
  }
}
picture.dispatchEvent(new PointerEvent("pointermove", { clientX: 1, clientY: 1 }));
found.outside = [said(), getComputedStyle(box).opacity];
picture.focus();
found.focused = document.activeElement === picture;
for (const key of ["Home", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "End", "Escape"]) {
  picture.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  found.keys.push(said().map((line) => line[0])[0] || "");
}
const whole = svg.getBoundingClientRect();
for (const text of svg.querySelectorAll("text")) {
  const place = text.getBoundingClientRect();
  found.texts.push([text.textContent, place.left - whole.left, place.top - whole.top, place.right - whole.left, place.bottom - whole.top]);
}
found.size = [whole.width, whole.height];
found.paper = getComputedStyle(svg.querySelector(".rc-paper")).fill;
found.body = getComputedStyle(document.body).backgroundColor;
found.plot = [page.left, page.top, page.left + page.columns.length * page.cellWidth, page.top + page.rows.length * page.cellHeight];
window.addEventListener("load", () => {
  found.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.appendChild(out);
});
}
</script>
"""


@unittest.skipIf(CHROMIUM is None, "no chromium here")
class HeatmapBrowserTest(ViewCase):
    def browse(self, page, rows, columns, size=(1300, 1100), scheme="light"):
        probe = PROBE.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))
        with open(self.path("probed.html"), "w", encoding="utf-8") as file:
            file.write(page.replace("</body>", probe + "</body>"))
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run"]
        arguments += ["--blink-settings=preferredColorScheme=" + ("0" if scheme == "dark" else "1"), "--window-size=%d,%d" % size]
        arguments += ["--user-data-dir=" + self.path("profile"), "--dump-dom", "file://" + self.path("probed.html")]
        done = subprocess.run([CHROMIUM, *arguments], capture_output=True, timeout=300, check=False)
        match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout.decode(), re.S)
        self.assertIsNotNone(match, done.stderr.decode()[-2000:])
        found = json.loads(match.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        self.assertEqual(found["errors"], [])
        self.assertEqual(found["resources"], [], "the page loads nothing")
        self.assertTrue(found["focused"])
        return found

    def page(self, record, *options):
        self.done("heatmap", record.write(self.path("record")), "-o", self.path("p.html"), *options)
        with open(self.path("p.html"), encoding="utf-8") as file:
            return file.read()

    def said_of_load(self, record, label, column, expert):
        heading = "layer %s, expert %d" % (label, expert)
        tokens = 0 if column is None else int(record.valid[:, column].sum())
        if tokens == 0:
            return [[heading], ["not captured", ""]]
        chosen = int((record.ids[record.valid[:, column], column] == expert).any(axis=1).sum())
        share = 100.0 * chosen / tokens
        times = share / 100.0 * record.experts / record.ids.shape[2]
        return [[heading], ["share of tokens", share, " %"], ["compared with even load", times, " times"],
                ["tokens that chose it", "{:,}".format(chosen)], ["tokens captured", "{:,}".format(tokens)]]

    def assert_said(self, got, wanted):
        self.assertEqual(len(got), len(wanted), got)
        for line, want in zip(got, wanted):
            if len(want) < 3:
                self.assertEqual(line, want)
                continue
            label, value, unit = want
            self.assertEqual(line[0], label)
            self.assertTrue(line[1].endswith(unit), line)
            shown = float(line[1][: -len(unit)])
            self.assertLessEqual(abs(shown - value), max(0.00501, 0.0501 * value if value < 0.01 else 0), line)

    def test_every_cell_is_drawn_and_told_right(self):
        holed = with_holes(random_record(1300, 4, 24, 4, 3, layer_ids=[3, 4, 9, 10]), 5)
        holed.valid[:, 2] = False
        for name, record in {
            "holes and layers that are not there": holed,
            "one layer, two experts": random_record(10, 1, 2, 1),
            "K = E": Record(np.tile(np.arange(5), (7, 2, 1)), 5),
            "zero rows": Record(np.zeros((0, 2, 2), int), 6),
            "DeepSeek's shape": random_record(40, 58, 256, 8, 2, layer_ids=range(3, 61)),
        }.items():
            with self.subTest(record=name):
                drawn = expected_cells(record)
                rows = lines(record)
                found = self.browse(self.page(record), len(rows), record.experts)
                for at, (name_drawn, said, fits, opacity) in enumerate(found["cells"]):
                    row, expert = divmod(at, record.experts)
                    self.assertEqual(name_drawn, "rc-" + drawn[row][expert])
                    self.assert_said(said, self.said_of_load(record, *rows[row], expert))
                    self.assertTrue(fits, "the box leaves the window at row %d, expert %d" % (row, expert))
                    self.assertEqual(opacity, "1")
                self.assertEqual(found["outside"], [[], "0"])

    def test_the_keyboard_tells_cells(self):
        record = random_record(30, 3, 8, 2, 1, layer_ids=[0, 1, 2])
        keys = self.browse(self.page(record), 1, 1)["keys"]
        # The pointer was at layer 0, expert 0 before.
        wanted = ["layer 0, expert 0"] * 4 + ["layer 1, expert 0", "layer 1, expert 1", "layer 1, expert 7", ""]
        self.assertEqual(keys, wanted)

    def test_differences_are_told_right(self):
        one = with_holes(random_record(30, 3, 16, 4, 1, start=100), 3)
        other = dataclasses.replace(with_holes(one, 4), start=105)
        run("diff", one.write(self.path("a")), other.write(self.path("b")), "--heatmap", self.path("d.html"))
        with open(self.path("d.html"), encoding="utf-8") as file:
            found = self.browse(file.read(), 3, 25)
        for at, (_, said, _, _) in enumerate(found["cells"]):
            column, index = divmod(at, 25)
            position = 105 + index
            self.assertEqual(said[0], ["layer %d, token position %d" % (column, position)])
            here, there = one.valid[position - 100, column], other.valid[position - 105, column]
            if not here and not there:
                self.assertEqual(said[1:], [["in neither record", ""]])
                continue
            ids, others = one.ids[position - 100, column], other.ids[position - 105, column]
            both = here and there
            differ = both and (ids != others).any()
            sets = both and set(ids.tolist()) != set(others.tolist())
            wanted = [("part", "%d.00 %%" % 100 if differ or not both else "0 %"), ("differ, or only one has them", differ or not both), ("cells in either", 1),
                      ("cells in both", both), ("of these, differ", differ), ("of these, differ as sets", sets), ("only in the first", here and not there),
                      ("only in the second", there and not here)]
            self.assertEqual(said[1:], [[label, value if isinstance(value, str) else str(int(value))] for label, value in wanted])

    def test_labels_neither_overlap_nor_leave_the_picture(self):
        big = random_record(4, 3, 8, 2, 1, layer_ids=[5, 100000, 2000000000])
        tall = random_record(4, 128, 16, 2, 1)
        for name, record, options in (
            ("smallest", random_record(1, 1, 2, 1), []),
            ("one layer of 512", random_record(9, 1, 512, 8), []),
            ("largest", random_record(3, 128, 512, 8), []),
            ("tall and narrow", random_record(9, 128, 2, 1), []),
            ("DeepSeek's", random_record(9, 58, 256, 8, layer_ids=range(3, 61)), []),
            ("every other layer", dataclasses.replace(tall, layer_ids=list(range(1, 257, 2))), []),
            ("large numbers", big, []),
            ("long title", random_record(4, 2, 8, 2), ["--title", "wide words " * 60]),
            ("wide letters", random_record(4, 2, 8, 2), ["--title", "漢字" * 100]),
            ("a scale that is almost nothing", random_record(4, 2, 8, 2), ["--max", "0.0013"]),
            ("many rows from afar", random_record(5, 2, 8, 2, start=10**15), []),
        ):
            for end in ([], ["--max", "10.2"], ["--max", "0.99"]):
                with self.subTest(picture=name, options=end):
                    found = self.browse(self.page(record, *options, *(end if "--max" not in options else [])), 1, 1)
                    width, height = found["size"]
                    for i, (text, left, top, right, bottom) in enumerate(found["texts"]):
                        self.assertTrue(left >= 0 and top >= 0 and right <= width and bottom <= height, "'%s' leaves the picture" % text)
                        for other, x0, y0, x1, y1 in [("the cells", *found["plot"]), *found["texts"][:i]]:
                            # Boxes of text have a line's height, letters less: 3 pixels of two boxes may be shared above and below.
                            is_apart = left >= x1 or x0 >= right or top >= y1 - 3 or y0 >= bottom - 3
                            self.assertTrue(is_apart, "'%s' and '%s' overlap" % (text, other))
                if name not in ("smallest", "DeepSeek's"):
                    break

    def test_light_and_dark(self):
        record = random_record(4, 2, 8, 2)
        for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")):
            found = self.browse(self.page(record), 1, 1, scheme=scheme)
            self.assertEqual((found["paper"], found["body"]), (paper, paper))
            chosen = self.browse(self.page(record, "--scheme", scheme), 1, 1, scheme="dark" if scheme == "light" else "light")
            self.assertEqual((chosen["paper"], chosen["body"]), (paper, paper))


if __name__ == "__main__":
    main()
