# SPDX-License-Identifier: Apache-2.0
import numpy as np
from command import DONE, FINDINGS, Case, main, make_frame, output, refused, report, sglang
from make_golden import cells_frame, npy

E, K = 64, 4


def routes(rows, layers, seed=1):
    """Ids as a router gives them: each row K different ones, in no order."""
    random = np.random.default_rng(seed)
    return np.array([[random.permutation(E)[:K] for _ in range(layers)] for _ in range(rows)])


class Validate(Case):
    def findings(self, data, *options, code=FINDINGS):
        told = report("validate", "-", *options, data=data, code=code)
        found = [finding for record in told["records"] for finding in record["findings"]]
        self.assertEqual(told["findings"], len(found))
        return found

    def array(self, ids, *options, code=FINDINGS, dtype="<i4"):
        return self.findings(npy(ids, dtype), "--experts", E, "--start", 100, *options, code=code)

    def expect(self, finding, kind, layers, rows, rule, *words):
        self.assertEqual((finding["kind"], finding["layers"], finding["rows"], finding["rule"]), (kind, layers, rows, rule))
        for word in words:
            self.assertIn(word, finding["text"])

    def test_clean_records_have_no_finding(self):
        self.assertEqual(self.array(routes(200, 6), code=DONE), [])
        holes = make_frame(routes(5, 2), E, layers=[2, 5], flags=[0, 4], valid=[1, 0, 1, 1, 1], cells=[[1, 1], [0, 0], [1, 1], [1, 0], [1, 1]])
        self.assertEqual(self.findings(holes, code=DONE), [])
        text = output("validate", "-", "--experts", E, "--start", 0, data=npy(routes(5, 2), "<u1")).decode()
        self.assertEqual(text, "standard input: nothing found in 5 rows of 2 layers\n")
        text = output("validate", "-", data=holes).decode()
        self.assertEqual(text, "standard input: nothing found in 5 rows of 2 layers, 1 row missing, 1 more layer of a row missing\n")

    def test_R22_ids_beyond_the_experts(self):
        ids = routes(30, 4)
        ids[10:13, 2, 1] = [64, 99, 4000]
        (finding,) = self.array(ids)
        self.expect(finding, "out-of-range", [2], [110, 113], "R22", "layer 2, positions 110-112: ids ", "there are 64 experts", "physical ids")

    def test_R23_a_shared_experts_column(self):
        ids = routes(30, 4)
        ids[:, :, -1] = 64
        (finding,) = self.array(ids)
        self.expect(finding, "out-of-range", [0, 1, 2, 3], [100, 130], "R23", "fused shared expert")

    def test_R25_duplicates(self):
        ids = routes(30, 4)
        ids[7, 1] = [5, 9, 5, 2]
        (finding,) = self.array(ids)
        self.expect(finding, "duplicate", [1], [107, 108], "R25", "layer 1, position 107: ids 5 9 5 2", "zero padding")

    def test_zero_padding_at_the_end_is_one_line(self):
        ids = routes(30, 4)
        ids[25:] = 0
        (finding,) = self.array(ids)
        self.expect(finding, "duplicate", [0, 1, 2, 3], [125, 130], "R25, R7", "layers 0-3, positions 125-129: all ids are 0", "zero padding")

    def test_R7_an_all_zero_layer(self):
        ids = routes(30, 4)
        ids[:, 2] = 0
        (finding,) = self.array(ids)
        self.expect(finding, "all-zero-layer", [2], None, "R7, R26", "layer 2: ", "kernel bypassed the tap", "dense layer")

    def test_a_layer_of_top_1_that_always_chose_expert_0_is_told_only_where_that_is_unlikely(self):
        ids = np.random.default_rng(3).integers(0, E, (15, 2, 1))
        ids[:, 1] = 0
        self.assertEqual([finding["kind"] for finding in self.array(ids, code=DONE)], [])
        ids = np.random.default_rng(3).integers(0, E, (40, 2, 1))
        ids[:, 1] = 0
        (finding,) = self.array(ids)
        self.expect(finding, "all-zero-layer", [1], None, "R7, R26")

    def test_R7_a_layer_that_was_never_written(self):
        ids = routes(30, 4)
        ids[:, 3] = -1
        (finding,) = self.array(ids)
        self.expect(finding, "never-written", [3], None, "R7", "no row has an id")

    def test_R7_a_record_without_any_row(self):
        (finding,) = self.findings(make_frame(routes(6, 2), E, start=3, valid=[0] * 6))
        self.expect(finding, "never-written", [], [3, 9], "R7", "positions 3-8: no row is there")

    def test_R7_missing_bytes_taken_for_ids(self):
        ids = routes(30, 4)
        ids[3] = 255
        (finding,) = self.array(ids, dtype="<u1")
        self.expect(finding, "missing-as-ids", [0, 1, 2, 3], [103, 104], "R7", "0xFF", "missing rows taken for ids")
        (finding,) = self.findings(npy(ids, "<u1"), "--experts", 256, "--start", 0)
        self.expect(finding, "missing-as-ids", [0, 1, 2, 3], [3, 4], "R7")

    def test_R15_the_same_row_many_times(self):
        ids = routes(300, 4)
        ids[120:187] = ids[120]
        (finding,) = self.array(ids)
        self.expect(finding, "repeated", [], [220, 287], "R15", "positions 220-286: the same row 67 times in a run; stale or padded rows")

    def test_R15_the_same_row_many_times_in_a_layer(self):
        ids = routes(300, 4)
        ids[120:187, 1:3] = ids[120, 1:3]
        (finding,) = self.array(ids)
        self.expect(finding, "repeated", [1, 2], [220, 287], "R15", "layers 1-2, positions 220-286: the same row 67 times in a run")

    def test_few_repetitions_in_a_layer_are_real(self):
        ids = routes(300, 4)
        ids[120:130, 1] = ids[120, 1]
        self.assertEqual(self.array(ids, code=DONE), [])

    def test_hash_routed_layers_may_repeat(self):
        ids = routes(100, 2)
        ids[20:80, 0] = ids[20, 0]
        self.assertEqual(self.findings(make_frame(ids, E, flags=[1, 0]), code=DONE), [])
        (finding,) = self.findings(make_frame(ids, E))
        self.expect(finding, "repeated", [0], [20, 80], "R15")

    def test_R24_sorted_ids(self):
        ids = routes(60, 3)
        ids[:, 1] = np.sort(ids[:, 1], axis=1)
        (finding,) = self.array(ids)
        self.expect(finding, "sorted", [1], None, "R24", "ascend", "unordered")
        self.assertEqual(self.findings(make_frame(ids, E, flags=[0, 2, 0]), code=DONE), [])

    def test_R29_weights(self):
        ids = routes(20, 2)
        weights = np.full(ids.shape, 0.25)
        self.assertEqual(self.findings(make_frame(ids, E, weights=weights, kind=1), code=DONE), [])
        weights[4, 1, 2] = np.nan
        weights[9, 0, 0] = 0.5
        found = self.findings(make_frame(ids, E, weights=weights, kind=1))
        self.assertEqual([(one["kind"], one["layers"], one["rows"]) for one in found], [("weights", [1], [4, 5]), ("weights", [0], [9, 10])])
        # Only renormalized weights add up to 1.
        (finding,) = self.findings(make_frame(ids, E, weights=weights, kind=0))
        self.expect(finding, "weights", [1], [4, 5], "R29", "not finite")

    def test_versions_that_go_back(self):
        (finding,) = self.findings(make_frame(routes(20, 2), E, spans=[(0, 4), (8, 7), (15, 6)]))
        self.expect(finding, "version-order", [], [15, 20], "R37", "version 6 behind rows of version 7")

    def test_missing_rows_are_findings_only_where_asked(self):
        valid = np.ones(20, bool)
        valid[[3, 4, 11]] = False
        data = make_frame(routes(20, 2), E, valid=valid)
        self.assertEqual(self.findings(data, code=DONE), [])
        found = self.findings(data, "--complete")
        self.assertEqual([(one["kind"], one["rows"]) for one in found], [("missing", [3, 5]), ("missing", [11, 12])])

    def test_what_cannot_be_read_is_a_finding(self):
        data = bytearray(cells_frame())
        data[-70] ^= 1
        (finding,) = self.findings(bytes(data))
        self.assertEqual(finding["kind"], "unreadable")
        self.assertIn("checksum", finding["text"])
        (finding,) = self.findings(cells_frame()[:-1])
        self.assertIn("truncated", finding["text"])
        # The frames before a broken one are checked.
        whole = make_frame(routes(5, 2), E)
        told = report("validate", "-", data=whole + whole[:-1], code=FINDINGS)
        self.assertEqual([len(record["findings"]) for record in told["records"]], [0, 1])
        ids = routes(5, 3)
        ids[2, 1, 3] = -1
        (finding,) = self.array(ids)
        self.assertIn("row 2, layer 1 is -1 in 1 of its 4 columns", finding["text"])

    def test_standard_input_that_cannot_be_read_is_named_as_such(self):
        told = report("validate", "-", data=cells_frame()[:-1], code=FINDINGS)
        self.assertEqual(told["file"], "standard input")
        self.assertEqual((told["records"][0]["where"], told["records"][0]["form"]), (None, None))
        whole = make_frame(routes(5, 2), E)
        told = report("validate", "-", data=whole + whole[:-1], code=FINDINGS)
        self.assertEqual((told["records"][1]["where"], told["records"][1]["form"]), ("frame 1 at byte %d" % len(whole), "frame"))

    def test_a_lacking_hint_is_no_finding(self):
        self.assertIn("--experts", refused("validate", "-", "--start", 0, data=npy(routes(3, 2), "<u1")))
        refused("validate", "-", data=b"")
        refused("validate", self.folder / "absent", code=3)

    def test_every_finding_is_one_line(self):
        ids = routes(40, 3)
        ids[::2, 1, 0] = 70
        text = output("validate", "-", "--from", "sglang", "--start", 0, "--layers", 3, "--top-k", K, "--experts", E, data=sglang(ids), code=FINDINGS)
        self.assertEqual(text.count(b"\n"), 20)
        self.assertTrue(text.startswith(b"layer 1, position 0: ids 70 "))
        text = output("validate", "-", "--experts", E, "--start", 0, "--limit", 3, data=npy(ids, "<u1"), code=FINDINGS)
        self.assertEqual(text.splitlines()[3:], [b"17 more; --limit 0 shows all"])


if __name__ == "__main__":
    main()
