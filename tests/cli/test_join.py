# SPDX-License-Identifier: Apache-2.0
import numpy as np
from command import GOLDEN, Case, frame, main, make_frame, output, refused
from make_golden import CELLS, CELLS_VALID, npy

E = 300


def routes(rows, layers, seed):
    random = np.random.default_rng(seed)
    return np.array([[random.permutation(E)[:3] for _ in range(layers)] for _ in range(rows)]).reshape(rows, layers, 3)


WHOLE = routes(24, 3, 7)


class Join(Case):
    def part(self, name, rows, **more):
        return self.file(name, make_frame(WHOLE[rows], E, start=rows.start, **more))

    def test_slice_keeps_positions(self):
        read = frame(output("slice", GOLDEN / "cells.frame", "--positions", "102:104"))
        self.assertEqual((read.start, read.rows), (102, 2))
        np.testing.assert_array_equal(read.cell_valid, CELLS_VALID[2:4])
        self.same_ids(read.ids[read.cell_valid], CELLS[2:4][CELLS_VALID[2:4]])
        self.assertEqual(list(zip(read.span_starts, read.span_versions)), [(102, 4), (103, 9)])
        self.assertEqual(frame(output("slice", GOLDEN / "cells.frame", "--positions", ":101")).rows, 1)
        self.assertEqual(frame(output("slice", GOLDEN / "cells.frame", "--positions", "105:")).rows, 0)
        self.assertIn("100:105", refused("slice", GOLDEN / "cells.frame", "--positions", "99:"))

    def test_R4_slice_to_tokens_and_layers(self):
        data = make_frame(WHOLE, E, layers=[2, 5, 9])
        self.same_ids(frame(output("slice", "-", "--tokens", 6, data=data)).ids, WHOLE[:5])
        self.same_ids(frame(output("slice", "-", "--tokens", 6, "--include-last", data=data)).ids, WHOLE[:6])
        read = frame(output("slice", "-", "--keep-layers", "2,9", "--positions", "4:9", data=data))
        self.assertEqual(read.layer_ids.tolist(), [2, 9])
        self.same_ids(read.ids, WHOLE[4:9][:, [0, 2]])
        self.assertIn("layer 3", refused("slice", "-", "--keep-layers", "2-3", data=data))
        self.assertIn("what to keep", refused("slice", "-", data=data))
        self.assertIn("--tokens", refused("slice", "-", "--include-last", data=data))

    def test_R39_concat_joins_what_follows(self):
        parts = [self.part("a", slice(0, 7)), self.part("b", slice(7, 7)), self.part("c", slice(7, 24))]
        read = frame(output("concat", *parts))
        self.assertEqual((read.start, read.rows), (0, 24))
        self.same_ids(read.ids, WHOLE)
        # Frames of one file, and standard input among files.
        both = parts[0].read_bytes() + parts[1].read_bytes()
        self.same_ids(frame(output("concat", "-", parts[2], data=both)).ids, WHOLE)

    def test_R39_a_gap_and_an_overlap_are_told(self):
        first, gap, over = self.part("a", slice(0, 7)), self.part("b", slice(8, 24)), self.part("c", slice(5, 24))
        self.assertIn(str(gap), refused("concat", first, gap))
        self.assertIn(str(over), refused("concat", first, over))
        changed = self.file("d", make_frame((WHOLE[5:24] + 1) % E, E, start=5))
        old = frame(output("concat", first, changed, "--overlap", "keep-old"))
        self.same_ids(old.ids, np.concatenate([WHOLE[:7], (WHOLE[7:] + 1) % E]))
        new = frame(output("concat", first, changed, "--overlap", "keep-new"))
        self.same_ids(new.ids, np.concatenate([WHOLE[:5], (WHOLE[5:] + 1) % E]))

    def test_concat_places_forms_without_a_start_behind_each_other(self):
        parts = [self.file("%d.npy" % at, npy(WHOLE[at : at + 8], "<u2")) for at in (0, 8, 16)]
        read = frame(output("concat", *parts, "--start", 40, "--experts", E))
        self.assertEqual((read.start, read.rows), (40, 24))
        self.same_ids(read.ids, WHOLE)

    def test_R40_merge_at_the_boundary(self):
        prefill, decode = self.part("prefill", slice(0, 12)), self.file("decode", make_frame((WHOLE[8:] + 1) % E, E, start=8))
        read = frame(output("merge", prefill, decode, "--boundary", 10))
        self.same_ids(read.ids, np.concatenate([WHOLE[:10], (WHOLE[10:] + 1) % E]))
        self.assertIn("--boundary", refused("merge", prefill, decode))
        refused("merge", prefill, decode, "--boundary", 13)
        refused("merge", prefill, decode, "--boundary", 7)

    def test_R44_stack_of_three_stages(self):
        stages = [self.file(str(column), make_frame(WHOLE[:, [column]], E, layers=[4 + column])) for column in (2, 0, 1)]
        read = frame(output("stack", *stages))
        self.assertEqual(read.layer_ids.tolist(), [4, 5, 6])
        self.same_ids(read.ids, WHOLE)
        self.assertIn("layer 6", refused("stack", stages[0], stages[1], stages[0]))
        refused("stack", stages[0], self.file("other", make_frame(WHOLE[1:, [0]], E, start=1, layers=[9])))
        refused("stack", stages[0])

    def zigzag(self, ranks):
        chunk = 24 // (2 * ranks)
        rows = [[*range(r * chunk, (r + 1) * chunk), *range((2 * ranks - 1 - r) * chunk, (2 * ranks - r) * chunk)] for r in range(ranks)]
        return rows, [self.file("rank%d" % rank, make_frame(WHOLE[at], E)) for rank, at in enumerate(rows)]

    def test_R45_interleave_zigzag(self):
        for ranks in (2, 3, 4, 12):
            _, files = self.zigzag(ranks)
            read = frame(output("interleave", *files, "--zigzag"))
            self.assertEqual(read.rows, 24)
            self.same_ids(read.ids, WHOLE)

    def test_R45_interleave_by_positions(self):
        rows, files = self.zigzag(3)
        lists = [",".join(map(str, at)) for at in rows]
        options = [word for one in lists for word in ("--positions", one)]
        self.same_ids(frame(output("interleave", *files, *options)).ids, WHOLE)
        short = [word for one in ("0-3,20-23", "4-7,16-19", "8-15") for word in ("--positions", one)]
        self.same_ids(frame(output("interleave", *files, *short)).ids, WHOLE)
        self.assertIn("once for each", refused("interleave", *files, "--positions", "0-7"))
        self.assertIn("--positions", refused("interleave", *files[:2], "--positions", "0-8", "--positions", "9-16"))

    def test_R45_absent_positions_are_missing_and_doubled_ones_refused(self):
        parts = [self.part("a", slice(0, 5)), self.part("b", slice(9, 24))]
        read = frame(output("interleave", *parts))
        self.assertEqual(read.row_valid.tolist(), [row < 5 or row >= 9 for row in range(24)])
        self.same_ids(read.ids[read.row_valid], WHOLE[read.row_valid])
        refused("interleave", parts[0], self.part("c", slice(4, 9)))

    def test_other_shapes_are_refused_and_nothing_is_written(self):
        a, b = self.part("a", slice(0, 7)), self.file("b", make_frame(WHOLE[7:] % 200, 200, start=7))
        out = self.folder / "out"
        for command in (("concat",), ("merge", "--boundary", 7), ("interleave",)):
            self.assertIn("num_experts", refused(command[0], a, b, *command[1:], "-o", out))
        self.assertFalse(out.exists())

    def test_standard_input_can_be_named_once(self):
        data = make_frame(WHOLE, E)
        self.assertIn("twice", refused("concat", "-", "-", data=data))
        self.assertIn("twice", refused("diff", "-", "-", data=data))


if __name__ == "__main__":
    main()
