# SPDX-License-Identifier: Apache-2.0
import base64
import json
import os
import resource
import struct

import numpy as np
from command import GOLDEN, INPUT_OUTPUT, REFUSED, Case, main, make_frame, output, refused, run
from make_golden import PLAIN, cells_frame, npy
from reference import xxh3_64

READERS = ("inspect", "validate", "convert")
# A program under a sanitizer maps more than any limit.
LIMITED = "stage" in os.environ["ROUTECAP_COMMAND"]


def few_bytes():
    if LIMITED:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))


class Errors(Case):
    def test_files_that_cannot_be_read(self):
        for command in READERS:
            self.assertEqual(
                refused(command, self.folder / "absent", code=INPUT_OUTPUT), "cannot read %s: No such file or directory" % (self.folder / "absent")
            )
            self.assertEqual(refused(command, self.folder, code=INPUT_OUTPUT), "cannot read %s: Is a directory" % self.folder)

    def test_names_of_files_cannot_speak_to_the_terminal(self):
        text = refused("inspect", str(self.folder / "a\n\x1b[31mb"), code=INPUT_OUTPUT)
        self.assertIn("a??[31mb", text)

    def test_files_that_are_no_record(self):
        empty = self.file("empty", b"")
        for command in READERS:
            self.assertEqual(refused(command, empty), "%s is empty" % empty)
            for data in (b"hello\n", b"\x00" * 100, os.urandom(1000), b"\x89RCAP", b"\x93NUMPY"[:5], b"[", b"{", b"data:"):
                done = run(command, "-", data=data)
                self.assertEqual((done.returncode, done.stdout), (REFUSED, b""), (command, data))

    def test_every_cut_of_every_golden_file_is_told(self):
        hints = {"frame": (), "npy": ("--start", 0, "--experts", 16), "nemo": ("--start", 0, "--experts", 16), "prime": ("--experts", 16)}
        for form, given in hints.items():
            data = (GOLDEN / ("plain." + form)).read_bytes()
            for cut in {1, 9, len(data) // 3, len(data) // 2, len(data) - 4, len(data) - 1}:
                done = run("inspect", "-", "--from", form, *given, data=data[:cut])
                self.assertEqual((done.returncode, done.stdout), (REFUSED, b""), (form, cut))

    def test_damaged_inputs_are_refused_or_read_and_never_crash(self):
        random = np.random.default_rng(11)
        answer = json.dumps({"choices": [{"routed_experts": base64.b64encode(npy(PLAIN, "<u1")).decode()}], "usage": {"prompt_tokens": 9}}).encode()
        inputs = [(GOLDEN / name).read_bytes() for name in ("cells.frame", "plain.npy", "plain.prime", "plain.nemo", "plain.lists", "cells.csv")]
        inputs += [answer, b"data: " + answer + b"\n\ndata: [DONE]\n\n"]
        for data in inputs:
            for _ in range(12):
                broken = bytearray(data)
                for at in random.integers(0, len(data), random.integers(1, 4)):
                    broken[at] = random.integers(0, 256)
                for command in ("inspect", "validate"):
                    run(command, "-", data=bytes(broken))
                    run(command, "-", "--start", 10, "--experts", 16, "--json", data=bytes(broken))

    def test_headers_that_promise_too_much_take_no_memory(self):
        head = bytearray(make_frame(PLAIN, 16))
        header = struct.unpack_from("<q", head, 24)[0]
        struct.pack_into("<q", head, 40, 1 << 60)
        struct.pack_into("<Q", head, header - 8, xxh3_64(bytes(head[: header - 8])))
        shape = b"(1152921504606846976, 3, 2)"
        plain = npy(PLAIN, "<u1")
        at = plain.index(b"(4, 3, 2)")
        huge = plain[:at] + shape + plain[at + 9 : 128 - (len(shape) - 9) - 1] + b"\n" + plain[128:]
        bodies = {
            "frame": (bytes(head), ()),
            "npy": (huge, ("--start", 0, "--experts", 16)),
            "nemo": (b"nrlre1:int8:1152921504606846976x3x2:AAAA", ("--start", 0, "--experts", 16)),
            "prime": (b'{"data":"AAAA","shape":[1152921504606846976,3,2],"start":0,"dtype":"uint8"}', ("--experts", 16)),
            "sglang": (b"AAAA", ("--start", 0, "--experts", 16, "--layers", 1 << 30, "--top-k", 16)),
            "csv": (b"turn,phase,step,layer,slot,expert,weight\n0,0,0,0,0,0,0\n0,0,1152921504606846976,0,0,0,0\n", ("--experts", 16)),
        }
        for form, (data, hints) in bodies.items():
            with self.subTest(form):
                done = run("inspect", "-", "--from", form, *hints, data=data, preexec_fn=few_bytes)
                self.assertEqual((done.returncode, done.stdout), (REFUSED, b""), done.stderr)
                self.assertNotIn(b"out of memory", done.stderr)

    def test_little_memory_is_told(self):
        if not LIMITED:
            self.skipTest("no limit of memory under a sanitizer")
        path = self.folder / "large"
        with open(path, "wb") as file:
            file.truncate(1 << 30)
        done = run("inspect", path, preexec_fn=few_bytes)
        self.assertEqual((done.returncode, done.stderr), (INPUT_OUTPUT, b"routecap: out of memory\n"))

    def test_the_command_line(self):
        self.assertIn("a command is needed", refused())
        self.assertEqual(refused("explode"), "there is no command 'explode'; see `routecap help`")
        self.assertEqual(refused("inspect", "--explode"), "there is no option '--explode'; see `routecap help inspect`")
        self.assertIn("FILE is required", refused("inspect"))
        self.assertIn("there is no command 'explode'", refused("help", "explode"))
        self.assertIn("--layer-ids", refused("inspect", "x", "--layers", 3, "--layer-ids", "1,2"))
        for option in ("--start", "--turn", "--frame", "--choice", "--chunk"):
            for value in ("-1", "x", "1.5", "9223372036854775808", ""):
                self.assertIn(option, refused("inspect", "x", "%s=%s" % (option, value)))
        for option in ("--experts", "--layers", "--top-k"):
            for value in ("0", "-1", "2147483648", "1e3"):
                self.assertIn(option, refused("inspect", "x", option, value))
        for value in ("3,", ",", "5-3", "1--2", "x", "0-99999999999", "3,3000000000"):
            self.assertIn("--layer-ids", refused("inspect", GOLDEN / "plain.npy", "--layer-ids", value, "--start", 0, "--experts", 16))
        self.assertIn("--rows", refused("inspect", GOLDEN / "plain.npy", "--rows", "x", "--start", 0, "--experts", 16))
        self.assertIn("--zstd", refused("convert", GOLDEN / "plain.frame", "--zstd", 20))
        self.assertIn("ascend", refused("inspect", GOLDEN / "plain.npy", "--layer-ids", "3,2,1", "--start", 0, "--experts", 16))

    def test_version_and_help(self):
        self.assertRegex(output("--version").decode(), r"^routecap \d+\.\d+\.\d+ \(library \d+\.\d+\.\d+, ABI \d+\)\n$")
        everything = output("--help")
        self.assertEqual(output("help"), everything)
        self.assertIn(b"Exit codes: 0 done;", everything)
        self.assertEqual(output("merge", "--help"), output("help", "merge"))
        self.assertTrue(output("help", "merge").startswith(b"usage: routecap merge [OPTIONS] PREFILL DECODE --boundary P\n"))

    def test_options_of_the_form_that_do_not_fit_are_refused(self):
        self.assertIn("--zstd is 3, npy has no use for it", refused("convert", "-", "--to", "npy", "--zstd", 3, data=cells_frame()))
        self.assertIn("--to-turn is 3, npy has no use for it", refused("convert", "-", "--to", "npy", "--to-turn", 3, data=make_frame(PLAIN, 16)))


if __name__ == "__main__":
    main()
