# SPDX-License-Identifier: Apache-2.0
"""Engines of vLLM in this process, each with an oracle at its kernel and, where a test wants it, an attachment."""

import contextlib
import gc
import os
import pathlib
import random

import environment

environment.prepare()

import models  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

OPTED_IN = {"routecap": 1}


class Engine:
    """A `vllm.LLM` whose requests are lists of token ids."""

    def __init__(self, model, attach=True, attachment=None, **options):
        from oracle import Oracle
        from vllm import LLM

        import routecap.vllm

        settings = {
            "model": str(model),
            "skip_tokenizer_init": True,
            "enforce_eager": True,
            "dtype": "bfloat16",
            "max_model_len": 512,
            "max_num_batched_tokens": 96,
            "max_num_seqs": 8,
            "block_size": 32,
            "num_gpu_blocks_override": 256,
            "kv_cache_memory_bytes": 64 << 20,
            "seed": 0,
            **options,
        }
        self.llm = LLM(**settings)
        self.core = self.llm.llm_engine.engine_core.engine_core
        self.oracle = Oracle(self.core)
        self.attachment = routecap.vllm.attach(self.llm, **(attachment or {})) if attach else None
        # The attention kernel for processors with AMX must not begin with a forward of one to three tokens.
        self.run([list(range(3, 43))], max_tokens=1, opted_in=False)
        self.oracle.forwards.clear()

    def parameters(self, opted_in=True, **options):
        from vllm import SamplingParams

        settings = {"temperature": 0.0, "ignore_eos": True, "detokenize": False, "max_tokens": 8, **options}
        return SamplingParams(extra_args=dict(OPTED_IN) if opted_in else None, **settings)

    def run(self, prompts, parameters=None, **options):
        chosen = parameters or self.parameters(**options)
        return self.llm.generate([{"prompt_token_ids": prompt} for prompt in prompts], chosen, use_tqdm=False)

    def add(self, name, prompt, **options):
        """Returns the request's name, as `step` reports it."""
        self.llm.llm_engine.add_request(name, {"prompt_token_ids": prompt}, self.parameters(**options))
        return name

    def step(self):
        return self.llm.llm_engine.step()

    def check(self, output, start=0):
        """The records of a finished output, against the oracle."""
        rows = 0
        for completion in output.outputs:
            record = self.attachment.take(output.request_id, completion.index)
            assert record is not None, output.request_id
            wanted = self.oracle.named(output.request_id, completion.index)
            n = len(output.prompt_token_ids) + len(completion.token_ids)
            assert wanted.shape[0] == n - 1 and (wanted >= 0).all()
            assert (record.start, record.rows) == (start, n - 1 - start)
            assert bool(record.valid.all())
            np.testing.assert_array_equal(record.ids, wanted[start:])
            rows += record.rows
            record.close()
        return rows

    def close(self):
        if self.attachment is not None:
            self.attachment.detach()
        self.oracle.close()
        self.llm.llm_engine.engine_core.shutdown()
        del self.llm, self.core
        gc.collect()


def prompts(count, shortest=1, longest=120, seed=0, common=0):
    numbers = random.Random(seed)
    head = [numbers.randrange(3, models.VOCABULARY) for _ in range(common)]
    return [head + [numbers.randrange(3, models.VOCABULARY) for _ in range(numbers.randint(shortest, longest))] for _ in range(count)]


@pytest.fixture(scope="session")
def checkpoints():
    """A function that gives the folder of a checkpoint, written at the first call."""
    root = pathlib.Path(os.environ["ROUTECAP_ENGINES"]) / "models"

    def checkpoint(**options):
        name = "-".join(f"{key}{value}" for key, value in sorted(options.items())) or "plain"
        folder = root / name.replace(" ", "").replace("(", "").replace(")", "").replace(",", "_")
        if not (folder / "config.json").exists():
            models.write(folder, **options)
        return folder

    return checkpoint


@pytest.fixture(scope="session")
def engines(checkpoints):
    """A function that starts an engine, or gives the one that was started with the same options: a start takes seconds."""
    started = {}

    def start(model=None, attach=True, attachment=None, **options):
        key = repr((model, attach, attachment, sorted(options.items())))
        if key not in started:
            started[key] = Engine(checkpoints(**(model or {})), attach, attachment, **options)
        return started[key]

    yield start
    for run in started.values():
        run.close()


@pytest.fixture
def engine(engines, checkpoints):
    """The same for a test; with `fresh` an engine of its own, which ends with it."""
    with contextlib.ExitStack() as stack:

        def start(model=None, attach=True, attachment=None, fresh=False, **options):
            if not fresh:
                run = engines(model, attach, attachment, **options)
                run.oracle.forwards.clear()
                return run
            run = Engine(checkpoints(**(model or {})), attach, attachment, **options)
            stack.callback(run.close)
            return run

        yield start
