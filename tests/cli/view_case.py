# SPDX-License-Identifier: Apache-2.0
"""What the tests share of the commands that count, draw, measure and look at the machine."""

import json
import os
import subprocess
import sys
import unittest

from command import COMMAND, Case


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr.decode()

    def text(self):
        return self.out.decode()

    def json(self):
        return json.loads(self.out)


def run(*arguments, command=None, **more):
    """Runs the command, or another program, to its end."""
    return Result(subprocess.run([command or COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False, **more))


class ViewCase(Case):
    def path(self, name):
        return os.path.join(self.folder, name)

    def done(self, *arguments, **more):
        result = run(*arguments, **more)
        self.assertEqual(result.err, "")
        self.assertEqual(result.code, 0)
        return result

    def refused(self, wanted, *arguments, code=2, **more):
        """One line on stderr that holds `wanted`, nothing on stdout, no file that was not there before."""
        before = sorted(os.listdir(self.folder))
        result = run(*arguments, **more)
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.out, b"")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.startswith("routecap: "), result.err)
        self.assertIn(wanted, result.err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return result


def main():
    """As unittest's, but what was skipped is told in the way that ctest here looks for, and a run without a test has failed."""
    program = unittest.main(exit=False, argv=[sys.argv[0], *sys.argv[1:]])
    if program.result.testsRun == 0:
        sys.exit("no test ran")
    if not program.result.wasSuccessful():
        sys.exit(1)
    reasons = sorted({reason for _, reason in program.result.skipped})
    if reasons:
        sys.stdout.flush()
        sys.stderr.flush()
        print("SKIPPED: " + "; ".join(reasons))
        sys.exit(77)
