# SPDX-License-Identifier: Apache-2.0
"""The library and torch in one process, and the same work in torch alone: 58 layers narrowed into slices, a clone, copies to pinned memory, index_put.

usage: with_torch.py LIBROUTECAP JSON. Exit code 77 where there is no torch or it sees no GPU.
"""

import ctypes
import json
import statistics
import sys
import time

LAYERS, TOP_K, EXPERTS, SLOTS = 58, 8, 256, 40000

try:
    import torch
except ImportError:
    print("skipped: torch is not installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: torch sees no GPU")
    sys.exit(77)


def beside_the_library(path):
    """Torch goes on where it was while a backend is opened and closed."""
    before = torch.arange(1000, device="cuda")
    current = torch.cuda.current_device()
    library = ctypes.CDLL(path)
    library.rcap_backend_open.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.rcap_backend_destroy.argtypes = [ctypes.c_void_p]
    for _ in range(3):
        backend = ctypes.c_void_p()
        status = library.rcap_backend_open(b"cuda", None, ctypes.byref(backend), None)
        assert status == 0, f"rcap_backend_open says {status}"
        assert torch.cuda.current_device() == current
        assert int((before * 2).sum()) == 999000
        library.rcap_backend_destroy(backend)
    assert int(before.sum()) == 499500


def timed(work, rounds=30):
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def in_torch(tokens):
    """Microseconds of the capture of every layer, of the clone with its copies, and of the scatter on the host."""
    routed = [torch.randint(0, EXPERTS, (tokens, TOP_K), dtype=torch.int32, device="cuda") for _ in range(LAYERS)]
    cache = torch.zeros((tokens, LAYERS, TOP_K), dtype=torch.uint8, device="cuda")
    pinned = torch.zeros((tokens, LAYERS, TOP_K), dtype=torch.uint8, pin_memory=True)
    where = torch.zeros(tokens, dtype=torch.int64, pin_memory=True)
    slots = torch.randperm(SLOTS, device="cuda")[:tokens]
    store = torch.zeros((SLOTS, LAYERS, TOP_K), dtype=torch.uint8)

    def capture():
        for layer in range(LAYERS):
            cache[:, layer].copy_(routed[layer])

    def stage():
        pinned.copy_(cache.clone(), non_blocking=True)
        where.copy_(slots, non_blocking=True)

    def scatter():
        store.index_put_((where,), pinned)

    capture()
    stage()
    return {"tokens": tokens, "capture_us_per_layer": timed(capture) / LAYERS, "clone_and_copies_us": timed(stage), "index_put_us": timed(scatter)}


beside_the_library(sys.argv[1])
print("ok      torch in the same process")
figures = []
for count in (1, 64, 256, 8192):
    figures.append(in_torch(count))
    print("torch   n={tokens}: a layer {capture_us_per_layer:.2f} us; clone and copies {clone_and_copies_us:.1f} us; index_put {index_put_us:.1f} us".format(
        **figures[-1]))
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump({"torch": torch.__version__, "figures": figures}, file, indent=1)
