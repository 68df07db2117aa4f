# SPDX-License-Identifier: Apache-2.0
"""Whole answers of inference servers, written by hand after what the servers send."""

import base64
import json

import numpy as np
from command import DONE, FINDINGS, Case, frame, frames, main, make_frame, output, refused, report, sglang, vllm
from make_golden import npy

E, L, K = 64, 3, 4
FLAT = ("--experts", E, "--layers", L, "--top-k", K)


def routes(rows, seed):
    random = np.random.default_rng(seed)
    return np.array([[random.permutation(E)[:K] for _ in range(L)] for _ in range(rows)])


IDS = [routes(9, 1), routes(6, 2), routes(4, 3)]


def generate(ids, prompt, completion, **more):
    """SGLang /generate."""
    meta = {"id": "7f", "finish_reason": {"type": "length", "length": completion}, "prompt_tokens": prompt, "completion_tokens": completion}
    return {"text": " a", "output_ids": [5] * completion, "meta_info": {**meta, "cached_tokens": 0, "routed_experts": sglang(ids).decode(), **more}}


def choice(index, payload, **more):
    return {"index": index, "text": " a", "logprobs": None, "finish_reason": "stop", "routed_experts": payload, **more}


def completion(choices, prompt=4, generated=6):
    usage = {"prompt_tokens": prompt, "total_tokens": prompt + generated, "completion_tokens": generated}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


def stream(chunks, done=True):
    lines = ["data: " + json.dumps(chunk) for chunk in chunks] + (["data: [DONE]"] if done else [])
    return ("\n\n".join(lines) + "\n\n").encode()


