# SPDX-License-Identifier: Apache-2.0
"""What recording costs a real engine: tokens per second and processor time per token, without it, with vLLM's own feature, and with routecap.

For each of vLLM's model runners one process has an engine for every mode. In every round each of them generates tokens for the same new prompts, one engine
after the other, in an order that turns from round to round. Differences are taken within a round, so that what disturbs the machine disturbs both sides, and
come with the interval in which 95 % of resampled medians lie. Processor time is that of the whole process, vLLM's own writer thread included.

    packaging/run bench engines -- --rounds 15
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RUNNERS = {"v2": ("off", "own", "routecap"), "v1": ("off", "routecap")}


class Mode:
    def __init__(self, name, model, options):
        from vllm import LLM, SamplingParams

        import routecap.vllm

        self.name, self.rows = name, 0
        self.llm = LLM(
            model=str(model),
            skip_tokenizer_init=True,
            enforce_eager=True,
            dtype="bfloat16",
            max_model_len=4096,
            max_num_batched_tokens=2048,
            max_num_seqs=options.requests,
            enable_prefix_caching=True,
            kv_cache_memory_bytes=256 << 20,
            seed=0,
            **({"enable_return_routed_experts": True} if name == "own" else {}),
        )
        self.attachment = routecap.vllm.attach(self.llm) if name == "routecap" else None
        opted_in = {"routecap": 1} if self.attachment else None
        self.parameters = SamplingParams(temperature=0.0, ignore_eos=True, detokenize=False, max_tokens=options.generate, extra_args=opted_in)

    def generate(self, prompts):
        """Seconds and processor seconds, with the rows in the caller's hands at the end."""
        wall, processor = time.perf_counter(), time.process_time()
        outputs = self.llm.generate(prompts, self.parameters, use_tqdm=False)
        if self.attachment is not None:
            records = [self.attachment.take(output.request_id) for output in outputs]
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        if self.attachment is not None:
            self.rows += sum(int(record.valid.sum()) for record in records)
        elif self.name == "own":
            self.rows += sum(output.outputs[0].routed_experts.shape[0] for output in outputs)
        return wall, processor


def measure(runner, options):
    """In a process of its own: a line of JSON with what every mode took in every round."""
    sys.path.insert(0, str(HERE))
    os.environ["ROUTECAP_VLLM_RUNNER"] = runner
    import environment

    environment.prepare()
    import models

    if runner == "v2":
        import host_kernels

        host_kernels.use()
    folder = pathlib.Path(os.environ["ROUTECAP_ENGINES"]) / "models" / "cost"
    if not (folder / "config.json").exists():
        models.write(folder, longest=4096)
    modes = [Mode(name, folder, options) for name in RUNNERS[runner]]
    numbers = random.Random(1)
    rounds = []
    for number in range(options.rounds + 1):
        # New prompts every time, so that the prefix cache answers none of them.
        prompts = [{"prompt_token_ids": [numbers.randrange(3, models.VOCABULARY) for _ in range(options.prompt)]} for _ in range(options.requests)]
        turn = number % len(modes)
        rounds.append({f"{runner}-{mode.name}": mode.generate(prompts) for mode in modes[turn:] + modes[:turn]})
    tokens = options.requests * (options.prompt + options.generate)
    for mode in modes:
        expected = (options.rounds + 1) * (tokens - options.requests)
        if mode.name != "off" and mode.rows != expected:
            raise SystemExit(f"cost: {runner}-{mode.name} gave {mode.rows} rows, {expected} were wanted")
    print(json.dumps({"tokens": tokens, "rounds": rounds[1:]}))


def interval(values, random_source=random.Random(2)):
    """Median, and where 95 % of the medians of resampled values lie."""
    medians = sorted(statistics.median(random_source.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[1949]


def report(found):
    lines = ["| mode | tokens/s | processor us/token | more processor time than off, % | than vLLM's own, % |", "|---|---|---|---|---|"]
    for part in found.values():
        tokens, rounds = part["tokens"], part["rounds"]
        for mode in sorted(rounds[0], key=lambda name: ["off", "own", "routecap"].index(name[3:])):
            speed = interval([tokens / round_[mode][0] for round_ in rounds])
            spent = interval([round_[mode][1] / tokens * 1e6 for round_ in rounds])
            cells = [f"{speed[0]:.0f} ({speed[1]:.0f} .. {speed[2]:.0f})", f"{spent[0]:.1f} ({spent[1]:.1f} .. {spent[2]:.1f})"]
            for other in ("off", "own"):
                base = mode[:3] + other
                if base in rounds[0] and base != mode and not mode.endswith("off"):
                    more = interval([(round_[mode][1] / round_[base][1] - 1) * 100 for round_ in rounds])
                    cells.append(f"{more[0]:+.1f} ({more[1]:+.1f} .. {more[2]:+.1f})")
                else:
                    cells.append("-")
            lines.append(f"| {mode} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="packaging/run bench engines --", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--requests", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=512, help="tokens of a prompt")
    parser.add_argument("--generate", type=int, default=128, help="tokens generated")
    parser.add_argument("--runners", type=lambda text: text.split(","), default=list(RUNNERS), help="of v2,v1")
    parser.add_argument("--json", type=pathlib.Path, help="where everything measured is written")
    parser.add_argument("--measure", choices=list(RUNNERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options)
        return
    found = {}
    for runner in options.runners:
        command = [sys.executable, __file__, "--measure", runner, "--rounds", str(options.rounds), "--requests", str(options.requests)]
        command += ["--prompt", str(options.prompt), "--generate", str(options.generate)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"cost: {runner} ended with {done.returncode}")
        found[runner] = json.loads(done.stdout.splitlines()[-1])
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"arguments": {key: str(value) for key, value in vars(options).items()}, **found}, indent=1))
    print(report(found))


if __name__ == "__main__":
    main()
