#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seed corpus from the golden files: eight bytes of hints (decode_fuzzer.cpp), then the form.

    make_corpus.py GOLDEN CORPUS
"""

import pathlib
import sys

NONE = 255
# E by its place in the fuzzer's table, K, layers, start, rows, dtype, turn, number of layer ids.
PLAIN = (4, 0, 0, 10, NONE, 0, NONE, 0)
ROWS = (8, 0, 0, 0, NONE, 0, NONE, 0)
NOTHING = (0, 0, 0, NONE, NONE, 0, NONE, 0)


def main(golden, corpus):
    for path in sorted(pathlib.Path(golden).iterdir()):
        format = path.suffix[1:]
        if format == "py" or not path.is_file():
            continue
        hints = {"plain": PLAIN, "rows": ROWS}.get(path.stem.split("_")[0], NOTHING)
        if format in ("frame", "frame-base64", "csv"):
            hints = NOTHING
        if format == "sglang":
            dtype = {"plain_u1": 1, "plain_u2": 2}.get(path.stem, 0)
            top_k, layers = (3, 2) if path.stem == "rows" else (2, 3)
            hints = (hints[0], top_k, layers, hints[3], NONE, dtype, NONE, 0)
        folder = pathlib.Path(corpus) / format
        folder.mkdir(parents=True, exist_ok=True)
        (folder / path.stem).write_bytes(bytes(hints) + path.read_bytes())
    extra = {
        "csv/bigmoe": bytes(NOTHING)
        + b"# route_trace v1\n# model=m n_layer=2 n_expert=8 n_expert_used=2\nturn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n"
        + b"0,0,5,1,0,7,0.5,0,123\n0,0,5,1,1,3,0.25,1,0\n0,1,7,0,1,2,nan,0,0\n0,1,7,0,0,1,1e-3,0,0\n",
        "csv/llama": bytes((3, 0, 0, NONE, NONE, 0, NONE, 0)) + b"phase,token,layer,rank,expert\r\nprefill,0,3,0,4\r\ndecode,1,3,0,5\r\n",
        "csv/turns": bytes((3, 0, 0, NONE, NONE, 0, 1, 0)) + b"turn,step,layer,slot,expert\n0,0,0,0,1\n1,0,0,0,2\n",
        "lists/empty": bytes((3, 2, 2, 0, NONE, 0, NONE, 0)) + b"[]",
    }
    for name, data in extra.items():
        (pathlib.Path(corpus) / name).write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
