#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over files, several at a time.

  tidy.py BUILD JOBS FILE...      BUILD has a compile_commands.json; paths are those of the current folder's tree

A file in which nothing was found is not looked at again while everything that its answer depends on is the same: the text that the preprocessor makes of
it (comments and macros kept, since both are looked at), its command, the checks, clang-tidy itself. The answers lie in ~/.cache/routecap/clang-tidy
(XDG_CACHE_HOME), an empty file each, for a month, and clones of the tree share them. Where CCACHE_DISABLE is set none is read or kept.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

KEPT_SECONDS = 30 * 24 * 3600
# Of a command what names its outputs, which the preprocessor would write.
OUTPUTS = {"-o", "-MF", "-MT", "-MQ"}
OUTPUT_SWITCHES = {"-c", "-MD", "-MMD"}


def preprocessing(command):
    """The command that gives the text a compiler would see."""
    arguments = shlex.split(command)
    kept = [argument for i, argument in enumerate(arguments) if argument not in OUTPUTS | OUTPUT_SWITCHES and (i == 0 or arguments[i - 1] not in OUTPUTS)]
    return [*kept, "-E", "-CC", "-dD"]


def cache_folder():
    """None where there can be none."""
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "routecap" / "clang-tidy"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"routecap: {folder}: {error.strerror}, so every file is looked at", file=sys.stderr)
        return None
    return folder


class Tidy:
    def __init__(self, build):
        self.build = build
        self.root = os.getcwd()
        self.commands = {os.path.realpath(entry["file"]): entry for entry in json.loads((build / "compile_commands.json").read_text())}
        version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
        self.settings = version + pathlib.Path(".clang-tidy").read_text()
        self.cache = None if "CCACHE_DISABLE" in os.environ else cache_folder()

    def answer(self, file):
        """Where it is kept that nothing was found; None where that cannot be said beforehand."""
        entry = self.commands.get(os.path.realpath(file))
        if self.cache is None or entry is None:
            return None
        text = subprocess.run(preprocessing(entry["command"]), check=False, cwd=entry["directory"], capture_output=True, text=True, errors="surrogateescape")
        if text.returncode != 0:
            return None
        everything = "\0".join((self.settings, file, entry["command"], text.stdout)).replace(self.root, ".")
        return self.cache / hashlib.sha256(everything.encode(errors="surrogateescape")).hexdigest()

    def look_at(self, file):
        """What is found, or nothing."""
        answer = self.answer(file)
        if answer is not None and answer.exists():
            answer.touch()
            return ""
        done = subprocess.run(
            ["timeout", "300", "clang-tidy", "-p", self.build, "--quiet", "--warnings-as-errors=*", file], check=False, capture_output=True, text=True
        )
        if done.returncode == 0:
            if answer is not None:
                answer.touch()
            return ""
        errors = "".join(line for line in done.stderr.splitlines(keepends=True) if not re.search(r" generated\.$", line))
        return done.stdout + errors + f"{file}: clang-tidy ended with {done.returncode}\n"

    def forget_old(self):
        if self.cache is not None:
            for answer in self.cache.iterdir():
                if answer.stat().st_mtime < time.time() - KEPT_SECONDS:
                    answer.unlink(missing_ok=True)


def main():
    build, jobs, *files = sys.argv[1:]
    tidy = Tidy(pathlib.Path(build))
    bad = False
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for found in pool.map(tidy.look_at, files):
            bad = bad or found != ""
            sys.stdout.write(found)
            sys.stdout.flush()
    tidy.forget_old()
    sys.exit(bad)


main()
