# SPDX-License-Identifier: Apache-2.0
"""Whole answers of inference servers, written by hand after what the servers send."""

import base64
import json

import numpy as np
from command import DONE, FINDINGS, Case, frame, frames, main, make_frame, output, refused, report, run, sglang, vllm
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

    def test_R1_a_start_from_the_token_counts_is_told(self):
        # 10 tokens have rows 0 to 8; 6 of them may be those from position 3 on, which a client of SGLang asks for with routed_experts_start_len.
        data = json.dumps(generate(IDS[1], 4, 6)).encode()
        (told,) = report("inspect", "-", *FLAT, data=data)["records"]
        self.assertEqual((told["start"], told["start_derived"]), (3, True))
        text = output("inspect", "-", *FLAT, data=data).decode()
        self.assertIn("\nrows:       6 (positions 3 to 8), start derived from the token counts\n", text)
        note = "start derived from the token counts: rows cover positions 3 to 8 of 0 to 8"
        (told,) = report("validate", "-", *FLAT, data=data)["records"]
        self.assertEqual((told["start_derived"], told["note"], told["findings"]), (True, note, []))
        self.assertEqual(output("validate", "-", *FLAT, data=data).decode(), "standard input: nothing found in 6 rows of 3 layers, %s\n" % note)
        (told,) = report("validate", "-", *FLAT, "--start", 3, data=data)["records"]
        self.assertEqual((told["start_derived"], told["note"]), (False, None))

    def test_R1_fewer_rows_than_the_generated_tokens_need(self):
        # Of 2 + 9 tokens at least 8 rows are there, wherever in the prompt they start.
        data = json.dumps(generate(IDS[1], 2, 9)).encode()
        (finding,) = report("validate", "-", *FLAT, data=data, code=FINDINGS)["records"][0]["findings"]
        self.assertEqual((finding["kind"], finding["rule"], finding["rows"]), ("row-count", "R1", [4, 10]))
        self.assertEqual(finding["what"], "6 rows, the answer counts 11 tokens, 2 of them of the prompt: 8 or more are needed")
        # Right behind the prompt is where they may start at the latest.
        output("validate", "-", *FLAT, data=json.dumps(generate(IDS[1], 4, 7)).encode())

    def test_a_broken_event_is_named_and_the_others_are_read(self):
        good = [json.dumps(generate(ids, *counts)).encode() for ids, counts in ((IDS[2], (1, 4)), (IDS[0], (4, 6)))]
        data = b"data: %s\n\ndata: {]\n\ndata: %s\n\ndata: [DONE]\n\n" % (good[0], good[1])
        told = "standard input: event 1 of the stream is no JSON: unexpected content at byte %d" % (6 + len(good[0]) + 2 + 7)
        done = run("inspect", "-", *FLAT, "--json", data=data)
        self.assertEqual((done.returncode, done.stderr.decode()), (2, "routecap: %s; the records shown are whole\n" % told))
        shown = json.loads(done.stdout)
        self.assertEqual([(one["where"], one["rows"]) for one in shown["records"]], [("chunk %d, meta_info.routed_experts" % i, n) for i, n in ((0, 4), (2, 9))])
        self.assertEqual(shown["broken"], told)
        checked = report("validate", "-", *FLAT, data=data, code=FINDINGS)["records"]
        self.assertEqual([[one["kind"] for one in record["findings"]] for record in checked], [[], [], ["unreadable"]])
        self.assertEqual((checked[2]["where"], checked[2]["form"]), ("chunk 1", None))
        self.assertEqual(refused("convert", "-", *FLAT, data=data), told + "; --chunk chooses one of the other events")
        self.same_ids(frame(output("convert", "-", *FLAT, "--chunk", 2, data=data)).ids, IDS[0])

    def test_lines_of_an_event_belong_together(self):
        lines = json.dumps(generate(IDS[0], 4, 6), indent=1).encode().split(b"\n")
        self.check(b"event: message\n" + b"".join(b"data: %s\r\n" % line for line in lines) + b"\r\ndata: [DONE]\n\n", IDS[0], *FLAT)
        # Events without an empty line between them are taken as they are meant.
        self.check(b"data: {}\ndata: %s\n" % json.dumps(generate(IDS[0], 4, 6)).encode(), IDS[0], *FLAT, "--chunk", 1)
        broken = b'data: {"choices":\ndata: [}\n\n'
        self.assertIn("event 0 of the stream is no JSON: unexpected content at byte 25", refused("inspect", "-", data=broken))

    def test_a_malformed_prime_object_names_the_member(self):
        whole = {"data": "AAAA", "shape": [1, 3, 1], "start": 0, "dtype": "uint8"}
        for member, value, text in (
            ("shape", [1, 3], "member shape is [1,3], not three whole numbers from 0 up"),
            ("start", -1, "member start is -1, not a whole number from 0 up"),
            ("dtype", 7, "member dtype is 7, not a text"),
            ("data", 1, "member data is 1, not a text"),
        ):
            bad = {**whole, member: value}
            for answer in (bad, completion([choice(0, bad)])):
                said = refused("inspect", "-", "--experts", 3, data=json.dumps(answer).encode())
                self.assertTrue(said.endswith(": prime: " + text), said)
        del whole["shape"]
        self.assertEqual(refused("inspect", "-", "--experts", 3, data=json.dumps(whole).encode()), "standard input: prime: there is no member shape")

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
        self.assertEqual(text, "[0].meta_info.routed_experts: layer 1, position 4: ids 3 3 9 1, one stands twice; zero padding, or a row mixed of two (R25)\n")

    def test_an_answer_without_records(self):
        for answer in ({"choices": []}, completion([choice(0, None)]), {"error": {"message": "x"}}, [{}]):
            self.assertIn("holds no routed_experts", refused("inspect", "-", *FLAT, data=json.dumps(answer).encode()))

    def test_broken_json_names_the_byte(self):
        self.assertIn("at byte 13", refused("inspect", "-", data=b'{"choices": [}'))
        self.assertIn("at byte 27", refused("inspect", "-", data=b'data: {"choices":[]}\ndata: {]\n'))

    def test_a_named_form_reaches_into_the_answer(self):
        answer = completion([choice(0, vllm(IDS[0]).decode())])
        self.check(answer, IDS[0], "--experts", E, "--from", "vllm")
        self.assertIn("nemo", refused("inspect", "-", "--experts", E, "--start", 0, "--from", "nemo", data=json.dumps(answer).encode()))

    def test_choices_of_what_is_no_answer(self):
        self.assertIn("--choice", refused("inspect", "-", "--choice", 0, data=make_frame(IDS[0], E)))
        self.assertIn("--chunk", refused("inspect", "-", "--start", 0, "--experts", E, "--chunk", 0, data=npy(IDS[0], "<u1")))


if __name__ == "__main__":
    main()
