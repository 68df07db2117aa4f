# SPDX-License-Identifier: Apache-2.0
"""What the command leaves behind: whole files or none, whatever happens."""

import os
import pty
import resource
import signal
import stat
import subprocess

import numpy as np
from command import COMMAND, GOLDEN, INPUT_OUTPUT, REFUSED, Case, main, make_frame, output, refused, run
from make_golden import PLAIN, cells_frame

PAUSED_FSYNC = os.environ["ROUTECAP_PAUSED_FSYNC"]


class Files(Case):
    def names(self):
        return sorted(os.listdir(self.folder))

    def test_a_file_is_written_whole_with_the_usual_permissions(self):
        path = self.folder / "out"
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        self.assertEqual(output("convert", GOLDEN / "cells.csv", "--experts", 300, "-o", path), b"")
        self.assertEqual(path.read_bytes(), output("convert", GOLDEN / "cells.csv", "--experts", 300))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertEqual(self.names(), ["out"])

    def test_an_existing_file_keeps_its_permissions_and_links_stay(self):
        path = self.file("out", b"old")
        path.chmod(0o604)
        link = self.folder / "link"
        link.symlink_to("out")
        output("convert", GOLDEN / "cells.frame", "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(path.read_bytes(), cells_frame())
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o604)
        self.assertEqual(self.names(), ["link", "out"])

    def test_the_input_may_be_the_output(self):
        path = self.file("one", cells_frame())
        output("slice", path, "--positions", "102:", "-o", path)
        self.assertEqual(path.read_bytes(), output("slice", GOLDEN / "cells.frame", "--positions", "102:"))

    def test_a_refused_command_leaves_what_was_there(self):
        path = self.file("out", b"old")
        refused("convert", GOLDEN / "cells.frame", "--to", "npy", "-o", path)
        refused("convert", self.folder / "absent", "-o", path, code=INPUT_OUTPUT)
        self.assertEqual((path.read_bytes(), self.names()), (b"old", ["out"]))

    def test_outputs_that_cannot_be_written(self):
        self.assertIn("Is a directory", refused("convert", GOLDEN / "cells.frame", "-o", self.folder, code=INPUT_OUTPUT))
        self.assertIn("No such file", refused("convert", GOLDEN / "cells.frame", "-o", self.folder / "a" / "b", code=INPUT_OUTPUT))
        self.assertIn("Not a directory", refused("convert", GOLDEN / "cells.frame", "-o", self.file("f", b"") / "b", code=INPUT_OUTPUT))
        self.assertIn("no name", refused("convert", GOLDEN / "cells.frame", "-o", ""))
        if os.geteuid() != 0:
            self.folder.chmod(0o500)
            self.assertIn("Permission denied", refused("convert", GOLDEN / "cells.frame", "-o", self.folder / "x", code=INPUT_OUTPUT))
            self.folder.chmod(0o700)

    def test_a_full_disk_is_told(self):
        for command in (("inspect",), ("inspect", "--json"), ("convert",)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([COMMAND, *command, GOLDEN / "cells.frame"], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (INPUT_OUTPUT, b"routecap: cannot write standard output: No space left on device\n"))
        self.assertIn("No space left", refused("convert", GOLDEN / "cells.frame", "-o", "/dev/full", code=INPUT_OUTPUT))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_a_file_that_grows_too_large_is_told_and_removed(self):
        done = run(
            "convert",
            GOLDEN / "cells.frame",
            "-o",
            self.folder / "out",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        )
        self.assertEqual(done.returncode, INPUT_OUTPUT)
        self.assertIn(b"File too large", done.stderr)
        self.assertEqual(self.names(), [])

    def test_a_closed_pipe_is_told(self):
        large = self.file("large", make_frame(np.tile(PLAIN, (20000, 1, 1)), 16))
        for command in (("inspect", GOLDEN / "cells.frame"), ("convert", large), ("inspect", large, "--rows", ":")):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([COMMAND, *command], stdout=writer, stderr=subprocess.PIPE, timeout=60)
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (INPUT_OUTPUT, b"routecap: cannot write standard output: Broken pipe\n"))

    def test_a_closed_standard_output_and_input_are_told(self):
        for closed in (0, 1):
            done = subprocess.run([COMMAND, "convert", "-"], stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=lambda: os.close(closed), timeout=60)
            self.assertIn(done.returncode, (REFUSED, INPUT_OUTPUT))

    def interrupt(self, number, old):
        path = self.folder / "out"
        if old is not None:
            path.write_bytes(old)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        environment = {**os.environ, "LD_PRELOAD": PAUSED_FSYNC, "ROUTECAP_PAUSED_PIPE": str(pipe)}
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        process = subprocess.Popen([COMMAND, "convert", GOLDEN / "cells.frame", "-o", path], env=environment, stderr=subprocess.PIPE)
        with open(pipe, "rb"):
            pass
        # All is written and nothing is named yet.
        (temporary,) = [name for name in self.names() if name.startswith(".out.")]
        self.assertEqual((self.folder / temporary).read_bytes(), cells_frame())
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (-number, b""))
        pipe.unlink()

    def test_an_interrupt_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.interrupt(number, None)
            self.assertEqual(self.names(), [])

    def test_an_interrupt_leaves_what_was_there(self):
        self.interrupt(signal.SIGINT, b"old")
        self.assertEqual((self.names(), (self.folder / "out").read_bytes()), (["out"], b"old"))

    def test_an_interrupt_while_reading_leaves_nothing(self):
        reader, writer = os.pipe()
        process = subprocess.Popen([COMMAND, "convert", "-", "-o", self.folder / "out"], stdin=reader, stderr=subprocess.PIPE)
        os.write(writer, cells_frame()[:100])
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said, self.names()), (-signal.SIGTERM, b"", []))
        os.close(reader)
        os.close(writer)

    def on_terminal(self, *arguments):
        """Exit code and what is seen on a terminal that is standard output and standard error."""
        primary, secondary = pty.openpty()
        process = subprocess.Popen([COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=secondary, stderr=secondary)
        os.close(secondary)
        seen = b""
        while True:
            try:
                piece = os.read(primary, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(primary)
        return process.wait(timeout=60), seen

    def test_binary_forms_do_not_go_to_a_terminal(self):
        code, seen = self.on_terminal("convert", GOLDEN / "cells.frame")
        self.assertEqual(code, REFUSED)
        self.assertIn(b"standard output is a terminal", seen)
        code, seen = self.on_terminal("convert", GOLDEN / "cells.frame", "--to", "frame-base64")
        self.assertEqual((code, seen), (0, (GOLDEN / "cells.frame-base64").read_bytes() + b"\r\n"))

    def test_text_in_files_and_pipes_has_the_forms_bytes_alone(self):
        self.assertEqual(output("convert", GOLDEN / "cells.frame", "--to", "frame-base64"), (GOLDEN / "cells.frame-base64").read_bytes())

    def test_a_pipe_as_output_is_written_directly(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        process = subprocess.Popen([COMMAND, "convert", GOLDEN / "cells.frame", "-o", pipe])
        with open(pipe, "rb") as end:
            self.assertEqual(end.read(), cells_frame())
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))


if __name__ == "__main__":
    main()
