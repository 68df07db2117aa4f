# SPDX-License-Identifier: Apache-2.0
import base64
import csv
import io
import json
import os

import numpy as np
from command import GOLDEN, Case, frame, frames, main, make_frame, output, refused, sglang
from make_golden import CELLS, CELLS_VALID, CELLS_WEIGHTS, PLAIN, ROWS, ROWS_MISSING, cells_frame, npy

SIGNED = {"int8": "<i1", "int16": "<i2", "int32": "<i4", "int64": "<i8"}


def read_nemo(data):
    mark, dtype, shape, text = data.decode().split(":")
    assert mark == "nrlre1"
    return np.frombuffer(base64.b64decode(text, validate=True), SIGNED[dtype]).reshape([int(n) for n in shape.split("x")])


def read_prime(data):
    told = json.loads(data)
    array = np.frombuffer(base64.b64decode(told["data"], validate=True), np.dtype(told["dtype"]).newbyteorder("<"))
    return array.reshape(told["shape"]), told["start"]


def read_npy(data):
    return np.load(io.BytesIO(data))


def read_sglang(data, shape, dtype="<i4"):
    return np.frombuffer(base64.b64decode(data, validate=True), dtype).reshape(shape)


def read_csv(data, shape, start, layers):
    """Ids and weights [rows, L, K]; -1 where no line is."""
    ids, weights = np.full(shape, -1), np.full(shape, np.nan)
    lines = [line for line in data.decode().splitlines() if not line.startswith("#")]
    for line in csv.DictReader(lines):
        at = int(line["step"]) - start, layers.index(int(line["layer"])), int(line["slot"])
        ids[at] = int(line["expert"])
        if line.get("weight"):
            weights[at] = float(line["weight"])
    return ids, weights


