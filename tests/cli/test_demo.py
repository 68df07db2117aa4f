# SPDX-License-Identifier: Apache-2.0
"""`routecap demo` against the reference engine that stands alone, and the record that it keeps."""

import json
import os
import re
from pathlib import Path

import numpy as np
from command import frames as read_file
from view_case import ViewCase, main, run

ENGINE = os.environ.get("ROUTECAP_REFERENCE_ENGINE", "")
FEW = ["--requests", "12"]


class DemoTest(ViewCase):
    def engine(self, *arguments):
        if not ENGINE:
            self.skipTest("the reference engine was not built (ROUTECAP_BUILD_EXAMPLES)")
        return run(*arguments, command=ENGINE)

    def test_is_the_reference_engine(self):
        for options in (["--seed", "3"], ["--dp", "2", "--depth", "5", "--finalize", "thread", "--weights"]):
            ours, theirs = (json.loads(text) for text in (self.done("demo", "--json", *FEW, *options).text(), self.engine("--json", *FEW, *options).text()))
            ours["capture_share"] = theirs["capture_share"] = 0
            self.assertEqual(ours, theirs)
            self.assertEqual(ours["rows_wrong"], 0)
            self.assertGreater(ours["rows_checked"], 500)

    def test_has_the_same_options(self):
        options = [set(re.findall(r"(?<!\w)--[a-z]+", text)) for text in (run("demo", "--help").text(), self.engine("--help").text())]
        self.assertEqual(options[0] - {"--help"}, options[1] - {"--help"})

    def test_keeps_the_record_with_the_most_captured_rows(self):
        got = self.done("demo", "--json", *FEW, "--seed", 4, "--record", self.path("r.frame")).json()
        self.assertEqual(os.listdir(self.folder), ["r.frame"])
        with open(self.path("r.frame"), "rb") as file:
            data = file.read()
        (frame,) = read_file(data)
        self.assertEqual((frame.start, frame.num_experts, frame.top_k), (0, 256, 8))
        self.assertEqual(frame.layer_ids.tolist(), list(range(3, 61)))
        # Prompt and generated tokens of a whole request: no request of so few is longer than all of them together.
        self.assertGreater(frame.rows, 100)
        self.assertLess(frame.rows, got["rows_checked"])
        self.assertGreater(frame.row_valid.sum(), frame.rows // 2)
        ids = frame.ids[frame.cell_valid]
        self.assertTrue((np.sort(ids, axis=1)[:, 1:] != np.sort(ids, axis=1)[:, :-1]).all(), "a router names no expert twice")
        # The same schedule gives the same record, whichever program runs.
        result = self.engine(*FEW, "-q", "--seed", 4, "--record", self.path("alone"))
        self.assertEqual((result.code, result.out, result.err), (0, b"", ""))
        with open(self.path("alone"), "rb") as file:
            self.assertEqual(file.read(), data)

    def test_record_can_be_looked_at(self):
        self.done("demo", "-q", *FEW, "--weights", "--record", self.path("r.frame"))
        facts = self.done("inspect", self.path("r.frame"), "--json").json()["records"][0]
        self.assertEqual(facts["rows"], read_file(Path(self.path("r.frame")).read_bytes())[0].rows)
        # Nothing is found: ids in range and none twice, and the weights are what their kind says.
        self.assertEqual(self.done("validate", self.path("r.frame"), "--json").json()["findings"], 0)
        self.done("heatmap", self.path("r.frame"), "-o", self.path("r.html"))
        self.done("stats", self.path("r.frame"), "--weighted")

    def test_a_wrong_row_is_told(self):
        result = run("demo", "--json", *FEW, "--inject", "wrong-row")
        self.assertEqual(result.code, 1)
        self.assertEqual(result.json()["rows_wrong"], 1)
        self.assertRegex(result.err, r"^routecap: request \d+, token 0: layer 3 holds other experts\n$")
        result = run("demo", *FEW, "--inject", "wrong-row")
        self.assertEqual((result.code, result.err), (1, ""))
        self.assertIn("\nfirst wrong row: request", result.text())

    def test_of_an_option_given_twice_the_later_counts(self):
        self.assertEqual(self.done("demo", "--json", "--requests", 30, *FEW).json()["requests"], 12)

    def test_bad_options_are_refused(self):
        for option, wrong in (("--requests", "0"), ("--requests", "100001"), ("--seed", "-1"), ("--dp", "17"), ("--depth", "0"), ("--finalize", "own")):
            self.refused(option, "demo", option, wrong)
        self.refused("index.json: cannot be opened", "demo", "--trace", self.path("absent"))
        self.refused("--stray", "demo", "--stray")
        self.refused("--inject: x not in {wrong-row}", "demo", "--inject", "x")

    def test_record_and_table_cannot_share_standard_output(self):
        text = "--record: the record and the table would both go to standard output; send the record to a file, or leave the table out with -q"
        self.assertEqual(self.refused(text, "demo", *FEW, "--record", "-").err, "routecap: %s\n" % text)
        for more in ([], ["-q"]):
            text = "--record: the record and the JSON object would both go to standard output; send the record to a file"
            self.assertEqual(self.refused(text, "demo", "--json", *more, *FEW, "--record", "-").err, "routecap: %s\n" % text)
        (record,) = read_file(self.done("demo", "-q", *FEW, "--record", "-").out)
        self.assertGreater(record.rows, 100)

    def test_a_record_that_cannot_be_written(self):
        result = run("demo", "-q", *FEW, "--record", self.path("absent/r.frame"))
        self.assertEqual((result.code, result.out), (3, b""))
        self.assertRegex(result.err, r"^routecap: cannot [^\n]*absent/r\.frame[^\n]*\n$")
        # Before anything is served.
        result = run("demo", "--record", self.path("absent/r.frame"))
        self.assertEqual((result.code, result.out), (3, b""))
        result = self.engine("-q", *FEW, "--record", self.path("absent/r.frame"))
        self.assertEqual((result.code, result.out), (1, b""))
        self.assertRegex(result.err, r"^reference_engine: [^\n]*absent/r\.frame: cannot be written\n$")
        self.assertEqual(os.listdir(self.folder), [])

    def test_no_record_was_read(self):
        # A request that did not opt in has no record; seeds differ in which do.
        for seed in range(40):
            result = run("demo", "-q", "--requests", 1, "--dp", 1, "--seed", seed, "--record", self.path("r"))
            if result.code != 0:
                self.assertEqual((result.code, result.out, os.path.exists(self.path("r"))), (2, b"", False))
                self.assertEqual(result.err, "routecap: --record: no request's record was read; serve more --requests\n")
                return
            os.remove(self.path("r"))
        self.fail("every one of 40 single requests had a record")


if __name__ == "__main__":
    main()
