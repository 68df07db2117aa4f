# SPDX-License-Identifier: Apache-2.0
"""vLLM's OpenAI-compatible server, in processes of its own, with routecap installed as a package is: found by its entry point."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent / "vllm"))

EXPERTS, TOP_K, LAYERS = 128, 4, 6  # the model that the Go gateway is about


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def installed(folder):
    """The metadata of an installed package, with the entry points of pyproject.toml."""
    import tomllib

    project = tomllib.loads((ROOT / "bindings/python/pyproject.toml").read_text())["project"]
    info = folder / "routecap-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: routecap\nVersion: 0\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]"] + [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def tokenizer(folder, words):
    """Token i is the word `t<i>`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({f"t{number}": number for number in range(words)}, unk_token="t0"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.decoder = decoders.WordPiece(prefix="##")
    made.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "t0", "bos_token": "t1", "eos_token": "t2", "model_max_length": 512}
    # A chat is the words of its messages.
    settings["chat_template"] = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


@pytest.fixture(scope="session")
def model():
    import models

    folder = pathlib.Path(os.environ["ROUTECAP_ENGINES"]) / "models" / "served"
    if not (folder / "tokenizer_config.json").exists() or "chat_template" not in (folder / "tokenizer_config.json").read_text():
        shutil.rmtree(folder, ignore_errors=True)
        models.write(folder, layers=LAYERS, experts=EXPERTS, top_k=TOP_K)
        tokenizer(folder, models.VOCABULARY)
    return folder


class Server:
    def __init__(self, model, folder, *options):
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        path = os.pathsep.join([str(installed(folder / "site")), os.environ["PYTHONPATH"]])
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "VLLM_USE_V2_MODEL_RUNNER": "0",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # on processors: the worker in the engine's process
            "VLLM_CPU_KVCACHE_SPACE": "1",
        }
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model), "--served-model-name", "served"]
        command += ["--host", "127.0.0.1", "--port", str(port), "--enforce-eager", "--dtype", "bfloat16", "--max-model-len", "512", "--max-num-seqs", "8"]
        self.log = folder / "log"
        self.process = subprocess.Popen([*command, *options], env=environment, stdout=self.log.open("w"), stderr=subprocess.STDOUT, start_new_session=True)

    def wait(self, seconds=240):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}:\n{self.log.read_text()[-4000:]}")
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=2):
                    return self
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.5)
        raise TimeoutError(self.log.read_text()[-4000:])

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def open(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=120)

    def post(self, path="/v1/completions", **body):
        with self.open(path, body) as answer:
            return json.load(answer)

    def events(self, path, **body):
        """The JSON of a streamed answer's events."""
        with self.open(path, {**body, "stream": True}) as answer:
            lines = [line.decode().removeprefix("data: ").strip() for line in answer if line.startswith(b"data: ")]
        assert lines[-1] == "[DONE]"
        return [json.loads(line) for line in lines[:-1]]


@pytest.fixture(scope="session")
def server(model, tmp_path_factory):
    started = Server(model, tmp_path_factory.mktemp("server"), "--additional-config", '{"routecap": {}}', "--enable-scale-out")
    try:
        started.wait()
        # The attention kernel for processors with AMX must not begin with a forward of one to three tokens.
        started.post(prompt=list(range(3, 43)), max_tokens=1)
        yield started
    finally:
        started.close()


@pytest.fixture(scope="session")
def plain(model, tmp_path_factory):
    """A server with the package installed that was not asked to attach it."""
    started = Server(model, tmp_path_factory.mktemp("plain"))
    try:
        started.wait()
        yield started
    finally:
        started.close()


@pytest.fixture(scope="session")
def routes(model):
    """A function: what the model chooses for a list of tokens, in an engine of this process that has no capturer but the oracle at its kernel."""
    import environment

    environment.prepare()
    sys.path.insert(0, str(HERE.parent / "vllm"))
    from oracle import Oracle
    from vllm import LLM, SamplingParams

    llm = LLM(
        model=str(model),
        skip_tokenizer_init=True,
        enforce_eager=True,
        dtype="bfloat16",
        max_model_len=512,
        max_num_seqs=1,
        kv_cache_memory_bytes=64 << 20,
        enable_prefix_caching=False,
    )
    oracle = Oracle(llm.llm_engine.engine_core.engine_core)
    parameters = SamplingParams(temperature=0.0, max_tokens=1, detokenize=False)
    llm.generate([{"prompt_token_ids": list(range(3, 43))}], parameters, use_tqdm=False)

    def of(tokens):
        (output,) = llm.generate([{"prompt_token_ids": list(tokens)}], parameters, use_tqdm=False)
        return oracle.named(output.request_id)[: len(tokens) - 1]

    yield of
    oracle.close()
