#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/lib/tidy.py asks clang-tidy again whenever anything that its answer depends on has changed, and only then.

  tidy_remembers.py SCRIPT COMPILER WORK      in place of clang-tidy runs a program that finds the word `bad` and counts how often it was asked
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

SCRIPT, COMPILER, WORK = os.path.abspath(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo "${FAKE_VERSION:-1}"; exit 0; fi
for file in "$@"; do :; done
echo "$file" >>"$ASKED"
echo "12 warnings generated." >&2
if [ -n "$FAKE_CRASH" ]; then exit 70; fi
if grep -q bad "$file"; then echo "$file:1: error: bad"; exit 1; fi
"""


class TidyTest(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        self.tree = self.new_tree("tree")
        (WORK / "bin").mkdir()
        fake = WORK / "bin" / "clang-tidy"
        fake.write_text(FAKE)
        fake.chmod(0o755)

    def new_tree(self, name):
        tree = WORK / name
        (tree / "build").mkdir(parents=True)
        (tree / ".clang-tidy").write_text("Checks: all\n")
        (tree / "one.h").write_text("#define LIMIT 3\n")
        (tree / "one.cpp").write_text('#include "one.h"\nint one() { return 1; }\n')
        (tree / "two.cpp").write_text("int two() { return 2; }\n")
        self.commands(tree, "-DX=1")
        return tree

    def commands(self, tree, flag):
        entries = [
            {"directory": str(tree / "build"), "file": str(tree / name), "command": f"{COMPILER} -I{tree} {flag} -MD -MF x.d -o {name}.o -c {tree / name}"}
            for name in ("one.cpp", "two.cpp")
        ]
        (tree / "build" / "compile_commands.json").write_text(json.dumps(entries))

    def run_tidy(self, *files, tree=None, told="", **environment):
        """Exit status, output, and the files that were looked at."""
        asked = WORK / "asked"
        asked.write_text("")
        variables = {name: value for name, value in os.environ.items() if name != "CCACHE_DISABLE"}
        variables |= {"PATH": f"{WORK / 'bin'}:{os.environ['PATH']}", "ASKED": str(asked), "XDG_CACHE_HOME": str(WORK / "cache"), **environment}
        done = subprocess.run(
            [sys.executable, "-B", SCRIPT, "build", "2", *(files or ("one.cpp", "two.cpp"))], cwd=tree or self.tree, env=variables, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.stderr, told)
        return done.returncode, done.stdout, sorted(asked.read_text().split())

    def test_what_was_good_is_not_looked_at_again(self):
        self.assertEqual(self.run_tidy(), (0, "", ["one.cpp", "two.cpp"]))
        self.assertEqual(self.run_tidy(), (0, "", []))
        # Nor in another clone.
        self.assertEqual(self.run_tidy(tree=self.new_tree("clone")), (0, "", []))

    def test_whatever_changes_is_looked_at_again(self):
        self.run_tidy()
        (self.tree / "one.cpp").write_text('#include "one.h"\nint one() { return 3; }\n')
        self.assertEqual(self.run_tidy()[2], ["one.cpp"])
        # A comment may be a NOLINT, and a macro is looked at where it is defined.
        (self.tree / "one.cpp").write_text('#include "one.h"\nint one() { return 3; }  // NOLINT\n')
        self.assertEqual(self.run_tidy()[2], ["one.cpp"])
        (self.tree / "one.h").write_text("#define LIMIT 4\n")
        self.assertEqual(self.run_tidy()[2], ["one.cpp"])
        self.commands(self.tree, "-DX=2")
        self.assertEqual(self.run_tidy()[2], ["one.cpp", "two.cpp"])
        (self.tree / ".clang-tidy").write_text("Checks: some\n")
        self.assertEqual(self.run_tidy()[2], ["one.cpp", "two.cpp"])
        self.assertEqual(self.run_tidy(FAKE_VERSION="2")[2], ["one.cpp", "two.cpp"])
        self.assertEqual(self.run_tidy(FAKE_VERSION="2")[2], [])

    def test_what_was_found_is_found_again(self):
        (self.tree / "two.cpp").write_text("int bad() { return 2; }\n")
        for _ in range(2):
            status, output, asked = self.run_tidy()
            self.assertEqual((status, output), (1, "two.cpp:1: error: bad\ntwo.cpp: clang-tidy ended with 1\n"))
            self.assertIn("two.cpp", asked)
        self.assertEqual(asked, ["two.cpp"])

    def test_a_crash_is_no_answer(self):
        for _ in range(2):
            self.assertEqual(self.run_tidy("one.cpp", FAKE_CRASH="1"), (1, "one.cpp: clang-tidy ended with 70\n", ["one.cpp"]))

    def test_what_cannot_be_known_beforehand_is_looked_at(self):
        # No command is known, the text does not preprocess, or nothing may be kept.
        (self.tree / "three.cpp").write_text("int three();\n")
        (self.tree / "two.cpp").write_text('#include "nowhere.h"\n')
        for _ in range(2):
            self.assertEqual(self.run_tidy("three.cpp", "two.cpp")[2], ["three.cpp", "two.cpp"])
            self.assertEqual(self.run_tidy("one.cpp", CCACHE_DISABLE="1")[2], ["one.cpp"])

    def test_without_a_folder_every_file_is_looked_at(self):
        (WORK / "file").write_text("")
        told = f"routecap: {WORK / 'file'}/routecap/clang-tidy: Not a directory, so every file is looked at\n"
        for _ in range(2):
            self.assertEqual(self.run_tidy(told=told, XDG_CACHE_HOME=str(WORK / "file")), (0, "", ["one.cpp", "two.cpp"]))

    def test_old_answers_are_forgotten(self):
        self.run_tidy()
        for answer in (WORK / "cache" / "routecap" / "clang-tidy").iterdir():
            os.utime(answer, (0, 0))
        (self.tree / "one.cpp").write_text("int one();\n")
        self.run_tidy("one.cpp")
        self.assertEqual(self.run_tidy()[2], ["two.cpp"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
