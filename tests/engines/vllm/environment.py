# SPDX-License-Identifier: Apache-2.0
"""What must be said before vLLM is imported: the engine in this process, no network, one thread, and which of its two model runners.

The second model runner (`ROUTECAP_VLLM_RUNNER=v2`) asks for a Triton that compiles for processors, which no published package does. Triton's own
interpreter runs that runner's bookkeeping kernels instead; model, router, fused-MoE kernel, scheduler and vLLM's routed-experts feature are its own.
"""

import os
import types

RUNNER = os.environ.get("ROUTECAP_VLLM_RUNNER", "v1")


def prepare():
    if RUNNER not in ("v1", "v2"):
        raise SystemExit(f"ROUTECAP_VLLM_RUNNER is {RUNNER!r}, allowed are v1 and v2")
    os.environ.update(
        VLLM_ENABLE_V1_MULTIPROCESSING="0",
        VLLM_USE_V2_MODEL_RUNNER="1" if RUNNER == "v2" else "0",
        VLLM_NO_USAGE_STATS="1",
        DO_NOT_TRACK="1",
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        OMP_NUM_THREADS="1",
        TOKENIZERS_PARALLELISM="false",
    )
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    if RUNNER == "v2":
        interpret_triton()


def interpret_triton():
    """vLLM looks whether Triton has a backend for the processor: an entry that says so is all that it needs of it."""
    os.environ["TRITON_INTERPRET"] = "1"
    from triton import backends

    driver = types.SimpleNamespace(is_active=lambda: True)
    backends.backends["cpu"] = types.SimpleNamespace(driver=driver, compiler=None)
