#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden files, with numpy and by hand: nothing here comes from the library's encoders.

    make_golden.py FOLDER          writes them
    make_golden.py --check FOLDER  compares them with what is there
"""

import base64
import io
import json
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from reference import xxh3_64  # noqa: E402


def ids_of(rows, layers, top_k, experts, by_row, by_layer, by_rank):
    row, layer, rank = np.indices((rows, layers, top_k))
    return (by_row * row + by_layer * layer + by_rank * rank) % experts


# plain: E 16, no holes, layers 0 .. 2, start 10.
PLAIN = ids_of(4, 3, 2, 16, 7, 3, 5)
# rows: E 300, row 1 of 4 is missing, layers 0 and 1, start 0.
ROWS = ids_of(4, 2, 3, 300, 90, 40, 7)
ROWS_MISSING = np.where(np.arange(4)[:, None, None] == 1, -1, ROWS)
# cells: E 300, row 1 of 5 is missing and layer 5 of row 3; layers 2 and 5 (PARTIAL), start 100, float16 weights (renormalized), versions 4 and 9.
CELLS = ids_of(5, 2, 3, 300, 11, 100, 7)
CELLS_VALID = np.array([[1, 1], [0, 0], [1, 1], [1, 0], [1, 1]], bool)
CELLS_WEIGHTS = (np.indices((5, 2, 3))[2] + 1) / 8 + np.indices((5, 2, 3))[0] / 16


def b64(data):
    return base64.b64encode(data)


def npy(array, dtype, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.ascontiguousarray(array.astype(dtype)), version=version)
    return out.getvalue()


def part(kind, data):
    return struct.pack("<IIqqQ", kind, 0, len(data), len(data), xxh3_64(data)), data + bytes(-len(data) % 8)


def frame(start, experts, layers, flags, ids, ids_code, runs, cells, spans, weights, weights_code, kind):
    rows, _, top_k = ids.shape
    parts = [part(1, struct.pack("<%dq" % len(runs), *runs))]
    if cells is not None:
        parts.append(part(2, np.packbits(cells.reshape(-1), bitorder="little").tobytes()))
    parts.append(part(3, b"".join(struct.pack("<qq", *span) for span in spans)))
    parts.append(part(4, ids.tobytes()))
    if weights is not None:
        parts.append(part(5, weights.tobytes()))
    header_bytes = 80 + 8 * len(layers) + 32 * len(parts) + 8
    frame_bytes = header_bytes + sum(len(data) for _, data in parts)
    head = b"\x89RCAP\r\n\x1a" + struct.pack("<II", 1, 0x01020304) + struct.pack("<4q", frame_bytes, header_bytes, start, rows)
    head += struct.pack("<8i", experts, top_k, len(layers), len(parts), ids_code, weights_code, kind, 0)
    head += b"".join(struct.pack("<ii", *layer) for layer in zip(layers, flags)) + b"".join(entry for entry, _ in parts)
    return head + struct.pack("<Q", xxh3_64(head)) + b"".join(data for _, data in parts)


def cells_frame():
    missing = ~np.repeat(CELLS_VALID[:, :, None], 3, axis=2)
    ids = np.where(missing, 0xFFFF, CELLS).astype("<u2")
    weights = CELLS_WEIGHTS.astype("<f2").view("<u2")
    weights = np.where(missing, 0xFFFF, weights).astype("<u2")
    return frame(100, 300, [2, 5], [0, 4], ids, 2, [1, 1, 3], CELLS_VALID, [(100, 4), (103, 9)], weights, 6, 1)


def csv():
    lines = ["# route_trace v1", "# n_layer=6 n_expert=300 n_expert_used=3"]
    lines += ["# routecap start=100 rows=5 layers=2,5 flags=0,4 weights=float16 weights_kind=1", "turn,phase,step,layer,slot,expert,weight"]
    for row, layer, rank in np.ndindex(5, 2, 3):
        if CELLS_VALID[row, layer]:
            weight = repr(float(CELLS_WEIGHTS[row, layer, rank]))
            weight = weight[:-2] if weight.endswith(".0") else weight
            # Turn 2; decode begins at position 103.
            numbers = (2, int(row >= 3), 100 + row, [2, 5][layer], rank, CELLS[row, layer, rank], weight)
            lines.append(",".join(str(number) for number in numbers))
    return ("\n".join(lines) + "\n").encode()


def files():
    nemo = b"nrlre1:%s:%dx%dx%d:%s"
    prime = {"data": b64(PLAIN.astype("<u1").tobytes()).decode(), "shape": list(PLAIN.shape), "start": 10, "dtype": "uint8"}
    return {
        "plain.npy": npy(PLAIN, "<u1"),
        "plain_2.npy": npy(PLAIN, "<u1", (2, 0)),
        "plain_3.npy": npy(PLAIN, "<u2", (3, 0)),
        "plain_u2.npy": npy(PLAIN, "<u2"),
        "plain_i2.npy": npy(PLAIN, "<i2"),
        "plain_i4.npy": npy(PLAIN, "<i4"),
        "plain_i8.npy": npy(PLAIN, "<i8"),
        "plain_big_u2.npy": npy(PLAIN, ">u2"),
        "plain_big_i4.npy": npy(PLAIN, ">i4"),
        "plain_big_i8.npy": npy(PLAIN, ">i8"),
        "plain_fortran.npy": npy(PLAIN.transpose(2, 1, 0), "<u1").replace(b"'fortran_order': False", b"'fortran_order': True "),
        "plain_float.npy": npy(PLAIN, "<f4"),
        "plain_flat.npy": npy(PLAIN.reshape(4, 6), "<u1"),
        "plain.vllm": b64(npy(PLAIN, "<u1")),
        "plain_i4.vllm": b64(npy(PLAIN, "<i4")),
        "plain.sglang": b64(PLAIN.astype("<i4").tobytes()),
        "plain_u1.sglang": b64(PLAIN.astype("<u1").tobytes()),
        "plain_u2.sglang": b64(PLAIN.astype("<u2").tobytes()),
        "plain.prime": json.dumps(prime, separators=(",", ":")).encode(),
        "plain_spaced.prime": json.dumps(dict(reversed(prime.items()), more={"a": [1, {"b": "}"}], "c": None}), indent=2).encode(),
        "plain.nemo": nemo % (b"int8", 4, 3, 2, b64(PLAIN.astype("<i1").tobytes())),
        "plain.lists": json.dumps(PLAIN.tolist(), separators=(",", ":")).encode(),
        "plain_spaced.lists": json.dumps(PLAIN.tolist(), indent=1).encode(),
        "plain.frame": frame(10, 16, [0, 1, 2], [0, 0, 0], PLAIN.astype("<u1"), 1, [4], None, [(10, 5)], None, 0, 0),
        "rows.npy": npy(ROWS_MISSING, "<i2"),
        "rows.sglang": b64(ROWS_MISSING.astype("<i4").tobytes()),
        "rows.nemo": nemo % (b"int16", 4, 2, 3, b64(ROWS_MISSING.astype("<i2").tobytes())),
        "rows.lists": json.dumps(ROWS_MISSING.tolist(), separators=(",", ":")).encode(),
        "cells.frame": cells_frame(),
        "cells.frame-base64": b64(cells_frame()),
        "cells.csv": csv(),
    }


def main(arguments):
    check = arguments[0] == "--check"
    folder = pathlib.Path(arguments[-1])
    wrong = []
    for name, data in files().items():
        if not check:
            (folder / name).write_bytes(data)
        elif not (folder / name).is_file() or (folder / name).read_bytes() != data:
            wrong.append(name)
    if wrong:
        sys.exit("differ from what numpy %s makes: %s" % (np.__version__, ", ".join(wrong)))
    print("%d golden files" % len(files()))


if __name__ == "__main__":
    main(sys.argv[1:])
