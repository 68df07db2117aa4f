# SPDX-License-Identifier: Apache-2.0
"""`routecap bench`: that it measures what it says, in the shape that was asked for. Times themselves are not tested."""

import os
import resource
import time

from view_case import ViewCase, main

STAGES = ["capture", "end_forward", "finalize", "read_into", "slots_base64", "frame_encode", "frame_decode"]
SMALL = ["--layers", "3", "--experts", "16", "--top-k", "4", "--tokens", "64", "--slots", "128", "--seconds", "0.1"]

# A sanitizer's own memory is more than any limit; only a release build is installed into a stage for these tests.
LIMITED = "stage" in os.environ["ROUTECAP_COMMAND"]


def few_bytes():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))


class BenchTest(ViewCase):
    def test_json_has_every_stage(self):
        got = self.done("bench", "--json", *SMALL).json()
        self.assertEqual({key: got[key] for key in ("layers", "experts", "top_k", "tokens", "slots")},
                         {"layers": 3, "experts": 16, "top_k": 4, "tokens": 64, "slots": 128})
        self.assertEqual(got["input_bytes"], 3 * 64 * 4 * 4)
        self.assertEqual([stage["stage"] for stage in got["stages"]], STAGES)
        for stage in got["stages"]:
            self.assertGreaterEqual(stage["calls"], 10)
            self.assertGreater(stage["memcpy_us"], 0)
            self.assertAlmostEqual(stage["ratio"], stage["stage_us"] / stage["memcpy_us"], places=6)

    def test_more_work_takes_longer(self):
        # 64 times as many ids: whatever the machine does meanwhile, each stage needs longer than for a few.
        few = self.done("bench", "--json", *SMALL).json()["stages"]
        many = self.done("bench", "--json", "--layers", 48, "--tokens", 1024, "--slots", 1024, "--seconds", "0.3").json()["stages"]
        for one, other in zip(few, many):
            self.assertGreater(other["stage_us"], one["stage_us"], one["stage"])

    def test_text_is_a_table(self):
        lines = self.done("bench", *SMALL).text().splitlines()
        self.assertIn(", one thread, backend host (sequential, ", lines[0])
        self.assertEqual(lines[1], "3 layers, top 4 of 16 experts, 64 tokens a forward, 128 slots; int32 ids of a forward: 3,072 bytes (3.0 KiB)")
        self.assertEqual(lines[3].split(), "stage us us of memcpy ratio ns a token calls".split())
        self.assertEqual([line.split()[0] for line in lines[4:]], STAGES)
        self.assertTrue(all(len(line.split()) == 6 for line in lines[4:]))

    def test_every_id_width(self):
        for experts in (256, 257, 65536, 65537):
            got = self.done("bench", "--json", "--layers", 2, "--experts", experts, "--top-k", 3, "--tokens", 16, "--slots", 16, "--seconds", "0.05").json()
            self.assertEqual(got["experts"], experts)

    def test_edges_of_the_shape(self):
        for layers, experts, top_k, tokens in ((1, 1, 1, 1), (2, 5, 5, 7), (128, 512, 16, 3)):
            self.done("bench", "--layers", layers, "--experts", experts, "--top-k", top_k, "--tokens", tokens, "--slots", tokens, "--seconds", "0.05")

    def test_backend_and_threads(self):
        got = self.done("bench", "--json", *SMALL).json()
        self.assertEqual((got["backend"], got["threads"]), ("host", 1))
        plugin = os.environ.get("ROUTECAP_EXAMPLE_PLUGIN")
        if plugin:
            self.assertEqual(self.done("bench", "--json", *SMALL, "--backend", plugin).json()["backend"], "example")
        self.refused("threads is 2", "bench", *SMALL, "--threads", 2)
        self.refused('backend "absent"', "bench", *SMALL, "--backend", "absent")

    # Not a skip: under a sanitizer there is nothing to be tested.
    if LIMITED:

        def test_little_memory_names_what_was_asked_for(self):
            self.refused("out of memory: --tokens 1048576 of --layers 58 and --top-k 8 need 1,946,157,056 bytes (1.8 GiB) for the int32 ids alone",
                         "bench", "--tokens", 1 << 20, "--slots", 1 << 20, code=3, preexec_fn=few_bytes)

    def test_takes_about_the_time_that_was_asked_for(self):
        began = time.monotonic()
        self.done("bench", "--tokens", 512, "--slots", 512, "--seconds", 1.5)
        self.assertGreater(time.monotonic() - began, 1.4)

    def test_bad_options_are_refused(self):
        self.refused("--top-k: 9, and a layer has --experts 8", "bench", "--top-k", 9, "--experts", 8)
        self.refused("--tokens: 65 tokens need as many slots, and there are --slots 64", "bench", "--tokens", 65, "--slots", 64)
        self.refused("more than 4294967296 bytes", "bench", "--layers", 4096, "--tokens", 1 << 20, "--slots", 1 << 20)
        for option, wrong in (("--layers", "0"), ("--layers", "4097"), ("--experts", "0"), ("--top-k", "x"), ("--tokens", "0"), ("--slots", "-1"),
                              ("--seconds", "0"), ("--seconds", "nan"), ("--seconds", "inf"), ("--seconds", "1e9")):
            self.refused(option, "bench", option, wrong)
        self.refused("cannot", "bench", *SMALL, "-o", self.path("absent/x"), code=3)


if __name__ == "__main__":
    main()
