# SPDX-License-Identifier: Apache-2.0
"""Recorded routes of real models, through every form and back, by the command."""

import csv
import json
import os
import pathlib

import numpy as np
from command import DONE, Case, frame, main, make_frame, output, report
from reference import skip

TRACES = pathlib.Path(os.environ.get("ROUTECAP_TRACES") or os.environ["ROUTECAP_DEFAULT_TRACES"])
ALL_FORMS = ("frame", "frame-base64", "csv")
WHOLE_ROWS = (*ALL_FORMS, "nemo")
IDS_ONLY = ("sglang", "vllm", "npy", "prime", "lists", "nemo")


def read_csv(path):
    """Ids [rows, L, K] and which cells there are."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    entries = [(int(one["step"]), int(one["layer"]), int(one["slot"]), int(one["expert"]), float(one["weight"])) for one in csv.DictReader(lines)]
    steps, layers, slots = (sorted({entry[i] for entry in entries}) for i in range(3))
    shape = steps[-1] - steps[0] + 1, len(layers), len(slots)
    ids, weights = np.full(shape, -1), np.zeros(shape, "<f4")
    for step, layer, slot, expert, weight in entries:
        ids[step - steps[0], layers.index(layer), slot] = expert
        weights[step - steps[0], layers.index(layer), slot] = weight
    return ids, weights, steps[0], layers


class Traces(Case):
    def back(self, path, form, start, experts, layers, top_k, *options):
        """A record through a form and back into a frame."""
        middle = self.folder / ("middle." + form)
        output("convert", path, "--to", form, *options, "-o", middle)
        hints = ["--experts", experts, "--from", form]
        if form not in ("frame", "frame-base64", "csv"):
            hints += ["--layer-ids", ",".join(map(str, layers))]
        if form not in ("frame", "frame-base64", "csv", "prime"):
            hints += ["--start", start]
        if form == "sglang":
            hints += ["--top-k", top_k]
        return output("convert", middle, *hints)

    def test_bigmoe(self):
        holes = 0
        for path in sorted((TRACES / "bigmoe").glob("*.csv")):
            ids, weights, start, layers = read_csv(path)
            experts, top_k = 128, ids.shape[2]
            whole = self.folder / "whole.frame"
            output("convert", path, "-o", whole)
            read = frame(whole.read_bytes())
            self.assertEqual((read.start, read.num_experts, read.layer_ids.tolist()), (start, experts, layers))
            there = ids[:, :, 0] >= 0
            np.testing.assert_array_equal(read.cell_valid, there)
            holes += (~there).sum()
            self.same_ids(read.ids[there], ids[there])
            np.testing.assert_array_equal(read.weights[there], weights[there])
            output("validate", path, code=DONE)
            for form in ALL_FORMS:
                with self.subTest((path.name, form)):
                    back = self.back(whole, form, start, experts, layers, top_k)
                    self.assertEqual(back, whole.read_bytes())
            for form in set(IDS_ONLY) - {"nemo"}:
                with self.subTest((path.name, form)):
                    options = ["--missing", "minus-one"]
                    if form in ("vllm", "npy"):
                        options += ["--to-dtype", "int16"]
                    if form == "prime":
                        # It is written with the record's own type, which has no -1.
                        options = ["--missing", "fill"]
                        back = frame(self.back(whole, form, start, experts, layers, top_k, *options))
                        self.same_ids(back.ids[there], ids[there])
                        continue
                    back = self.file("back.frame", self.back(whole, form, start, experts, layers, top_k, *options))
                    output("diff", "--ids-only", whole, back, code=DONE)
                    self.same_ids(frame(back.read_bytes()).ids[there], ids[there])
        self.assertGreater(holes, 0)

    def test_gpt_oss(self):
        folder = TRACES / "gpt-oss-20b"
        ids = np.load(folder / "ids_u8.npy")
        index = json.loads((folder / "index.json").read_text())
        experts, top_k, layers = index["experts"], index["top_k"], list(range(index["layers"]))
        whole = self.folder / "whole.frame"
        output("convert", folder / "ids_u8.npy", "--start", 0, "--experts", experts, "-o", whole)
        self.assertEqual(whole.read_bytes(), make_frame(ids, experts))
        output("validate", whole, code=DONE)
        for form in (*WHOLE_ROWS, *IDS_ONLY):
            if form == "csv":
                continue  # twelve thousand rows of text: the other traces have that
            with self.subTest(form):
                self.assertEqual(self.back(whole, form, 0, experts, layers, top_k), whole.read_bytes())
        parts = []
        for number, request in enumerate(index["requests"][:3]):
            begin, end = request["row_begin"], request["row_end"]
            part = self.folder / ("request%d" % number)
            output("slice", whole, "--positions", "%d:%d" % (begin, end), "-o", part)
            self.same_ids(frame(part.read_bytes()).ids, ids[begin:end])
            parts.append(part)
        joined = frame(output("concat", *parts))
        self.same_ids(joined.ids, ids[: index["requests"][2]["row_end"]])
        (told,) = report("inspect", whole)["records"]
        self.assertEqual((told["rows"], told["num_layers"], told["missing_rows"]), (len(ids), 24, []))


if __name__ == "__main__":
    if not (TRACES / "bigmoe").is_dir():
        skip("no recorded routes in %s (set ROUTECAP_TRACES)" % TRACES)
    main()