class Convert(Case):
    hints = ("--start", 10, "--experts", 16)

    def test_every_golden_form_becomes_the_same_frame(self):
        flat = ("--layers", 3, "--top-k", 2, "--from", "sglang")
        inputs = {
            "plain.npy": self.hints,
            "plain.vllm": self.hints,
            "plain_big_i8.npy": self.hints,
            "plain.sglang": (*self.hints, *flat),
            "plain_u1.sglang": (*self.hints, *flat, "--dtype", "uint8"),
            "plain.prime": ("--experts", 16),
            "plain_spaced.prime": ("--experts", 16),
            "plain.nemo": self.hints,
            "plain.lists": self.hints,
            "plain_spaced.lists": self.hints,
        }
        expected = make_frame(PLAIN, 16, start=10)
        for name, hints in inputs.items():
            with self.subTest(name):
                self.assertEqual(output("convert", GOLDEN / name, *hints), expected)
                # Without a name, from standard input.
                self.assertEqual(output("convert", "-", *hints, data=(GOLDEN / name).read_bytes()), expected)

    def test_a_frame_becomes_every_form(self):
        data = make_frame(PLAIN, 16, start=10)
        self.same_ids(read_npy(output("convert", "-", "--to", "npy", data=data)), PLAIN)
        self.same_ids(read_npy(base64.b64decode(output("convert", "-", "--to", "vllm", data=data))), PLAIN)
        self.same_ids(read_sglang(output("convert", "-", "--to", "sglang", data=data), PLAIN.shape), PLAIN)
        self.same_ids(json.loads(output("convert", "-", "--to", "lists", data=data)), PLAIN)
        self.same_ids(read_nemo(output("convert", "-", "--to", "nemo", data=data)), PLAIN)
        ids, start = read_prime(output("convert", "-", "--to", "prime", data=data))
        self.same_ids(ids, PLAIN)
        self.assertEqual(start, 10)
        self.assertEqual(base64.b64decode(output("convert", "-", "--to", "frame-base64", data=data), validate=True), data)
        ids, _ = read_csv(output("convert", "-", "--to", "csv", data=data), PLAIN.shape, 10, [0, 1, 2])
        self.same_ids(ids, PLAIN)

    def test_types_of_the_output(self):
        data = make_frame(PLAIN, 16)
        for name in ("uint8", "uint16", "int16", "int32", "int64"):
            array = read_npy(output("convert", "-", "--to", "npy", "--to-dtype", name, data=data))
            self.assertEqual(array.dtype, np.dtype(name))
            self.same_ids(array, PLAIN)
        self.same_ids(read_sglang(output("convert", "-", "--to", "sglang", "--to-dtype", "uint16", data=data), PLAIN.shape, "<u2"), PLAIN)
        self.assertIn("--to-dtype is int16, nemo is not written with it", refused("convert", "-", "--to", "nemo", "--to-dtype", "int16", data=data))

    def test_missing_rows_are_refused_unless_the_user_chooses(self):
        data = make_frame(ROWS, 300, valid=[1, 0, 1, 1])
        for form in ("sglang", "vllm", "npy", "prime", "lists"):
            self.assertIn("choose how to write it with --missing", refused("convert", "-", "--to", form, data=data))
        self.same_ids(read_sglang(output("convert", "-", "--to", "sglang", "--missing", "minus-one", data=data), ROWS.shape), ROWS_MISSING)
        filled = ROWS.copy()
        filled[1] = (299 + np.arange(3)) % 300
        self.same_ids(read_npy(output("convert", "-", "--to", "npy", "--missing", "fill", "--fill-id", 299, data=data)), filled)
        # This form says it by itself.
        self.same_ids(read_nemo(output("convert", "-", "--to", "nemo", data=data)), ROWS_MISSING)
        self.assertIn("--fill-id: '-1'", refused("convert", "-", "--to", "npy", "--missing", "fill", "--fill-id", -1, data=data))
        self.assertIn("--fill-id is 300, there are 300 experts", refused("convert", "-", "--to", "npy", "--missing", "fill", "--fill-id", 300, data=data))

    def test_csv_keeps_weights_layers_positions_and_holes(self):
        text = output("convert", GOLDEN / "cells.frame", "--to", "csv", "--to-turn", 2, "--decode-start", 103)
        self.assertEqual(text, (GOLDEN / "cells.csv").read_bytes())
        ids, weights = read_csv(text, CELLS.shape, 100, [2, 5])
        self.same_ids(ids[CELLS_VALID], CELLS[CELLS_VALID])
        np.testing.assert_array_equal(weights[CELLS_VALID], CELLS_WEIGHTS[CELLS_VALID])
        back = frame(output("convert", "-", "--experts", 300, data=text))
        np.testing.assert_array_equal(back.cell_valid, CELLS_VALID)
        self.same_ids(back.ids[CELLS_VALID], CELLS[CELLS_VALID])
        np.testing.assert_array_equal(back.weights[CELLS_VALID].view("<f2").astype(float), CELLS_WEIGHTS[CELLS_VALID])
        self.assertEqual(back.weights_kind, 1)

    def test_zstd_makes_frames_smaller_and_keeps_everything(self):
        ids = np.tile(PLAIN, (100, 1, 1))
        data = make_frame(ids, 16, start=4)
        small = output("convert", "-", "--zstd", 19, data=data)
        self.assertLess(len(small), len(data) // 4)
        self.same_ids(frame(small).ids, ids)
        self.assertEqual(output("convert", "-", data=small), data)

    def test_several_frames_stay_several_and_no_other_form_holds_them(self):
        data = cells_frame() + make_frame(PLAIN, 16)
        self.assertEqual(output("convert", "-", data=data), data)
        self.assertIn("concat", refused("convert", "-", "--to", "csv", data=data))
        self.same_ids(read_npy(output("convert", "-", "--to", "npy", "--frame", 1, data=data)), PLAIN)
        self.assertIn("truncated", refused("convert", "-", data=data[:-8]))
        self.assertEqual(output("convert", "-", "--frame", 0, data=data[:-8]), cells_frame())

    def test_the_full_axis(self):
        data = make_frame(ROWS, 300, layers=[1, 3])
        full = frame(output("convert", "-", "--full-axis", 5, data=data))
        self.assertEqual(full.layer_ids.tolist(), [0, 1, 2, 3, 4])
        self.assertEqual(full.cell_valid[0].tolist(), [False, True, False, True, False])
        self.same_ids(full.ids[:, [1, 3]], ROWS)
        filled = frame(output("convert", "-", "--full-axis", 5, "--full-axis-id", 7, data=data))
        self.assertTrue(filled.cell_valid.all())
        self.assertEqual(set(filled.ids[:, [0, 2, 4]].ravel()), {7})
        self.assertIn("num_layers", refused("convert", "-", "--full-axis", 3, data=data))
        self.assertIn("--full-axis", refused("convert", "-", "--full-axis-id", 3, data=data))

    def test_a_full_axis_beyond_any_model_or_the_memory_is_refused_before_it_is_made(self):
        data = make_frame(ROWS, 300, layers=[1, 3])
        for layers in (65537, 2147483647):
            self.assertEqual(
                refused("convert", "-", "--full-axis", layers, data=data),
                "--full-axis: '%d' is no whole number from 1 to 65536; see `routecap help convert`" % layers,
            )
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        rows = memory // (65536 * 22) + 1
        ids = np.tile(np.arange(22), (rows, 1, 1))
        said = refused("convert", "-", "--start", 0, "--experts", 64, "--full-axis", 65536, data=npy(ids, "<u1"))
        self.assertTrue(said.startswith("--full-axis: 65536 layers of %d rows and 22 experts of 1 byte are more than the memory of this machine, " % rows), said)

    def test_what_a_form_has_no_use_for_is_told_by_its_option(self):
        said = [
            (("--to", "sglang", "--to-dtype", "int64"), "--to-dtype is int64, sglang is not written with it"),
            (("--to", "npy", "--decode-start", 2), "--decode-start is 2, npy has no use for it"),
            (("--to", "npy", "--fill-id", 2), "--fill-id 2: only --missing fill writes it, and --missing is refuse"),
            (("--to", "npy", "--missing", "minus-one", "--fill-id", 2), "--fill-id 2: only --missing fill writes it, and --missing is minus-one"),
        ]
        for options, text in said:
            self.assertEqual(refused("convert", "-", *options, data=make_frame(ROWS, 300)), text)
        said = refused("convert", "-", "--to", "nemo", data=make_frame(ROWS, 300, flags=[4, 4], cells=[[1, 1]] * (len(ROWS) - 1) + [[1, 0]]))
        self.assertNotIn("REFUSE", said)
        self.assertIn(": choose how to write it with --missing", said)

    def test_a_contradicting_hint_is_refused(self):
        self.assertIn("frame: --experts is 17, the bytes have 16", refused("convert", "-", "--experts", 17, data=make_frame(PLAIN, 16)))
        self.assertIn("start", refused("convert", "-", "--start", 11, "--experts", 16, data=(GOLDEN / "plain.prime").read_bytes()))

    def test_from_names_what_the_content_does_not_tell(self):
        self.assertIn("--from", refused("convert", "-", *self.hints, data=sglang(PLAIN)))
        self.assertIn("not in {frame,", refused("convert", "-", "--from", "numpy", data=b"x"))
        self.assertIn("not in {frame,", refused("convert", "-", "--to", "numpy", data=b"x"))
        self.assertIn("npy", refused("convert", "-", "--from", "npy", *self.hints, data=cells_frame()))

    def test_frames_of_frames(self):
        self.assertEqual(len(frames(output("convert", "-", data=cells_frame() * 3))), 3)
        self.same_ids(read_npy(output("convert", "-", *self.hints, "--to", "npy", data=npy(PLAIN, ">i4"))), PLAIN)


if __name__ == "__main__":
    main()
