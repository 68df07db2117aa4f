# SPDX-License-Identifier: Apache-2.0
"""Reads every frame that the tests wrote into a folder, and compares it with what the record held."""

import pathlib
import sys

import numpy as np

from frame_reader import read_file
from reference import skip

BLOBS = ("row_validity", "cell_validity", "ids", "weights")


def read_content(data):
    content = {}
    while data:
        line, _, data = data.partition(b"\n")
        name, *numbers = line.decode().split()
        if name in BLOBS:
            size = int(numbers[0])
            content[name], data = data[:size], data[size + 1 :]
        else:
            content[name] = [int(number) for number in numbers]
    return content


def bitmap(valid):
    return np.packbits(valid.reshape(-1), bitorder="little").tobytes()


def check(frame, content):
    for name in ("start", "rows", "num_experts", "top_k", "ids_dtype", "weights_dtype", "weights_kind"):
        assert [getattr(frame, name)] == content[name], name
    for name in ("layer_ids", "layer_flags", "span_starts", "span_versions"):
        assert getattr(frame, name).tolist() == content[name], name
    assert bitmap(frame.row_valid) == content["row_validity"], "row validity"
    assert (bitmap(frame.cell_valid) if frame.has_cells else b"") == content["cell_validity"], "cell validity"
    assert frame.ids.tobytes() == content["ids"], "ids"
    assert (b"" if frame.weights is None else frame.weights.tobytes()) == content["weights"], "weights"
    # Bytes of missing cells are 0xFF.
    assert not len(frame.ids[~frame.cell_valid]) or set(frame.ids[~frame.cell_valid].tobytes()) == {255}, "missing cells"


def main(folder):
    paths = sorted(pathlib.Path(folder).glob("*.frame"))
    if not paths:
        skip("no frames in " + folder)
    for path in paths:
        (frame,) = read_file(path.read_bytes())
        try:
            check(frame, read_content(path.with_suffix(".content").read_bytes()))
        except AssertionError as wrong:
            sys.exit("%s: %s" % (path.name, wrong))
    two = read_file(paths[0].read_bytes() + paths[-1].read_bytes())
    assert len(two) == 2 and two[1].rows == read_file(paths[-1].read_bytes())[0].rows
    print("%d frames agree" % len(paths))


if __name__ == "__main__":
    main(sys.argv[1])
