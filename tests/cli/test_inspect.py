# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
from command import GOLDEN, REFUSED, Case, frame, frames, main, make_frame, output, refused, report, run
from make_golden import CELLS, CELLS_VALID, CELLS_WEIGHTS, PLAIN, ROWS, cells_frame


def runs_of(bits, start):
    """Runs of set bits as [begin, end)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], bits.astype(int), [0]])))
    return [[int(begin) + start, int(end) + start] for begin, end in edges.reshape(-1, 2)]


class Inspect(Case):
    def check_against_reader(self, told, read):
        self.assertEqual((told["start"], told["rows"], told["num_experts"], told["top_k"]), (read.start, read.rows, read.num_experts, read.top_k))
        self.assertEqual(told["num_layers"], len(read.layer_ids))
        self.assertEqual(told["rows_valid"], int(read.row_valid.sum()))
        self.assertEqual([layer["layer"] for layer in told["layers"]], read.layer_ids.tolist())
        self.assertEqual(told["missing_rows"], runs_of(~read.row_valid, read.start))
        for column, layer in enumerate(told["layers"]):
            self.assertEqual(layer["missing_in_valid_rows"], runs_of(read.row_valid & ~read.cell_valid[:, column], read.start))
            names = [name for bit, name in ((1, "hash-routed"), (2, "unordered"), (4, "partial")) if read.layer_flags[column] & bit]
            self.assertEqual(layer["flags"], names)
        ends = [*read.span_starts.tolist(), read.start + read.rows][1:]
        spans = [{"start": b, "end": e, "weight_version": v} for b, e, v in zip(read.span_starts.tolist(), ends, read.span_versions.tolist())]
        self.assertEqual(told["version_spans"], spans)
        self.assertEqual(told["bytes"], read.frame_bytes)
        self.assertEqual(told["ids_bytes"], read.ids.nbytes)
        self.assertEqual(told["weights_bytes"], 0 if read.weights is None else read.weights.nbytes)

    def test_a_frame_is_told_as_the_independent_reader_reads_it(self):
        for name in ("cells.frame", "plain.frame"):
            data = (GOLDEN / name).read_bytes()
            told = report("inspect", GOLDEN / name)
            self.assertEqual((told["bytes"], told["broken"], len(told["records"])), (len(data), None, 1))
            self.assertEqual((told["records"][0]["form"], told["records"][0]["checksum"]), ("frame", "good"))
            self.check_against_reader(told["records"][0], frame(data))

    def test_flags_are_named(self):
        data = make_frame(PLAIN, 16, flags=[1, 2, 7], cells=np.ones((4, 3), bool))
        self.check_against_reader(report("inspect", "-", data=data)["records"][0], frame(data))

    def test_text_names_rows_holes_versions_and_checksums(self):
        text = output("inspect", GOLDEN / "cells.frame").decode()
        for line in (
            "form:       frame, 456 bytes",
            "checksums:  header and every part agree",
            "rows:       5 (positions 100 to 104)",
            "layers:     2 (2,5)",
            "experts:    300, 3 per token and layer",
            "weights:    float16, renormalized, 60 bytes",
            "missing:    1 row of 5: 101",
            "versions:   positions 100-102: weights of version 4",
        ):
            self.assertIn(line + "\n", text)
        self.assertIn("layer 5 in 1 more row: 103\n", text)
        self.assertIn("positions 103-104: weights of version 9\n", text)

    def test_rows_shows_ids_and_weights_of_token_positions(self):
        (told,) = report("inspect", GOLDEN / "cells.frame", "--rows", "101:105")["records"]
        self.assertEqual([line["row"] for line in told["table"]], [101, 102, 103, 104])
        for line in told["table"]:
            row = line["row"] - 100
            if not CELLS_VALID[row].any():
                self.assertEqual((line["ids"], line["weights"]), (None, None))
                continue
            for column in range(2):
                valid = CELLS_VALID[row, column]
                self.assertEqual(line["ids"][column], CELLS[row, column].tolist() if valid else None)
                self.assertEqual(line["weights"][column], CELLS_WEIGHTS[row, column].tolist() if valid else None)
        text = output("inspect", GOLDEN / "cells.frame", "--rows", "103:").decode()
        self.assertIn("103      2     33 40 47  0.3125 0.4375 0.5625\n", text)
        self.assertIn("103      5      missing\n", text)
        self.assertRegex(output("inspect", GOLDEN / "cells.frame", "--rows", "101:102").decode(), r"\n +101 +all +missing\n")

    def test_rows_outside_the_record_are_refused(self):
        for rows in ("99:101", "100:106", "103:102", "x:101", "100:1e3", "100:102:104"):
            self.assertIn("--rows", refused("inspect", GOLDEN / "cells.frame", "--rows", rows))

    def test_every_frame_of_a_file_is_shown_and_one_can_be_chosen(self):
        data = cells_frame() + make_frame(PLAIN, 16, start=7) + cells_frame()
        told = report("inspect", "-", data=data)
        self.assertEqual([one["offset"] for one in told["records"]], [0, 456, len(data) - 456])
        for one, read in zip(told["records"], frames(data)):
            self.check_against_reader(one, read)
        (chosen,) = report("inspect", "-", "--frame", 1, data=data)["records"]
        self.check_against_reader(chosen, frames(data)[1])
        self.assertIn("--frame: 3", refused("inspect", "-", "--frame", 3, data=data))

    def test_a_truncated_last_frame_is_told_and_the_earlier_ones_are_shown(self):
        data = cells_frame() * 2
        done = run("inspect", "-", "--json", data=data[:-9])
        self.assertEqual(done.returncode, REFUSED)
        told = json.loads(done.stdout)
        self.assertEqual(len(told["records"]), 1)
        self.assertIn("frame 1 at byte 456", told["broken"])
        self.assertIn("truncated", done.stderr.decode())
        self.assertIn("is whole", done.stderr.decode())

    def test_hints_say_what_the_bytes_do_not(self):
        (told,) = report("inspect", GOLDEN / "rows.npy", "--start", 5, "--experts", 300, "--layer-ids", "3,17")["records"]
        self.assertEqual((told["start"], told["rows"], told["num_experts"], told["missing_rows"]), (5, 4, 300, [[6, 7]]))
        self.assertEqual([layer["layer"] for layer in told["layers"]], [3, 17])
        (told,) = report("inspect", GOLDEN / "rows.sglang", "--from", "sglang", "--start", 0, "--experts", 300, "--layers", 2, "--top-k", 3, "--rows", 4)["records"]
        self.assertEqual((told["rows"], told["form"], told["ids_bytes"]), (4, "sglang", ROWS.size * 2))

    def test_a_contradicting_hint_is_named_by_its_option_and_types_by_name(self):
        for name, options, text in (
            ("plain.prime", ("--dtype", "int32"), "prime: --dtype is int32, the bytes have uint8"),
            ("plain.npy", ("--start", 0, "--top-k", 5), "npy: --top-k is 5, the bytes have 2"),
        ):
            said = refused("inspect", GOLDEN / name, "--experts", 16, *options)
            self.assertEqual(said, "%s: %s" % (GOLDEN / name, text))

    def test_a_file_too_many_is_named_as_such(self):
        self.assertEqual(refused("inspect", "a", "b"), "inspect takes FILE alone, 'b' is one too many; see `routecap help inspect`")
        self.assertEqual(refused("diff", "a", "b", "c"), "diff takes FIRST SECOND alone, 'c' is one too many; see `routecap help diff`")

    def test_a_byte_order_mark_stands_before_json(self):
        data = (GOLDEN / "plain.prime").read_bytes()
        plain = report("inspect", "-", "--experts", 16, data=data)["records"]
        marked = report("inspect", "-", "--experts", 16, data=b"\xef\xbb\xbf" + data)["records"]
        self.assertEqual((marked[0]["rows"], marked[0]["start"], marked[0]["form"]), (plain[0]["rows"], plain[0]["start"], "prime"))
        self.assertIn("at byte 16", refused("inspect", "-", data=b'\xef\xbb\xbf{"choices": [}'))

    def test_a_missing_hint_is_named_with_its_option(self):
        for option in ("--start", "--layers", "--experts", "--top-k"):
            given = {"--start": 0, "--layers": 3, "--experts": 16, "--top-k": 2}
            del given[option]
            hints = [word for pair in given.items() for word in pair]
            self.assertIn("say it with " + option, refused("inspect", GOLDEN / "plain.sglang", "--from", "sglang", *hints))

    def test_the_report_can_go_to_a_file(self):
        path = self.folder / "report.json"
        self.assertEqual(output("inspect", GOLDEN / "plain.frame", "--json", "-o", path), b"")
        self.assertEqual(json.loads(path.read_bytes())["records"][0]["rows"], 4)

    def test_zero_rows(self):
        data = make_frame(PLAIN[:0], 16, start=9)
        (told,) = report("inspect", "-", data=data)["records"]
        self.assertEqual((told["rows"], told["start"], told["version_spans"], told["missing_rows"]), (0, 9, [], []))
        self.assertIn("rows:       0 (start 9)\n", output("inspect", "-", data=data).decode())


if __name__ == "__main__":
    main()