class Answers(Case):
    def check(self, answer, ids, *options, start=0):
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.assertEqual(output("convert", "-", *options, data=data), make_frame(ids, E, start=start))
        (told,) = report("inspect", "-", *options, data=data)["records"]
        self.assertEqual((told["rows"], told["start"]), (len(ids), start))
        output("validate", "-", *options, data=data, code=DONE)
        return told

    def test_sglang_generate(self):
        told = self.check(generate(IDS[0], 4, 6), IDS[0], *FLAT)
        self.assertEqual((told["where"], told["form"], told["tokens"]), ("meta_info.routed_experts", "sglang", 10))

    def test_sglang_generate_from_a_start(self):
        # 10 tokens, rows 3 .. 8.
        self.check(generate(IDS[1], 4, 6), IDS[1], *FLAT, start=3)

    def test_sglang_generate_with_a_stated_dtype(self):
        answer = generate(IDS[0], 4, 6, routed_experts=sglang(IDS[0], "<u1").decode(), routed_experts_dtype="uint8")
        self.check(answer, IDS[0], *FLAT)

    def test_sglang_generate_of_a_batch(self):
        batch = [generate(IDS[0], 4, 6), generate(IDS[1], 2, 5), generate(IDS[2], 1, 4)]
        data = json.dumps(batch).encode()
        for number, ids in enumerate(IDS):
            self.check(batch, ids, *FLAT, "--choice", number)
        told = report("inspect", "-", *FLAT, data=data)["records"]
        self.assertEqual([one["where"] for one in told], ["[%d].meta_info.routed_experts" % number for number in range(3)])
        read = frames(output("convert", "-", *FLAT, data=data))
        for one, ids in zip(read, IDS):
            self.same_ids(one.ids, ids)
        self.assertIn("--choice", refused("convert", "-", *FLAT, "--to", "csv", "--choice", 3, data=data))
        self.assertIn("--choice", refused("slice", "-", *FLAT, "--tokens", 3, data=data))

    def test_sglang_generate_streamed(self):
        early = {"text": " a", "meta_info": {"prompt_tokens": 4, "completion_tokens": 3, "routed_experts": None}}
        told = self.check(stream([early, generate(IDS[0], 4, 6)]), IDS[0], *FLAT)
        self.assertEqual(told["where"], "chunk 1, meta_info.routed_experts")

    def test_a_stream_with_several_records_of_a_choice(self):
        data = stream([generate(IDS[2], 1, 4), generate(IDS[0], 4, 6)])
        self.assertIn("--chunk", refused("slice", "-", *FLAT, "--tokens", 3, data=data))
        self.check(data, IDS[0], *FLAT, "--chunk", 1)
        self.assertIn("chunk 0, meta_info", refused("inspect", "-", *FLAT, "--chunk", 2, data=data))

    def test_sglang_chat(self):
        answer = completion([{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}])
        told = self.check({**answer, "sglext": {"routed_experts": sglang(IDS[0]).decode()}}, IDS[0], *FLAT)
        self.assertEqual(told["where"], "sglext.routed_experts")

    def test_sglang_chat_streamed_in_a_late_chunk(self):
        chunks = [{"choices": [{"index": 0, "delta": {"content": "a"}}]}, {"choices": [], "sglext": {"routed_experts": sglang(IDS[0]).decode()}}]
        self.check(stream(chunks), IDS[0], *FLAT, "--start", 0)
        # Without counts nothing says where the rows start.
        self.assertIn("--start", refused("inspect", "-", *FLAT, data=stream(chunks)))

    def test_vllm_completions(self):
        told = self.check(completion([choice(0, vllm(IDS[0]).decode())]), IDS[0], "--experts", E)
        self.assertEqual((told["where"], told["form"], told["tokens"]), ("choices[0].routed_experts", "vllm", 10))
        self.check(completion([choice(0, vllm(IDS[1], "<i4").decode())]), IDS[1], "--experts", E, start=3)

    def test_vllm_chat_with_several_choices(self):
        # Choices come in any order, and their counts are summed up.
        answer = completion([choice(2, vllm(IDS[2]).decode()), choice(0, vllm(IDS[0]).decode())], 4, 12)
        self.check(answer, IDS[0], "--experts", E, "--start", 0, "--choice", 0)
        self.check(answer, IDS[2], "--experts", E, "--start", 7, "--choice", 2, start=7)
        data = json.dumps(answer).encode()
        self.assertIn("--start", refused("inspect", "-", "--experts", E, data=data))
        self.assertIn("choice 2 at choices[0].routed_experts", refused("inspect", "-", "--experts", E, "--start", 0, "--choice", 1, data=data))

    def test_vllm_tokens_in_tokens_out(self):
        one = choice(0, vllm(IDS[0]).decode(), token_ids=[1, 2, 3, 4, 5, 6], weight_versions=[{"start": 0, "version": "a"}])
        self.check({"request_id": "1", "choices": [one], "prompt_logprobs": None}, IDS[0], "--experts", E, "--start", 0)

    def test_vllm_streamed_on_the_last_chunk_of_each_choice(self):
        chunks = [{"choices": [{"index": 0, "token_ids": [1]}]}, {"choices": [choice(1, vllm(IDS[1]).decode())]}, {"choices": [choice(0, vllm(IDS[0]).decode())]}]
        self.check(stream(chunks), IDS[0], "--experts", E, "--start", 0, "--choice", 0)
        self.check(stream(chunks, done=False), IDS[1], "--experts", E, "--start", 0, "--choice", 1)

    def test_prime(self):
        payload = {"data": base64.b64encode(IDS[0].astype("<u1").tobytes()).decode(), "shape": [9, L, K], "start": 20, "dtype": "uint8"}
        told = self.check(completion([choice(0, payload)], 24, 6), IDS[0], "--experts", E, start=20)
        self.assertEqual(told["form"], "prime")

    def test_dynamo_base85_and_base64(self):
        raw = IDS[0].astype("<u2").tobytes()
        for encode in (base64.b85encode, base64.b64encode):
            answer = {**completion([]), "nvext": {"routed_experts": {"data": encode(raw).decode(), "shape": [9, L, K]}}}
            self.check(answer, IDS[0], "--experts", E, "--start", 0, "--dtype", "uint16")
        answer = {**completion([]), "nvext": {"routed_experts": sglang(IDS[0]).decode()}}
        self.check(answer, IDS[0], *FLAT)

    def test_lists_and_nemo(self):
        self.check(completion([choice(0, IDS[0].tolist())]), IDS[0], "--experts", E)
        text = "nrlre1:int8:9x%dx%d:%s" % (L, K, base64.b64encode(IDS[0].astype("<i1").tobytes()).decode())
        self.check(completion([choice(0, text)]), IDS[0], "--experts", E)

    def test_R1_more_rows_than_tokens(self):
        data = json.dumps(generate(IDS[0], 4, 5)).encode()
        self.assertIn("R1", refused("convert", "-", *FLAT, data=data))
        (finding,) = report("validate", "-", *FLAT, data=data, code=FINDINGS)["records"][0]["findings"]
        self.assertIn("9 rows, the answer counts 9 tokens and so 8 rows at most (R1)", finding["text"])
        self.same_ids(frame(output("convert", "-", *FLAT, "--start", 0, data=data)).ids, IDS[0])

    def test_R1_rows_that_end_elsewhere(self):
        data = json.dumps(generate(IDS[0], 4, 8)).encode()
        (finding,) = report("validate", "-", *FLAT, "--start", 0, data=data, code=FINDINGS)["records"][0]["findings"]
        self.assertEqual((finding["kind"], finding["rule"], finding["rows"]), ("row-count", "R1", [0, 9]))

    def test_findings_say_where_in_the_answer(self):
        ids = IDS[0].copy()
        ids[4, 1] = [3, 3, 9, 1]
        text = output("validate", "-", *FLAT, data=json.dumps([generate(ids, 4, 6)]).encode(), code=FINDINGS).decode()
        self.assertEqual(text, "[0].meta_info.routed_experts: layer 1, row 4: ids 3 3 9 1, one stands twice; zero padding, or a row mixed of two (R25)\n")

    def test_an_answer_without_records(self):
        for answer in ({"choices": []}, completion([choice(0, None)]), {"error": {"message": "x"}}, [{}]):
            self.assertIn("holds no routed_experts", refused("inspect", "-", *FLAT, data=json.dumps(answer).encode()))

    def test_broken_json_names_the_byte(self):
        self.assertIn("at byte 13", refused("inspect", "-", data=b'{"choices": [}'))
        self.assertIn("at byte 28", refused("inspect", "-", data=b'data: {"choices":[]}\ndata: {]\n'))

    def test_a_named_form_reaches_into_the_answer(self):
        answer = completion([choice(0, vllm(IDS[0]).decode())])
        self.check(answer, IDS[0], "--experts", E, "--from", "vllm")
        self.assertIn("nemo", refused("inspect", "-", "--experts", E, "--start", 0, "--from", "nemo", data=json.dumps(answer).encode()))

    def test_choices_of_what_is_no_answer(self):
        self.assertIn("--choice", refused("inspect", "-", "--choice", 0, data=make_frame(IDS[0], E)))
        self.assertIn("--chunk", refused("inspect", "-", "--start", 0, "--experts", E, "--chunk", 0, data=npy(IDS[0], "<u1")))


if __name__ == "__main__":
    main()
