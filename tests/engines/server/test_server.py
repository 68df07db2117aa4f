# SPDX-License-Identifier: Apache-2.0
"""Records out of vLLM's server: in its answers, through a client, and through the Go gateway."""

import importlib.util
import json
import os
import shutil
import subprocess
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from conftest import EXPERTS, LAYERS, ROOT, TOP_K

import routecap

PROMPT = [5, 99, 340, 17, 256, 8, 77, 31, 402, 12]


def client():
    specification = importlib.util.spec_from_file_location("vllm_client", ROOT / "bindings/python/examples/vllm_client.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def same_routes(record, wanted):
    """bfloat16 arithmetic depends a little on the shape of a batch, so that near ties may fall otherwise in another engine: nearly all rows, as sets."""
    assert record.ids.shape == wanted.shape
    equal = (np.sort(record.ids, axis=2) == np.sort(wanted, axis=2)).all(axis=2)
    assert equal.mean() > 0.97, equal.mean()
    # Not by chance: rows of other tokens agree nowhere near as often.
    assert (np.sort(record.ids, axis=2) == np.sort(np.roll(wanted, 1, axis=0), axis=2)).all(axis=2).mean() < 0.5


def test_a_client_gets_the_rows_of_its_tokens(server, routes):
    ((tokens, record),) = client().complete(server.url, PROMPT, 12)
    assert len(tokens) == 12
    assert (record.start, record.rows) == (0, len(PROMPT) + 11) and record.valid.all()
    assert (record.num_experts, record.top_k, list(record.layer_ids)) == (EXPERTS, TOP_K, list(range(LAYERS)))
    same_routes(record, routes([*PROMPT, *tokens]))


def test_from_a_start_and_for_several_choices(server, routes):
    answers = client().complete(server.url, PROMPT, 9, start=6, choices=3)
    assert len({tuple(tokens) for tokens, _ in answers}) > 1
    for tokens, record in answers:
        assert record.start == 6
        same_routes(record, routes([*PROMPT, *tokens])[6:])


def test_who_does_not_opt_in_gets_nothing(server):
    answer = server.post(prompt=PROMPT, max_tokens=3)
    assert answer["choices"][0].get("routed_experts") is None


def test_a_start_behind_the_prompt_is_refused(server):
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.post(prompt=PROMPT, max_tokens=3, vllm_xargs={"routecap": 1}, routed_experts_prompt_start=len(PROMPT) + 1)
    assert refused.value.code == 400
    assert "routed_experts_prompt_start" in refused.value.read().decode()


def test_a_stop_string_ends_the_rows_too(server):
    free = server.post(prompt=PROMPT, max_tokens=10, temperature=0, return_token_ids=True, ignore_eos=True)["choices"][0]
    word = f"t{free['token_ids'][5]}"
    stopped = server.post(
        prompt=PROMPT, max_tokens=10, temperature=0, ignore_eos=True, stop=[word], return_token_ids=True, vllm_xargs={"routecap": 1}
    )["choices"][0]
    assert stopped["finish_reason"] == "stop" and len(stopped["token_ids"]) <= 6
    record = routecap.Record.decode("frame-base64", stopped["routed_experts"])
    assert (record.start, record.rows) == (0, len(PROMPT) + len(stopped["token_ids"]) - 1)
    assert record.valid.all()


def test_a_chat_has_the_rows_of_its_template_and_answer(server, routes):
    prompt = [5, 99, 340, 37, 456, 8, 77, 31, 402, 52]  # no word of it begins with one of the special tokens t0, t1, t2
    messages = [{"role": "user", "content": " ".join(f"t{token}" for token in prompt)}]
    asked = {"messages": messages, "max_tokens": 9, "temperature": 0, "ignore_eos": True, "return_token_ids": True}
    answer = server.post("/v1/chat/completions", **asked, vllm_xargs={"routecap": 1}, routed_experts_prompt_start=2)
    (choice,) = answer["choices"]
    assert answer["prompt_token_ids"] == prompt and len(choice["token_ids"]) == 9
    record = routecap.Record.decode("frame-base64", choice["routed_experts"])
    assert (record.start, record.rows) == (2, len(prompt) + 8 - 2) and record.valid.all()
    same_routes(record, routes([*prompt, *choice["token_ids"]])[2:])
    assert server.post("/v1/chat/completions", **asked)["choices"][0].get("routed_experts") is None


def test_tokens_in_tokens_out(server, routes):
    asked = {"token_ids": PROMPT, "sampling_params": {"max_tokens": 8, "temperature": 0, "ignore_eos": True, "extra_args": {"routecap": 1}}}
    (choice,) = server.post("/inference/v1/generate", **asked)["choices"]
    record = routecap.Record.decode("frame-base64", choice["routed_experts"])
    assert len(choice["token_ids"]) == 8 and (record.start, record.rows) == (0, len(PROMPT) + 7) and record.valid.all()
    same_routes(record, routes([*PROMPT, *choice["token_ids"]]))


def test_tokens_streamed_carry_the_record_on_their_last_part(server, routes):
    asked = {"token_ids": PROMPT, "sampling_params": {"max_tokens": 8, "temperature": 0, "ignore_eos": True, "extra_args": {"routecap": 1}}}
    parts = [choice for event in server.events("/inference/v1/generate", **asked) for choice in event["choices"]]
    tokens = [token for part in parts for token in part["token_ids"] or ()]
    carried = [part["routed_experts"] for part in parts if part.get("routed_experts")]
    assert len(tokens) == 8 and len(carried) == 1 and parts[-1].get("routed_experts")
    record = routecap.Record.decode("frame-base64", carried[0])
    assert (record.start, record.rows) == (0, len(PROMPT) + 7) and record.valid.all()
    same_routes(record, routes([*PROMPT, *tokens]))


def test_requests_at_once_get_their_own(server):
    """Greedy answers of many threads are those of one at a time."""
    prompts = [[token % 500 + 3 for token in range(start, start + 12)] for start in range(0, 320, 20)]

    def ask(prompt):
        choice = server.post(prompt=prompt, max_tokens=6, temperature=0, ignore_eos=True, return_token_ids=True, vllm_xargs={"routecap": 1})["choices"][0]
        return choice["token_ids"], routecap.Record.decode("frame-base64", choice["routed_experts"])

    alone = [ask(prompt) for prompt in prompts]
    together = [None] * len(prompts)

    def work(at):
        together[at] = ask(prompts[at])

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(prompts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    agreeing = 0
    for (tokens, record), (others, other) in zip(alone, together):
        assert record.rows == other.rows == 12 + 6 - 1
        if tokens == others:  # a near tie may fall otherwise in another batch
            agreeing += 1
            assert (np.sort(record.ids, axis=2) == np.sort(other.ids, axis=2)).all(axis=2).mean() > 0.95
    assert agreeing > len(prompts) // 2


def test_an_installed_package_that_nobody_asked_for_does_nothing(plain):
    answer = plain.post(prompt=list(range(3, 43)), max_tokens=3, vllm_xargs={"routecap": 1})
    assert answer["choices"][0].get("routed_experts") is None


@pytest.fixture(scope="module")
def gateway(server, tmp_path_factory):
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    program = tmp_path_factory.mktemp("gateway") / "gateway"
    # Without cgo: it loads the library that ROUTECAP_LIBRARY names.
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}
    subprocess.run(["go", "build", "-o", str(program), "./examples/gateway"], cwd=ROOT / "bindings/go", env=environment, check=True)
    arguments = ["-prefill", server.url, "-prefill-form", "routecap", "-decode", server.url, "-decode-form", "routecap"]
    with subprocess.Popen([str(program), *arguments], stdout=subprocess.PIPE, text=True) as process:
        yield "http://" + process.stdout.readline().strip()
        process.terminate()


def ask(url, path, **body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def test_the_gateway_answers_in_vllms_form(gateway, routes):
    choice = ask(gateway, "/v1/completions", prompt=PROMPT, max_tokens=8)["choices"][0]
    hints = routecap.DecodeHints(start=0, num_experts=EXPERTS)
    record = routecap.Record.decode("vllm", choice["routed_experts"], hints)
    assert record.rows == len(PROMPT) + 8 - 1
    same_routes(record, routes([*PROMPT, *choice["token_ids"]]))


def test_the_gateway_answers_in_sglangs_form(gateway, routes):
    answer = ask(gateway, "/generate", input_ids=PROMPT, sampling_params={"max_new_tokens": 8}, return_routed_experts=True)
    hints = routecap.DecodeHints(start=0, num_experts=EXPERTS, top_k=TOP_K, num_layers=LAYERS)
    record = routecap.Record.decode("sglang", answer["meta_info"]["routed_experts"], hints)
    same_routes(record, routes([*PROMPT, *answer["output_ids"]]))
